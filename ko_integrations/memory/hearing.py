"""A conversation as it is heard: which message is which, what was learnt of each, what is to be tried again."""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from ko_integrations.errors import KOError
from ko_integrations.memory.turns import Learnt, Said, context, learn

if TYPE_CHECKING:
    from ko_integrations.store import KnowledgeStore

__all__ = ["Hearing", "Unlearnt"]

MAX_KEPT = 100
"""Messages that are kept to be tried again, the newest."""

MAX_PAUSE = 8
"""Times that a message is passed over between two attempts, so that one that always fails costs little."""

MAX_BEFORE = 20
"""Messages before one that are looked at for whom it means."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Unlearnt:
    """A message of which nothing could be stored.

    Attributes:
        attempts: how often that was tried.
        pause: how often it is still passed over.
    """

    said: Said
    attempts: int = 0
    pause: int = 0


@dataclass
class Hearing:
    """Learns the messages of one conversation, each once, and keeps those that failed, to try them again.

    A message is named by its words and its place among its equals, for frameworks that give messages no ids.
    None of the methods raises for what goes wrong with a message or the store.

    Attributes:
        session: names the conversation, and is the source of what is learnt.
        unlearnt: what failed so far.
    """

    session: str
    unlearnt: list[Unlearnt] = field(default_factory=list)

    def new(self, store: "KnowledgeStore", texts: Sequence[str], before: Sequence[str] = ()) -> Learnt:
        """Learn what was said just now, after what was said before."""
        return self._learn(store, texts, "", before)

    def history(self, store: "KnowledgeStore", texts: Sequence[str], before: Sequence[str] = ()) -> Learnt:
        """Learn what is not known yet of a history, or of what is left of it (see `left`)."""
        return self._learn(store, texts, "left ", before)

    def left(self, store: "KnowledgeStore", texts: Sequence[str], before: Sequence[str] = ()) -> Learnt:
        """Learn what leaves the history at its beginning, and note that, so that what stays keeps its places."""
        learnt = self.history(store, texts, before)
        try:
            with store.batch():
                for text in texts:
                    prefix = f"{self._name(text)} left #"
                    store.mark(f"{prefix}{_count(store, prefix) + 1}")
        except KOError as error:
            _log.warning("what left the history of %s could not be noted: %s", self.session, error)
        return learnt

    def _learn(
        self, store: "KnowledgeStore", texts: Sequence[str], counted: str, before: Sequence[str]
    ) -> Learnt:
        try:
            said = self._said(store, texts, counted, before)
        except KOError as error:
            _log.warning("nothing was learnt from %d messages now: %s", len(texts), error)
            now = datetime.now(UTC)
            self.unlearnt += [Unlearnt(Said(text, None, self.session, now), 1) for text in texts]
            return Learnt(errors=tuple((None, str(error)) for _ in texts))
        again, self.unlearnt = self.unlearnt, []
        due = [each for each in again if not each.pause]
        self.unlearnt = [replace(each, pause=each.pause - 1) for each in again if each.pause]
        done = [self._one(store, each) for each in (*due, *map(Unlearnt, said))]
        for lost in self.unlearnt[:-MAX_KEPT]:
            _log.warning("message %s was given up after %d attempts", lost.said.key, lost.attempts)
        self.unlearnt = self.unlearnt[-MAX_KEPT:]
        reports = tuple(report for learnt in done for report in learnt.reports)
        return Learnt(reports, tuple(error for learnt in done for error in learnt.errors))

    def _one(self, store: "KnowledgeStore", message: Unlearnt) -> Learnt:
        """Learn a message; one that fails keeps its time, so that learning it late supersedes nothing said since."""
        began = message.said.said_at or datetime.now(UTC)
        learnt = learn(store, [message.said])
        if learnt.errors:
            kept, pause = replace(message.said, said_at=began), min(2**message.attempts - 1, MAX_PAUSE)
            self.unlearnt.append(Unlearnt(kept, message.attempts + 1, pause))
        return learnt

    def _said(
        self, store: "KnowledgeStore", texts: Sequence[str], counted: str, before: Sequence[str]
    ) -> list[Said]:
        """Name messages: the first of its words follows those that are marked as `counted` (learnt, or left)."""
        places: Counter[str] = Counter()
        said: list[Said] = []
        for text in texts:
            name = self._name(text)
            if name not in places:
                places[name] = _count(store, f"{name} {counted}#")
            places[name] += 1
            earlier = context([*before, *texts[max(0, len(said) - MAX_BEFORE) : len(said)]])
            said.append(Said(text, key=f"{name} #{places[name]}", source=self.session, before=earlier))
        return said

    def _name(self, text: str) -> str:
        return f"session {self.session} message {sha256(text.encode()).hexdigest()}"


def _count(store: "KnowledgeStore", prefix: str) -> int:
    """Return how many marks there are that end in 1, 2, 3, ..."""
    number = 0
    while store.marked(f"{prefix}{number + 1}"):
        number += 1
    return number
