"""The files of an embedded Chroma folder: are they whole, and is nothing left in them of what was erased.

Chroma loads torn HNSW files without looking: some crash the process, some hang it, some answer with
other records. And deleting leaves the text in free pages and in the full-text index, and the vector in
the HNSW file as a dead element. Both can only be mended at the files.

An HNSW file, as Chroma's hnswlib writes it (persistence version 1): `header.bin` describes the layout,
`data_level0.bin` has an element of fixed size for each record, dead or alive (links, vector, label),
`length.bin` the length of each vector as it was given, `link_lists.bin` each element's upper links after
their size in bytes, and `index_metadata.pickle` the labels that live. A new file has room for a hundred
elements, and what lies beyond those in use is whatever the process's memory held: texts, for example.
"""

import mmap
import os
import pickle
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ko_integrations.errors import IndexDamagedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "DATABASE",
    "check_segment",
    "clear_unused",
    "compact_database",
    "orphan_folders",
    "overwrite_dead_vectors",
    "segment_folder",
    "traces",
]

DATABASE = "chroma.sqlite3"
_HEADER = struct.Struct("<iQQQQQQ")
_VERSION = 1
_SEGMENT = """
    SELECT s.id, m.seq_id FROM collections c JOIN segments s ON s.collection = c.id AND s.scope = 'VECTOR'
    LEFT JOIN max_seq_id m ON m.segment_id = s.id WHERE c.name = ?
"""


@dataclass(frozen=True)
class _Layout:
    """Where things are in an element of `data_level0.bin`, in bytes."""

    count: int
    size: int
    label: int
    vector: int

    @classmethod
    def read(cls, folder: Path) -> "_Layout":
        """Raises IndexDamagedError when the header is torn or of a version we do not know."""
        data = (folder / "header.bin").read_bytes()
        if len(data) < _HEADER.size:
            raise IndexDamagedError(f"{folder}: header.bin is truncated")
        version, _, capacity, count, size, label, vector = _HEADER.unpack_from(data)
        # An element: links | vector | label of 8 bytes.
        if version != _VERSION or not (count <= capacity and 0 < vector < label and label + 8 == size):
            raise IndexDamagedError(f"{folder}: header.bin is damaged or of an unknown version")
        return cls(count, size, label, vector)


class _LabelsOnly(pickle.Unpickler):
    """Reads the maps of `index_metadata.pickle`, which need no class."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"unexpected {module}.{name}")


def segment_folder(root: Path, collection: str) -> tuple[Path, bool] | None:
    """Return (folder of a collection's vectors, whether it was ever saved), None when there is none."""
    path = root / DATABASE
    if not path.exists():
        return None
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        row = database.execute(_SEGMENT, (collection,)).fetchone()
    return None if row is None else (root / str(row[0]), bool(row[1]))


def check_segment(root: Path, collection: str) -> None:
    """Check that the vector files of a collection are there and whole, before Chroma loads them.

    Compares sizes and structure, not every byte: enough for what truncation and a torn save leave.

    Raises:
        IndexDamagedError: they are not.
    """
    found = segment_folder(root, collection)
    if found is None:
        return
    folder, saved = found
    # Saved but not noted in the database is what a kill at the end of the first save leaves: Chroma
    # then loads the files and applies its queue again.
    if not saved and not (folder / "index_metadata.pickle").exists():
        return
    try:
        _check_files(folder)
    except FileNotFoundError as error:
        raise IndexDamagedError(f"{folder}: {Path(error.filename).name} is missing") from error


def _check_files(folder: Path) -> None:
    layout = _Layout.read(folder)
    for name, expected in (("data_level0.bin", layout.count * layout.size), ("length.bin", layout.count * 4)):
        if (folder / name).stat().st_size < expected:
            raise IndexDamagedError(f"{folder}: {name} is truncated")
    if not _links_are_whole((folder / "link_lists.bin").read_bytes(), layout.count):
        raise IndexDamagedError(f"{folder}: link_lists.bin is truncated")
    labels = _live_labels(folder)
    if len(labels) > layout.count:
        raise IndexDamagedError(f"{folder}: {len(labels)} records, {layout.count} vectors")


def _links_are_whole(data: bytes, count: int) -> bool:
    position = 0
    for _ in range(count):
        if position + 4 > len(data):
            return False
        position += 4 + int.from_bytes(data[position : position + 4], "little")
    return position <= len(data)


def clear_unused(folder: Path) -> None:
    """Overwrite what lies beyond the elements in use; harmless while the client is open, for it writes only those."""
    if not (folder / "header.bin").exists():
        return
    layout = _Layout.read(folder)
    for name, used in (("data_level0.bin", layout.count * layout.size), ("length.bin", layout.count * 4)):
        with (folder / name).open("r+b") as file:
            unused = file.seek(0, os.SEEK_END) - used
            if unused > 0:
                file.seek(used)
                file.write(bytes(unused))


def overwrite_dead_vectors(folder: Path) -> None:
    """Overwrite, in the saved files of a closed client, the vector of every element that is not a live record.

    Dead elements stay in the graph as waypoints, so each takes the vector of a live neighbour: searches
    pass through it as before, and it tells nothing that the neighbour does not.
    """
    clear_unused(folder)
    if not (folder / "index_metadata.pickle").exists():
        return
    layout = _Layout.read(folder)
    if layout.count == 0:
        return
    elements = np.memmap(
        folder / "data_level0.bin", dtype=np.uint8, mode="r+", shape=(layout.count, layout.size)
    )
    lengths = np.memmap(folder / "length.bin", dtype="<f4", mode="r+")
    labels = np.ascontiguousarray(elements[:, layout.label :]).view("<u8").ravel()
    alive = np.isin(labels, np.array(_live_labels(folder), dtype=np.uint64))
    for row in np.flatnonzero(~alive):
        elements[row, layout.vector : layout.label] = _stand_in(elements, alive, row, layout)
        lengths[row] = 1.0
    elements.flush()
    lengths.flush()


def _stand_in(
    elements: "NDArray[np.uint8]", alive: "NDArray[np.bool_]", row: np.intp, layout: _Layout
) -> "NDArray[np.uint8]":
    """Return the vector of a live neighbour of an element, as bytes; without one, any vector of length 1."""
    links = elements[row, : layout.vector].view("<u4")
    neighbours = links[1 : 1 + (int(links[0]) & 0xFFFF)]
    neighbours = neighbours[neighbours < layout.count]
    living = neighbours[alive[neighbours]]
    if len(living):
        return elements[living[0], layout.vector : layout.label]
    vector = np.random.default_rng().standard_normal((layout.label - layout.vector) // 4)
    return (vector / np.linalg.norm(vector)).astype("<f4").view(np.uint8)


def orphan_folders(root: Path) -> list[Path]:
    """Return folders of vectors that belong to no collection any more."""
    with closing(sqlite3.connect(f"{(root / DATABASE).as_uri()}?mode=ro", uri=True)) as database:
        known = {str(row[0]) for row in database.execute("SELECT id FROM segments")}
    return [path.parent for path in root.glob("*/header.bin") if path.parent.name not in known]


def compact_database(root: Path) -> None:
    """Drop the erased trigrams from the full-text index, and the free pages from the file.

    Raises:
        sqlite3.Error: somebody else holds the database, or this SQLite has no FTS5.
    """
    with closing(sqlite3.connect(root / DATABASE, isolation_level=None, timeout=10)) as database:
        database.execute("PRAGMA secure_delete = ON")
        database.execute(
            "INSERT INTO embedding_fulltext_search (embedding_fulltext_search) VALUES ('optimize')"
        )
        database.execute("VACUUM")


def traces(root: Path, needles: Sequence[bytes]) -> bool:
    """Tell whether a file of the folder holds any of `needles`."""
    return any(data.find(needle) >= 0 for data in _contents(root) for needle in needles)


def _contents(root: Path) -> Iterator[mmap.mmap]:
    for path in root.rglob("*"):
        if path.is_file() and path.stat().st_size:
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                yield data


def _live_labels(folder: Path) -> list[int]:
    try:
        with (folder / "index_metadata.pickle").open("rb") as file:
            return list(_LabelsOnly(file).load()["label_to_id"])
    except (pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError, IndexError) as error:
        raise IndexDamagedError(f"{folder}: index_metadata.pickle is damaged") from error
