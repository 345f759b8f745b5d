"""Where the Chroma collections live: a folder this process owns, a server, or whatever client the caller has.

A source hands out the client and is the one seam at which errors of Chroma and httpx become ours. A folder
has one client and one owner process: two clients on one path fall apart without an error (a `get` shows
the new document while `query` still matches the old vector), and so do two processes.
"""

import os
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from threading import RLock
from typing import ClassVar, Protocol, TypeVar, cast
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import chromadb
import httpx
from chromadb.api import ClientAPI
from chromadb.api.models.Collection import Collection
from chromadb.api.shared_system_client import SharedSystemClient
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError
from filelock import FileLock, Timeout
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_exponential

from ko_integrations.errors import (
    ForkedStoreError,
    IndexOwnedError,
    IndexUnavailableError,
    InvalidInputError,
    KOError,
    NotAStoreError,
)
from ko_integrations.index.chroma_files import DATABASE, orphan_folders, segment_folder

__all__ = [
    "CallerClient",
    "EmbeddedFolder",
    "Server",
    "Source",
    "backend_errors",
    "clear",
    "collections",
    "drop",
    "is_url",
    "pages",
    "source_at",
]

# Chroma raises plain ValueError where it cannot connect or read an answer, AttributeError on a client that
# somebody closed, KeyError on an answer of something that is not Chroma.
_BACKEND_ERRORS = (
    ChromaError, httpx.HTTPError, httpx.InvalidURL, sqlite3.Error, OSError, ValueError, RuntimeError, AttributeError,
    KeyError,
)  # fmt: skip
Item = TypeVar("Item")

_REQUEST_SECONDS = 60.0
_NAMES_PAGE = 300
_MARKER = "ko-index"
_OWNED = "another process owns the Chroma folder {}"


@contextmanager
def backend_errors(doing: str) -> Iterator[None]:
    """Turn every error of the backend into IndexUnavailableError; ours pass."""
    try:
        yield
    except KOError:
        raise
    except _BACKEND_ERRORS as error:
        detail = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise IndexUnavailableError(f"{doing}: {detail}") from error


class Source(Protocol):
    """A client, its lifetime, and the seam around its calls."""

    @property
    def client(self) -> ClientAPI:
        """The client; another object after the source was opened anew."""
        ...

    @contextmanager
    def session(self, doing: str) -> Iterator[None]:
        """Guard calls: checks that the client is usable, takes turns where needed, maps errors."""
        ...

    def release(self) -> None:
        """Give up this use of the source; the last one closes it."""
        ...


class CallerClient:
    """A client that the caller made and closes.

    Chroma in this process fails a query with "Error finding id" while another thread writes: calls take turns,
    those of all clients of one database. A server keeps its own order.
    """

    _turns: ClassVar["WeakKeyDictionary[object, RLock]"] = WeakKeyDictionary()

    def __init__(self, client: ClientAPI) -> None:
        self.client = client
        self._pid = os.getpid()
        # The database behind it: the `_server` of a client; what a collection holds is that itself.
        server = getattr(client, "_server", client)
        alone = server is not None and not isinstance(getattr(server, "_session", None), httpx.Client)
        self._turn = self._turns.setdefault(server, RLock()) if alone else nullcontext()

    @contextmanager
    def session(self, doing: str) -> Iterator[None]:
        _check_process(self._pid)
        with self._turn, backend_errors(doing):
            yield

    def release(self) -> None:
        """The client is the caller's to close."""


class Server:
    """A Chroma server over HTTP.

    Opening waits up to `patience` seconds for a server that is still starting, during which it refuses
    connections or raises ValueError. A request takes at most a minute: the client itself knows no limit.

    Raises:
        InvalidInputError: not an http(s) URL with a host.
        IndexUnavailableError: no server answers in time.
    """

    def __init__(self, url: str, *, patience: float) -> None:
        self._pid = os.getpid()
        self.url = url
        try:
            parts = urlsplit(url)
            port = parts.port or (443 if parts.scheme == "https" else 8000)
        except ValueError as error:
            raise InvalidInputError("index", f"{url!r}: {error}") from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInputError("index", f"{url!r} is not an address such as http://localhost:8000")
        host, secure = parts.hostname, parts.scheme == "https"
        with backend_errors(f"Chroma server {url}"):
            for attempt in Retrying(
                retry=retry_if_exception_type((ChromaError, httpx.HTTPError, ValueError)),
                stop=stop_after_delay(patience), wait=wait_exponential(0.1, max=1.0), reraise=True,
            ):  # fmt: skip
                with attempt:
                    self.client: ClientAPI = chromadb.HttpClient(
                        host=host, port=port, ssl=secure, settings=_settings()
                    )
        session = getattr(getattr(self.client, "_server", None), "_session", None)
        if isinstance(session, httpx.Client):
            session.timeout = httpx.Timeout(_REQUEST_SECONDS)

    @contextmanager
    def session(self, doing: str) -> Iterator[None]:
        _check_process(self._pid)
        with backend_errors(f"Chroma server {self.url}, {doing}"):
            yield

    def release(self) -> None:
        with backend_errors("closing"):
            _close(self.client)


class EmbeddedFolder:
    """A Chroma folder, owned by this process through an OS lock that `kill -9` releases.

    Every index of this process on that folder shares one object and one client. The lock file lies
    beside the folder, so that it outlives the folder's contents.
    """

    _open: ClassVar[dict[Path, "EmbeddedFolder"]] = {}
    _registry = RLock()

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = RLock()
        self._pid = os.getpid()
        self._uses = 0
        self._client: ClientAPI | None = None
        self._inode: int | None = None
        path.parent.mkdir(parents=True, exist_ok=True)
        self._owner = FileLock(f"{path}.lock")
        try:
            self._owner.acquire(timeout=0)
        except Timeout as error:
            raise IndexOwnedError(_OWNED.format(path)) from error

    @classmethod
    def acquire(cls, where: str | os.PathLike[str]) -> "EmbeddedFolder":
        """Return the folder at `where`, made when it does not exist.

        Raises:
            IndexOwnedError: another process owns it.
            IndexUnavailableError: its database cannot be opened; it is still owned, `restart` clears it.
            NotAStoreError: it holds something else.
        """
        path = Path(where).resolve()
        with cls._registry, backend_errors(f"Chroma folder {path}"):
            folder = cls._open.get(path)
            if folder is None or folder._pid != os.getpid():
                folder = cls._open[path] = cls(path)
            folder._uses += 1
            return folder

    @classmethod
    def owned_elsewhere(cls, where: str | os.PathLike[str]) -> str | None:
        """Return a sentence that says so when another process owns the folder, without taking or making it."""
        path = Path(where).resolve()
        with cls._registry, backend_errors(f"Chroma folder {path}"):
            folder = cls._open.get(path)
            ours = folder is not None and folder._pid == os.getpid()
            if ours or not Path(f"{path}.lock").exists():
                return None
            probe = FileLock(f"{path}.lock")
            try:
                probe.acquire(timeout=0)
            except Timeout:
                return _OWNED.format(path)
            probe.release()
            return None

    @property
    def client(self) -> ClientAPI:
        if self._client is None:
            self.connect()
            assert self._client is not None
        return self._client

    @contextmanager
    def session(self, doing: str) -> Iterator[None]:
        _check_process(self._pid)
        # The client holds the interpreter lock anyway; taking turns costs nothing and lets scrub swap it.
        with self.lock, backend_errors(f"Chroma folder {self.path}, {doing}"):
            if self._client is not None and self._inode != _inode(self.path):
                raise IndexUnavailableError(
                    f"the Chroma folder {self.path} was deleted or replaced while open"
                )
            yield

    def connect(self) -> None:
        """Open the client."""
        with self.lock, backend_errors(f"Chroma folder {self.path}"):
            self._claim()
            ours = (self.path / _MARKER).exists() and (self.path / DATABASE).exists()
            alone = not self._is_shared()
            try:
                self._client = chromadb.PersistentClient(str(self.path), settings=_settings())
            except ChromaError:
                # A system that failed to start stays in Chroma's cache and would be handed out next time.
                if not self._is_shared():
                    SharedSystemClient._identifier_to_system.pop(str(self.path), None)
                raise
            self._inode = _inode(self.path)
            if ours and alone:
                # Not before: opening rolls back what a killed process left half done, which a look cannot.
                for orphan in orphan_folders(self.path):  # of collections that a killed process dropped
                    shutil.rmtree(orphan, ignore_errors=True)

    def disconnect(self) -> bool:
        """Close the client, so that its files can be worked on; False when somebody else in this process uses them."""
        with self.lock:
            client, self._client = self._client, None
            if client is None:
                return True
            _close(client)
            return not self._is_shared()

    def restart(self) -> None:
        """Clear the folder, whatever state it is in, and open it anew.

        Raises:
            IndexUnavailableError: this package did not make the folder, and so it may hold other data.
        """
        with self.lock, backend_errors(f"Chroma folder {self.path}"):
            if self.path.exists() and not (self.path / _MARKER).exists():
                raise IndexUnavailableError(
                    f"{self.path} is damaged and was not made by this package; move it away, then rebuild_index()"
                )
            self.disconnect()
            if self.path.exists():
                shutil.rmtree(self.path)
            self.connect()

    def release(self) -> None:
        with self._registry, self.lock:
            self._uses -= 1
            if self._uses > 0 or self._pid != os.getpid():
                return
            self._open.pop(self.path, None)
            try:
                with backend_errors(f"closing the Chroma folder {self.path}"):
                    self.disconnect()
            finally:
                self._owner.release()

    def _is_shared(self) -> bool:
        return SharedSystemClient._identifier_to_refcount.get(str(self.path), 0) > 0

    def _claim(self) -> None:
        """Mark a folder that we make, so that `restart` knows it may clear it."""
        if not self.path.exists() or not any(self.path.iterdir()):
            self.path.mkdir(exist_ok=True)
            (self.path / _MARKER).write_text(
                "A semantic index, made from the version log; can be rebuilt from it.\n"
            )
        elif not (self.path / _MARKER).exists() and not (self.path / "chroma.sqlite3").exists():
            raise NotAStoreError(f"{self.path} is neither empty nor a Chroma folder; it was left alone")


def clear(folder: str | os.PathLike[str]) -> None:
    """Drop every collection of a folder, if it is there.

    Raises:
        IndexOwnedError: another process owns it.
        IndexUnavailableError: this package did not make it.
    """
    if Path(folder).exists():
        source = EmbeddedFolder.acquire(folder)
        try:
            source.restart()
        finally:
            source.release()


def collections(client: ClientAPI) -> list[Collection]:
    """Return all collections, read page by page."""
    found: list[Collection] = []
    while True:
        page = client.list_collections(limit=_NAMES_PAGE, offset=len(found))
        found += page
        if len(page) < _NAMES_PAGE:
            return found


def is_url(where: object) -> bool:
    """Tell whether an index is named by an address rather than a path."""
    return isinstance(where, str) and re.match(r"[a-z]+://", where, re.IGNORECASE) is not None


def source_at(where: object, patience: float) -> Source:
    """Return the source that `where` names: a folder, a URL, or a client or collection of the caller's."""
    match where:
        case Collection():
            return CallerClient(cast(ClientAPI, where._client))
        case str() if is_url(where):
            return Server(where, patience=patience)
        case str() | os.PathLike():
            return EmbeddedFolder.acquire(where)
        case ClientAPI():
            return CallerClient(where)
    raise InvalidInputError("index", f"expected a folder, URL, Chroma client or collection, got {where!r}")


def drop(source: Source, name: str) -> None:
    """Delete a collection, if it exists; of a folder its files too, which Chroma leaves there."""
    files = segment_folder(source.path, name) if isinstance(source, EmbeddedFolder) else None
    with suppress(NotFoundError):
        source.client.delete_collection(name)
    if files is not None:
        shutil.rmtree(files[0], ignore_errors=True)


def pages(items: Sequence[Item], size: int) -> Iterator[list[Item]]:
    """Yield `items` in lists of at most `size`; no list is empty, for Chroma refuses that."""
    for start in range(0, len(items), size):
        yield list(items[start : start + size])


def _settings() -> Settings:
    return Settings(anonymized_telemetry=False)


def _check_process(pid: int) -> None:
    if pid != os.getpid():
        raise ForkedStoreError(
            "the semantic index was opened in another process; open it anew after the fork"
        )


def _inode(path: Path) -> int | None:
    try:
        return (path / "chroma.sqlite3").stat().st_ino
    except FileNotFoundError:
        return None


def _close(client: ClientAPI) -> None:
    client.close()  # type: ignore[attr-defined]
