"""The notebooks, each a parameter."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "notebook_file" in metafunc.fixturenames:
        files = sorted(FOLDER.glob("*.ipynb"))
        metafunc.parametrize("notebook_file", files, ids=[file.stem for file in files])
