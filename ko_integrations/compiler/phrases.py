"""A clause taken phrase by phrase: its readings, each with the time that it says."""

import re

from ko_integrations.compiler.dates import Adjunct
from ko_integrations.compiler.definites import located, of_the_speaker
from ko_integrations.compiler.reading import STRONG, ClauseReader, Reading
from ko_integrations.compiler.referents import Referents
from ko_integrations.compiler.relations import RelationFinder

__all__ = ["PhraseReader"]

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
_UNOWNED = re.compile(
    r"^(?:[Tt]he )?(?P<noun>[A-Za-z]+(?: [a-z]+){0,3}?) (?P<rest>(?:is|was|are|were|measured|measures) .+)$"
)
"""A noun without an owner, and what it is."""
_PLACE_TAIL = re.compile(r"^(?P<head>.+) (?P<place>(?:at|in) (?:the )?[A-Z][\w.'’&-]*(?: [A-Z][\w.'’&-]*)*)$")
_MANY_SIDED = re.compile(r"(?:in|on|at|by|with) ")
"""Prepositions of which a declared wording knows more than a place ("on the third floor"), however faint it is."""
_DEFINITELY = 0.7
"""Score of a reading that rests on what "the" implies."""
_PLACED = 1.5
"""Least score of a clause whose place is left out."""
_PASSIVE = re.compile(
    r"^(?P<head>.+? (?:is|was|were|are) [a-z]+) (?P<phrases>(?:in|at|on|by|from|near) .+ (?:in|at|on|by|from|near) [A-Z\d].*)$"
)
_TRAILING_PHRASE = re.compile(
    r"^(?P<head>.*\S) (?:across|among|during|over|under|within|throughout|between|after|before|despite|without|per|with) [a-z\d][a-z\d -]*$"
)
_PHRASE = re.compile(r" (?=(?:in|at|on|by|from|near) [A-Z\d])")
_ROLE_LINK = re.compile(r" as (?:an? |the )?$")
_SHOWED = re.compile(
    r"^(?P<subject>[A-Z][\w'’-]*(?: [\w'’-]+)?) (?:showed|shows|exhibited|exhibits|demonstrated|demonstrates|displayed|displays|achieved|reached|yielded) (?:an? |the )?"
    r"(?P<noun>[\w-]+(?: [\w-]+){0,2}) of (?P<value>(?:about |approximately |around |~)?\d\S*(?: [^\d\s]\S*)?)(?P<against> (?:against|for|towards?) \S+)?(?: (?:in|at|after|with) .+)?$"
)
"""A measurement told with a verb that says nothing itself ("X showed an IC50 of 3 nM against Y")."""


class PhraseReader:
    """Reads clauses that say more than a clause reader takes at once; `referents` tell whom they leave out."""

    def __init__(self, clauses: ClauseReader, relations: RelationFinder, referents: Referents) -> None:
        self._clauses, self._relations, self._referents = clauses, relations, referents

    def readings(self, text: str, adjunct: Adjunct | None) -> list[tuple[Reading, Adjunct | None]]:
        """Return the readings of a clause and their times; `adjunct` is the clause without its time."""
        return (
            self._located(text, adjunct)
            or self._phrases(text, adjunct)
            or self._timed(text, adjunct)
            or self._timed(self._elliptic(text), None)
            or self._tail(text)
            or self._unowned(text, adjunct)
            or self._definite(text, adjunct)
        )

    def reading(self, text: str) -> Reading | None:
        """Read a clause, "the name of the P of X is Y" and "the post of P is held by Y" as "the P of X is Y"."""
        if match := _NAME_OF.match(text):
            text = f"The {match['rest'] or match['titled']}"
        if " of " in text and (match := _SHOWED.match(text)):
            text = f"The {match['noun']} of {match['subject']}{match['against'] or ''} is {match['value']}"
        if "s name is " in text and (match := _NAME_OF_RELATIVE.match(text)):
            reading = self._clauses.read(f"{match['owner']} {match['noun']} is {match['name']}")
            declared = self._clauses.vocabulary.get(reading.predicate) if reading else None
            if declared and "person" in declared.object_kinds:
                return reading
        if match := _HELD_BY.match(text):
            text = f"The {match['rest']} is {match['holder']}"
        if text[:4] in ("The ", "the ") and (cleft := self._relations.cleft(text)):
            return cleft
        return self._clauses.read(text)

    def _timed(self, text: str, adjunct: Adjunct | None) -> list[tuple[Reading, Adjunct | None]]:
        """The readings of a clause that may say when: as the date of a fact, or the time of one."""
        reading = self.reading(text)
        if adjunct is None:
            reading = reading or self._relations.find(text)
            return [(reading, None)] if reading else []
        dated = reading if reading and self.value_type(reading.predicate) == "date" else None
        if dated:
            return [(dated, None)]
        inner = self.reading(adjunct.text) or self._relations.find(adjunct.text)
        if reading is None and inner is None and text != adjunct.text:
            told = self.reading(f"{adjunct.text} in {adjunct.said}")  # "In 1950, Acme was founded."
            return [(told, None)] if told and self.value_type(told.predicate) == "date" else []
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
            reading = self.reading(f"{match['head']} {piece}")
            if reading and (piece.startswith("by ") or reading.score >= 3.0):
                found.append(reading)
            else:
                kept = f"{kept} {piece}"
        first = self.reading(f"{match['head']} {kept}") if found else None
        return [(reading, adjunct) for reading in (first, *found) if reading] if first else []

    def _placed(self, text: str) -> list[Reading]:
        """Read "studied physics at MIT" as "studied physics" and "studied at MIT"."""
        whole = self.reading(text)
        if whole is None and (split := _ACTIVE_BOTH.match(text)):
            parts = [self.reading(f"{split['head']} {split[name]}") for name in ("what", "place")]
            return [part for part in parts if part] if all(parts) else []
        cut = _ACTIVE_PLACE.match(whole.object) if whole and text.endswith(whole.object) else None
        if whole is None or cut is None:
            return []
        verb = _ROLE_LINK.sub(" ", text[: len(text) - len(whole.object)])
        what = self.reading(f"{verb}{cut['what']}")
        place = self.reading(f"{verb}{cut['place']}")
        return [what, place] if what and place and place.score >= STRONG else []

    def _elliptic(self, text: str) -> str:
        """ "... and my brother's is Y": the noun of the statement before it is understood."""
        match = _POSSESSIVE_ALONE.match(text)
        if match is None or self._referents.predicate is None:
            return ""
        return f"{match['owner']} {self._referents.predicate.replace('_', ' ')} is {match['value']}"

    def _tail(self, text: str) -> list[tuple[Reading, Adjunct | None]]:
        """Read "3 cm mass in the right lobe" as a mass of 3 cm, and the mass in the right lobe."""
        if (trailing := _TRAILING_PHRASE.match(text)) and (reading := self.reading(trailing["head"])):
            return [(reading, None)]
        if placed := _PLACE_TAIL.match(text):
            return self._set_in_place(placed)
        head, link, rest = text.rpartition(" in ")
        if not link or not rest.islower():
            return []
        readings = [self.reading(head), self.reading(f"{head.rsplit(' ', 1)[-1]} in {rest}")]
        return [(reading, None) for reading in readings if reading]

    def _unowned(self, text: str, adjunct: Adjunct | None) -> list[tuple[Reading, Adjunct | None]]:
        """Read "the CTO is Y" or "Tumor size was Y" of the subject spoken of last that can have one."""
        match = _UNOWNED.match(adjunct.text if adjunct else text)
        declared = self._clauses.vocabulary.get(match["noun"].lower()) if match else None
        if match is None or declared is None or not declared.subject_kinds:
            return []
        topic = self._referents.discourse.topic(declared.subject_kinds)
        if topic is None or topic == self._referents.speaker:
            return []
        reading = self.reading(f"{topic}'s {match['noun'].lower()} {match['rest']}")
        if reading is None or (reading.subject, reading.predicate) != (topic, declared.name):
            return []
        return [(reading, adjunct)]

    def _located(self, text: str, adjunct: Adjunct | None) -> list[tuple[Reading, Adjunct | None]]:
        """Read where a thing is, if no declared wording says something else of it."""
        place = located(text)
        other = self.reading(text) if place else None
        if place is None or (other and (other.score >= STRONG or _MANY_SIDED.match(place[1]))):
            return []
        return [(Reading("location", *place, _DEFINITELY, stated=False), adjunct)]

    def _definite(self, text: str, adjunct: Adjunct | None) -> list[tuple[Reading, Adjunct | None]]:
        """Read "the gate code is 7710" of the speaker where nobody else is spoken of."""
        owned = of_the_speaker(adjunct.text if adjunct else text)
        if not owned or self._speaks_of_another():
            return []
        reading = self.reading(owned) or self._relations.find(owned)
        declared = self._clauses.vocabulary.get(reading.predicate) if reading else None
        if reading is None or declared and declared.subject_kinds and "person" not in declared.subject_kinds:
            return []
        return [(reading, adjunct)]

    def _speaks_of_another(self) -> bool:
        """Whether the text speaks of somebody who is not one of the speaker's own people."""
        said = self._referents
        own = {str(item.object) for item in said.found if item.subject == said.speaker} | {said.speaker, None}
        return said.discourse.last not in own

    def _set_in_place(self, placed: re.Match[str]) -> list[tuple[Reading, Adjunct | None]]:
        """Read "X teaches maths at Y" as "X teaches maths", and as "X teaches at Y" if that states something."""
        what = self.reading(placed["head"])
        if (
            what is None
            or not what.subject
            or what.score < _PLACED
            or not placed["head"].endswith((what.object, f"{what.object} tall", f"{what.object} high"))
        ):
            return []
        verb = placed["head"].removesuffix(what.object).rstrip()
        where = self.reading(f"{verb} {placed['place']}")
        found = (
            [what, where] if where and where.score >= STRONG and where.predicate != what.predicate else [what]
        )
        return [(reading, None) for reading in found]

    def value_type(self, name: str) -> str:
        predicate = self._clauses.vocabulary.get(name)
        return predicate.value_type if predicate else "any"
