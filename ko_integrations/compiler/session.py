"""One text being read: sentences to clauses, clauses to readings, readings to statements."""

import re
from datetime import datetime

from ko_integrations.compiler.asides import is_unreal, names_in, without_asides
from ko_integrations.compiler.clauses import ClauseSplitter
from ko_integrations.compiler.corrections import Corrections
from ko_integrations.compiler.dates import Adjunct, is_relative, read_moment, take_adjunct
from ko_integrations.compiler.firsthand import told
from ko_integrations.compiler.forms import Record
from ko_integrations.compiler.mood import denial, no_statement, plain
from ko_integrations.compiler.naming import kind_score
from ko_integrations.compiler.phrases import PhraseReader
from ko_integrations.compiler.reading import STRONG, ClauseReader, Reading
from ko_integrations.compiler.relations import RelationFinder
from ko_integrations.compiler.restating import caused, positive
from ko_integrations.compiler.species import species_of
from ko_integrations.compiler.statements import Statements
from ko_integrations.compiler.text import FIRST_PERSON, Sentence, keys_of, tokens_of, unstopped, words_in
from ko_integrations.protocols import FactReader
from ko_integrations.types import NotUnderstood

__all__ = ["Session"]

_CERTAIN = 2.5
"""Scores of a reading that covers a sentence so well that it need not be taken apart."""
_PLAIN = frozenset(
    "not never longer anymore more stopped quit ceased used left resigned fired retired laid gave will going gonna from in on at by as because until since with".split()
)
"""Words that may change or add to what a clause states."""
_ENDING = (
    r"no longer\b|any ?more\b|any longer\b|(?:stopped|quit|ceased) |left (?=[A-Z]|my job)|(?:resigned|fired|retired|laid off) from\b|"
    r"(?:resigned|stepped down|retired|fired|removed|dismissed|sacked|ousted) as\b|gave up\b"
)
_ENDED = re.compile(rf"\b(?:{_ENDING}|used to\b)")
_NEGATION = re.compile(
    rf"\b(?:{_ENDING}|not\b|never\b|(?<!is )(?<!are )(?<!was )(?<!were )(?<!be )used to\b)|n['’]t\b"
)
_FUTURE = re.compile(r"(?:\b(?:will|gonna|(?:is|am|are) going to)\b|['’](?:ll|(?:m|re|s) going to)\b) ?")
_JOINING = re.compile(r"[,;(]| and | who | which | that | whose | but | where | because | while | when ")
_MOVED = re.compile(
    r"^(?P<head>.+?\b(?:moved|moves|relocated|switched|changed|changes|went|migrated|transferred|upgraded|downgraded|rose|fell|dropped|grew|increased|decreased)(?: (?:its|his|her|their|our|my|the) [\w -]+?| \w+)??) from (?P<old>.+?) (?P<to>to|into) (?P<new>.+)$"
)
_PAST_BE = re.compile(r"\b(?:was|were|measured|weighed|had)\b")


_ACQUIRED = re.compile(
    r"(?:^|\b[Ii] |\b[Ww]e |['’]ve |[Jj]ust )(?:just |finally |recently )?(?:adopted|got|have|rescued|bought|brought home|met) (?:a|an|another|our first|my first) (?:[a-z-]+ ){0,2}?(?P<noun>[a-z]+)[ .!]*$",
    re.IGNORECASE,
)
_ITS_NAME = re.compile(r"^(?:[Hh]is|[Hh]er|[Ii]ts|[Tt]heir) name(?:['’]s| is) (?P<name>[A-Z][\w'’-]*)[.! ]*$")
_IS_NUMBER = re.compile(r"^(?P<who>[A-Z][\w'’-]+|[Mm]y [a-z]+) is (?:now |just |already )?\d{1,3}$")
_USED_TO = re.compile(r"\bused to\b", re.IGNORECASE)
_RESCHEDULED = re.compile(
    r"^(?:(?:[Tt]he) (?P<noun>[a-z]+) of (?P<what>.+?)|(?P<owner>.+?)['’]s (?P<noun2>[a-z]+)) (?:is|was|has been|got|is now|moved|changed|slipped) "
    r"?(?:moved|postponed|pushed back|pushed|brought forward|rescheduled|delayed|scheduled|planned|set|changed)?(?: from (?P<old>.+?))? ?(?:to|until|for|on) (?P<new>.+)$"
)
_BECOMING = re.compile(
    r"\b(?:moved|relocated|switched|changed|joined|started|became|transferred|bought|adopted|turned|married|upgraded|"
    r"downgraded|promoted|hired|got)\b"
)
"""Verbs of a change, after which the new state holds."""
_OF_ASIDES = ("a supposition", "a denial")
"""Reasons that words around a statement may give rise to, and that do not touch the statement itself."""
_HEDGED = 0.7
"""What is left of the confidence of a statement that the speaker is not sure of."""


_STATING_TAIL = re.compile(
    r"(?:he|she|they|it|his|her|their|its|I|my)\b(?! (?:need|want|can|will)\b)", re.IGNORECASE
)
"""What may follow from a statement and be one itself: not what "we" or "the train" then do."""
_POINTED_TO = re.compile(
    r"^(?:ask|call|ping|meet|contact|email|text|message|(?:talk|speak|write|reach out) to|talk with|say hi to) (?P<name>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)?)[,;:.!—–-]+ (?=(?:he|she|they|his|her|their)['’ ])",
    re.IGNORECASE,
)
_EMOJI = re.compile(
    r"(?:^|(?<=[\s.!?,)\w]))\s*[\u2190-\u21ff\u2600-\u27bf\u2b50\u2b55\ufe0f\U0001f000-\U0001faff]+(?=\s|[.!?]|$)"
)
_UNSET = re.compile(r"(?<!,) not (?=[A-Z\d]\S*(?: [A-Z]\S*)*$)")
_BEFORE_PLACES = ("in", "at", "from", "near", "in the", "at the", "from the", "near the")
_ENCOUNTER = re.compile(r"^.{1,40}? (?:ran|run|bumped|looked|dropped) into [A-Z]")
"""Meeting somebody by chance is no running of anything."""


def _holds(text: str, when: Adjunct | None) -> bool:
    """Whether a statement about the past tells a state that holds when it is told.

    "We moved last month" counts from the telling and names no end; so does "I have lived here since 2019".
    """
    if when is None or when.valid_from is None or when.valid_to is not None:
        return False
    if _BECOMING.search(text) and is_relative(when.said):
        return True
    return " since " in text and not FIRST_PERSON.isdisjoint(word.lower() for word in words_in(text))


class Session:
    """Reads the sentences of one text; `statements.found` and `missed` are the outcome."""

    def __init__(
        self,
        reader: FactReader,
        said_at: datetime,
        clauses: ClauseReader,
        splitter: ClauseSplitter,
        relations: RelationFinder,
    ) -> None:
        self.reader, self.said_at = reader, said_at
        self.clauses, self.splitter = clauses, splitter
        self.statements = Statements(reader, said_at, clauses)
        self.referents = self.statements.referents
        self.phrases = PhraseReader(clauses, relations, self.referents)
        self.missed: list[NotUnderstood] = []
        self.corrections = Corrections(self.statements, splitter.finite)
        self._unnamed = ""
        self._told_of: Adjunct | None = None  # the time that the story is at

    def names_value(self, label: str) -> bool:
        """Return whether a label before a colon ends with a noun of the vocabulary ("Acme CEO: ...")."""
        keys = keys_of(tokens_of(label)).keys
        return any(
            end == len(keys)
            for start in range(len(keys))
            for end, _ in self.clauses.index.nouns_at(keys, start)
        )

    def record(self, record: Record) -> None:
        """Read a form or a row of a table: each label that names a predicate states its value."""
        self.statements.begun = len(self.statements.found)
        if record.subject:
            self._mention(record.subject)
        for item in record.fields:
            predicate = self.reader.vocabulary.get(item.label)
            if predicate is None or kind_score(predicate, item.value) < -1.0:
                self.missed.append(NotUnderstood(text=item.line, reason="no statement recognised"))
                continue
            reading = Reading(predicate.name, record.subject, item.value, STRONG)
            if reason := self.statements.add(reading, item.line, None):
                self.missed.append(NotUnderstood(text=item.line, reason=reason))

    def sentence(self, sentence: Sentence) -> None:
        """Read one sentence; report it if it states nothing that could be read."""
        if sentence.speaker is None:
            self.missed.append(NotUnderstood(text=sentence.text, reason="said by a machine"))
            return
        self.referents.speaker = sentence.speaker
        self.statements.begun = len(self.statements.found)
        self.referents.listed = sentence.alone
        if sentence.alone:
            self.referents.start_afresh()
            self._told_of = None
        said = (sentence.text if sentence.text.isascii() else _EMOJI.sub(" ", sentence.text)).strip()
        body = self._bridged(plain(said))
        if (
            not any(character.isalnum() for character in body)
            or self.corrections.corrected(said, body)
            or self.corrections.replaced(body)
        ):
            return
        if pointed := _POINTED_TO.match(body):
            self._mention(f"to {pointed['name']}")
            body = body[pointed.end() :]
        core = without_asides(body, self.splitter.finite)
        reason = no_statement(body)
        if core.text != body and (reason is None or reason in _OF_ASIDES):
            body = plain(core.text)
            reason = no_statement(body)
        if reason is None and is_unreal(body, self.splitter.finite):
            reason = "a supposition"
        before = len(self.statements.found)
        if reason is None or self._title_speaks(body, reason):
            reason = None
            for clause in positive(unstopped(body)):
                for part in told(clause, self.referents.is_relation):
                    reason = self._read(part, sentence.text) or reason
            if len(self.statements.found) == before:
                for part in caused(unstopped(body)):
                    reason = self._read(part, sentence.text) or reason
            reason = reason or "no statement recognised"
            if _STATING_TAIL.match(core.tail) and no_statement(plain(core.tail)) is None:
                self._read(plain(core.tail), sentence.text)
            if core.hedged:
                self._doubt(before)
        self.corrections.heard = sentence.text
        if len(self.statements.found) == before:
            self.missed.append(NotUnderstood(text=sentence.text, reason=reason))
            self._mention(sentence.text)

    def _bridged(self, body: str) -> str:
        """Say "her name is Mia" of the one animal or person just spoken of without a name ("adopted a kitten")."""
        if self._unnamed and (named := _ITS_NAME.match(body)):
            body, self._unnamed = f"My {self._unnamed} is {named['name']}", ""
        elif match := _ACQUIRED.search(body):
            self._unnamed = match["noun"] if self.referents.is_relation(match["noun"]) else ""
        return body

    def _mention(self, text: str) -> None:
        """Remember the names of a clause that stated nothing: a pronoun may mean them, the first one first."""
        names = names_in(text)
        if names and text.startswith(f"{names[0]} ") and self._begins_with_noun(text):
            names = names[1:]  # "Tumor size was ..." names no Tumor
        for name in reversed(names):
            placed = any(f" {before} {name}" in f" {text}" for before in _BEFORE_PLACES)
            self.referents.discourse.mention(name, ("place",) if placed else ())
        self.referents.mention_relations(text)

    def _begins_with_noun(self, text: str) -> bool:
        """Whether the first two words are one noun of the vocabulary."""
        keys = keys_of(tokens_of(text)).keys
        return any(end == 2 for end, _ in self.clauses.index.nouns_at(keys, 0))

    def _doubt(self, begin: int) -> None:
        """Lower the confidence of the statements from number `begin` on: the speaker hedges."""
        found = self.statements.found
        found[begin:] = [
            item.model_copy(update={"confidence": round(item.confidence * _HEDGED, 2)})
            for item in found[begin:]
        ]

    def _title_speaks(self, body: str, reason: str) -> bool:
        """Whether the words that look like a question belong to a name ("Is This It was recorded by ...")."""
        if reason != "a question" or not body.endswith(".") or "," in body:
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
        """Read a sentence, and of which species an animal is that it names; return why nothing came of it."""
        found = self.statements.found
        before = len(found)
        reason = self._stated(unstopped(body), source)
        found += list(species_of(body, found[before:], self.reader.vocabulary))
        return reason

    def _stated(self, body: str, source: str) -> str | None:
        """Read a sentence as a whole or clause by clause; return why nothing came of it."""
        whole = self.phrases.reading(body)
        if whole and whole.score >= STRONG and not _JOINING.search(f"{whole.subject} | {whole.object}"):
            if (
                whole.score >= _CERTAIN
                and whole.margin >= 0.5
                and whole.subject
                and _PLAIN.isdisjoint(words_in(body))
                and take_adjunct(body, self.said_at) is None
            ):
                return self.statements.add(whole, source, None)
            if _JOINING.search(body) and not _NEGATION.search(body):
                return self._clause(body, source)
        parts = list(self.splitter.clauses(body))
        before = len(self.statements.found)
        reason = None
        for part in parts:
            stated = len(self.statements.found)
            reason = self._clause(part, source) or reason
            if len(parts) > 1 and len(self.statements.found) == stated:
                self._mention(part)
                self.referents.turn_to(part, names_in(part))
        if len(self.statements.found) == before and len(parts) > 1:
            reason = self._clause(body, source) or reason
        return reason

    def _clause(self, text: str, source: str) -> str | None:
        """Read one clause; return why nothing came of it."""
        text = unstopped(text)
        if " into " in text and _ENCOUNTER.match(text):
            return "no statement recognised"
        if _NEGATION.search(text):
            return self._negated(text, source)
        if (aged := _IS_NUMBER.match(text)) and self.referents.is_living(aged["who"]):
            text = f"{text} years old"
        if event := _RESCHEDULED.match(text):
            text = self._rescheduled(event) or text
        if match := _MOVED.match(text):
            old, text = (
                f"{match['head']} {match['to']} {match['old']}",
                f"{match['head']} {match['to']} {match['new']}",
            )
        else:
            old = ""
        planned, said = False, text
        if _FUTURE.search(text):
            text, planned = _FUTURE.sub("", text), True
        adjunct = take_adjunct(text, self.said_at, ahead=planned)
        if planned and not (adjunct and adjunct.valid_from and adjunct.valid_from > self.said_at):
            if committed := self._committed(said):
                return self.statements.add(committed, source, None)
            return "a plan"
        readings = self.phrases.readings(text, adjunct)
        if not readings:
            return "no statement recognised"
        if adjunct and adjunct.valid_from and adjunct.valid_from <= self.said_at:
            self._told_of = adjunct
        reason = None
        for reading, when in readings:
            if (
                old
                and not planned
                and (earlier := self.phrases.reading(old))
                and earlier.predicate == reading.predicate
            ):
                self.statements.presuppose(earlier, source, when)
            when = when or self._in_story(reading, text)
            reason = self.statements.add(reading, source, when, holds=_holds(text, when)) or reason
        return reason

    def _committed(self, text: str) -> Reading | None:
        """Read "we will use X" where the future is a declared wording: to say so is to decide, and holds at once.

        A name tells a choice; "we will use the stairs" is no decision to keep.
        """
        reading = self.phrases.reading(" ".join(_FUTURE.sub(" will ", text, count=1).split()))
        declared = self.reader.vocabulary.get(reading.predicate) if reading else None
        commissive = declared and any(" will " in form for form in declared.statement_forms)
        named = reading is not None and reading.object[:1].isupper()
        return reading if reading and named and commissive and reading.score >= STRONG else None

    def _in_story(self, reading: Reading, text: str) -> Adjunct | None:
        """The time of what was measured: in the past tense that is the time the text has come to."""
        if self._told_of is None or not _PAST_BE.search(text):
            return None
        measured = self.phrases.value_type(reading.predicate) in ("quantity", "number")
        return self._told_of._replace(valid_to=None) if measured else None

    def _rescheduled(self, event: re.Match[str]) -> str:
        """Say "the launch of X was moved to June 1" of the launch date of X, or "" for what has no such date."""
        noun = f"{event['noun'] or event['noun2']} date"
        if (
            read_moment(event["new"], self.said_at) is None
            or self.reader.vocabulary.get(noun.replace(" ", "_")) is None
        ):
            return ""
        head = f"{event['what'] or event['owner']}'s {noun}"
        return (
            f"{head} changed from {event['old']} to {event['new']}"
            if event["old"]
            else f"{head} is {event['new']}"
        )

    def _negated(self, text: str, source: str) -> str | None:
        """Read a denial: a stated dislike or veto, a correction ("X, not Y"), or the end of a fact."""
        if not _ENDED.search(text):
            text = _UNSET.sub(", not ", text)
            reading = self.phrases.reading(text)
            if reading:
                return self.statements.add(reading, source, None)
            shorter = re.sub(r",? (?:and )?not (?!.*\b(?:is|are|was)\b).+$", "", text)
            contrasted = "," in text[len(shorter) : len(shorter) + 1] or shorter[-1:].isdigit()
            if shorter != text and contrasted and not _NEGATION.search(shorter):
                stated = len(self.statements.found)
                reason = self._clause(shorter, source)
                if len(self.statements.found) > stated:
                    return reason
        affirmative = denial(text)
        if affirmative is None:
            return "a denial"
        adjunct = take_adjunct(str(affirmative), self.said_at)
        reading = self.phrases.reading(adjunct.text if adjunct else str(affirmative))
        if reading is None:
            return "a denial"
        if _USED_TO.search(text):
            return self.statements.past(reading, source, adjunct)
        return self.statements.end(reading, source, adjunct)
