"""Every notebook runs from a clean kernel and shows what its committed outputs say, numbers and dates aside.

`make notebooks`; `make test` leaves this file out, for it takes minutes.
"""

import re
import runpy
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")


def told(notebook: nbformat.NotebookNode) -> list[str]:
    """The words printed and shown by each cell; measured figures and today's date change from run to run."""
    return [
        re.sub(r"[\d.,]+", "#", text)
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if (text := output.get("text") or output.get("data", {}).get("text/plain"))
    ]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_it_runs_and_says_what_it_said(notebook_file: Path) -> None:
    execute = runpy.run_path(str(notebook_file.with_name("execute.py")))["execute"]
    fresh = execute(notebook_file)
    assert [line.split() for line in told(fresh)] == [
        line.split() for line in told(nbformat.read(notebook_file, as_version=4))
    ]
