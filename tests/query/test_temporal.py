"""The temporal operator of a question, read from the question alone."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ko_integrations.query.calendar import read_interval
from ko_integrations.query.evaluation import recognised_signals
from ko_integrations.query.temporal import recognise

NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)
MONTHS = "January February March April May June July August September October November December".split()


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("March 2010", "2010-03-01", "2010-04-01"),
        ("december", "2025-12-01", "2026-01-01"),
        ("May", "2025-05-01", "2025-06-01"),
        ("3 May 2019", "2019-05-03", "2019-05-04"),
        ("May 3rd, 2019", "2019-05-03", "2019-05-04"),
        ("the 3rd of May 2019", "2019-05-03", "2019-05-04"),
        ("2010", "2010-01-01", "2011-01-01"),
        ("early 2010", "2010-01-01", "2010-05-01"),
        ("the end of 2010", "2010-12-01", "2011-01-01"),
        ("the 1990s", "1990-01-01", "2000-01-01"),
        ("Q3 2020", "2020-07-01", "2020-10-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("last month", "2026-02-01", "2026-03-01"),
        ("last week", "2026-03-02", "2026-03-09"),
        ("yesterday", "2026-03-14", "2026-03-15"),
        ("5 July", "2025-07-05", "2025-07-06"),
        ("2019-05", "2019-05-01", "2019-06-01"),
    ],
)
def test_an_expression_of_time_is_a_half_open_interval(text: str, start: str, end: str) -> None:
    interval = read_interval(text, NOW)
    assert interval is not None
    assert (interval.start.date(), interval.end.date()) == (
        date.fromisoformat(start),
        date.fromisoformat(end),
    )


@pytest.mark.parametrize("text", ["31 February 2010", "tomorrow's weather", "", "99/99/2010"])
def test_what_is_no_date_is_none(text: str) -> None:
    assert read_interval(text, NOW) is None


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is Alice's favourite food?", "none"),
        ("Who is the current head of the board?", "current"),
        ("What was my favourite food before?", "previous"),
        ("What was my favourite food before that?", "previous"),
        ("Who was the CEO before the current one?", "previous"),
        ("What is Bob's old address?", "previous"),
        ("How old is Bob?", "none"),
        ("Where did Bob use to live?", "previous"),
        ("Who was the chair in March 2010?", "as_of"),
        ("Who was the chair on 3 May 2019?", "as_of"),
        ("Where did I live last year?", "as_of"),
        ("Who led the team when the bridge was opened?", "as_of"),
        ("Who has led the team since January?", "since"),
        ("Where did Bob live until 2019?", "until"),
        ("What was the currency before 1939?", "before"),
        ("Who was mayor before Jane Roe?", "before"),
        ("Who was mayor after Jane Roe?", "after"),
        ("Who was mayor between 2001 and 2005?", "between"),
        ("Who was mayor from 2001 to 2005?", "between"),
        ("Who was the first mayor?", "first"),
        ("Where was the game first played?", "none"),
        ("What is Bob's first name?", "none"),
        ("What is Bob's last name?", "none"),
        ("Who was the third mayor?", "nth"),
        ("Who is the latest mayor?", "latest"),
        ("How many times has the mayor changed?", "count"),
        ("How often did my address change?", "count"),
        ("When did Bob move to Porto?", "when"),
        ("Since when has Bob lived in Porto?", "when"),
        ("When did Bob leave Acme?", "ended"),
        ("How long has Bob lived in Porto?", "duration"),
        ("How has the tumour responded?", "trajectory"),
        ("What is the history of the return policy?", "trajectory"),
        ("What does she have a history of?", "none"),
        ("What has changed since January?", "trajectory"),
    ],
)
def test_the_kind_of_operator(question: str, kind: str) -> None:
    assert recognise(question, NOW).kind == kind


def test_a_period_limits_what_is_asked_of_the_chain() -> None:
    operator = recognise("How many times did the price change between 2010 and 2015?", NOW)
    assert operator.kind == "count"
    assert operator.start is not None
    assert operator.end is not None
    assert (operator.start.year, operator.end.year) == (2010, 2016)


def test_the_one_before_last_is_two_back() -> None:
    operator = recognise("Who was the chair before last?", NOW)
    assert (operator.kind, operator.ordinal) == ("previous", 2)


@pytest.mark.parametrize("question", ['Who wrote "1984"?', "Who directed Blade Runner 2049?"])
def test_a_year_in_a_name_is_no_time(question: str) -> None:
    at = question.find("Blade")
    names = [(at, at + len("Blade Runner 2049"))] if at >= 0 else []
    assert recognise(question, NOW, names=names).kind == "none"


@given(st.dates(min_value=date(1000, 1, 1), max_value=date(2090, 12, 31)))
def test_every_month_is_read_back(day: date) -> None:
    operator = recognise(f"Who was the chair in {MONTHS[day.month - 1]} {day.year}?", NOW)
    assert operator.kind == "as_of"
    assert operator.start is not None
    assert operator.end is not None
    assert operator.start.date() <= day < operator.end.date()
    assert operator.start.day == operator.end.day == 1


@given(st.text(max_size=80))
def test_any_text_is_taken_and_blanking_moves_nothing(text: str) -> None:
    operator = recognise(text, NOW)
    blanked = operator.without_time(text)
    assert len(blanked) == len(text)
    assert all(old == new or new == " " for old, new in zip(text, blanked, strict=True))


@pytest.mark.data
def test_the_annotated_signals_of_tempqa_are_recognised() -> None:
    file = Path(__file__).parents[3] / "shared" / "data" / "tempqa_wd" / "dev.json"
    if not file.exists():
        pytest.skip(f"{file} is not there")
    assert json.loads(file.read_text(encoding="utf-8"))
    assert recognised_signals(file, NOW).accuracy >= 95
