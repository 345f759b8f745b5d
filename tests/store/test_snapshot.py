"""A snapshot that is kept open tells the truth of each moment (DESIGN section 4, rules 13 and 16)."""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pytest

from ko_integrations import Fact, KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder

COUNT = 20


def fill(store: KnowledgeStore, clock) -> None:
    store.update_many(
        Fact(subject=f"s{n}", predicate="p", object=f"old {n}", source="bad" if n % 5 == 3 else "good")
        for n in range(COUNT)
    )
    clock.tick()


def change(store: KnowledgeStore) -> None:
    """Erase, supersede, retract, withdraw: a fifth of the facts each."""
    for number in range(0, COUNT, 5):
        store.erase(f"s{number}")
        store.update(f"s{number + 1}", "p", f"new {number + 1}")
        store.retract(f"s{number + 2}", "p")
    store.withdraw_source("bad")


def test_what_holds_is_what_holds_when_it_comes_out(store: KnowledgeStore, clock) -> None:
    fill(store, clock)
    running = store.snapshot()
    first = next(running).subject
    change(store)
    later = {ko.subject: ko.object for ko in running}
    holds = {f"s{n}": f"new {n}" if n % 5 == 1 else f"old {n}" for n in range(COUNT) if n % 5 in (1, 4)}
    assert later == {subject: value for subject, value in holds.items() if subject != first}


def test_a_change_that_falls_due_shows_with_no_write(store: KnowledgeStore, clock) -> None:
    fill(store, clock)
    store.update_many(
        Fact(subject=f"s{n}", predicate="p", object="ended", valid_to=clock.now + timedelta(days=1))
        for n in range(COUNT)
    )
    running = store.snapshot()
    assert next(running).object == "ended"
    clock.tick(days=2)
    assert [ko.object for ko in running] == []


@pytest.mark.parametrize("past", ["as_of", "known_at"])
def test_of_the_past_only_erasing_takes_anything(store: KnowledgeStore, clock, past: str) -> None:
    fill(store, clock)
    moment = clock.now
    clock.tick()
    running = store.snapshot(**{past: moment})
    seen = {next(running).object}
    change(store)
    seen |= {ko.object for ko in running}
    erased = {f"old {n}" for n in range(0, COUNT, 5)}
    withdrawn = {f"old {n}" for n in range(3, COUNT, 5)} if past == "as_of" else set()
    everything = {f"old {n}" for n in range(COUNT)}
    assert len(seen & (erased | withdrawn)) <= 1, "the one that came before"
    assert seen >= everything - erased - withdrawn


async def test_the_async_twin_fetches_nothing_ahead(tmp_path: Path, clock, embedder: HashingEmbedder) -> None:
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder, clock=clock) as store:
        fill(store, clock)
        seen = []
        async for ko in store.asnapshot():
            if not seen:
                await store.aerase_namespace()
            seen.append(ko.object)
        assert len(seen) == 1


def test_it_may_be_many_pages_long(tmp_path: Path, embedder: HashingEmbedder) -> None:
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder, index=False) as store:
        store.update_many(Fact(subject=f"s{n}", predicate="p", object=n) for n in range(2_500))

        def all_of(kos: Iterable) -> list:
            return sorted(ko.object for ko in kos)

        assert all_of(store.snapshot()) == all_of(store.snapshot(as_of=store.now())) == list(range(2_500))
        assert [ko.id for ko in store.snapshot()] == sorted(ko.id for ko in store.snapshot())
