"""The corpora: repeatable, without repeated slots or values, as crowded as they say."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ko_integrations import KOError
from ko_integrations.experiments.corpora import CORPORA, VALUES, Names, read_corpus


@given(name=st.sampled_from(sorted(CORPORA)), values=st.sampled_from(sorted(VALUES)), seed=st.integers(0, 9),
       n=st.integers(1, 100))  # fmt: skip
@settings(deadline=None, max_examples=60)
def test_a_sample_has_different_slots_and_values_and_can_be_repeated(
    name: str, values: str, seed: int, n: int
) -> None:
    corpus = CORPORA[name].with_values(values)
    items = corpus.sample(n, seed)
    assert len({(item.subject, item.predicate) for item in items}) == n
    assert len({item.value for item in items}) == n
    assert all(item.subject in item.question and item.subject in item.reworded for item in items)
    assert items == corpus.sample(n, seed)


def test_seeds_and_parts_give_other_facts() -> None:
    corpus = CORPORA["records"]
    assert corpus.sample(20, 0) != corpus.sample(20, 1)
    assert corpus.sample(20, 0) != corpus.sample(20, 0, part=1)


def test_values_do_not_repeat_the_number_of_their_entity() -> None:
    items = CORPORA["records"].sample(200, 0)
    same = sum(item.subject.rpartition("_")[2] == item.value.rpartition("_")[2] for item in items)
    assert same <= 5


def test_more_facts_than_there_are_is_refused() -> None:
    with pytest.raises(KOError, match="100 facts"):
        CORPORA["one attribute, tags"].sample(101, 0)


def test_real_facts_from_json_lines(tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_text(
        '{"entity": "Veldania", "property": "capital", "questions": {"plain": "Its capital is"}, '
        '"versions": [{"value": "Old"}, {"value": "Orrin"}]}\n'
        '{"subject": "Zorbia", "predicate": "capital", "object": "Nexar"}\n'
        '{"subject": "Zorbia", "predicate": "capital", "object": "second row of a slot"}\n'
        '{"subject": "Nowhere", "predicate": "capital"}\n'
    )
    corpus = read_corpus(file)
    items = {item.subject: item for item in corpus.sample(2, 0)}
    assert corpus.largest == 2
    assert (items["Veldania"].value, items["Veldania"].question) == ("Orrin", "Its capital is")
    assert items["Zorbia"].question == "What is the capital of Zorbia?"


def test_real_facts_from_tables(tmp_path: Path) -> None:
    file = tmp_path / "facts.tsv"
    file.write_text("subject\trelation\tanswer\nZorbia\tcapital\tNexar\n")
    assert read_corpus(file).sample(1, 0)[0].value == "Nexar"
    (tmp_path / "empty.csv").write_text("a,b\n1,2\n")
    (tmp_path / "broken.jsonl").write_text("{")
    for bad in ("empty.csv", "facts.parquet", "broken.jsonl"):
        (tmp_path / bad).touch()
        with pytest.raises(KOError, match="data: "):
            read_corpus(tmp_path / bad)


def test_a_table_of_a_spreadsheet_with_zeros_is_read(tmp_path: Path) -> None:
    (tmp_path / "bom.csv").write_text("subject,predicate,value\nZorbia,debt,0\n", encoding="utf-8-sig")
    (tmp_path / "zero.jsonl").write_text('{"subject": "Zorbia", "predicate": "debt", "value": 0}\n')
    for name in ("bom.csv", "zero.jsonl"):
        (item,) = read_corpus(tmp_path / name).sample(1, 0)
        assert (item.subject, item.value) == ("Zorbia", "0")


def test_questions_may_be_missing_or_numbers(tmp_path: Path) -> None:
    (tmp_path / "odd.jsonl").write_text(
        '{"subject": "A", "predicate": "b", "value": 1, "questions": {"x": null, "y": "Which b has A?"}}\n'
        '{"subject": "A", "predicate": "c", "value": 2, "questions": {"x": null}}\n'
        '{"subject": "A", "predicate": "d", "value": 3, "questions": {"x": 5}}\n'
    )
    questions = {item.predicate: item.question for item in read_corpus(tmp_path / "odd.jsonl").sample(3, 0)}
    assert questions == {"b": "Which b has A?", "c": "What is the c of A?", "d": "5"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("list.jsonl", b"[1, 2]\n"),
        ("latin.csv", b"subject,predicate,value\nJos\xe9,b,c\n"),
        ("field.csv", b"subject,predicate,value\na,b," + b"c" * 200_000),
        ("folder.csv", None),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_name(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(KOError, match=f"data: {name} cannot be read"):
        read_corpus(tmp_path / name)


@pytest.mark.data
def test_the_public_timelines_are_readable() -> None:
    file = Path(__file__).parents[3] / "shared" / "data" / "dyknow" / "timelines.countries.jsonl"
    if not file.exists():
        pytest.skip("the public evaluation data is not there")
    assert read_corpus(file).largest > 70


def test_invented_names_differ() -> None:
    import numpy as np

    names = Names(np.random.default_rng(0)).take(300, "ia")
    assert len(set(names)) == 300
    assert all(name.endswith("ia") and name[0].isupper() for name in names)
