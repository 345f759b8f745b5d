import json

import pytest

from ko_integrations.bench.measure import side_by_side
from ko_integrations.bench.report import Figure, Report


@pytest.mark.parametrize(
    ("value", "target", "sense", "ok"),
    [
        (1.0, 1.0, "at most", True),
        (1.1, 1.0, "at most", False),
        (1.0, 1.0, "at least", True),
        (0.9, 1.0, "at least", False),
        (None, 1.0, "at most", False),
        (None, None, "at most", True),
        (7.0, None, "at most", True),
    ],
)
def test_a_figure_is_held_to_its_target(value, target, sense, ok):
    figure = Figure("thing", value, target, sense)
    assert figure.ok is ok
    assert Report("x", [figure, Figure("free", 1)]).ok is ok


def test_report_writes_json(tmp_path):
    Report("x", [Figure("thing", 2.0, 1.0)], {"n": 3}).write_json(tmp_path / "x.json")
    data = json.loads((tmp_path / "x.json").read_text())
    assert (data["ok"], data["settings"], data["figures"][0]["ok"]) == (False, {"n": 3}, False)


def test_side_by_side_gives_both_the_same_numbers_and_alternates_who_starts():
    calls = []
    ratio = side_by_side(
        lambda i: calls.append(("ours", i)), lambda i: calls.append(("other", i)), rounds=3, calls=2, warm=1
    )
    assert (
        [i for who, i in calls if who == "ours"]
        == [i for who, i in calls if who == "other"]
        == list(range(8))
    )
    assert {calls[0][0], calls[4][0]} == {"ours", "other"}
    assert ratio.low <= ratio.ratio <= ratio.high
