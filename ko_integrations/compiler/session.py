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
from ko_integrations.compiler.reading import STRONG, ClauseReader, Reading
from ko_integrations.compiler.relations import RelationFinder
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
_NEGATION = re.compile(
    r"(?:\bnot\b|n['’]t\b|\bno longer\b|\bnever\b|\b(?:stopped|quit|ceased) |(?<!is )(?<!are )(?<!was )(?<!were )(?<!be )\bused to\b|\bany ?more\b|\bany longer\b|\bleft (?=[A-Z]|my job)|\b(?:resigned|fired|retired|laid off) from\b|\b(?:resigned|stepped down|retired|fired|removed|dismissed|sacked|ousted) as\b|\bgave up\b)"
)
_ENDED = re.compile(
    r"\bno longer\b|\bany ?more\b|\bany longer\b|\b(?:stopped|quit|ceased) |\bused to\b|\bleft (?=[A-Z]|my job)|\b(?:resigned|fired|retired|laid off) from\b|\b(?:resigned|stepped down|retired|fired|removed|dismissed|sacked|ousted) as\b|\bgave up\b"
)
_FUTURE = re.compile(
    r"(?:\bwill\b|['’]ll\b|\b(?:is|am|are) going to\b|['’](?:m|re|s) going to\b|\bgonna\b) ?"
)
_JOINING = re.compile(r"[,;(]| and | who | which | that | whose | but | where | because | while | when ")
_MOVED = re.compile(
    r"^(?P<head>.+?\b(?:moved|moves|relocated|switched|changed|changes|went|migrated|transferred|upgraded|downgraded|rose|fell|dropped|grew|increased|decreased)(?: (?:its|his|her|their|our|my|the) [\w -]+?| \w+)??) from (?P<old>.+?) (?P<to>to|into) (?P<new>.+)$"
)
_POSSESSIVE_ALONE = re.compile(r"^(?P<owner>.+['’]s|[Mm]ine|[Hh]is|[Hh]ers) (?:is|are|was) (?P<value>.+)$")
_NAME_OF = re.compile(
    r"^(?:The|the) (?:full )?name of the (?:current |present )?(?P<rest>[a-z]\w+.* (?:of|in|for|at|government) .+)$|^(?:The|the) (?:full )?name of the (?:current |present )(?P<titled>.+)$"
)
_NAME_OF_RELATIVE = re.compile(
    r"^(?P<owner>(?i:my|our|his|her|their)|.+['’]s) (?P<noun>[a-z]+(?: [a-z]+)?)['’]s name is (?P<name>[A-Z].*)$"
)
_ACTIVE_PLACE = re.compile(r"^(?P<what>[a-z][a-z -]*) (?P<place>(?:at|for|with) [A-Z].*)$")
_ACTIVE_BOTH = re.compile(
    r"^(?P<head>\S+(?: [A-Z]\S*)* [a-z]+) (?P<what>[a-z][a-z -]*?) (?P<place>(?:at|for|with) [A-Z].*)$"
)
_HELD_BY = re.compile(
    r"^The (?:position|office|post|role|title|job) of (?:the )?(?P<rest>.+?) is (?:currently |now )?(?:held|occupied|filled|taken) by (?P<holder>.+)$"
)
_PAST_BE = re.compile(r"\b(?:was|were|measured|weighed|had)\b")
_UNOWNED = re.compile(
    r"^(?:[Tt]he )?(?P<noun>[A-Za-z]+(?: [a-z]+){0,3}?) (?P<rest>(?:is|was|are|were|measured|measures) .+)$"
)
"""A noun without an owner, and what it is."""
_PLACE_TAIL = re.compile(r"^(?P<head>.+) (?P<place>(?:at|in) (?:the )?[A-Z][\w.'’&-]*(?: [A-Z][\w.'’&-]*)*)$")
_PLACED = 1.5
"""Least score of a clause whose place is left out."""
_PASSIVE = re.compile(
    r"^(?P<head>.+? (?:is|was|were|are) [a-z]+) (?P<phrases>(?:in|at|on|by|from|near) .+ (?:in|at|on|by|from|near) [A-Z\d].*)$"
)
_TRAILING_PHRASE = re.compile(
    r"^(?P<head>.*\S) (?:across|among|during|over|under|within|throughout|between|after|before|despite|without|per|with) [a-z\d][a-z\d -]*$"
)
_PHRASE = re.compile(r" (?=(?:in|at|on|by|from|near) [A-Z\d])")


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
_ROLE_LINK = re.compile(r" as (?:an? |the )?$")
_UNSET = re.compile(r"(?<!,) not (?=[A-Z\d]\S*(?: [A-Z]\S*)*$)")
_ENCOUNTER = re.compile(r"^.{1,40}? (?:ran|run|bumped|looked|dropped) into [A-Z]")
"""Meeting somebody by chance is no running of anything."""
_SHOWED = re.compile(
    r"^(?P<subject>[A-Z][\w'’-]*(?: [\w'’-]+)?) (?:showed|shows|exhibited|exhibits|demonstrated|demonstrates|displayed|displays|achieved|reached|yielded) (?:an? |the )?"
    r"(?P<noun>[\w-]+(?: [\w-]+){0,2}) of (?P<value>(?:about |approximately |around |~)?\d\S*(?: [^\d\s]\S*)?)(?P<against> (?:against|for|towards?) \S+)?(?: (?:in|at|after|with) .+)?$"
)
"""A measurement told with a verb that says nothing itself ("X showed an IC50 of 3 nM against Y")."""


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
        self.clauses, self.splitter, self.relations = clauses, splitter, relations
        self.statements = Statements(reader, said_at, clauses)
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
        self.statements.speaker = sentence.speaker
        self.statements.begun = len(self.statements.found)
        self.statements.listed = sentence.alone
        if sentence.alone:
            self.statements.start_afresh()
            self._told_of = None
        body = self._bridged(plain(_EMOJI.sub(" ", sentence.text).strip()))
        if (
            not any(character.isalnum() for character in body)
            or self.corrections.corrected(_EMOJI.sub(" ", sentence.text), body)
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
            for part in told(body, self.statements.is_relation):
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
            self._unnamed = match["noun"] if self.statements.is_relation(match["noun"]) else ""
        return body

    def _mention(self, text: str) -> None:
        """Remember the names of a clause that stated nothing: a pronoun may mean them, the first one first."""
        names = names_in(text)
        if names and text.startswith(f"{names[0]} ") and self._begins_with_noun(text):
            names = names[1:]  # "Tumor size was ..." names no Tumor
        for name in reversed(names):
            placed = re.search(rf"\b(?:in|at|from|near) (?:the )?{re.escape(name)}", text)
            self.statements.discourse.mention(name, ("place",) if placed else ())
        self.statements.mention_relations(text)

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
        """Read a sentence as a whole or clause by clause; return why nothing came of it."""
        body = unstopped(body)
        whole = self._reading(body)
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
                self.statements.turn_to(part, names_in(part))
        if len(self.statements.found) == before and len(parts) > 1:
            reason = self._clause(body, source) or reason
        return reason

    def _reading(self, text: str) -> Reading | None:
        """Read a clause, "the name of the P of X is Y" and "the post of P is held by Y" as "the P of X is Y"."""
        if match := _NAME_OF.match(text):
            text = f"The {match['rest'] or match['titled']}"
        if match := _SHOWED.match(text):
            text = f"The {match['noun']} of {match['subject']}{match['against'] or ''} is {match['value']}"
        if match := _NAME_OF_RELATIVE.match(text):
            reading = self.clauses.read(f"{match['owner']} {match['noun']} is {match['name']}")
            declared = self.reader.vocabulary.get(reading.predicate) if reading else None
            if declared and "person" in declared.object_kinds:
                return reading
        if match := _HELD_BY.match(text):
            text = f"The {match['rest']} is {match['holder']}"
        if text[:4] in ("The ", "the ") and (cleft := self.relations.cleft(text)):
            return cleft
        return self.clauses.read(text)

    def _clause(self, text: str, source: str) -> str | None:
        """Read one clause; return why nothing came of it."""
        text = unstopped(text)
        if _ENCOUNTER.match(text):
            return "no statement recognised"
        if _NEGATION.search(text):
            return self._negated(text, source)
        if (aged := _IS_NUMBER.match(text)) and self.statements.is_living(aged["who"]):
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
            or self._unowned(text, adjunct)
        )
        if not readings:
            return "no statement recognised"
        if adjunct and adjunct.valid_from and adjunct.valid_from <= self.said_at:
            self._told_of = adjunct
        reason = None
        for reading, when in readings:
            if (
                old
                and not planned
                and (earlier := self._reading(old))
                and earlier.predicate == reading.predicate
            ):
                self.statements.presuppose(earlier, source, when)
            when = when or self._in_story(reading, text)
            reason = self.statements.add(reading, source, when, holds=_holds(text, when)) or reason
        return reason

    def _in_story(self, reading: Reading, text: str) -> Adjunct | None:
        """The time of what was measured: in the past tense that is the time the text has come to."""
        if self._told_of is None or not _PAST_BE.search(text):
            return None
        measured = self._value_type(reading.predicate) in ("quantity", "number")
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
        if reading is None and inner is None and text != adjunct.text:
            told = self._reading(f"{adjunct.text} in {adjunct.said}")  # "In 1950, Acme was founded."
            return [(told, None)] if told and self._value_type(told.predicate) == "date" else []
        if inner and not (reading and reading.score > inner.score + 1.0):
            return [(inner, adjunct)]
        return [(reading, None)] if reading else []

    def _phrases(self, text: str, adjunct: Adjunct | None) -> list[tuple[Reading, Adjunct | None]]:
        """Read "was founded in Berlin by Jane Doe" phrase by phrase, if the later phrase is surely one of its own."""
        body = adjunct.text if adjunct else text
        match = _PASSIVE.match(body)
        if match is None:
            return [(reading, adjunct) for reading in self._placed(body)]
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

    def _placed(self, text: str) -> list[Reading]:
        """Read "studied physics at MIT" as "studied physics" and "studied at MIT"."""
        whole = self._reading(text)
        if whole is None and (split := _ACTIVE_BOTH.match(text)):
            parts = [self._reading(f"{split['head']} {split[name]}") for name in ("what", "place")]
            return [part for part in parts if part] if all(parts) else []
        cut = _ACTIVE_PLACE.match(whole.object) if whole and text.endswith(whole.object) else None
        if whole is None or cut is None:
            return []
        verb = _ROLE_LINK.sub(" ", text[: len(text) - len(whole.object)])
        what = self._reading(f"{verb}{cut['what']}")
        place = self._reading(f"{_ROLE_LINK.sub(' ', verb)}{cut['place']}")
        return [what, place] if what and place and place.score >= STRONG else []

    def _elliptic(self, text: str) -> str:
        """ "... and my brother's is Y": the noun of the statement before it is understood."""
        match = _POSSESSIVE_ALONE.match(text)
        if match is None or self.statements.predicate is None:
            return ""
        return f"{match['owner']} {self.statements.predicate.replace('_', ' ')} is {match['value']}"

    def _tail(self, text: str) -> list[tuple[Reading, Adjunct | None]]:
        """Read "3 cm mass in the right lobe" as a mass of 3 cm, and the mass in the right lobe."""
        if (trailing := _TRAILING_PHRASE.match(text)) and (reading := self._reading(trailing["head"])):
            return [(reading, None)]
        if placed := _PLACE_TAIL.match(text):
            return self._set_in_place(placed)
        head, link, rest = text.rpartition(" in ")
        if not link or not rest.islower():
            return []
        readings = [self._reading(head), self._reading(f"{head.rsplit(' ', 1)[-1]} in {rest}")]
        return [(reading, None) for reading in readings if reading]

    def _unowned(self, text: str, adjunct: Adjunct | None) -> list[tuple[Reading, Adjunct | None]]:
        """Read "the CTO is Y" or "Tumor size was Y" of the subject spoken of last that can have one."""
        match = _UNOWNED.match(adjunct.text if adjunct else text)
        declared = self.reader.vocabulary.get(match["noun"].lower()) if match else None
        if match is None or declared is None or not declared.subject_kinds:
            return []
        topic = self.statements.discourse.topic(declared.subject_kinds)
        if topic is None or topic == self.statements.speaker:
            return []
        reading = self._reading(f"{topic}'s {match['noun'].lower()} {match['rest']}")
        if reading is None or (reading.subject, reading.predicate) != (topic, declared.name):
            return []
        return [(reading, adjunct)]

    def _set_in_place(self, placed: re.Match[str]) -> list[tuple[Reading, Adjunct | None]]:
        """Read "X teaches maths at Y" as "X teaches maths", and as "X teaches at Y" if that states something."""
        what = self._reading(placed["head"])
        if (
            what is None
            or not what.subject
            or what.score < _PLACED
            or not placed["head"].endswith((what.object, f"{what.object} tall", f"{what.object} high"))
        ):
            return []
        verb = placed["head"].removesuffix(what.object).rstrip()
        where = self._reading(f"{verb} {placed['place']}")
        found = (
            [what, where] if where and where.score >= STRONG and where.predicate != what.predicate else [what]
        )
        return [(reading, None) for reading in found]

    def _value_type(self, name: str) -> str:
        predicate = self.reader.vocabulary.get(name)
        return predicate.value_type if predicate else "any"

    def _negated(self, text: str, source: str) -> str | None:
        """Read a denial: a stated dislike or veto, a correction ("X, not Y"), or the end of a fact."""
        if not _ENDED.search(text):
            text = _UNSET.sub(", not ", text)
            reading = self._reading(text)
            if reading:
                return self.statements.add(reading, source, None)
            shorter = re.sub(r",? (?:and )?not (?!.*\b(?:is|are|was)\b).+$", "", text)
            contrasted = "," in text[len(shorter) : len(shorter) + 1] or shorter[-1:].isdigit()
            if shorter != text and contrasted and (reading := self._reading(shorter)):
                return self.statements.add(reading, source, None)
        affirmative = denial(text)
        if affirmative is None:
            return "a denial"
        adjunct = take_adjunct(str(affirmative), self.said_at)
        reading = self._reading(adjunct.text if adjunct else str(affirmative))
        if reading is None:
            return "a denial"
        if _USED_TO.search(text):
            return self.statements.past(reading, source, adjunct)
        return self.statements.end(reading, source, adjunct)
