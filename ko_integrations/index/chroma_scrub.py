"""Erase records from an embedded Chroma folder so that no byte of them is left in any of its files."""

import shutil
import sqlite3
from collections.abc import Sequence

import numpy as np

from ko_integrations.index.chroma_files import (
    check_segment,
    clear_unused,
    compact_database,
    orphan_folders,
    overwrite_dead_vectors,
    segment_folder,
    traces,
)
from ko_integrations.index.chroma_source import EmbeddedFolder, pages

__all__ = ["scrub_folder"]

# Chroma saves its vectors, and empties its queue, once so many writes have come together.
_SAVE_SOON = 2
# What is written and deleted to that end. Always these ids: what a crash leaves of them the next scrub deletes.
_SCRATCH = [f"scratch-{number}" for number in range(_SAVE_SOON)]
_TRACED = 16


def scrub_folder(
    folder: EmbeddedFolder, names: Sequence[str], ids: Sequence[str], dimension: int
) -> str | None:
    """Erase `ids` from the collections `names`; None when nothing is left, else where bytes may live on.

    Deleting leaves text in free pages, in the full-text index and in the queue, and the vector in the HNSW
    file. So: make Chroma save at once, delete, write and delete something else (which saves the deletion and
    empties the queue), close; then overwrite dead vectors and compact the database; then look. Each step may
    be repeated: after a crash in between, the next scrub completes it. The caller holds the folder's lock.
    """
    before = {name: _save_soon(folder, name) for name in names}
    folder.disconnect()
    for name in names:
        _delete_and_flush(folder, name, ids, dimension, before[name])
    alone = folder.disconnect()
    try:
        for name in names:
            found = segment_folder(folder.path, name)
            if found is not None:
                overwrite_dead_vectors(found[0])
        for orphan in orphan_folders(folder.path):
            shutil.rmtree(orphan, ignore_errors=True)
        compact_database(folder.path)
    except sqlite3.Error as error:
        return f"{folder.path}: its database could not be compacted ({error})"
    finally:
        folder.connect()
    for name in names:
        _load_and_clear(folder, name)
    if not alone:
        return (
            f"{folder.path}: another Chroma client of this process has it open and may write old vectors back"
        )
    if traces(folder.path, [id_.encode() for id_ in ids[:_TRACED]]):
        return f"{folder.path}: this release of Chroma keeps records where we do not know to erase them"
    return None


def _load_and_clear(folder: EmbeddedFolder, name: str) -> None:
    """Load the vectors now: of a collection that is empty Chroma makes new files, out of used memory."""
    folder.client.get_collection(name, embedding_function=None).get(limit=1, include=[])
    found = segment_folder(folder.path, name)
    if found is not None:
        clear_unused(found[0])


def _save_soon(folder: EmbeddedFolder, name: str) -> int:
    """Lower the collection's save threshold, read when it is loaded next; return what it was."""
    check_segment(folder.path, name)
    collection = folder.client.get_collection(name, embedding_function=None)
    threshold = int(collection.configuration_json["hnsw"]["sync_threshold"])
    if threshold != _SAVE_SOON:
        collection.modify(configuration={"hnsw": {"sync_threshold": _SAVE_SOON}})
        return threshold
    # A scrub was cut short; what it had found is Chroma's default.
    return 1_000


def _delete_and_flush(
    folder: EmbeddedFolder, name: str, ids: Sequence[str], dimension: int, threshold: int
) -> None:
    client = folder.client
    collection = client.get_collection(name, embedding_function=None)
    dimension = collection.get_model()["dimension"] or dimension
    for page in pages(list(dict.fromkeys(ids)), client.get_max_batch_size()):
        held = collection.get(ids=page, include=[])["ids"]
        if held:
            collection.delete(ids=held)
    vectors = np.random.default_rng().standard_normal((_SAVE_SOON, dimension)).astype(np.float32)
    keys = {"ko_namespace": ""}
    collection.upsert(
        ids=_SCRATCH, embeddings=vectors, documents=["scratch"] * _SAVE_SOON, metadatas=[keys] * _SAVE_SOON
    )
    collection.delete(ids=_SCRATCH)
    collection.modify(configuration={"hnsw": {"sync_threshold": threshold}})
