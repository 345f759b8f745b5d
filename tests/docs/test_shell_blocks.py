"""The `ko` lines in the README and the documentation run: in order, page by page, in an empty folder.

What a line says after `#` stands in what it prints.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\w[^\n]*\| )?ko ", re.MULTILINE)
MEASURES = ("ko bench", "ko experiment", "ko demo", "ko results", "make ")
"""They take minutes and have tests of their own."""
YES = "y\n"
"""The answer of a person who is asked whether to erase."""
END = "-- end of the output of a line --"


def lines(page: Path) -> list[str]:
    fences = FENCE.findall(page.read_text(encoding="utf-8"))
    blocks = [block for info, block in fences if info in ("", "bash", "sh") and COMMAND.search(block)]
    return [line for block in blocks for line in block.splitlines() if line and not line.startswith(MEASURES)]


PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if lines(page)]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_shell_lines_run_and_print_what_they_say(page: Path, tmp_path: Path) -> None:
    (tmp_path / "employees.csv").write_text("name,company,since\nAlice,Acme,2020\nBob,Globex,2021-05\n")
    ko = f'ko() {{ "{sys.executable}" -c "from ko_integrations.cli import main; main()" "$@"; }}'
    steps = [step for line in lines(page) for step in (line, f"echo '{END}'")]
    script = "\n".join(["set -euo pipefail", ko, *steps])
    settings = {"KO_STORE": str(tmp_path / "memory"), "KO_EMBEDDER": "hashing", "COLUMNS": "120"}
    environment = {**os.environ, **settings}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, input=YES, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for line, printed in zip(lines(page), done.stdout.split(END), strict=False):
        promised = line.partition(" # ")[2].strip()
        assert promised in printed, f"{line}\nprints\n{printed}"
