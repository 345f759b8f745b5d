"""Corrections: "no wait, it's 555-0102", "scratch that", "not any more, tea now"."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ko_integrations.compiler.afterthoughts import afterthought
from ko_integrations.compiler.statements import Statements
from ko_integrations.compiler.text import words_in
from ko_integrations.compiler.values import clean
from ko_integrations.protocols import Extraction
from ko_integrations.types import Value

__all__ = ["Corrections"]

_INSTEAD = re.compile(
    r"^(?:no[,.]? )?(?:not any ?more|no longer|not any longer|no more)[,;.:–—-]*\s*(?:i (?:like|prefer|drink|use|love|want) |(?:it'?s|it is|now it'?s|now|i'?m|make it|make that) )*(?P<new>[^,.;!?]+?)(?: (?:now|instead|these days))?[.!]?$"
    r"|^(?:it'?s|it is|make it|make that|now it'?s|that'?s) (?P<now>[^,.;!?]+?) (?:now|instead|these days)[.!]?$",
    re.IGNORECASE,
)
_CORRECTED = re.compile(
    r"^(?:(?:oh|oops|ugh|sorry|no|nope|wait|actually|hmm|scratch that|strike that|correction|my bad|my mistake|hang on|hold on|i mean|i meant|rather|make that|make it)[,.:;!–—-]* )+"
    r"(?:(?:i meant|i mean|it['’]?s|it is|that['’]?s|make that|make it|should be|it should be) )*(?P<new>[^,.;!?]+(?:\.\w[^,.;!?]*)*)[.!]*$",
    re.IGNORECASE,
)
_SCRATCHED = re.compile(
    r"^(?:(?:oh|no|sorry|wait|actually)[,.!]* )*(?:scratch|strike) that[,.;:!–—-]+ ", re.IGNORECASE
)
_UNDONE = re.compile(
    r"^(?:(?:oh|no|sorry|wait|actually)[,.!]* )*(?:scratch|strike|never ?mind|ignore|forget) that(?: last (?:one|bit|part))?[.!]*$",
    re.IGNORECASE,
)
_PERSONAL_WORDS = frozenset(
    "i me my mine you your he him his she her it its we us our they them their that this".split()
)


@dataclass(slots=True)
class Corrections:
    """Corrects the statements of one text; `heard` is the sentence before, whose statements a slip may concern."""

    statements: Statements
    finite: Callable[[str], bool]
    heard: str = ""
    settled: int = 0
    """Number of statements that an earlier text made: they stand, and what takes them back is a statement too."""

    def corrected(self, said: str, body: str) -> bool:
        """Read "no wait, it's Y": the statement just made was a slip, and Y takes the place of its value.

        "Scratch that" takes it back. `body` is what `said` says without its openers.
        """
        found = self.statements.found
        if not found:
            statements = self.statements
            found += afterthought(said, statements.reader, statements.said_at, statements.values, self.finite)
            return bool(found)
        if found[-1].kind != "assert" or found[-1].text != self.heard:
            return False
        if _UNDONE.match(said) or _SCRATCHED.match(said) and self.finite(body):
            for slip in [item for item in reversed(found) if item.text == self.heard]:
                self._take_back(slip, said)
            self.heard = ""
            return _UNDONE.match(said) is not None
        match = _CORRECTED.match(said)
        if (
            match is None
            or self.finite(match["new"])
            or not _PERSONAL_WORDS.isdisjoint(words_in(match["new"].lower()))
        ):
            return False
        slip = found[-1]
        values = self.statements.values(slip.predicate, match["new"])
        if not values or any(type(value) is not type(slip.object) for value in values):
            return False
        self._take_back(slip, said, replaced=True)
        found += [slip.model_copy(update={"object": value, "text": said}) for value in values]
        self.heard = said
        return True

    def _take_back(self, slip: Extraction, said: str, *, replaced: bool = False) -> None:
        """Unsay a statement of this text, or retract one of an earlier text, unless another value supersedes it."""
        found = self.statements.found
        place = len(found) - 1 - found[::-1].index(slip)
        if place >= self.settled:
            del found[place]
        elif not replaced or self.statements.reader.vocabulary.cardinality(slip.predicate) == "set":
            found.append(
                slip.model_copy(
                    update={"kind": "retract", "text": said, "valid_from": None, "valid_to": None}
                )
            )

    def replaced(self, body: str) -> bool:
        """Read "not any more, tea now": the last statement of the speaker ends, and the new value takes its place."""
        match = _INSTEAD.match(body)
        last = self.statements.last_of_speaker() if match else None
        if match is None or last is None:
            return False
        subject, predicate, old = last
        for value in self.statements.values(predicate, clean(match["new"] or match["now"])):
            if self.statements.reader.vocabulary.cardinality(predicate) == "set":
                self._add(subject, predicate, old, body, "retract")
            self._add(subject, predicate, value, body, "assert")
        return True

    def _add(
        self, subject: str, predicate: str, value: Value, body: str, kind: Literal["assert", "retract"]
    ) -> None:
        self.statements.found.append(
            Extraction(
                subject=subject, predicate=predicate, object=value, kind=kind, text=body, confidence=0.8
            )
        )
