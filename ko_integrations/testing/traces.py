"""Look for what was erased in the bytes of every file of a folder."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["find_traces"]

_SAME = 0.999
_PROBE = 1e-2


def find_traces(
    folder: Path,
    *,
    texts: Mapping[str, str] | None = None,
    vectors: "Mapping[str, NDArray[np.float32]] | None" = None,
) -> dict[str, list[str]]:
    """Return, for each name whose text or vector is found in a file, the files.

    A text is looked for in any case, as UTF-8, as UTF-16, and escaped as JSON once and twice; a hex digest also as
    the bytes it stands for. A vector is looked for as float32 at any offset, up to scale and to a cosine of 0.999:
    indexes normalise what they are given.

    >>> find_traces(Path("no such folder"), texts={"secret": "Paris"})
    {}
    """
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        lowered = data.lower()
        for name, text in (texts or {}).items():
            if any(form in data or form.lower() in lowered for form in _forms(text)):
                found.setdefault(name, []).append(path.name)
        for name, vector in (vectors or {}).items():
            if _holds_vector(data, vector):
                found.setdefault(name, []).append(path.name)
    return found


def _forms(text: str) -> Iterator[bytes]:
    once = json.dumps(text)
    yield text.encode()
    yield text.encode("utf-16-le")
    yield once[1:-1].encode()
    yield json.dumps(once)[3:-3].encode()
    if len(text) == 64 and set(text) <= set("0123456789abcdef"):
        yield bytes.fromhex(text)


def _holds_vector(data: bytes, vector: "NDArray[np.float32]") -> bool:
    return any(
        _same_direction(window, vector) for shift in range(4) for window in _windows(data[shift:], vector)
    )


def _windows(data: bytes, vector: "NDArray[np.float32]") -> Iterator["NDArray[np.float64]"]:
    """Yield the runs of numbers whose two largest stand in the ratio in which the vector's do."""
    numbers = np.frombuffer(data[: len(data) // 4 * 4], dtype="<f4")
    count = len(numbers) - len(vector) + 1
    if count < 1:
        return
    first, second = (int(place) for place in np.argsort(-np.abs(vector))[:2])
    with np.errstate(all="ignore"):
        ratio = numbers[second : second + count] / numbers[first : first + count]
        starts = np.flatnonzero(np.abs(ratio - vector[second] / vector[first]) < _PROBE)
        for start in starts:
            yield numbers[start : start + len(vector)].astype(np.float64)


def _same_direction(window: "NDArray[np.float64]", vector: "NDArray[np.float32]") -> bool:
    with np.errstate(all="ignore"):
        length = float(np.linalg.norm(window) * np.linalg.norm(vector))
        return bool(np.isfinite(length) and length > 0 and float(window @ vector) / length > _SAME)
