"""Text to facts with no language model: declared wordings, general English forms, and what the text said before."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from weakref import WeakKeyDictionary

from ko_integrations.compiler.clauses import ANTECEDENT, ClauseSplitter
from ko_integrations.compiler.dates import Adjunct, take_adjunct
from ko_integrations.compiler.discourse import Discourse
from ko_integrations.compiler.mood import denial, no_statement, plain
from ko_integrations.compiler.reading import INHERITED, ClauseReader, Reading
from ko_integrations.compiler.relations import RelationFinder
from ko_integrations.compiler.text import (
    FIRST_PERSON,
    PRONOUNS,
    Sentence,
    keys_of,
    sentences,
    tokens_of,
    words_in,
)
from ko_integrations.compiler.values import clean, items, value_of
from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import normalize_name, normalize_predicate
from ko_integrations.kinds import country_named, demonym_of, kinds_of, office_of
from ko_integrations.protocols import Compilation, Embedder, Extraction, FactReader
from ko_integrations.types import NotUnderstood, Value
from ko_integrations.vocabulary import Vocabulary

__all__ = ["OfflineCompiler"]

_STRONG = 2.0
_CERTAIN = 2.5
"""Scores of a reading that covers a sentence so well that it need not be taken apart."""
_PLAIN = frozenset(
    "not never longer anymore more stopped quit ceased used left resigned fired retired laid gave will going gonna from in on at by as because until since".split()
)
"""Words that may change or add to what a clause states."""
_NEGATION = re.compile(
    r"(?:\bnot\b|n['’]t\b|\bno longer\b|\bnever\b|\b(?:stopped|quit|ceased) |\bused to\b|\bany ?more\b|\bany longer\b|\bleft (?=[A-Z]|my job)|\b(?:resigned|fired|retired|laid off) from\b|\bgave up\b)"
)
_ENDED = re.compile(
    r"\bno longer\b|\bany ?more\b|\bany longer\b|\b(?:stopped|quit|ceased) |\bused to\b|\bleft (?=[A-Z]|my job)|\b(?:resigned|fired|retired|laid off) from\b|\bgave up\b"
)
_FUTURE = re.compile(
    r"(?:\bwill\b|['’]ll\b|\b(?:is|am|are) going to\b|['’](?:m|re|s) going to\b|\bgonna\b) ?"
)
_JOINING = re.compile(r"[,;(]| and | who | which | that | whose | but | where | because | while | when ")
_PACKED = re.compile(
    r" and (?:its|his|her|their) |\w-(?:based|born|owned|headquartered) (?=[A-Z])|^[A-Z]\S*(?: [A-Z]\S*)* (?:[a-z]\w+|CEO|CTO|CFO)(?: [a-z]\w+)? [A-Z]"
)
_INSTEAD = re.compile(
    r"^(?:no[,.]? )?(?:not any ?more|no longer|not any longer|no more)[,;.:–—-]*\s*(?:i (?:like|prefer|drink|use|love|want) |(?:it'?s|it is|now it'?s|now|i'?m|make it|make that) )*(?P<new>[^,.;!?]+?)(?: (?:now|instead|these days))?[.!]?$"
    r"|^(?:it'?s|it is|make it|make that|now it'?s|that'?s) (?P<now>[^,.;!?]+?) (?:now|instead|these days)[.!]?$",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"^(?P<head>.+?\b(?:moved|moves|relocated|switched|changed|changes|went|migrated|transferred|upgraded|downgraded|rose|fell|dropped|grew|increased|decreased)(?: \w+)??) from (?P<old>.+?) (?P<to>to|into) (?P<new>.+)$"
)
_POSSESSIVE_ALONE = re.compile(r"^(?P<owner>.+['’]s|[Mm]ine|[Hh]is|[Hh]ers) (?:is|are|was) (?P<value>.+)$")
_NAME_OF = re.compile(
    r"^(?:The|the) (?:full )?name of the (?:current |present )?(?P<rest>[a-z]\w+.* (?:of|in|for|at|government) .+)$|^(?:The|the) (?:full )?name of the (?:current |present )(?P<titled>.+)$"
)
_HELD_BY = re.compile(
    r"^The (?:position|office|post|role|title|job) of (?:the )?(?P<rest>.+?) is (?:currently |now )?(?:held|occupied|filled|taken) by (?P<holder>.+)$"
)
_OF_A_PEOPLE = frozenset(("head_of_state", "head_of_government", "president"))
"""Offices that may be named by the people instead of the country ("King of the Belgians")."""
_LEADING_NAME = re.compile(r"^(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w'’-]+(?: [A-Z][\w.'’-]*)*(?= [a-z])")
_MEASURED_ON = frozenset(("ki", "ic50", "ec50", "kd"))
_AGAINST = re.compile(r"^(?P<subject>.+?) (?:against|for|towards?|on|at) (?P<target>[^\s]+(?: [^\s]+)?)$")
"""Constants of a substance that belong to a pair: each target is a predicate of its own (`ki_egfr`)."""
_PASSIVE = re.compile(
    r"^(?P<head>.+? (?:is|was|were|are) [a-z]+) (?P<phrases>(?:in|at|on|by|from|near) .+ (?:in|at|on|by|from|near) [A-Z\d].*)$"
)
_TRAILING_PHRASE = re.compile(
    r"^(?P<head>.*\S) (?:across|among|during|over|under|within|throughout|between|after|before|despite|without|per|with) [a-z\d][a-z\d -]*$"
)
_PHRASE = re.compile(r" (?=(?:in|at|on|by|from|near) [A-Z\d])")
_EVENT_DATES = {
    "birth_place": "birth_date", "death_place": "death_date", "founding_place": "founded_date", "founder": "founded_date",
    "author": "publication_date", "publisher": "publication_date", "invented_by": "discovery_date", "cause_of_death": "death_date",
}  # fmt: skip
"""Events that happen once: the time of the statement is the time of the event, and a fact of its own."""


class OfflineCompiler:
    """Turns text into facts by rule, with an embedder only for wordings that no rule covers.

    It never guesses a fact that a sentence does not state: questions, suppositions, instructions, quotations
    and what a machine says give nothing, and what it could not read is reported in `not_understood`.
    Instructions inside a text are text: they never name a predicate, an alias or a deletion.

    `embedder` replaces the reader's own; `embedder=False` does without.

    Source: main paper 4.2.5 (the KO compiler), here without a model.
    """

    def __init__(self, *, embedder: Embedder | bool | None = None) -> None:
        self._embedder = embedder
        self._parts: WeakKeyDictionary[Vocabulary, tuple[ClauseReader, ClauseSplitter, RelationFinder]] = (
            WeakKeyDictionary()
        )

    def compile(self, text: str, *, reader: FactReader, said_at: datetime) -> Compilation:
        """Return the statements of `text`; relative dates count from `said_at`, in its zone.

        Raises:
            InvalidInputError: `said_at` is naive, or `text` is not a string.
        """
        if not isinstance(text, str):
            raise InvalidInputError("text", f"expected a string, got {type(text).__name__}")
        if said_at.utcoffset() is None:
            raise InvalidInputError(
                "said_at", "naive datetime; give it a time zone, e.g. tzinfo=timezone.utc"
            )
        session = _Session(reader, said_at, *self._parts_of(reader))
        for sentence in sentences(text, session.names_value):
            session.sentence(sentence)
        return Compilation(extractions=tuple(session.found), not_understood=tuple(session.missed))

    def _parts_of(self, reader: FactReader) -> tuple[ClauseReader, ClauseSplitter, RelationFinder]:
        vocabulary = reader.vocabulary
        parts = self._parts.get(vocabulary)
        if parts is None:
            clause_reader = ClauseReader(vocabulary)
            parts = (clause_reader, ClauseSplitter(clause_reader.index), RelationFinder(clause_reader))
            self._parts[vocabulary] = parts
        embedder = self._embedder
        if embedder is None or embedder is True:
            embedder = reader.embedder
        chosen = embedder or None
        parts[0].use(chosen)
        parts[2].embedder = chosen
        return parts


@dataclass(slots=True)
class _Session:
    """One text being read."""

    reader: FactReader
    said_at: datetime
    clauses: ClauseReader
    splitter: ClauseSplitter
    relations: RelationFinder
    found: list[Extraction] = field(default_factory=list)
    missed: list[NotUnderstood] = field(default_factory=list)
    discourse: Discourse = field(default_factory=Discourse)
    speaker: str = "user"
    subject: str | None = None
    object: str | None = None
    predicate: str | None = None
    countries: dict[str, str] = field(default_factory=dict)

    def names_value(self, label: str) -> bool:
        """Return whether a label before a colon ends with a noun of the vocabulary ("Acme CEO: ...")."""
        keys = keys_of(tokens_of(label)).keys
        return any(
            end == len(keys)
            for start in range(len(keys))
            for end, _ in self.clauses.index.nouns_at(keys, start)
        )

    def sentence(self, sentence: Sentence) -> None:
        """Read one sentence; report it if it states nothing that could be read."""
        if sentence.speaker is None:
            self.missed.append(NotUnderstood(text=sentence.text, reason="said by a machine"))
            return
        self.speaker = sentence.speaker
        if sentence.alone:
            self.discourse, self.countries = Discourse(), {}
        body = plain(sentence.text)
        if not any(character.isalnum() for character in body) or self._replaced(body):
            return
        reason = no_statement(body)
        if reason and not self._title_speaks(body, reason):
            self.missed.append(NotUnderstood(text=sentence.text, reason=reason))
            return
        before = len(self.found)
        reason = self._read(body, sentence.text) or "no statement recognised"
        if len(self.found) == before:
            self.missed.append(NotUnderstood(text=sentence.text, reason=reason))
            if (name := _LEADING_NAME.match(body)) and (" " in name[0] or "person" in kinds_of(name[0])):
                self.discourse.mention(name[0])

    def _title_speaks(self, body: str, reason: str) -> bool:
        """Whether the words that look like a question belong to a name ("Is This It was recorded by ...")."""
        if reason != "a question" or not body.endswith("."):
            return False
        reading = self.clauses.read(body)
        if (
            reading is None
            or reading.score < 1.2
            or not reading.subject
            or not body.startswith(reading.subject)
        ):
            return False
        after = body[len(reading.subject) :].split(" ", 2)
        titled = all(not word[0].islower() for word in reading.subject.split())
        return titled and len(after) > 1 and self.splitter.finite(after[1])

    def _read(self, body: str, source: str) -> str | None:
        """Read a sentence as a whole or clause by clause; return why nothing came of it."""
        body = body.rstrip(" .!;,")
        whole = self._reading(body)
        if whole and whole.score >= _STRONG and not _JOINING.search(f"{whole.subject} | {whole.object}"):
            if (
                whole.score >= _CERTAIN
                and whole.margin >= 0.5
                and whole.subject
                and _PLAIN.isdisjoint(words_in(body))
                and take_adjunct(body, self.said_at) is None
            ):
                return self._assert(whole, source, None)
            if _JOINING.search(body) and not _NEGATION.search(body):
                return self._clause(body, source)
        parts = list(self.splitter.clauses(body))
        before = len(self.found)
        reason = None
        for part in parts:
            reason = self._clause(part, source) or reason
        if len(self.found) == before and len(parts) > 1:
            reason = self._clause(body, source) or reason
        return reason

    def _reading(self, text: str) -> Reading | None:
        """Read a clause, "the name of the P of X is Y" and "the post of P is held by Y" as "the P of X is Y"."""
        if match := _NAME_OF.match(text):
            text = f"The {match['rest'] or match['titled']}"
        if match := _HELD_BY.match(text):
            text = f"The {match['rest']} is {match['holder']}"
        return self.clauses.read(text)

    def _clause(self, text: str, source: str) -> str | None:
        """Read one clause; return why nothing came of it."""
        text = text.rstrip(" .!;,")
        if _NEGATION.search(text):
            return self._negated(text, source)
        if match := _MOVED.match(text):
            text = f"{match['head']} {match['to']} {match['new']}"
        planned = False
        if _FUTURE.search(text):
            text, planned = _FUTURE.sub("", text), True
        adjunct = take_adjunct(text, self.said_at, ahead=planned)
        if planned and not (adjunct and adjunct.valid_from and adjunct.valid_from > self.said_at):
            return "a plan"
        readings = (
            self._phrases(text, adjunct)
            or self._timed(text, adjunct)
            or self._timed(self._elliptic(text), None)
            or self._tail(text)
        )
        if not readings:
            return "no statement recognised"
        reason = None
        for reading, when in readings:
            reason = self._assert(reading, source, when) or reason
        return reason

    def _timed(self, text: str, adjunct: Adjunct | None) -> list[tuple[Reading, Adjunct | None]]:
        """The readings of a clause that may say when: as the date of a fact, or the time of one."""
        reading = self._reading(text)
        if adjunct is None:
            reading = reading or self.relations.find(text)
            return [(reading, None)] if reading else []
        dated = reading if reading and self._value_type(reading.predicate) == "date" else None
        if dated:
            return [(dated, None)]
        inner = self._reading(adjunct.text) or self.relations.find(adjunct.text)
        if inner and not (reading and reading.score > inner.score + 1.0):
            return [(inner, adjunct)]
        return [(reading, None)] if reading else []

    def _phrases(self, text: str, adjunct: Adjunct | None) -> list[tuple[Reading, Adjunct | None]]:
        """Read "was founded in Berlin by Jane Doe" phrase by phrase, if the later phrase is surely one of its own."""
        match = _PASSIVE.match(adjunct.text if adjunct else text)
        if match is None:
            return []
        pieces = _PHRASE.split(match["phrases"])
        found = []
        kept = pieces[0]
        for piece in pieces[1:]:
            reading = self._reading(f"{match['head']} {piece}")
            if reading and (piece.startswith("by ") or reading.score >= 3.0):
                found.append(reading)
            else:
                kept = f"{kept} {piece}"
        first = self._reading(f"{match['head']} {kept}") if found else None
        return [(reading, adjunct) for reading in (first, *found) if reading] if first else []

    def _elliptic(self, text: str) -> str:
        """ "... and my brother's is Y": the noun of the statement before it is understood."""
        match = _POSSESSIVE_ALONE.match(text)
        if match is None or self.predicate is None:
            return ""
        return f"{match['owner']} {self.predicate.replace('_', ' ')} is {match['value']}"

    def _tail(self, text: str) -> list[tuple[Reading, Adjunct | None]]:
        """Read "3 cm mass in the right lobe" as a mass of 3 cm, and the mass in the right lobe."""
        if (trailing := _TRAILING_PHRASE.match(text)) and (reading := self._reading(trailing["head"])):
            return [(reading, None)]
        head, link, rest = text.rpartition(" in ")
        if not link or not rest.islower():
            return []
        readings = [self._reading(head), self._reading(f"{head.rsplit(' ', 1)[-1]} in {rest}")]
        return [(reading, None) for reading in readings if reading]

    def _value_type(self, name: str) -> str:
        predicate = self.reader.vocabulary.get(name)
        return predicate.value_type if predicate else "any"

    def _negated(self, text: str, source: str) -> str | None:
        """Read a denial: a stated dislike or veto, a correction ("X, not Y"), or the end of a fact."""
        if not _ENDED.search(text):
            reading = self._reading(text)
            if reading:
                return self._assert(reading, source, None)
            shorter = re.sub(r",? (?:and )?not (?!.*\b(?:is|are|was)\b).+$", "", text)
            if (
                shorter != text
                and "," in text[len(shorter) : len(shorter) + 1]
                and (reading := self._reading(shorter))
            ):
                return self._assert(reading, source, None)
        affirmative = denial(text)
        if affirmative is None:
            return "a denial"
        adjunct = take_adjunct(str(affirmative), self.said_at)
        reading = self._reading(adjunct.text if adjunct else str(affirmative))
        if reading is None:
            return "a denial"
        return self._retract(reading, source, adjunct)

    def _subject_of(self, reading: Reading, source: str) -> str | None:
        said = reading.subject
        if said is None:
            return self.discourse.last
        if said.startswith(INHERITED):
            inherited = self.subject
            return f"{inherited}{said[1:]}" if inherited else None
        if said.startswith(ANTECEDENT):
            return f"{self.object}{said[1:]}" if self.object else None
        subject = self.discourse.resolve(self._unpacked(said, source), self.speaker)
        return self._country(subject, reading.predicate) if subject else None

    def _unpacked(self, said: str, source: str) -> str:
        """A subject that states something itself ("Berlin-based Acme", "Acme CEO Jane Doe"): take it, keep the name."""
        if not _PACKED.search(said):
            return said
        inner = self._reading(said)
        if inner is None or inner.subject is None or inner.score < _STRONG:
            return said
        self._assert(inner, source, None)
        return (
            inner.subject
            if said.endswith(inner.subject)
            else inner.object
            if said.endswith(inner.object)
            else said
        )

    def _country(self, name: str, predicate: str) -> str:
        """A country keeps the name under which it was first a subject, whatever else it is called."""
        common = country_named(name) or (demonym_of(name) if predicate in _OF_A_PEOPLE else None)
        if common is None:
            return name
        known = self.countries.get(common)
        if known is None:
            stored = self.reader.find_subjects(list(dict.fromkeys((name, common)))) if name != common else {}
            known = stored.get(name) or stored.get(common) or (name if country_named(name) else common)
            self.countries[common] = known
        return known

    def _assert(self, reading: Reading, source: str, adjunct: Adjunct | None) -> str | None:
        subject = self._subject_of(reading, source)
        if not subject:
            return "no subject to take it for"
        predicate = office_of(reading.predicate, subject)
        if predicate in _MEASURED_ON and (measured := _AGAINST.match(subject)):
            subject, predicate = measured["subject"], f"{predicate}_{normalize_predicate(measured['target'])}"
        values = self._values(predicate, reading.object)
        if not values:
            return "no object to take it for"
        declared = self.reader.vocabulary.get(predicate)
        for value in values:
            self._end_excluded(subject, declared.excludes if declared else None, value, source, adjunct)
            self.found.append(
                Extraction(
                    subject=subject, predicate=predicate, object=value, confidence=_confidence(reading), text=source,
                    valid_from=adjunct.valid_from if adjunct else None, valid_to=adjunct.valid_to if adjunct else None,
                )
            )  # fmt: skip
        if adjunct and adjunct.valid_from and predicate in _EVENT_DATES:
            self._date_event(subject, _EVENT_DATES[predicate], adjunct, source, _confidence(reading))
        self._remember(subject, reading, values)
        return None

    def _remember(self, subject: str, reading: Reading, values: list[Value]) -> None:
        """Keep what later clauses may refer to: the grammatical subject stands first in its clause."""
        declared = self.reader.vocabulary.get(reading.predicate)
        value = str(values[-1])
        if reading.subject is None or not reading.subject.startswith(ANTECEDENT):
            self.subject, self.object = (value, subject) if reading.inverted else (subject, value)
        self.predicate = reading.predicate
        spoken = [
            (value, declared.object_kinds if declared else ()),
            (subject, declared.subject_kinds if declared else ()),
        ]
        for name, kinds in spoken[::-1] if reading.inverted else spoken:
            if name == subject or reading.inverted or "person" in kinds_of(name) or kinds == ("person",):
                if name != "user":
                    self.discourse.mention(name, kinds if len(kinds) == 1 else ())

    def _date_event(
        self, subject: str, predicate: str, adjunct: Adjunct, source: str, confidence: float
    ) -> None:
        declared = self.reader.vocabulary.get(predicate)
        if declared:
            value = value_of(adjunct.said, declared, self.said_at)
            self.found.append(
                Extraction(
                    subject=subject, predicate=predicate, object=value, confidence=confidence, text=source
                )
            )

    def _end_excluded(
        self, subject: str, excluded: str | None, value: Value, source: str, adjunct: Adjunct | None
    ) -> None:
        """What is liked now is not disliked any more: end the opposite statement about the same thing."""
        if excluded is None:
            return
        key = normalize_name(str(value))
        held = [ko.object for ko in self.reader.read_values(subject, excluded)]
        held += [
            item.object
            for item in self.found
            if (item.subject, item.predicate, item.kind) == (subject, excluded, "assert")
        ]
        for other in held:
            if normalize_name(str(other)) == key:
                self.found.append(
                    Extraction(subject=subject, predicate=excluded, object=other, kind="retract", text=source, valid_from=adjunct.valid_from if adjunct else None)
                )  # fmt: skip
                return

    def _values(self, predicate: str, said: str) -> list[Value]:
        declared = self.reader.vocabulary.get(predicate) or self.reader.vocabulary.get(
            predicate.split("_")[0]
        )
        text = clean(said)
        if not text or text.lower() in (
            "nothing",
            "none",
            "unknown",
            "something",
            "someone",
            "anything",
            "it all",
        ):
            return []
        if (
            declared
            and declared.cardinality == "set"
            and self.reader.vocabulary.cardinality(predicate) == "set"
        ):
            texts = [clean(item) for item in items(text)]
        else:
            texts = [text]
        values: list[Value] = []
        for item in texts:
            if item.lower() in PRONOUNS or item.split(" ", 1)[0].lower() in FIRST_PERSON:
                resolved = self.discourse.resolve(item, self.speaker)
                item = resolved or ""
            if item:
                values.append(value_of(item, declared, self.said_at))
        return values

    def _retract(self, reading: Reading, source: str, adjunct: Adjunct | None) -> str | None:
        """End exactly the fact that the sentence names; the words alone touch nothing else."""
        subject = self._subject_of(reading, source)
        if not subject:
            return "no subject to take it for"
        predicate = office_of(reading.predicate, subject)
        when = (adjunct.valid_from or adjunct.valid_to) if adjunct else None
        for value in self._values(predicate, reading.object):
            self.found.append(
                Extraction(subject=subject, predicate=predicate, object=value, kind="retract", confidence=_confidence(reading), text=source, valid_from=when)
            )  # fmt: skip
        self.subject = subject
        return None

    def _replaced(self, body: str) -> bool:
        """Read "not any more, tea now": the last statement of the speaker ends, and the new value takes its place."""
        match = _INSTEAD.match(body)
        if match is None:
            return False
        last = self._last_of_speaker()
        if last is None:
            return False
        subject, predicate, old = last
        new = clean(match["new"] or match["now"])
        for value in self._values(predicate, new):
            if self.reader.vocabulary.cardinality(predicate) == "set":
                self.found.append(
                    Extraction(
                        subject=subject,
                        predicate=predicate,
                        object=old,
                        kind="retract",
                        text=body,
                        confidence=0.8,
                    )
                )
            self.found.append(
                Extraction(subject=subject, predicate=predicate, object=value, text=body, confidence=0.8)
            )
        return True

    def _last_of_speaker(self) -> tuple[str, str, Value] | None:
        for item in reversed(self.found):
            if item.kind == "assert" and item.subject == self.speaker:
                return item.subject, item.predicate, item.object
        facts = self.reader.facts(self.speaker)
        if not facts:
            return None
        latest = max(facts, key=lambda ko: ko.provenance.sequence)
        return latest.subject, latest.predicate, latest.object


def _confidence(reading: Reading) -> float:
    if not reading.stated:
        return round(min(0.8, max(0.3, reading.score)), 2)
    certain = min(0.98, 0.78 + 0.06 * reading.score)
    return round(certain if reading.margin >= 0.3 else min(certain, 0.7), 2)
