"""The Chroma collection behind one generation of an index: its name, its handle, and calls to it."""

import json
import re
from hashlib import sha256
from typing import Any

from chromadb.api import ClientAPI
from chromadb.api.collection_configuration import CreateHNSWConfiguration
from chromadb.api.models.Collection import Collection
from chromadb.errors import NotFoundError

from ko_integrations.errors import IndexMismatchError, IndexUnavailableError
from ko_integrations.index.chroma_files import check_segment
from ko_integrations.index.chroma_source import EmbeddedFolder, Source, collections, drop
from ko_integrations.index.contract import Namespace

__all__ = ["GenerationCollection", "generation_name"]

_METADATA_STORE = "ko_store"
_METADATA_OWNER = "ko_owner"
_METADATA_NAMESPACE = "ko_namespace"

# Facts are short texts and much alike. In the default graph (16 neighbours, 100 candidates) some of them lose
# their last link as others are updated, and no query finds them again; with these less than half as many do.
_HNSW: CreateHNSWConfiguration = {"space": "cosine", "max_neighbors": 32, "ef_construction": 200}


def generation_name(store: str, generation: int) -> str:
    """Return the name of a generation's collection: of letters that Chroma allows, different for every store.

    >>> generation_name("Alice's memory", 2)
    'ko-alice-s-memory-58ef38f0c9a3.g2'
    """
    slug = re.sub(r"[^a-z0-9]+", "-", store.lower())[:40].strip("-")
    digest = sha256(store.encode()).hexdigest()[:12]
    return f"ko-{slug}-{digest}.g{generation}" if slug else f"ko-{digest}.g{generation}"


class GenerationCollection:
    """Finds or makes the collection when it is first called; the caller holds a session of the source.

    A collection that the caller of the index gave may hold records of other people: ours carry the store's
    name, and every search asks for it. A collection, and all generations of one name, belong to one store: the
    one whose id (`owner`) their metadata holds. One without an owner is taken over.

    Attributes:
        created: it was not there and was made.
    """

    def __init__(
        self, source: Source, *, store: str, generation: int, dimension: int, given: Collection | None,
        owner: str | None,
    ) -> None:  # fmt: skip
        self.given = given
        self.name = given.name if given is not None else generation_name(store, generation)
        self.created = False
        self._source = source
        self._store = store
        self._dimension = dimension
        self._owner = owner
        self._handle: tuple[ClientAPI, Collection] | None = None
        self._batch: int | None = None

    def open(self) -> Collection:
        """Return the handle, opened and checked when there is none for the present client.

        Raises:
            IndexMismatchError: another store's, not of cosine space, or of another dimension.
            IndexUnavailableError: files are damaged, or the collection was deleted since it was opened.
        """
        client = self._source.client
        if self._handle is None or self._handle[0] is not client:
            collection = self.given if self.given is not None else self._find_or_make(client)
            self._check(collection)
            self._handle = (client, collection)
        return self._handle[1]

    def call(self, method: str, **arguments: Any) -> Any:
        """Call a method of the collection; once more when somebody deleted and made it again."""
        try:
            return getattr(self.open(), method)(**arguments)
        except NotFoundError:
            if self._handle is None or self.given is not None:
                raise
        # The handle knows the collection by an id; its name leads to the new one.
        client = self._handle[0]
        collection = self._find_or_make(client)
        self._check(collection)
        self._handle = (client, collection)
        return getattr(collection, method)(**arguments)

    def renew(self) -> None:
        """Drop the collection, if there is one, and make it anew."""
        self._handle, self.created = None, True
        self.generations()
        drop(self._source, self.name)
        self.open()

    def generations(self) -> list[int]:
        """Return the generations of this name that exist, in order.

        Raises:
            IndexMismatchError: they are another store's.
        """
        pattern = re.compile(re.escape(generation_name(self._store, 0)[:-1]) + r"([0-9]+)")
        found = []
        for collection in collections(self._source.client):
            if match := pattern.fullmatch(collection.name):
                self._check_owner(collection)
                found.append(int(match[1]))
        return sorted(found)

    def page_size(self) -> int:
        """Return how many records the client takes at once."""
        if self._batch is None:
            self._batch = max(1, self._source.client.get_max_batch_size())
        return self._batch

    def metadata(self, namespace: Namespace) -> dict[str, str]:
        """Return the one key set that every record carries: Chroma merges keys, so none may come and go."""
        keys = {_METADATA_NAMESPACE: _text_of(namespace)}
        # A key is a row more in Chroma's database: in a collection of our own the store goes without saying.
        return keys if self.given is None else {**keys, _METADATA_STORE: self._store}

    def where(self, namespace: Namespace | None) -> dict[str, Any] | None:
        """Return the filter that leaves our records of a namespace, or all of ours."""
        wanted = [] if namespace is None else [{_METADATA_NAMESPACE: _text_of(namespace)}]
        if self.given is not None:
            wanted.append({_METADATA_STORE: self._store})
        # Chroma takes one key alone, and "$and" only from two on.
        return {"$and": wanted} if len(wanted) > 1 else next(iter(wanted), None)

    def _find_or_make(self, client: ClientAPI) -> Collection:
        if isinstance(self._source, EmbeddedFolder):
            check_segment(self._source.path, self.name)
        try:
            return client.get_collection(self.name, embedding_function=None)
        except NotFoundError:
            # One that vanished is not made again: an index that silently starts empty answers "nothing".
            if self._handle is not None:
                raise IndexUnavailableError(f"the collection {self.name} was deleted") from None
        self.generations()
        self.created = True
        metadata = {_METADATA_STORE: self._store, "ko_dimension": self._dimension}
        return client.get_or_create_collection(
            self.name,
            embedding_function=None,
            configuration={"hnsw": _HNSW},
            metadata=metadata if self._owner is None else {**metadata, _METADATA_OWNER: self._owner},
        )

    def _check_owner(self, collection: Collection) -> str | None:
        """Return the owner that a collection records, None if it records none.

        Raises:
            IndexMismatchError: it is another store's.
        """
        owner = (collection.metadata or {}).get(_METADATA_OWNER)
        if self._owner is not None and owner not in (None, self._owner):
            raise IndexMismatchError(
                f"the Chroma collection {collection.name} belongs to another store",
                "index" if self.given else "collection",
            )
        return None if owner is None else str(owner)

    def _check(self, collection: Collection) -> None:
        known = self._check_owner(collection)
        settings = collection.configuration_json
        space = next((settings[kind]["space"] for kind in ("hnsw", "spann") if settings.get(kind)), None)
        if space != "cosine":
            raise IndexMismatchError(
                f"{collection.name} measures {space}, and that cannot be changed; cosine is needed"
            )
        dimension = collection.get_model()["dimension"] or (collection.metadata or {}).get("ko_dimension")
        if dimension is None:
            # A handle knows the dimension only if there were vectors when it was made.
            held = collection.get(limit=1, include=["embeddings"])["embeddings"]
            dimension = len(held[0]) if held is not None and len(held) else None
        if dimension not in (None, self._dimension):
            raise IndexMismatchError(
                f"{collection.name} holds vectors of dimension {dimension}, the embedder makes {self._dimension}",
                "encode",
            )
        # What was made with the metadata "hnsw:space" cannot be given other metadata: it goes without an owner.
        metadata = collection.metadata or {}
        if self._owner is not None and known is None and "hnsw:space" not in metadata:
            collection.modify(metadata={**metadata, _METADATA_OWNER: self._owner})


def _text_of(namespace: Namespace) -> str:
    return json.dumps(namespace, ensure_ascii=False)
