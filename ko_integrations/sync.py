"""The outbox drain: from the log to the semantic index, replayable at every point.

The log is written first and acknowledged; the index follows. A claimed slot is indexed as its head is
*now*, and its outbox row goes only if nothing newer was marked meanwhile and the index is still the one it was
applied to, so a crash anywhere, or a rebuild in another process, means at most that work is done twice.
"""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from ko_integrations.encoding import BATCH, Encoding
from ko_integrations.errors import (
    EmbedderError,
    IndexMismatchError,
    IndexOwnedError,
    IndexUnavailableError,
    KOError,
    StoreClosedError,
)
from ko_integrations.index.contract import SemanticIndex
from ko_integrations.index.opening import IndexOpener
from ko_integrations.log.contract import Namespace, Pending, Version, VersionLog
from ko_integrations.protocols import Embedder
from ko_integrations.records import version_text
from ko_integrations.testing import faults

__all__ = ["STORE_ID", "Progress", "Synchroniser"]

NUDGE_AFTER = 5_000  # writes; a bulk load is indexed in the background once it is over
QUIET_SECONDS = 2.0
RETRY_SECONDS = 5.0

STORE_ID = "id"  # state: what tells this store from every other one
_SCRUB = "scrub"  # state: the log's files still hold erased bytes
_GENERATION = "generation"  # state: number of the index in use
_INDEXED = "index"  # state: which index the outbox speaks of

Progress = Callable[[int, int], None]
"""Called with (done, total)."""


class Synchroniser:
    """Keeps the semantic index in step with the log. One a store handle; thread-safe."""

    def __init__(
        self,
        log: VersionLog,
        embedder: Embedder,
        opener: IndexOpener | None,
        now: Callable[[], int],
        in_batch: Callable[[], bool] = lambda: False,
    ) -> None:
        self.log = log
        self.encoding = Encoding(log, embedder)
        self.opener = opener
        self.now = now
        self.in_batch = in_batch
        self._index: SemanticIndex | None = None
        self._generation = -1
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._worker: threading.Thread | None = None
        self._written = 0
        self._last_write = 0.0
        self._retry_at = 0.0
        self.degraded: str | None = None
        self.last_error: str | None = None

    # -- the index ----------------------------------------------------------------------------------------
    @property
    def indexed(self) -> bool:
        """Whether this store has a semantic index besides the log's vectors."""
        return self.opener is not None

    def alone(self) -> AbstractContextManager[object]:
        """Keep the other threads of this handle from index and outbox for the length of a `with` block."""
        return self._lock

    def generation(self) -> int:
        """Return the number of the index in use, in every process."""
        return int(self.log.get_state(_GENERATION) or 0)

    def index(self) -> SemanticIndex | None:
        """Return the open index, or None where there is none or it cannot be reached now (see `degraded`).

        Raises:
            IndexMismatchError: it is another store's, or of another space or dimension.
        """
        if self.opener is None:
            return None
        with self._lock:
            generation = self.generation()
            if self._index is not None and generation == self._generation:
                return self._index
            if time.monotonic() < self._retry_at:
                return None
            self.release()
            try:
                index = self.opener.open(generation, self.encoding.dimension)
            except (IndexUnavailableError, IndexOwnedError) as error:
                self._lost(error)
                return None
            except IndexMismatchError as error:
                self.degraded = str(error)
                raise
            if self.log.get_state(_INDEXED) != index.identity:
                # Not the one the outbox speaks of: new, made anew, or an older one put back. All is due.
                with self.log.transaction():
                    self.log.mark_all()
                    self.log.set_state({_INDEXED: index.identity})
            self._use(index, generation)
            return index

    def switch(self, index: SemanticIndex, generation: int) -> None:
        """Make `index` the one in use, here and (part of the open transaction) in every other process."""
        self.log.set_state({_GENERATION: str(generation), _INDEXED: index.identity})
        self._use(index, generation)

    def _use(self, index: SemanticIndex, generation: int) -> None:
        self._index, self._generation, self.degraded = index, generation, None

    def trouble(self) -> str | None:
        """Return why the index cannot be used now, or None; also where it was not asked for yet."""
        if self.opener is None or self.in_batch():
            return self.degraded
        obstacle = self.opener.obstacle()
        if obstacle is None and self.degraded is not None:
            try:
                self.index()
            except (EmbedderError, IndexMismatchError) as error:
                return str(error)
        return obstacle or self.degraded

    def lost(self, error: KOError) -> None:
        """Note that the index failed: reads search exactly, the outbox waits, a later call tries again."""
        with self._lock:
            self.release()
            self._lost(error)

    def _lost(self, error: KOError) -> None:
        self.degraded = str(error)
        self._retry_at = time.monotonic() + RETRY_SECONDS

    def release(self) -> None:
        """Close the index, if it is open."""
        index, self._index = self._index, None
        if index is not None:
            index.close()

    # -- drain --------------------------------------------------------------------------------------------
    def drain(self, namespace: Namespace | None = None, *, progress: Progress | None = None) -> int:
        """Index what waits, of one namespace or of all; return how many slots were settled.

        Raises:
            EmbedderError, IndexMismatchError: nothing is lost, the slots go on waiting.
        """
        if self.in_batch():
            return 0  # what is not committed must not reach the index, which cannot be rolled back
        done = 0
        with self._lock:
            if namespace is None and self.log.get_state("dimension") is not None:
                self.index()  # opening one that is not what the log remembers makes everything due
            total = self.log.pending(namespace)
            if self.indexed and self.log.erasing():
                self.finish_erasures()  # of a process that could not reach the index itself
            while not self._stop.is_set():
                batch = self.log.claim(namespace, BATCH, now=self.now())
                if not batch or (settled := self._settle(batch)) is None:
                    break
                done += settled
                if progress:
                    progress(done, max(total, done))
            if namespace is None:
                self._written = 0
        return done

    def _settle(self, batch: Sequence[Pending]) -> int | None:
        """Apply and confirm one batch; return how many slots were settled, None when the index cannot be reached."""
        faults.reach("drain:claimed")
        if self.indexed:
            try:
                if not self._bring([pending.slot for pending in batch]):
                    return None
            except IndexUnavailableError as error:
                self.lost(error)
                return None
            faults.reach("drain:upserted")
        with self.log.transaction():
            if self.indexed and self.generation() != self._generation:
                return 0  # applied to an index that was replaced meanwhile: claimed again, for the new one
            self.log.confirm(batch)
        faults.reach("drain:confirmed")
        return len(batch)

    def _bring(self, slots: Sequence[bytes]) -> bool:
        """Bring the records of `slots` to their heads; False when the index cannot be reached."""
        index = self.index()
        if index is None:
            return False
        self.apply(index, slots)
        return True

    def apply(self, index: SemanticIndex, slots: Sequence[bytes]) -> None:
        """Bring the records of `slots` in an index to their heads, again while these change under us."""
        todo = list(slots)
        while todo:
            heads = self.log.heads(todo, self.now())
            if heads:
                self.upsert(index, list(heads.values()))
            if gone := [slot.hex() for slot in todo if slot not in heads]:
                index.delete(gone)
            # Another process may have settled a newer head between our read and our upsert.
            after = self.log.heads(todo, self.now())
            todo = [slot for slot in todo if _sequence(heads.get(slot)) != _sequence(after.get(slot))]

    def upsert(self, index: SemanticIndex, versions: Sequence[Version]) -> None:
        """Set the records of versions in an index."""
        vectors = self.encoding.vectors_of(versions)
        addresses = [version.first.address for version in versions]
        index.upsert(
            [address.namespace for address in addresses],
            [address.slot.hex() for address in addresses],
            vectors,
            [version_text(version) for version in versions],
        )

    # -- in the background --------------------------------------------------------------------------------
    def wrote(self, count: int) -> None:
        """Note writes; after a bulk load a background thread drains once the writer is quiet."""
        self._written += count
        self._last_write = time.monotonic()
        if self._written < NUDGE_AFTER or not self.indexed or (self._worker and self._worker.is_alive()):
            return
        self._worker = threading.Thread(target=self._drain_when_quiet, name="ko-drain", daemon=True)
        self._worker.start()

    def _drain_when_quiet(self) -> None:
        while time.monotonic() - self._last_write < QUIET_SECONDS:
            if self._stop.wait(QUIET_SECONDS / 4):
                return
        try:
            self.drain()
        except StoreClosedError:
            return
        except KOError as error:  # reported by stats(); the next drain tries again
            self.last_error = str(error)

    def close(self) -> None:
        """Stop the background thread; drain once more if the model is loaded anyway; release the index."""
        self._stop.set()
        if self._worker is not None:
            self._worker.join()
        self._stop.clear()
        try:
            if self._index is not None:
                self.drain()
        except KOError as error:  # the outbox keeps what waits; closing must not fail for it
            self.last_error = str(error)
        finally:
            self._stop.set()
            with self._lock:
                self.release()

    # -- erasing ------------------------------------------------------------------------------------------
    def finish_erasures(self) -> list[str]:
        """Make index and files forget what the log has erased; return where bytes may live on."""
        slots = [slot for _, slot in self.log.erasing()]
        due = self.log.get_state(_SCRUB) is not None
        if not slots and not due:
            return []
        with self._lock:
            remaining: list[str] = []
            if self.indexed and slots:
                try:
                    remaining = self._erase_from_index(slots)
                except (EmbedderError, IndexMismatchError, IndexUnavailableError) as error:
                    if isinstance(error, IndexUnavailableError):
                        self.lost(error)
                    # The log goes on remembering what the index has to forget.
                    return [f"the semantic index, which cannot be used now ({error}); it is retried"]
            clean = self.log.erased(slots)
            if clean == due:  # an open reader keeps old pages until it ends
                self.log.set_state({_SCRUB: None if clean else "due"})
            if not clean:
                remaining.append(
                    "the database's write-ahead log, replicas and back-ups, or a reader's open snapshot"
                )
            faults.reach("erase:done")
        return remaining

    def _erase_from_index(self, slots: Sequence[bytes]) -> list[str]:
        """Scrub the index; return where bytes may live on.

        Raises:
            EmbedderError, IndexMismatchError, IndexUnavailableError: it is not done.
        """
        index = self.index()
        if index is None:
            raise IndexUnavailableError(self.degraded or "it is not open")
        reason = index.scrub([slot.hex() for slot in slots])
        faults.reach("erase:scrubbed")
        self.apply(index, list(self.log.heads(slots, self.now())))
        return [reason] if reason else []


def _sequence(version: Version | None) -> int | None:
    return None if version is None else version.first.sequence
