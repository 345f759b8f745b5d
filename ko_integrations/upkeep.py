"""Looking after the semantic index: is it what the log says, and making it anew."""

from collections.abc import Iterable, Iterator
from itertools import islice
from uuid import uuid4

from pydantic import BaseModel, ConfigDict

from ko_integrations.embeddings import as_embedder
from ko_integrations.encoding import BATCH
from ko_integrations.errors import IndexMismatchError, IndexUnavailableError
from ko_integrations.index.contract import SemanticIndex
from ko_integrations.log.contract import LAST, Scope, Version, VersionLog
from ko_integrations.log.pages import each_head
from ko_integrations.protocols import Embedder
from ko_integrations.sync import STORE_ID, Progress, Synchroniser
from ko_integrations.testing import faults

__all__ = ["VerifyReport", "rebuild", "renew_id", "verify"]

_PAGE = 1_000


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


def verify(sync: Synchroniser, *, sample: int = 100) -> VerifyReport:
    """Compare log and index, and query a sample of records by their own vectors."""
    log = sync.log
    problems = tuple(log.check())
    if not sync.indexed:
        return VerifyReport(log=problems, pending=log.pending())
    with sync.alone():
        try:
            index = sync.index()
        except IndexMismatchError as error:
            return VerifyReport(log=problems, pending=log.pending(), degraded=str(error))
        pending = log.pending()
        if index is None:
            return VerifyReport(log=problems, pending=pending, degraded=sync.degraded)
        waiting = {p.slot.hex() for p in log.claim(None, max(pending, 1), now=sync.now())}
        heads = {version.first.address.slot.hex(): version for version in _all_heads(sync)}
        held = set(index.ids())
        settled = [heads[name] for name in sorted((heads.keys() & held) - waiting)]
        chosen = settled[:: max(1, len(settled) // sample)][:sample]
        names = [version.first.address.slot.hex() for version in chosen]
        return VerifyReport(
            log=problems,
            missing=tuple(sorted(heads.keys() - held - waiting)),
            extra=tuple(sorted(held - heads.keys() - waiting)),
            unreachable=tuple(index.unreachable(names, sync.encoding.vectors_of(chosen))) if chosen else (),
            pending=pending,
        )


def _all_heads(sync: Synchroniser) -> Iterator[Version]:
    for namespace in sync.log.namespaces():
        yield from each_head(sync.log, Scope(namespace), sync.now())


def rebuild(sync: Synchroniser, embedder: object | None = None, *, progress: Progress | None = None) -> int:
    """Build the next generation of the index from the log's vectors, then switch to it; return its records.

    With another `embedder` everything is encoded again, and the switch comes first: the old vectors are of no
    use to the new model's queries. An index that the caller made has one generation, which is emptied. A crash
    on the way leaves the old generation in use, or the new one with all that it lacks in the outbox.

    Raises:
        EmbedderError: a fact without a vector could not be encoded.
        IndexMismatchError: it is another store's.
        IndexOwnedError: another process owns the Chroma folder.
        IndexUnavailableError: the index cannot be reached.
    """
    encoder = None if embedder is None else as_embedder(embedder)
    with sync.alone():
        total = sync.log.count()
        if sync.opener is None:
            if encoder is not None:
                with sync.log.transaction():
                    _change_model(sync, encoder)
            return _fill(sync, None, total, progress)
        generation = sync.generation()
        sync.release()
        if encoder is None and not sync.opener.in_place:
            return _replace(sync, generation, total, progress)
        dimension = sync.encoding.dimension if encoder is None else encoder.dimension
        if sync.opener.in_place:
            sync.log.mark_all()  # before it is emptied: whatever happens then, the outbox knows that all is due
        fresh = sync.opener.fresh(generation + 1, dimension)
        with sync.log.transaction():
            sync.log.mark_all()
            if encoder is not None:
                _change_model(sync, encoder)
            sync.switch(fresh, generation + 1)
        faults.reach("rebuild:switched")
        sync.drain(progress=progress)
        if sync.degraded is not None:
            raise IndexUnavailableError(sync.degraded)
        sync.opener.drop_older(fresh)
        return sync.log.count()


def renew_id(sync: Synchroniser) -> None:
    """Give a copy of a store an id of its own; the index of the original is none of its any longer.

    Raises:
        IndexOwnedError, IndexUnavailableError: the index in its folder cannot be cleared; the id is as it was.
    """
    with sync.alone():
        sync.release()
        if sync.opener is not None:
            sync.opener.leave()
        # The next index is not the one that the log remembers, and so all is due for it.
        sync.log.set_state({STORE_ID: uuid4().hex})


def _change_model(sync: Synchroniser, embedder: Embedder) -> None:
    sync.log.clear_vectors()
    sync.encoding.record(embedder)


def _replace(sync: Synchroniser, generation: int, total: int, progress: Progress | None) -> int:
    """Fill the next generation beside the one in use, and switch to it with all that was written meanwhile."""
    assert sync.opener is not None
    before = sync.log.sequence_at(LAST)
    fresh = sync.opener.fresh(generation + 1, sync.encoding.dimension)
    done = _fill(sync, fresh, total, progress)
    faults.reach("rebuild:filled")
    later = sync.log.sequence_at(LAST)
    _follow(sync, fresh, before)
    with sync.log.transaction():
        # Nobody writes now, or confirms for the old generation what another process brought there.
        _follow(sync, fresh, later)
        sync.switch(fresh, generation + 1)
    faults.reach("rebuild:switched")
    sync.opener.drop_older(fresh)
    return done


def _follow(sync: Synchroniser, index: SemanticIndex, after: int) -> None:
    """Bring into an index the slots that changed after a sequence."""
    for slots in _changed(sync.log, after):
        sync.apply(index, slots)


def _changed(log: VersionLog, after: int) -> Iterator[list[bytes]]:
    while events := log.events(after, _PAGE):
        after = events[-1].sequence
        if slots := list(dict.fromkeys(slot for event in events for slot in event.slots)):
            yield slots


def _fill(sync: Synchroniser, index: SemanticIndex | None, total: int, progress: Progress | None) -> int:
    """Put every head into an index, or (None) only see to it that its vector is in the log."""
    done = 0
    for batch in _batches(_all_heads(sync)):
        if index is None:
            sync.encoding.vectors_of(batch)
        else:
            sync.upsert(index, batch)
        done += len(batch)
        if progress:
            progress(done, max(total, done))
    return done


def _batches(versions: Iterable[Version]) -> Iterator[list[Version]]:
    iterator = iter(versions)
    while batch := list(islice(iterator, BATCH)):
        yield batch
