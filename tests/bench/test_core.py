"""`ko bench core` runs whole at sizes that prove nothing about speed; times are not asserted."""

import json

from typer.testing import CliRunner

from ko_integrations.bench import core
from ko_integrations.cli import app
from ko_integrations.embeddings import HashingEmbedder

TINY = core.Sizes(
    small=50, large=200, reads=20, updates=4, bulk=50, drained=16, namespaces=(10, 60), rounds=2
)


def test_core_reports_every_target(monkeypatch, tmp_path):
    monkeypatch.setattr(core, "QUICK", TINY)
    monkeypatch.setattr(core, "_embedder", lambda: (HashingEmbedder(), "hashing"))
    result = CliRunner().invoke(app, ["bench", "core", "--quick", "--json", str(tmp_path / "core.json")])
    report = json.loads((tmp_path / "core.json").read_text())
    assert result.exit_code == (0 if report["ok"] else 1), result.output
    measured = {figure["name"]: figure for figure in report["figures"]}
    targets = sorted(figure["target"] for figure in measured.values())
    assert targets == sorted([8, 8, 1.1, 3, 3, 0.2, 0.4, 0.8, 1.3, 1.3, 400, 1.1])
    assert all(figure["value"] > 0 for figure in measured.values())
