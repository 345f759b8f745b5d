"""The semantic index on Chroma: an embedded folder, a server, or a client or collection of the caller's.

Chroma is a cache here. Whatever it holds can be made again from the log, whatever it answers is checked
against the log, and whatever it raises is IndexUnavailableError.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from chromadb.api import ClientAPI
from chromadb.api.models.Collection import Collection
from chromadb.errors import NotFoundError

from ko_integrations.errors import (
    IndexMismatchError,
    IndexUnavailableError,
    InvalidInputError,
    StoreClosedError,
)
from ko_integrations.index.chroma_files import check_segment, clear_unused, segment_folder
from ko_integrations.index.chroma_scrub import scrub_folder
from ko_integrations.index.chroma_source import (
    CallerClient,
    EmbeddedFolder,
    Server,
    Source,
    collection_names,
    drop,
    pages,
)
from ko_integrations.index.contract import Namespace
from ko_integrations.index.vectors import as_rows

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
        created: the collection was not there and was made, so that everything has to be indexed.

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
    ) -> None:
        self.name = name
        self.generation = generation
        self.dimension = dimension
        self.embedded = isinstance(source, EmbeddedFolder)
        self._source = source
        # A collection of the caller's may hold records of other people, and has no generations.
        self._given = collection
        self._handle: tuple[ClientAPI, Collection] | None = None
        self._batch: int | None = None
        # The first write makes the files, out of used memory (see chroma_files).
        self._new_files = True
        self.created = False
        self._closed = False

    @classmethod
    def open(
        cls,
        where: str | os.PathLike[str] | ClientAPI | Collection,
        *,
        name: str,
        generation: int = 1,
        dimension: int,
        patience: float = 10.0,
    ) -> "ChromaIndex":
        """Open, or make, the index of the store `name`: in a folder, on a server, or where the caller says.

        `where` is a path, an address such as `http://localhost:8000`, a Chroma client or a Chroma collection.
        `patience` is how long, in seconds, to wait for a server that is starting.

        Raises:
            IndexMismatchError: the collection is not of cosine space, or of another dimension.
            IndexOwnedError: another process owns the folder.
            IndexUnavailableError: no server answers, or files are unreadable (see `salvage`).
            InvalidInputError: `where` is none of these.
            NotAStoreError: the folder holds something else.
        """
        index = cls._bind(where, name=name, generation=generation, dimension=dimension, patience=patience)
        try:
            with index._session("opening"):
                index._collection()
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
        patience: float = 10.0,
    ) -> "ChromaIndex":
        """Open an empty index where `open` failed, whatever state the files are in.

        Raises:
            IndexOwnedError: another process owns the folder.
            IndexUnavailableError: the server is gone, or the folder is damaged beyond this collection and
                was not made by this package.
        """
        index = cls._bind(where, name=name, generation=generation, dimension=dimension, patience=patience)
        try:
            index.reset()
        except BaseException:
            index.close()
            raise
        return index

    @classmethod
    def _bind(
        cls, where: object, *, name: str, generation: int, dimension: int, patience: float
    ) -> "ChromaIndex":
        source: Source
        given = None
        match where:
            case Collection():
                source, given = CallerClient(cast(ClientAPI, where._client)), where
            case str() if re.match(r"[a-z]+://", where, re.IGNORECASE):
                source = Server(where, patience=patience)
            case str() | os.PathLike():
                source = EmbeddedFolder.acquire(where)
            case ClientAPI():
                source = CallerClient(where)
            case _:
                raise InvalidInputError(
                    "index", f"expected a folder, URL, Chroma client or collection, got {where!r}"
                )
        return cls(source, name=name, generation=generation, dimension=dimension, collection=given)

    @property
    def collection_name(self) -> str:
        """The name of the Chroma collection."""
        return self._given.name if self._given is not None else self._name_of(self.generation)

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
            for page in pages(last, self._page_size()):
                self._call(
                    "upsert",
                    ids=[ids[row] for row in page],
                    embeddings=rows[page],
                    documents=[texts[row] for row in page],
                    metadatas=[self._metadata(namespaces[row]) for row in page],
                )
            if self._new_files and isinstance(self._source, EmbeddedFolder):
                found = segment_folder(self._source.path, self.collection_name)
                if found is not None:
                    clear_unused(found[0])
                self._new_files = False

    def delete(self, ids: Sequence[str]) -> None:
        """Remove records. Ids it does not have are not even sent: a delete leaves its id in Chroma's queue."""
        with self._session("delete"):
            for page in pages(list(dict.fromkeys(ids)), self._page_size()):
                held = self._call("get", ids=page, include=[])["ids"]
                if held:
                    self._call("delete", ids=held)

    def query(
        self, vector: "NDArray[np.float32]", k: int, namespace: Namespace | None
    ) -> list[tuple[str, float]]:
        """Return the k nearest (id, cosine), best first; approximate, as HNSW is.

        Without a namespace there is no filter, which is several times faster on a large collection.
        """
        if k <= 0:
            return []
        query = as_rows(vector.reshape(1, -1), 1, self.dimension)
        where = self._where(namespace)
        with self._session("query"):
            found = self._call(
                "query", query_embeddings=query, n_results=k, where=where, include=["distances"]
            )
        return [
            (id_, 1.0 - float(distance))
            for id_, distance in zip(found["ids"][0], found["distances"][0], strict=True)
        ]

    def ids(self) -> Iterator[str]:
        """Yield every id, read page by page."""
        offset, where = 0, self._where(None)
        while True:
            with self._session("get"):
                limit = self._page_size()
                page = self._call("get", where=where, limit=limit, offset=offset, include=[])["ids"]
            yield from page
            if len(page) < limit:
                return
            offset += limit

    def count(self) -> int:
        """Return the number of records."""
        if self._given is not None:
            return sum(1 for _ in self.ids())
        with self._session("count"):
            return int(self._call("count"))

    def unreachable(self, ids: Sequence[str], vectors: "NDArray[np.float32]") -> list[str]:
        """Return the ids that a search by their own vector (row by row) does not find.

        HNSW loses records from its graph after many deletes and upserts, silently; a rebuild brings them back.
        """
        rows = as_rows(vectors, len(ids), self.dimension)
        where = self._where(None)
        lost = []
        for page in pages(range(len(ids)), _AUDIT_PAGE):
            with self._session("self-query"):
                found = self._call(
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
                return scrub_folder(self._source, self._name_of, self.generations(), ids, self.dimension)
        with self._session("delete"):
            for name in [self.collection_name] if self._given else map(self._name_of, self.generations()):
                collection = self._given or self._source.client.get_collection(name, embedding_function=None)
                for page in pages(list(dict.fromkeys(ids)), self._page_size()):
                    held = collection.get(ids=page, include=[])["ids"]
                    if held:
                        collection.delete(ids=held)
        return _ELSEWHERE.format(name=self.collection_name)

    def generations(self) -> list[int]:
        """Return the generations of this store that exist, in order."""
        if self._given is not None:
            return [self.generation]
        pattern = re.compile(re.escape(self._name_of(0)[:-1]) + r"([0-9]+)")
        with self._session("list"):
            names = collection_names(self._source.client)
        return sorted(int(match[1]) for match in map(pattern.fullmatch, names) if match)

    def drop_generation(self, generation: int) -> None:
        """Drop the collection of another generation, if it exists."""
        if self._given is not None or generation == self.generation:
            return
        with self._session("drop"):
            drop(self._source.client, self._name_of(generation))

    def next_generation(self, dimension: int | None = None) -> "ChromaIndex":
        """Open the next generation, empty; fill it, switch to it, then `drop_generation` the old one.

        A collection that the caller gave has no generations: it is emptied instead.
        """
        where: Any = self._given
        if isinstance(self._source, EmbeddedFolder):
            where = self._source.path
        elif isinstance(self._source, Server):
            where = self._source.url
        elif self._given is None:
            where = self._source.client
        return self.salvage(
            where, name=self.name, generation=self.generation + 1, dimension=dimension or self.dimension
        )

    def reset(self) -> None:
        """Start this generation empty, whatever state its files are in.

        Raises:
            IndexUnavailableError: the backend is gone, or damaged beyond what we may clear.
        """
        if self._given is not None:
            self.delete(list(self.ids()))
            return
        self._handle, self.created, self._new_files = None, True, True
        try:
            with self._session("reset"):
                drop(self._source.client, self.collection_name)
                self._collection()
        except IndexUnavailableError:
            if not isinstance(self._source, EmbeddedFolder):
                raise
            self._source.restart()
            with self._session("reset"):
                self._collection()

    def close(self) -> None:
        """Release the client; a folder's owner lock goes with the last index on it."""
        if not self._closed:
            self._closed = True
            self._handle = None
            self._source.release()

    def _session(self, doing: str) -> AbstractContextManager[None]:
        if self._closed:
            raise StoreClosedError("the semantic index was closed")
        return self._source.session(doing)

    # -- the collection ---------------------------------------------------------------------------

    def _name_of(self, generation: int) -> str:
        slug = re.sub(r"[^a-z0-9]+", "-", self.name.lower())[:40].strip("-")
        digest = sha256(self.name.encode()).hexdigest()[:12]
        return f"ko-{slug}-{digest}.g{generation}" if slug else f"ko-{digest}.g{generation}"

    def _collection(self) -> Collection:
        """Return the handle, opened and checked when there is none for the present client."""
        client = self._source.client
        if self._handle is None or self._handle[0] is not client:
            collection = self._given or self._open_collection(client)
            self._check(collection)
            self._handle = (client, collection)
        return self._handle[1]

    def _open_collection(self, client: ClientAPI) -> Collection:
        if isinstance(self._source, EmbeddedFolder):
            check_segment(self._source.path, self.collection_name)
        try:
            return client.get_collection(self.collection_name, embedding_function=None)
        except NotFoundError:
            if self._handle is not None:
                raise IndexUnavailableError(f"the collection {self.collection_name} was deleted") from None
        self.created = True
        return client.get_or_create_collection(
            self.collection_name,
            embedding_function=None,
            configuration={"hnsw": {"space": "cosine"}},
            metadata={"ko_store": self.name, "ko_dimension": self.dimension},
        )

    def _check(self, collection: Collection) -> None:
        settings = collection.configuration_json
        space = next((settings[kind]["space"] for kind in ("hnsw", "spann") if settings.get(kind)), None)
        if space != "cosine":
            raise IndexMismatchError(
                f"{collection.name} measures {space}, and that cannot be changed; cosine is needed"
            )
        dimension = collection.get_model()["dimension"] or (collection.metadata or {}).get("ko_dimension")
        if dimension not in (None, self.dimension):
            raise IndexMismatchError(
                f"{collection.name} holds vectors of dimension {dimension}, the embedder makes {self.dimension}: "
                "rebuild_index(embedder=...)"
            )

    def _call(self, method: str, **arguments: Any) -> Any:
        """Call a method of the collection; once more when somebody deleted and made it again."""
        try:
            return getattr(self._collection(), method)(**arguments)
        except NotFoundError:
            if self._handle is None or self._given is not None:
                raise
        # The handle knows the collection by an id; its name leads to the new one. Keep that there was one:
        # an index that silently starts empty would answer "nothing" for everything.
        self._handle = (self._handle[0], self._open_collection(self._source.client))
        self._check(self._handle[1])
        return getattr(self._handle[1], method)(**arguments)

    def _page_size(self) -> int:
        if self._batch is None:
            self._batch = max(1, self._source.client.get_max_batch_size())
        return self._batch

    def _metadata(self, namespace: Namespace) -> dict[str, str]:
        """Return the one key set that every record carries: Chroma merges keys, so none may come and go."""
        return {"ko_store": self.name, "ko_namespace": json.dumps(namespace, ensure_ascii=False)}

    def _where(self, namespace: Namespace | None) -> dict[str, Any] | None:
        wanted = [] if namespace is None else [{"ko_namespace": json.dumps(namespace, ensure_ascii=False)}]
        if self._given is not None:
            wanted.append({"ko_store": self.name})
        # Chroma takes one key alone, and "$and" only from two on.
        return {"$and": wanted} if len(wanted) > 1 else next(iter(wanted), None)

    def _reaches(self, id_: str, vector: "NDArray[np.float32]") -> bool:
        with self._session("self-query"):
            found = self._call(
                "query", query_embeddings=vector.reshape(1, -1), n_results=1, ids=[id_], include=[]
            )
        return bool(found["ids"][0])
