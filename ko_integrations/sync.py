"""The outbox drain: from the log to the semantic index, replayable at every point.

The log is written first and acknowledged; the index follows. A claimed slot is indexed as its head is
*now*, and its outbox row goes only if nothing newer was marked meanwhile, so a crash anywhere means at most
that work is done twice.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from ko_integrations.embeddings import as_embedder
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
from ko_integrations.log.contract import Namespace, Pending, Scope, Version, VersionLog
from ko_integrations.log.pages import each_head
from ko_integrations.protocols import Embedder
from ko_integrations.records import version_text
from ko_integrations.testing import faults

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Progress", "Synchroniser", "VerifyReport"]

BATCH = 256
NUDGE_AFTER = 5_000  # writes; a bulk load is indexed in the background once it is over
QUIET_SECONDS = 2.0
RETRY_SECONDS = 5.0

_SCRUB = "scrub"  # state: the log's files still hold erased bytes

Progress = Callable[[int, int], None]
"""Called with (done, total)."""


class VerifyReport(BaseModel):
    """What `verify` found; `ok` when nothing is wrong.

    Attributes:
        log: what is wrong with the log's own heads.
        missing: heads that the index lacks and that do not wait to be indexed.
        extra: index records without a head.
        unreachable: heads in the index that their own vector does not find.
        pending: slots that wait to be indexed.
        degraded: why the index could not be compared, if so.
    """

    model_config = ConfigDict(frozen=True)

    log: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()
    pending: int = 0
    degraded: str | None = None

    @property
    def ok(self) -> bool:
        """Whether log and index agree."""
        return not (self.log or self.missing or self.extra or self.unreachable or self.degraded)


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
        self._log = log
        self._embedder = embedder
        self._opener = opener
        self._now = now
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

    # -- vectors ------------------------------------------------------------------------------------------
    @property
    def embedder(self) -> Embedder:
        """The embedder, checked against the model that the stored vectors were made with.

        Raises:
            IndexMismatchError: another model made them; names `rebuild_index(embedder=...)`.
        """
        recorded = self._log.get_state("model")
        if recorded is None:
            self._log.set_state(
                {"model": self._embedder.model_id, "dimension": str(self._embedder.dimension)}
            )
        elif recorded != self._embedder.model_id:
            raise IndexMismatchError(
                f"this store's vectors were made by {recorded!r}, the embedder is {self._embedder.model_id!r}: "
                "open it with the first, or call rebuild_index(embedder=...) to encode everything again"
            )
        return self._embedder

    @property
    def dimension(self) -> int:
        """Length of the vectors of this store."""
        recorded = self._log.get_state("dimension")
        return int(recorded) if recorded else self.embedder.dimension

    def vectors_of(self, versions: Sequence[Version]) -> "NDArray[np.float32]":
        """Return the vectors of versions, shape (n, dimension); what was never encoded is encoded now, and kept."""
        return self.vectors_at(
            [version.first.sequence for version in versions], lambda row: version_text(versions[row])
        )

    def vectors_at(self, sequences: Sequence[int], text_of: Callable[[int], str]) -> "NDArray[np.float32]":
        """Return the vectors of versions by record sequence; `text_of` gives a row's text, should it need encoding."""
        import numpy as np

        matrix = np.zeros((len(sequences), self.dimension), dtype=np.float32)
        stored = self._log.vectors(sequences)
        missing = []
        for row, sequence in enumerate(sequences):
            blob = stored.get(sequence)
            if blob is None or len(blob) != matrix.shape[1] * 4:
                missing.append(row)
            else:
                matrix[row] = np.frombuffer(blob, dtype="<f4")
        for start in range(0, len(missing), BATCH):
            rows = missing[start : start + BATCH]
            encoded = self.encode([text_of(row) for row in rows])
            matrix[rows] = encoded
            self._log.put_vectors(
                {sequences[row]: vector.astype("<f4").tobytes()
                 for row, vector in zip(rows, encoded, strict=True)}
            )  # fmt: skip
        return matrix

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return the vectors of texts, shape (n, dimension).

        Raises:
            EmbedderError: the embedder raised, or gave another shape.
        """
        embedder = self.embedder
        try:
            vectors = embedder.encode(texts)
        except KOError:
            raise
        except Exception as error:
            raise EmbedderError(f"{embedder.model_id}: {type(error).__name__}: {error}") from error
        if vectors.shape != (len(texts), self.dimension):
            raise EmbedderError(
                f"{self._embedder.model_id} gave shape {vectors.shape} for {len(texts)} texts; "
                f"this store's vectors have dimension {self.dimension}"
            )
        return vectors

    # -- the index ----------------------------------------------------------------------------------------
    @property
    def indexed(self) -> bool:
        """Whether this store has a semantic index besides the log's vectors."""
        return self._opener is not None

    def index(self) -> SemanticIndex | None:
        """Return the open index, or None where there is none or it cannot be reached now (see `degraded`)."""
        if self._opener is None:
            return None
        with self._lock:
            generation = int(self._log.get_state("generation") or 0)
            if self._index is not None and generation == self._generation:
                return self._index
            if time.monotonic() < self._retry_at:
                return None
            self._release_index()
            try:
                self._index = self._opener.open(generation, self.dimension)
            except (IndexUnavailableError, IndexOwnedError) as error:
                self._lost(error)
                return None
            self._generation = generation
            self.degraded = None
            if getattr(self._index, "created", False) and self._log.pending() < self._log.count():
                # It is new where the log is not: its folder or collection was deleted, and everything is due.
                self._log.mark_all()
            return self._index

    def lost(self, error: KOError) -> None:
        """Note that the index failed: reads search exactly, the outbox waits, a later call tries again."""
        with self._lock:
            self._release_index()
            self._lost(error)

    def _lost(self, error: KOError) -> None:
        self.degraded = str(error)
        self._retry_at = time.monotonic() + RETRY_SECONDS

    def _release_index(self) -> None:
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
        total = self._log.pending(namespace)
        done = 0
        with self._lock:
            if self.indexed and self._log.erasing():
                self.finish_erasures()  # of a process that could not reach the index itself
            while not self._stop.is_set():
                batch = self._log.claim(namespace, BATCH, now=self._now())
                if not batch or not self._settle(batch):
                    break
                done += len(batch)
                if progress:
                    progress(done, max(total, done))
            if namespace is None:
                self._written = 0
        return done

    def _settle(self, batch: Sequence[Pending]) -> bool:
        """Apply and confirm one batch; False when the index cannot be reached."""
        faults.reach("drain:claimed")
        if self.indexed:
            try:
                if not self._apply([pending.slot for pending in batch]):
                    return False
            except IndexUnavailableError as error:
                self.lost(error)
                return False
            faults.reach("drain:upserted")
        self._log.confirm(batch)
        faults.reach("drain:confirmed")
        return True

    def _apply(self, slots: Sequence[bytes]) -> bool:
        """Bring the index records of `slots` to their heads, again while these change under us."""
        todo = list(slots)
        while todo:
            heads = self._log.heads(todo, self._now())
            versions = list(heads.values())
            vectors = self.vectors_of(versions) if versions else None
            index = self.index()
            if index is None:
                return False
            if vectors is not None:
                self._upsert(index, versions, vectors)
            if gone := [slot.hex() for slot in todo if slot not in heads]:
                index.delete(gone)
            # Another process may have settled a newer head between our read and our upsert.
            after = self._log.heads(todo, self._now())
            todo = [slot for slot in todo if _sequence(heads.get(slot)) != _sequence(after.get(slot))]
        return True

    @staticmethod
    def _upsert(index: SemanticIndex, versions: Sequence[Version], vectors: "NDArray[np.float32]") -> None:
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
                self._release_index()

    # -- keeping house ------------------------------------------------------------------------------------
    def finish_erasures(self) -> list[str]:
        """Make index and files forget what the log has erased; return where bytes may live on."""
        slots = [slot for _, slot in self._log.erasing()]
        due = self._log.get_state(_SCRUB) is not None
        if not slots and not due:
            return []
        with self._lock:
            remaining = self._erase_from_index(slots) if self.indexed and slots else []
            if self.degraded and remaining:
                return remaining  # the log goes on remembering what the index has to forget
            clean = self._log.erased(slots)
            if clean == due:  # an open reader keeps old pages until it ends
                self._log.set_state({_SCRUB: None if clean else "due"})
            if not clean:
                remaining.append(
                    "the database's write-ahead log, replicas and back-ups, or a reader's open snapshot"
                )
            faults.reach("erase:done")
        return remaining

    def _erase_from_index(self, slots: Sequence[bytes]) -> list[str]:
        """Scrub the index; return where bytes may live on, also when it cannot be reached (see `degraded`)."""
        index = self.index()
        if index is not None:
            try:
                reason = index.scrub([slot.hex() for slot in slots])
                faults.reach("erase:scrubbed")
                heads = self._log.heads(slots, self._now())
                self._apply([slot for slot in slots if slot in heads])
                return [reason] if reason else []
            except IndexUnavailableError as error:
                self.lost(error)
        return [f"the semantic index, which cannot be reached now ({self.degraded}); it is retried"]

    def verify(self, *, sample: int = 100) -> VerifyReport:
        """Compare log and index, and query a sample of records by their own vectors."""
        problems = tuple(self._log.check())
        pending = self._log.pending()
        if not self.indexed:
            return VerifyReport(log=problems, pending=pending)
        with self._lock:
            index = self.index()
            if index is None:
                return VerifyReport(log=problems, pending=pending, degraded=self.degraded)
            waiting = {p.slot.hex() for p in self._log.claim(None, max(pending, 1), now=self._now())}
            heads = {version.first.address.slot.hex(): version for version in self._all_heads()}
            held = set(index.ids())
            return VerifyReport(
                log=problems,
                missing=tuple(sorted(heads.keys() - held - waiting)),
                extra=tuple(sorted(held - heads.keys() - waiting)),
                unreachable=self._unreachable(
                    index, [heads[i] for i in sorted(heads.keys() & held - waiting)], sample
                ),
                pending=pending,
            )

    def _unreachable(self, index: SemanticIndex, versions: Sequence[Version], sample: int) -> tuple[str, ...]:
        chosen = versions[:: max(1, len(versions) // sample)][:sample]
        lost = []
        for version, vector in zip(chosen, self.vectors_of(chosen), strict=True):
            name = version.first.address.slot.hex()
            hits = index.query(vector, 10, version.first.address.namespace)
            # Facts with one text are equally near; not finding this one among ten such is no fault.
            if name not in {hit for hit, _ in hits} and not (hits and hits[-1][1] > 0.9999):
                lost.append(name)
        return tuple(lost)

    def _all_heads(self) -> Iterator[Version]:
        for namespace in self._log.namespaces():
            yield from each_head(self._log, Scope(namespace), self._now())

    def rebuild(self, embedder: object | None = None, *, progress: Progress | None = None) -> int:
        """Build the next generation of the index from the log's vectors, then switch to it.

        With another `embedder` everything is encoded again. Return the number of records.

        Raises:
            IndexOwnedError: another process owns the Chroma folder.
            IndexUnavailableError: the index cannot be reached.
        """
        with self._lock:
            if embedder is not None:
                self._embedder = as_embedder(embedder)
                self._log.clear_vectors()
                self._log.set_state({"model": None, "dimension": None})
            total = self._log.count()
            if self._opener is None:
                return self._fill(None, total, progress)
            generation = int(self._log.get_state("generation") or 0)
            self._release_index()
            fresh = self._opener.fresh(generation + 1, self.dimension)
            done = self._fill(fresh, total, progress)
            faults.reach("rebuild:filled")
            self._log.set_state({"generation": str(generation + 1)})
            faults.reach("rebuild:switched")
            self._index, self._generation, self.degraded = fresh, generation + 1, None
            self._opener.drop(fresh, generation)
            return done

    def _fill(self, index: SemanticIndex | None, total: int, progress: Progress | None) -> int:
        done, batch = 0, list[Version]()

        def flush() -> None:
            nonlocal done
            vectors = self.vectors_of(batch)
            if index is not None:
                self._upsert(index, batch, vectors)
            done += len(batch)
            batch.clear()
            if progress:
                progress(done, max(total, done))

        for version in self._all_heads():
            batch.append(version)
            if len(batch) == BATCH:
                flush()
        if batch:
            flush()
        return done


def _sequence(version: Version | None) -> int | None:
    return None if version is None else version.first.sequence
