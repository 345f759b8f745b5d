"""The notebooks as they are committed: run, clean, and each with its question, picture and conclusion."""

import ast
import re
from pathlib import Path

import nbformat
import pytest

MACHINE = re.compile(r"(?:^|[\s\"'(=])/(?:home|root|opt|work|tmp|usr|var|Users)/")


@pytest.fixture
def notebook(notebook_file: Path) -> nbformat.NotebookNode:
    read = nbformat.read(notebook_file, as_version=4)
    nbformat.validate(read)
    return read


def code(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def skipped(cell: nbformat.NotebookNode) -> bool:
    return "skip-execution" in cell.metadata.get("tags", [])


def test_it_was_run_from_a_clean_kernel_in_order(notebook: nbformat.NotebookNode) -> None:
    counts = [cell.execution_count for cell in code(notebook) if not skipped(cell)]
    assert counts == list(range(1, len(counts) + 1))


def test_outputs_have_no_warning_and_name_no_machine(notebook: nbformat.NotebookNode) -> None:
    for cell in code(notebook):
        for output in cell.outputs:
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.get("text")
            texts = [
                output.get("text", ""),
                *(output.get("data", {}).get(f"text/{kind}", "") for kind in ("plain", "html")),
            ]
            assert not MACHINE.search("\n".join(texts))


def test_one_cell_swaps_in_a_real_model_and_is_not_run(notebook: nbformat.NotebookNode) -> None:
    [cell] = [cell for cell in code(notebook) if skipped(cell)]
    assert "real-model" in cell.metadata.tags
    assert not cell.outputs
    ast.parse(cell.source)


def test_it_goes_from_a_question_to_a_conclusion_with_a_picture(notebook: nbformat.NotebookNode) -> None:
    prose = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert "**Question.**" in prose[0]
    assert "**Conclusion.**" in prose[-1]
    assert any("image/png" in output.get("data", {}) for cell in code(notebook) for output in cell.outputs)


def test_links_between_notebooks_lead_somewhere(notebook: nbformat.NotebookNode, notebook_file: Path) -> None:
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    for target in re.findall(r"\]\(([^)#:]+)\)", prose):
        assert (notebook_file.parent / target).exists(), target
