"""Run notebooks from a clean kernel and write their outputs: `python notebooks/execute.py [NAME ...]`.

Cells tagged `skip-execution` (the ones that swap in a real model) are not run. `make notebooks` runs all of them
without writing.
"""

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
SECONDS = 240

_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "ANONYMIZED_TELEMETRY": "False",
    "TOKENIZERS_PARALLELISM": "false",
    # About the machine and not about the code: no progress widgets, no session folder.
    "PYTHONWARNINGS": "ignore:IProgress not found,ignore:XDG_RUNTIME_DIR",
    # Times are of the code, not of threads that wait for each other.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def execute(file: Path) -> nbformat.NotebookNode:
    """Return the notebook with fresh outputs; a cell that raises ends it.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell raised.
        nbclient.exceptions.CellTimeoutError: a cell took more than `SECONDS`.
    """
    notebook = nbformat.read(file, as_version=4)
    NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(FOLDER)}}).execute(
        env={**os.environ, **_ENVIRONMENT}
    )
    return tidy(notebook)


def tidy(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Drop what changes with each run and tells nothing: time stamps, versions, cuts in a stream."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
    return notebook


def _joined(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    joined: list[nbformat.NotebookNode] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if output.output_type == "stream" and last is not None and last.get("name") == output.name:
            last.text += output.text
        else:
            joined.append(output)
    return joined


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not sys.argv[1:] or any(name in path.name for name in sys.argv[1:]):
            nbformat.write(execute(path), path)
            print(path.name)
