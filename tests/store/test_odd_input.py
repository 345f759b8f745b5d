"""Whatever is passed: it works, or one of our errors names the parameter; nothing raw comes out, nothing is stored."""

import inspect
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ko_integrations import Fact, KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import BatchError, InvalidInputError, KOError

ODD = (
    5,
    -1,
    True,
    0.5,
    float("nan"),
    b"bytes",
    object(),
    [],
    [5],
    {},
    {"a": 1},
    "",
    " ",
    "a\0b",
    "\ud800",
    len,
)
USUAL = {
    "subject": "Ann", "predicate": "city", "object": "Oslo", "text": "Ann's city is Oslo.", "query": "Ann city",
    "question": "Where does Ann live?", "key": "k", "source": "s", "alias": "Annie", "facts": [], "cursor": 0,
    "ids": [], "names": ["Ann"], "kos": [], "file": io.StringIO(""),
}  # fmt: skip
KEEPS_HOUSE = {"open", "close", "drain", "verify", "stats", "batch", "rebuild_index"}


def operations() -> list[tuple[str, str]]:
    """Name every operation of a store, twins apart, with each of its parameters that is no switch."""
    return [
        (name, parameter)
        for name, method in inspect.getmembers(KnowledgeStore, inspect.isfunction)
        if not name.startswith("_") and name not in KEEPS_HOUSE
        if not (name.startswith("a") and hasattr(KnowledgeStore, name[1:]))
        for parameter in inspect.signature(method).parameters
        if parameter not in ("self", "verbatim", "mentions", "wait", "progress")
    ]


@pytest.mark.parametrize(("operation", "parameter"), operations())
def test_an_odd_argument_works_or_is_refused_by_name(
    operation: str, parameter: str, embedder: HashingEmbedder
) -> None:
    with KnowledgeStore.open(":memory:", embedder=embedder, index=False) as store:
        store.update("Ann", "city", "Bern")
        method = getattr(store, operation)
        signature = inspect.signature(method)
        for odd in ODD[:-1] if parameter == "where" else ODD:  # a condition of the caller's own may raise
            given = {
                name: USUAL[name]
                for name, each in signature.parameters.items()
                if each.default is inspect.Parameter.empty
                and name in USUAL
                and each.kind is not each.VAR_POSITIONAL
            }
            before = store.changes_since(0).cursor
            if (error := refusal(method, signature, given, parameter, odd)) is not None:
                assert isinstance(error, InvalidInputError), (odd, error)
                assert error.field, (odd, error)
                assert store.changes_since(0).cursor == before, odd


def refusal(
    method: Callable[..., object], signature: inspect.Signature, given: dict, parameter: str, odd: object
) -> KOError | None:
    """Call with one odd argument, to the end of what it yields; return the error of ours, if there is one."""
    try:
        if signature.parameters[parameter].kind is inspect.Parameter.VAR_POSITIONAL:
            result = method(odd)
        else:
            result = method(**(given | {parameter: odd}))
        if isinstance(result, Iterator):
            list(result)
    except KOError as error:
        return error
    return None


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("where", 5), ("where", b"memory"), ("where", ""), ("where", " "), ("where", "a\0b"), ("where", None),
        ("namespace", 5), ("namespace", "acme"), ("namespace", ("",)), ("namespace", ("a", 5)),
        ("vocabulary", {"phone": {}}), ("vocabulary", "general"), ("clock", 5), ("clock", lambda: 5),
        ("embedder", 5), ("embedder", HashingEmbedder), ("compiler", 5), ("parser", "offline"), ("index", 5),
        ("index", True), ("index", ""), ("collection", 5), ("collection", ""), ("collection", None),
    ],
)  # fmt: skip
def test_an_option_that_cannot_be_used_is_named_and_makes_nothing(
    option: str, value: object, tmp_path: Path
) -> None:
    options = {"where": tmp_path / "m", "embedder": HashingEmbedder()} | {option: value}
    with pytest.raises(InvalidInputError) as caught:
        KnowledgeStore.open(options.pop("where"), **options)  # type: ignore[arg-type]
    assert caught.value.field == option
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KOError, match="file"):
        KnowledgeStore.open(tmp_path / "file" / "below", embedder=HashingEmbedder())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("valid_from", 5), ("valid_from", "2024-01-01"), ("valid_to", 5), ("confidence", True), ("confidence", "0.5"),
        ("confidence", None), ("source", 5), ("metadata", [("a", 1)]), ("subject", 5), ("predicate", None),
    ],
)  # fmt: skip
def test_update_and_update_many_refuse_the_same(field: str, value: object) -> None:
    good = {"subject": "Ann", "predicate": "city", "object": "Oslo"}
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store:
        with pytest.raises(InvalidInputError) as one:
            store.update(**(good | {field: value}))
        with pytest.raises(BatchError) as many:
            store.update_many([good, good | {field: value}])
        assert one.value.field == field
        assert [(row, error.field) for row, error in many.value.errors] == [(1, field)]
        with pytest.raises(InvalidInputError, match=f"^{field}: "):
            Fact(**(good | {field: value}))
        assert store.count() == 0
