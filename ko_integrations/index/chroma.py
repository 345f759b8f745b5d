"""The semantic index on Chroma: an embedded folder, a server, or a client or collection of the caller's.

Chroma is a cache here. Whatever it holds can be made again from the log, whatever it answers is checked
against the log, and whatever it raises is IndexUnavailableError.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from chromadb.api import ClientAPI
from chromadb.api.models.Collection import Collection

from ko_integrations.errors import (
    IndexUnavailableError,
    StoreClosedError,
)
from ko_integrations.index.chroma_collection import GenerationCollection, generation_name
from ko_integrations.index.chroma_files import clear_unused, segment_folder
from ko_integrations.index.chroma_scrub import scrub_folder
from ko_integrations.index.chroma_source import (
    EmbeddedFolder,
    Server,
    Source,
    drop,
    is_url,
    pages,
    source_at,
)
from ko_integrations.index.contract import Namespace
from ko_integrations.vectors import as_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ChromaIndex"]

_ELSEWHERE = (
    "Chroma collection {name}: deleted there, but the files, queue and back-ups of its server may hold it"
)
_SAME = 1e-4
_AUDIT_PAGE = 200
_AUDIT_HITS = 10


class ChromaIndex:
    """A `SemanticIndex` in one Chroma collection.

    Guarantees: cosine space; heads only, one Chroma id a slot; id, vector, document and the same metadata
    keys with every write; batches of the client's own maximum; thread-safe; ForkedStoreError after a fork.

    Attributes:
        generation: number of the collection among those that `rebuild_index` made for one store.
        dimension: length of a vector.
        embedded: it is a folder that this process owns.

    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     index = ChromaIndex.open(folder + "/chroma", name="demo", dimension=2)
    ...     index.upsert([("a",)], ["0" * 64], np.array([[1, 0]], dtype=np.float32), ["a fact"])
    ...     found = index.query(np.array([1, 0], dtype=np.float32), 1, ("a",))
    ...     index.close()
    >>> found[0][0] == "0" * 64
    True
    """

    def __init__(
        self,
        source: Source,
        *,
        name: str,
        generation: int,
        dimension: int,
        collection: Collection | None = None,
        owner: str | None = None,
    ) -> None:
        self.name = name
        self.generation = generation
        self.dimension = dimension
        self.embedded = isinstance(source, EmbeddedFolder)
        self._source = source
        self._collection = GenerationCollection(
            source, store=name, generation=generation, dimension=dimension, given=collection, owner=owner
        )
        self._owner = owner
        self._new_files = True
        self._closed = False

    @classmethod
    def open(
        cls,
        where: str | os.PathLike[str] | ClientAPI | Collection,
        *,
        name: str,
        generation: int = 1,
        dimension: int,
        owner: str | None = None,
        patience: float = 10.0,
    ) -> "ChromaIndex":
        """Open, or make, the index of the store `name`: in a folder, on a server, or where the caller says.

        `where` is a path, an address such as `http://localhost:8000`, a Chroma client or a Chroma collection.
        `owner` is the id of the store: a collection that records another one is refused. `patience` is how long,
        in seconds, to wait for a server that is starting.

        Raises:
            IndexMismatchError: the collection is another store's, not of cosine space, or of another dimension.
            IndexOwnedError: another process owns the folder.
            IndexUnavailableError: no server answers, or files are unreadable (see `salvage`).
            InvalidInputError: `where` is none of these.
            NotAStoreError: the folder holds something else.
        """
        index = cls._bind(
            where, name=name, generation=generation, dimension=dimension, owner=owner, patience=patience
        )
        try:
            with index._session("opening"):
                index._collection.open()
        except BaseException:
            index.close()
            raise
        return index

    @classmethod
    def salvage(
        cls,
        where: str | os.PathLike[str] | ClientAPI | Collection,
        *,
        name: str,
        generation: int = 1,
        dimension: int,
        owner: str | None = None,
        patience: float = 10.0,
    ) -> "ChromaIndex":
        """Open an empty index where `open` failed, whatever state the files are in.

        Raises:
            IndexMismatchError: the collection is another store's.
            IndexOwnedError: another process owns the folder.
            IndexUnavailableError: the server is gone, or the folder is damaged beyond this collection and
                was not made by this package.
        """
        index = cls._bind(
            where, name=name, generation=generation, dimension=dimension, owner=owner, patience=patience
        )
        try:
            index.reset()
        except BaseException:
            index.close()
            raise
        return index

    @classmethod
    def _bind(
        cls, where: object, *, name: str, generation: int, dimension: int, owner: str | None, patience: float
    ) -> "ChromaIndex":
        given = where if isinstance(where, Collection) else None
        source = source_at(where, patience)
        return cls(
            source, name=name, generation=generation, dimension=dimension, collection=given, owner=owner
        )

    @staticmethod
    def obstacle(where: object) -> str | None:
        """Return why an index cannot be opened at `where` now, as far as that shows without taking it."""
        try:
            if isinstance(where, str | os.PathLike) and not is_url(where):
                return EmbeddedFolder.owned_elsewhere(where)
            source = source_at(where, patience=0.0)
            try:
                with source.session("asking"):
                    source.client.get_max_batch_size()
            finally:
                source.release()
        except IndexUnavailableError as error:
            return str(error)
        return None

    @property
    def identity(self) -> str:
        """The id that Chroma gave the collection: another one when it is made anew."""
        with self._session("opening"):
            return str(self._collection.open().id)

    @property
    def collection_name(self) -> str:
        """The name of the Chroma collection."""
        return self._collection.name

    @property
    def created(self) -> bool:
        """Whether the collection was not there and was made, so that everything has to be indexed."""
        return self._collection.created

    def upsert(
        self,
        namespaces: Sequence[Namespace],
        ids: Sequence[str],
        vectors: "NDArray[np.float32]",
        texts: Sequence[str],
    ) -> None:
        """Set records; of an id that comes twice the last one counts.

        Raises:
            IndexUnavailableError: Chroma failed; a part may be set, and repeating is harmless.
            InvalidInputError: `vectors` of another shape, or NaN or infinity in it.
        """
        rows = as_rows(vectors, len(ids), self.dimension)
        last = list({id_: row for row, id_ in enumerate(ids)}.values())
        with self._session("upsert"):
            for page in pages(last, self._collection.page_size()):
                self._collection.call(
                    "upsert",
                    ids=[ids[row] for row in page],
                    embeddings=rows[page],
                    documents=[texts[row] for row in page],
                    metadatas=[self._collection.metadata(namespaces[row]) for row in page],
                )
            self._clear_new_files()

    def delete(self, ids: Sequence[str]) -> None:
        """Remove records. Ids it does not have are not even sent: a delete leaves its id in Chroma's queue."""
        with self._session("delete"):
            for page in pages(list(dict.fromkeys(ids)), self._collection.page_size()):
                if held := self._collection.call("get", ids=page, include=[])["ids"]:
                    self._collection.call("delete", ids=held)

    def query(
        self, vector: "NDArray[np.float32]", k: int, namespace: Namespace | None
    ) -> list[tuple[str, float]]:
        """Return the k nearest (id, cosine), best first; approximate, as HNSW is.

        Without a namespace there is no filter, which is several times faster on a large collection.
        """
        if k <= 0:
            return []
        query = as_rows(vector.reshape(1, -1), 1, self.dimension)
        where = self._collection.where(namespace)
        with self._session("query"):
            found = self._collection.call(
                "query", query_embeddings=query, n_results=k, where=where, include=["distances"]
            )
        return [
            (id_, 1.0 - float(distance))
            for id_, distance in zip(found["ids"][0], found["distances"][0], strict=True)
        ]

    def ids(self) -> Iterator[str]:
        """Yield every id, read page by page."""
        offset, where = 0, self._collection.where(None)
        while True:
            with self._session("get"):
                limit = self._collection.page_size()
                page = self._collection.call("get", where=where, limit=limit, offset=offset, include=[])[
                    "ids"
                ]
            yield from page
            if len(page) < limit:
                return
            offset += limit

    def count(self) -> int:
        """Return the number of records."""
        if self._collection.given is not None:
            return sum(1 for _ in self.ids())
        with self._session("count"):
            return int(self._collection.call("count"))

    def unreachable(self, ids: Sequence[str], vectors: "NDArray[np.float32]") -> list[str]:
        """Return the ids that a search by their own vector (row by row) does not find.

        HNSW loses records from its graph after many deletes and upserts, silently; a rebuild brings them back.
        """
        rows = as_rows(vectors, len(ids), self.dimension)
        where = self._collection.where(None)
        lost = []
        for page in pages(range(len(ids)), _AUDIT_PAGE):
            with self._session("self-query"):
                found = self._collection.call(
                    "query",
                    query_embeddings=rows[page],
                    n_results=_AUDIT_HITS,
                    where=where,
                    include=["distances"],
                )
            for row, hits, distances in zip(page, found["ids"], found["distances"], strict=True):
                crowded = len(distances) == _AUDIT_HITS and distances[-1] <= _SAME
                if ids[row] not in hits and not (crowded and self._reaches(ids[row], rows[row])):
                    lost.append(ids[row])
        return lost

    def scrub(self, ids: Sequence[str]) -> str | None:
        """Erase records: from an embedded folder every byte, elsewhere what a delete reaches.

        In a folder this also takes what earlier deletes and upserts left behind, of any record. It reopens
        the client, and may be repeated after a crash.

        Returns:
            None when nothing is left, else where bytes may live on.
        """
        if not ids:
            return None
        if isinstance(self._source, EmbeddedFolder):
            with self._session("scrub"):
                return scrub_folder(self._source, self._all_names(), ids, self.dimension)
        self.delete(ids)
        with self._session("delete"):
            for name in set(self._all_names()) - {self.collection_name}:
                collection = self._source.client.get_collection(name, embedding_function=None)
                for page in pages(list(dict.fromkeys(ids)), self._collection.page_size()):
                    if held := collection.get(ids=page, include=[])["ids"]:
                        collection.delete(ids=held)
        return _ELSEWHERE.format(name=self.collection_name)

    def generations(self) -> list[int]:
        """Return the generations of this store that exist, in order."""
        if self._collection.given is not None:
            return [self.generation]
        with self._session("list"):
            return self._collection.generations()

    def drop_generation(self, generation: int) -> None:
        """Drop the collection of another generation, if it exists."""
        if self._collection.given is not None or generation == self.generation:
            return
        with self._session("drop"):
            drop(self._source, generation_name(self.name, generation))

    def next_generation(self, dimension: int | None = None) -> "ChromaIndex":
        """Open the next generation, empty; fill it, switch to it, then `drop_generation` the old one.

        A collection that the caller gave has no generations: it is emptied instead.
        """
        where: Any = self._collection.given
        if isinstance(self._source, EmbeddedFolder):
            where = self._source.path
        elif isinstance(self._source, Server):
            where = self._source.url
        elif self._collection.given is None:
            where = self._source.client
        return self.salvage(
            where, name=self.name, generation=self.generation + 1, dimension=dimension or self.dimension,
            owner=self._owner,
        )  # fmt: skip

    def reset(self) -> None:
        """Start this generation empty, whatever state its files are in.

        Raises:
            IndexUnavailableError: the backend is gone, or damaged beyond what we may clear.
        """
        if self._collection.given is not None:
            self.delete(list(self.ids()))
            return
        self._new_files = True
        try:
            with self._session("reset"):
                self._collection.renew()
        except IndexUnavailableError:
            if not isinstance(self._source, EmbeddedFolder):
                raise
            self._source.restart()
            with self._session("reset"):
                self._collection.renew()

    def close(self) -> None:
        """Release the client; a folder's owner lock goes with the last index on it."""
        if not self._closed:
            self._closed = True
            self._source.release()

    def _all_names(self) -> list[str]:
        if self._collection.given is not None:
            return [self.collection_name]
        return [generation_name(self.name, generation) for generation in self.generations()]

    def _session(self, doing: str) -> AbstractContextManager[None]:
        if self._closed:
            raise StoreClosedError("the semantic index was closed")
        return self._source.session(doing)

    def _reaches(self, id_: str, vector: "NDArray[np.float32]") -> bool:
        with self._session("self-query"):
            found = self._collection.call(
                "query", query_embeddings=vector.reshape(1, -1), n_results=1, ids=[id_], include=[]
            )
        return bool(found["ids"][0])

    def _clear_new_files(self) -> None:
        """Clear the memory that Chroma wrote into the files of a new collection (see `chroma_files`)."""
        if self._new_files and isinstance(self._source, EmbeddedFolder):
            found = segment_folder(self._source.path, self.collection_name)
            if found is not None:
                clear_unused(found[0])
            self._new_files = False
