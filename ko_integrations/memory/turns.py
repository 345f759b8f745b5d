"""What a person said, compiled and stored: once for each message, all of it or nothing."""

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ko_integrations.errors import KOError
from ko_integrations.types import KnowledgeObject, WriteReport

if TYPE_CHECKING:
    from ko_integrations.store import KnowledgeStore

__all__ = ["Learnt", "Said", "Survives", "context", "learn"]

MAX_CONTEXT = 1_000
"""Characters of what was said before a message that are read again for whom it means."""

_SENTENCE_END = re.compile(r"[.!?]\s+|\n")

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Said:
    """One message of a person.

    Attributes:
        key: names the message for ever (its id); None where it has none, and a repetition is then one more
            statement of the same.
        source: who is named as the source of what it states.
        place: names its words in the conversation: should the conversation be replayed, a message may come
            again under another key.
        replayed: it is; what was learnt of these words is not learnt again.
        before: what people said before it (see `context`): whom "she" means may stand there.
    """

    text: str
    key: str | None = None
    source: str | None = None
    said_at: datetime | None = None
    place: str | None = None
    replayed: bool = False
    before: str = ""


@dataclass(frozen=True)
class Learnt:
    """What came of messages. Of each, either all its statements were stored, or it is in `errors`.

    Attributes:
        reports: of the messages that were compiled, in order.
        errors: (key, what went wrong) of those of which nothing was stored.
    """

    reports: tuple[WriteReport, ...] = ()
    errors: tuple[tuple[str | None, str], ...] = ()

    @property
    def stored(self) -> tuple[KnowledgeObject, ...]:
        """The versions that the messages stated."""
        return tuple(
            result.ko for report in self.reports for result in report.results if result.ko is not None
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data, for a framework's state or stream."""
        return {
            "stored": [_plain(ko) for ko in self.stored],
            "retracted": [_plain(ko) for report in self.reports for ko in report.retracted],
            "not_understood": [piece.text for report in self.reports for piece in report.not_understood],
            "errors": [message for _, message in self.errors],
        }


def _plain(ko: KnowledgeObject) -> dict[str, Any]:
    version = ko.provenance.version
    return {
        "id": ko.id,
        "subject": ko.subject,
        "predicate": ko.predicate,
        "object": str(ko.object),
        "version": version,
    }


def context(before: Sequence[str]) -> str:
    """Return the last whole sentences of what was said before a message, or of what stands before a chunk.

    >>> context(["Ann lives in Bern. " * 99, "Bob too."])[-27:]
    'Ann lives in Bern.\\nBob too.'
    """
    kept: list[str] = []
    left = MAX_CONTEXT
    for text in reversed(before):
        text = text.replace("\0", "").strip()
        if len(text) > left:
            begin = _SENTENCE_END.search(text, len(text) - left)
            kept.insert(0, text[begin.end() :] if begin else "")
            break
        kept.insert(0, text)
        left -= len(text)
    return "\n".join(text for text in kept if text)


class Survives:
    """Report what a part of somebody else's raises instead of passing it on: a memory must not break the conversation.

    A compiler or a memory block can be anybody's, and what it raises shares no root but `Exception`.
    """

    error: str | None = None

    def __init__(self, doing: str) -> None:
        """Name what is tried, for the log."""
        self._doing = doing

    def __enter__(self) -> "Survives":
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self.error = f"{type(error).__name__}: {error}"
        if not isinstance(error, KOError):
            _log.exception("%s failed", self._doing)
        return True


def learn(store: "KnowledgeStore", messages: Iterable[Said]) -> Learnt:
    """Compile and store messages in order; one that was stored before under its key changes nothing.

    Never raises for what goes wrong with a message: a compiler, a model or the log may fail, and then
    nothing of that message is stored, it is reported, and it may be given again.
    """
    reports: list[WriteReport] = []
    errors: list[tuple[str | None, str]] = []
    for said in messages:
        if not said.text.strip():
            continue
        with Survives("compiling a message") as attempt:
            reports.append(_learn(store, said))
        if attempt.error is not None:
            _log.warning("nothing was stored of message %s: %s", said.key, attempt.error)
            errors.append((said.key, attempt.error))
    return Learnt(tuple(reports), tuple(errors))


def _learn(store: "KnowledgeStore", said: Said) -> WriteReport:
    if said.replayed and said.place is not None and store.marked(said.place):
        return WriteReport(repeated=True)
    report = store.write(
        said.text, source=said.source, said_at=said.said_at, once=said.key, before=said.before
    )
    if said.place is not None and (report.results or report.retracted):
        store.mark(said.place)
    return report
