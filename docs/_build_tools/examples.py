"""A griffe extension: doctest examples in docstrings are shown as code, wherever in the docstring they stand."""

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(
    r"^(?P<indent> *)>>> .*\n?(?:^(?P=indent)(?!\s*$).*\n?)*", re.MULTILINE
)


class Examples(griffe.Extension):
    """Fences paragraphs that start with `>>>`."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(_fenced, obj.docstring.value)


def _fenced(example: re.Match[str]) -> str:
    indent = example["indent"]
    return f"{indent}```pycon\n{example[0].rstrip()}\n{indent}```\n"
