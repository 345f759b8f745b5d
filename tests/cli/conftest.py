import json

import pytest
from typer.testing import CliRunner

from ko_integrations.cli import app


@pytest.fixture
def ko(tmp_path, monkeypatch):
    """Run `ko` on a store of the test's own, without a model; give the result, JSON parsed where asked for."""
    monkeypatch.setenv("KO_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("KO_EMBEDDER", "hashing")
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments, code=0, input=None):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)
        assert result.exit_code == code, (result.output, result.stderr, result.exception)
        return json.loads(result.stdout) if "--json" in arguments else result

    return run
