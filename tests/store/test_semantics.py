"""DESIGN section 4, rule by rule, through the public API, on every backend."""

from datetime import UTC, datetime, timedelta

import pytest

from ko_integrations import Fact, KnowledgeStore, Predicate, Quantity, Vocabulary
from ko_integrations.errors import BatchError, InvalidInputError, SetValuedError, UnknownPredicateError


def day(number: int) -> datetime:
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=number)


def values(kos: list) -> list:
    return [ko.object for ko in kos]


# -- identity -----------------------------------------------------------------------------------------------------
def test_spelling_does_not_split_a_slot_and_is_kept_for_display(store: KnowledgeStore) -> None:
    first = store.update("New York", "Nick-Name", "Big Apple")
    second = store.update(" new  YORK ", "nick_name", "Gotham")
    assert first.ko.id == second.ko.id
    assert second.outcome == "superseded"
    assert store.read_exact("NEW YORK", "nick name").object == "Gotham"
    assert store.subjects() == ["New York"]


def test_namespaces_never_see_each_other(store: KnowledgeStore) -> None:
    alice, alan, joined = (
        store.namespace("acme", "alice"),
        store.namespace("acme", "al", "ice"),
        store.namespace("acme"),
    )
    for number, view in enumerate((store, alice, alan, joined)):
        view.update("user", "secret", f"value {number}")
    for number, view in enumerate((store, alice, alan, joined)):
        assert view.read_exact("user", "secret").object == f"value {number}"
        assert values(view.history("user", "secret")) == [f"value {number}"]
        assert [hit.ko.object for hit in view.read("secret value", k=10)] == [f"value {number}"]
        assert values(list(view.snapshot())) == [f"value {number}"]
        assert view.count() == 1
        assert [change.ko.object for change in view.changes_since(0).items if view is not store] in (
            [],
            [f"value {number}"],
        )
    assert alice.get_many([store.read_exact("user", "secret").id]) == [None]
    assert sorted(store.namespaces()) == [(), ("acme",), ("acme", "al", "ice"), ("acme", "alice")]
    assert sorted(store.namespaces(("acme", "al"))) == [("acme", "al", "ice")]
    with pytest.raises(InvalidInputError, match="namespace"):
        alice.namespaces()


def test_erasing_one_namespace_leaves_the_others(store: KnowledgeStore) -> None:
    one, two = store.namespace("one"), store.namespace("two")
    one.update("user", "name", "Ann")
    two.update("user", "name", "Bob")
    one.erase_namespace()
    assert one.read_exact("user", "name") is None
    assert one.history("user", "name") == []
    assert two.read_exact("user", "name").object == "Bob"


def test_values_come_back_as_they_went_in(store: KnowledgeStore) -> None:
    given = [
        "text", 3, 3.5, True, day(3).date(), day(4), Quantity(3, "cm"), {"a": [1, None, {"b": "é"}]},
        [1, "x"], "", 10**30,
    ]  # fmt: skip
    for number, value in enumerate(given):
        store.update(f"s{number}", "p", value)
    for number, value in enumerate(given):
        back = store.read_exact(f"s{number}", "p").object
        assert back == value
        assert type(back) is type(value)


# -- time ---------------------------------------------------------------------------------------------------------
def test_a_new_value_supersedes(store: KnowledgeStore) -> None:
    assert store.update("Alice", "phone", "1").outcome == "created"
    result = store.update("Alice", "phone", "2")
    assert (result.outcome, result.ko.object, result.previous.object) == ("superseded", "2", "1")
    assert result.ko.provenance.version == 2
    assert result.ko.provenance.previous == result.previous.reference
    assert result.previous.valid_to == result.ko.valid_from
    assert values(store.history("Alice", "phone")) == ["1", "2"]


def test_a_late_older_fact_takes_its_place(store: KnowledgeStore) -> None:
    store.update("Acme", "ceo", "Bo", valid_from=day(10))
    late = store.update("Acme", "ceo", "Al", valid_from=day(1))
    assert (late.outcome, late.ko.object) == ("backdated", "Al")
    assert store.read_exact("Acme", "ceo").object == "Bo"
    assert store.read_exact("Acme", "ceo", as_of=day(5)).object == "Al"
    assert store.read_exact("Acme", "ceo", as_of=day(0)) is None
    assert values(store.history("Acme", "ceo")) == ["Al", "Bo"]


def test_saying_it_again_confirms_and_keeps_its_event_time(store: KnowledgeStore) -> None:
    store.update("x", "p", "A", valid_from=day(1), source="one")
    again = store.update("x", "p", "A", valid_from=day(3), source="two")
    assert again.outcome == "confirmed"
    assert again.ko.provenance.sources == ("one", "two")
    assert len(store.history("x", "p")) == 1
    assert store.update("x", "p", "B", valid_from=day(2)).outcome == "backdated"
    assert values(store.history("x", "p")) == ["A", "B", "A"]
    assert store.read_exact("x", "p").object == "A"


def test_mentions_never_outvote_time(store: KnowledgeStore) -> None:
    for number in range(10):
        store.update("Ann", "employer", "Old", valid_from=day(number))
    store.update("Ann", "employer", "New", valid_from=day(20))
    assert store.read_exact("Ann", "employer").object == "New"


def test_a_future_fact_holds_when_its_time_comes_with_no_write(store: KnowledgeStore, clock) -> None:
    store.update("shop", "hours", "9-5")
    store.update(
        "shop",
        "hours",
        "8-6",
        valid_from=clock.now + timedelta(days=2),
        valid_to=clock.now + timedelta(days=4),
    )
    seen = []
    for _ in range(5):
        head = store.read_exact("shop", "hours")
        hits = [hit.ko.object for hit in store.read("shop hours", k=3)]
        assert hits == ([head.object] if head else [])
        seen.append(head and head.object)
        clock.tick(days=1)
    assert seen == ["9-5", "9-5", "8-6", "8-6", None]
    assert store.count() == 0


def test_counts_and_names_follow_the_clock_with_no_write(store: KnowledgeStore, clock) -> None:
    store.update(
        "later",
        "owner",
        "Ann",
        valid_from=clock.now + timedelta(days=1),
        valid_to=clock.now + timedelta(days=3),
    )
    assert (store.count(), store.subjects(), store.namespaces()) == (0, [], [])
    clock.tick(days=2)
    assert (store.count(), store.subjects(), store.namespaces()) == (1, ["later"], [()])
    assert store.find_subjects(["Later"]) == {"Later": "later"}
    assert values(store.facts_naming("ann")) == ["Ann"]
    clock.tick(days=2)
    assert (store.count(), store.subjects(), store.facts_naming("Ann")) == (0, [], [])


def test_record_time_rises_though_the_clock_falls(store: KnowledgeStore, clock) -> None:
    first = store.update("x", "p", "1").ko
    clock.tick(days=-30)
    second = store.update("x", "p", "2").ko
    assert second.provenance.recorded_at > first.provenance.recorded_at
    assert second.valid_from >= first.valid_from
    clock.tick(days=31)
    assert store.read_exact("x", "p").object == "2"


def test_an_omitted_start_is_the_record_time_also_with_an_end(store: KnowledgeStore, clock) -> None:
    now = clock.now
    store.update("x", "p", "1")
    clock.tick(days=-30)
    fallen = clock.now
    ko = store.update("x", "p", "2", valid_to=now + timedelta(days=1)).ko
    assert ko.valid_from == ko.provenance.recorded_at > now
    assert values(store.history("x", "p")) == ["1", "2"]
    assert store.read_exact("x", "p").object == "2"
    assert store.read_exact("x", "p", as_of=now).object == "1"
    # Between the clock and the record time: only the log knows that such an interval is empty.
    rows = [
        Fact(subject="y", predicate="p", object=n, valid_to=fallen + timedelta(days=1) if n % 2 else None)
        for n in range(5)
    ]
    with pytest.raises(InvalidInputError, match="valid_to"):
        store.update("y", "p", 1, valid_to=rows[1].valid_to)
    with pytest.raises(BatchError) as caught:
        store.update_many(rows)
    assert [row for row, _ in caught.value.errors] == [1, 3]
    assert store.read_exact("y", "p") is None
    outcomes = [result.outcome for result in store.update_many(rows, on_error="collect")]
    assert outcomes == ["created", "refused", "superseded", "refused", "superseded"]
    assert values(store.history("y", "p")) == [0, 2, 4]


def test_known_at_shows_what_the_store_knew(store: KnowledgeStore, clock) -> None:
    store.update("x", "p", "A", source="s1", valid_from=day(1))
    before_b = clock.tick(hours=1)
    clock.tick(hours=1)
    store.update("x", "p", "B", source="s2", valid_from=day(2))
    before_retraction = clock.tick(hours=1)
    clock.tick(hours=1)
    store.retract("x", "p", at=day(3))
    before_withdrawal = clock.tick(hours=1)
    clock.tick(hours=1)
    store.withdraw_source("s2")

    def known(moment: datetime | None, as_of: datetime) -> object:
        ko = store.read_exact("x", "p", as_of=as_of, known_at=moment)
        return ko and ko.object

    assert [known(before_b, day(n)) for n in (0, 1, 2, 4)] == [None, "A", "A", "A"]
    assert [known(before_retraction, day(n)) for n in (1, 2, 4)] == ["A", "B", "B"]
    assert [known(before_withdrawal, day(n)) for n in (1, 2, 4)] == ["A", "B", None]
    assert [known(None, day(n)) for n in (1, 2, 4)] == ["A", "A", None]
    assert values(store.history("x", "p", known_at=before_withdrawal)) == ["A", "B"]
    assert values(store.history("x", "p")) == ["A"]


# -- slots --------------------------------------------------------------------------------------------------------
def test_members_of_a_set_live_apart(open_store) -> None:
    store = open_store(
        vocabulary=Vocabulary([Predicate(name="allergy", cardinality="set", aliases=("allergic_to",))])
    )
    store.update("Ann", "allergy", "peanuts")
    store.update("Ann", "allergic to", "milk")
    assert values(store.read_values("Ann", "allergy")) == ["peanuts", "milk"]
    with pytest.raises(SetValuedError, match="read_values"):
        store.read_exact("Ann", "allergy")
    store.retract("Ann", "allergy", "peanuts")
    assert values(store.read_values("Ann", "allergy")) == ["milk"]
    assert values(store.history("Ann", "allergy")) == ["peanuts", "milk"]
    assert values(store.history("Ann", "allergy", object="milk")) == ["milk"]


def test_general_single_makes_every_predicate_single(open_store) -> None:
    store = open_store(vocabulary=Vocabulary.general(cardinality="single"))
    store.update("Ann", "allergy", "peanuts")
    assert store.update("Ann", "allergy", "milk").outcome == "superseded"


def test_updating_one_slot_leaves_every_other_chain(store: KnowledgeStore) -> None:
    for number in range(20):
        store.update("x", f"p{number}", number)
    before = {number: store.history("x", f"p{number}") for number in range(20)}
    store.update("x", "p7", "other")
    store.retract("x", "p8")
    store.erase("x", "p9")
    for number in set(range(20)) - {7, 8, 9}:
        assert store.history("x", f"p{number}") == before[number]


def test_an_alias_added_later_merges_the_chains_and_can_be_undone(open_store, clock) -> None:
    plain = Vocabulary([Predicate(name="phone")])
    store = open_store(vocabulary=plain)
    store.update("Ann", "phone", "1")
    clock.tick()
    store.update("Ann", "telephone", "2")
    before = clock.tick()
    clock.tick()
    old_id = store.read_exact("Ann", "telephone").id
    assert store.use_vocabulary(plain.with_alias("phone", "telephone")) == 1
    assert values(store.history("Ann", "phone")) == ["1", "2"]
    assert store.read_exact("Ann", "phone") == store.read_exact("Ann", "telephone")
    assert store.history("Ann", "phone")[1].predicate == "telephone", "kept as it was asserted"
    assert store.get_many([old_id]) == [None]
    assert [hit.ko.object for hit in store.read("Ann phone", k=5)] == ["2"]
    assert values(store.history("Ann", "phone", known_at=before)) == ["1"]
    assert store.use_vocabulary(plain) == 1
    assert store.read_exact("Ann", "phone").object == "1"
    assert store.read_exact("Ann", "telephone").object == "2"
    assert sorted(hit.ko.object for hit in store.read("Ann phone", k=5)) == ["1", "2"]


def test_changing_cardinality_rekeys_and_nothing_retracted_revives(open_store, clock) -> None:
    single = Vocabulary([Predicate(name="hobby")])
    several = Vocabulary([Predicate(name="hobby", cardinality="set")])
    store = open_store(vocabulary=single)
    for value in ("chess", "go"):
        store.update("Ann", "hobby", value)
        clock.tick()
    store.update("Bob", "hobby", "golf")
    clock.tick()
    store.retract("Bob", "hobby")
    clock.tick()
    store.use_vocabulary(several)
    assert values(store.read_values("Ann", "hobby")) == ["chess", "go"]
    assert store.read_values("Bob", "hobby") == []
    store.retract("Ann", "hobby", "go")
    clock.tick()
    store.use_vocabulary(single)
    assert store.read_exact("Ann", "hobby") is None
    assert store.read_exact("Bob", "hobby") is None
    store.use_vocabulary(several)
    assert values(store.read_values("Ann", "hobby")) == ["chess"]


def test_a_subject_alias_is_declared_and_dropped(store: KnowledgeStore, clock) -> None:
    store.update("New York City", "population", 8_300_000)
    clock.tick()
    store.update("NYC", "population", 8_500_000)
    before = clock.tick()
    clock.tick()
    store.alias("New York City", "NYC")
    assert store.read_exact("nyc", "population").object == 8_500_000
    assert values(store.history("New York City", "population")) == [8_300_000, 8_500_000]
    assert store.find_subjects(["NYC", "Boston"]) == {"NYC": "New York City"}
    assert store.read_exact("New York City", "population", known_at=before).object == 8_300_000
    store.alias("New York City", drop="NYC")
    assert store.read_exact("New York City", "population").object == 8_300_000
    assert store.read_exact("NYC", "population").object == 8_500_000


def test_retraction_ends_and_nothing_older_revives(store: KnowledgeStore, clock) -> None:
    store.update("x", "p", "A", valid_from=day(1), valid_to=clock.now + timedelta(days=100))
    store.update("x", "p", "B", valid_from=day(2))
    (ended,) = store.retract("x", "p", at=day(5))
    assert ended.object == "B"
    assert store.read_exact("x", "p") is None
    assert store.read_exact("x", "p", as_of=day(4)).object == "B"
    assert [ko.valid_to for ko in store.history("x", "p")] == [day(5), day(5)]
    assert store.retract("x", "p", "C") == [], "not what holds"


def test_withdrawing_a_source_shows_the_best_that_survives(store: KnowledgeStore) -> None:
    store.update("x", "p", "A", source="good", valid_from=day(1))
    store.update("x", "p", "B", source="bad", valid_from=day(2))
    store.update("y", "p", "C", source="bad")
    store.update("y", "p", "C", source="good")
    touched = store.withdraw_source("bad")
    assert len(touched) == 2
    assert store.read_exact("x", "p").object == "A"
    assert store.read_exact("y", "p").provenance.sources == ("good",)
    assert store.withdraw_source("bad") == []


# -- taking back for good -----------------------------------------------------------------------------------------
def test_erase_reaches_back_and_pointers_skip_it(store: KnowledgeStore, clock) -> None:
    for value in ("A", "B", "C"):
        store.update("x", "p", value)
        clock.tick()
    report = store.erase("x", "p", "B")
    assert report.erased == 1, "the slot that it was in, though other values stay there"
    assert store.erase("x", "p", "never said").erased == 0
    history = store.history("x", "p")
    assert values(history) == ["A", "C"]
    assert history[1].provenance.previous == history[0].reference
    assert values(store.history("x", "p", known_at=clock.now)) == ["A", "C"]


def test_mentions_stay_unless_asked(store: KnowledgeStore) -> None:
    store.update("Bob", "age", 40)
    store.update("Ann", "manager", "Bob")
    store.update("Eve", "manager", "Cid", valid_from=day(1))
    store.update("Eve", "manager", "bob", valid_from=day(2))
    store.erase("Bob")
    assert store.read_exact("Ann", "manager").object == "Bob"
    store.erase("Bob", mentions=True)
    assert store.read_exact("Ann", "manager") is None
    assert values(store.history("Eve", "manager")) == ["Cid"]


def test_erase_source_takes_only_what_it_asserted(store: KnowledgeStore) -> None:
    store.update("x", "p", "A", source="a", valid_from=day(1))
    store.update("x", "p", "B", source="b", valid_from=day(2))
    store.erase_source("b")
    assert values(store.history("x", "p")) == ["A"]
    assert [hit.ko.object for hit in store.read("x p", k=3)] == ["A"]


# -- reads --------------------------------------------------------------------------------------------------------
def test_no_read_shows_what_no_longer_holds(store: KnowledgeStore) -> None:
    for number in range(30):
        store.update(f"city {number}", "mayor", f"old {number}")
    store.read("mayor", k=5)
    for number in range(30):
        if number % 3 == 0:
            store.update(f"city {number}", "mayor", f"new {number}")
        elif number % 3 == 1:
            store.retract(f"city {number}", "mayor")
    expected = sorted(f"new {n}" if n % 3 == 0 else f"old {n}" for n in range(30) if n % 3 != 1)
    assert sorted(hit.ko.object for hit in store.read("mayor of the city", k=100)) == expected
    assert sorted(ko.object for ko in store.iter_heads()) == expected
    assert sorted(ko.object for ko in store.snapshot()) == expected
    assert store.count() == len(expected)


def test_a_write_is_seen_by_the_next_semantic_read(store: KnowledgeStore) -> None:
    for number in range(10):
        store.update("Ann", "favourite colour", f"colour{number}")
        (hit,) = store.read("Ann favourite colour", k=3)
        assert hit.ko.object == f"colour{number}"


def test_where_is_decided_by_the_log(store: KnowledgeStore) -> None:
    for number in range(40):
        store.update(
            f"s{number}", "p", number, metadata={"even": number % 2 == 0}, source="a" if number < 20 else "b"
        )
    found = store.read("s p", k=40, where={"$and": [{"even": True}, {"source": "b"}]})
    assert sorted(hit.ko.object for hit in found) == list(range(20, 40, 2))


def test_semantic_reads_of_the_past(store: KnowledgeStore, clock) -> None:
    store.update("Ann", "city", "Oslo", valid_from=day(1))
    known = clock.tick()
    clock.tick()
    store.update("Ann", "city", "Porto", valid_from=day(10))
    assert [hit.ko.object for hit in store.read("Ann city", as_of=day(5))] == ["Oslo"]
    assert [hit.ko.object for hit in store.read("Ann city", as_of=day(11), known_at=known)] == ["Oslo"]
    assert [hit.ko.object for hit in store.read("Ann city")] == ["Porto"]


def test_pages_cover_everything_once(store: KnowledgeStore) -> None:
    store.update_many([Fact(subject=f"s{n}", predicate="p", object=n) for n in range(25)])
    seen, cursor = [], None
    while True:
        page = store.iter_heads(cursor=cursor, limit=10)
        seen += [ko.object for ko in page]
        cursor = page.cursor
        if cursor is None:
            break
    assert sorted(seen) == list(range(25))


def test_the_change_feed_is_exact(store: KnowledgeStore, clock) -> None:
    store.update("x", "p", "A")
    first = store.changes_since(0)
    assert [(change.kind, change.ko.object) for change in first.items] == [("asserted", "A")]
    middle = clock.tick()
    clock.tick()
    store.update("x", "p", "B", source="s")
    store.retract("x", "p")
    store.withdraw_source("s")
    store.erase("x")
    rest = store.changes_since(first.cursor)
    assert [change.kind for change in rest.items][-3:] == ["retracted", "withdrawn", "erased"] or [
        change.kind for change in rest.items
    ] == ["withdrawn", "erased"]
    assert store.changes_since(middle).items == rest.items
    assert store.changes_since(rest.cursor).items == ()


# -- bad input ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("subject", {"subject": " "}),
        ("subject", {"subject": "a\0"}),
        ("predicate", {"predicate": ""}),
        ("predicate", {"predicate": "\ud800"}),
        ("object", {"object": None}),
        ("object", {"object": float("nan")}),
        ("object", {"object": datetime(2024, 1, 1)}),
        ("object", {"object": "x" * 1_000_001}),
        ("source", {"source": "  "}),
        ("confidence", {"confidence": 1.1}),
        ("confidence", {"confidence": float("nan")}),
        ("confidence", {"confidence": True}),
        ("valid_from", {"valid_from": datetime(2024, 1, 1)}),
        ("valid_to", {"valid_from": day(2), "valid_to": day(2)}),
        ("valid_to", {"valid_to": day(1)}),
        ("metadata", {"metadata": {"x": object()}}),
        ("metadata", {"metadata": ["x"]}),
    ],
)
def test_bad_input_names_the_field_and_stores_nothing(
    store: KnowledgeStore, field: str, options: dict
) -> None:
    good = {"subject": "s", "predicate": "p", "object": "o"}
    given = good | options
    with pytest.raises(InvalidInputError) as caught:
        store.update(given.pop("subject"), given.pop("predicate"), given.pop("object"), **given)
    assert caught.value.field.split()[0] == field
    rows = [Fact.model_construct(**(Fact(**good).model_dump() | {"subject": "first"})),
            Fact.model_construct(**(Fact(**good).model_dump() | options))]  # fmt: skip
    with pytest.raises(BatchError, match=r"facts\[1\]"):
        store.update_many(rows)
    assert store.count() == 0
    assert store.changes_since(0).items == ()
    stored, refused = store.update_many(rows, on_error="collect")
    assert (stored.outcome, refused.outcome, refused.error.row) == ("created", "refused", 1)
    assert store.count() == 1


def test_an_empty_vocabulary_declares_nothing(open_store) -> None:
    store = open_store(vocabulary=Vocabulary())
    store.update("Ann", "allergies", "peanuts")
    assert store.update("Ann", "allergies", "milk").outcome == "superseded"


def test_a_strict_vocabulary_refuses_what_it_does_not_know(open_store) -> None:
    store = open_store(vocabulary=Vocabulary([Predicate(name="phone")], mode="strict"))
    store.update("Ann", "Phone", "1")
    with pytest.raises(UnknownPredicateError, match="fax"):
        store.update("Ann", "fax", "2")
    assert store.count() == 1


def test_a_batch_is_all_or_nothing(store: KnowledgeStore) -> None:
    def fail() -> None:
        with store.batch():
            store.update("x", "p", 1)
            store.update("x", "q", 2)
            assert store.read_exact("x", "p").object == 1, "a batch sees its own writes"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert store.count() == 0
    with store.batch():
        store.update("x", "p", 1)
        store.update("x", "q", 2)
    assert store.count() == 2
    with pytest.raises(InvalidInputError, match="erase"), store.batch():
        store.erase("x")


def test_export_and_import_keep_the_chains(store: KnowledgeStore, clock) -> None:
    import io

    for value in ("A", "B", "A"):
        store.update("x", "p", value, source="s", confidence=0.5, metadata={"k": 1})
        clock.tick()
    store.update("Ann", "allergy", "milk")
    store.update("Ann", "allergy", "nuts")
    clock.tick()
    store.retract("Ann", "allergy", "milk")
    store.namespace("other").update("y", "q", Quantity(3, "cm"))
    file = io.StringIO()
    store.export_jsonl(file)
    copy = KnowledgeStore.open(":memory:", clock=clock, embedder=store.embedder)
    file.seek(0)
    copy.import_jsonl(file)

    def shape(which: KnowledgeStore) -> list:
        return [
            (ko.object, ko.valid_from, ko.valid_to, ko.provenance.source) for ko in which.history("x", "p")
        ]

    assert shape(copy) == shape(store)
    assert values(copy.read_values("Ann", "allergy")) == ["nuts"]
    assert copy.namespace("other").read_exact("y", "q").object == Quantity(3, "cm")
    with pytest.raises(InvalidInputError, match="line 1"):
        copy.import_jsonl(io.StringIO("{}\n"))
    copy.close()
