"""Whom a clause means: by its own words, by the clause before it, and by what is known of those it names."""

import re
from dataclasses import dataclass, field

from ko_integrations.compiler.clauses import ANTECEDENT
from ko_integrations.compiler.discourse import TITLES, Discourse
from ko_integrations.compiler.reading import Reading
from ko_integrations.compiler.text import FIRST_PERSON, INHERITED, PRONOUNS
from ko_integrations.kinds import LIVING_KINDS, country_named, demonym_of, kin_among, kinds_of
from ko_integrations.protocols import Extraction, FactReader
from ko_integrations.types import Value

__all__ = ["Referents"]

_UNTITLED = re.compile(r"^(?:[A-Z]\.[ -]?)+(?:[A-Z][\w'’-]+)?$|^[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?$")
"""Initials, or a name of one or two words: what somebody is called for short."""
_ALIVE = (("person",), ("animal",))
_OWN = re.compile(r"\b(?:[Mm]y|[Oo]ur) (?:[a-z]+ )?(?P<noun>[a-z]+)\b")
_RELATIVE_OF = re.compile(r"^(?P<owner>.+)['’]s (?:[a-z]+ )?(?P<noun>[a-z]+)$")
_OF_A_PEOPLE = frozenset(("head_of_state", "head_of_government", "president"))
"""Offices that may be named by the people instead of the country ("King of the Belgians")."""


@dataclass(slots=True)
class Referents:
    """Whom the clauses of one text may mean.

    `subject`, `object` and `predicate` are those of the clause before: what "and works at ..." and
    "..., which is based in ..." go on from. `found` are the statements of the text so far.
    """

    reader: FactReader
    found: list[Extraction]
    discourse: Discourse = field(default_factory=Discourse)
    speaker: str = "user"
    subject: str | None = None
    object: str | None = None
    predicate: str | None = None
    listed: bool = False
    """Whether the sentence is an item of a list, which says names in full."""
    _countries: dict[str, str] = field(default_factory=dict)
    _titled: dict[str, str] = field(default_factory=dict)

    def start_afresh(self) -> None:
        """Forget whom the text spoke of: an item of a list refers to nothing before it."""
        self.discourse, self._countries = Discourse(), {}

    def is_relation(self, noun: str) -> bool:
        """Return whether `noun` says who somebody is to another, or which animal ("sister", "boss", "dog")."""
        declared = self.reader.vocabulary.get(noun)
        return declared is not None and not LIVING_KINDS.isdisjoint(declared.object_kinds)

    def is_living(self, name: str) -> bool:
        """Return whether `name` is a person's or an animal's, by the text or by whose relation is stored."""
        if (own := _OWN.fullmatch(name)) is not None:
            return self.is_relation(own["noun"])
        if self.discourse.is_person(name):
            return True
        stated = [(item.predicate, item.object) for item in self.found]
        stated += [(ko.predicate, ko.object) for ko in self.reader.facts_naming(name)]
        return any(value == name and self.is_relation(predicate) for predicate, value in stated)

    def mention_relations(self, text: str) -> None:
        """Remember "my mother" of a clause that stated nothing: a pronoun may mean her."""
        for match in _OWN.finditer(text):
            if self.is_relation(match["noun"]):
                known = self.discourse.resolve(f"my {match['noun']}", self.speaker)
                self.discourse.mention(self._kin(known) if known else "", ("person",))

    def turn_to(self, clause: str, names: list[str]) -> None:
        """Let what follows a clause that stated nothing go on from the subject of that clause, if it has one."""
        first = clause.split(" ", 1)[0].split("'", 1)[0].split("’", 1)[0]
        if first == INHERITED:
            return
        if first.lower() in PRONOUNS:
            self.subject = self.discourse.resolve(first, self.speaker)
        else:
            self.subject = names[0] if names and clause.startswith(names[0]) else None

    def subject_of(self, said: str | None, predicate: str) -> str | None:
        """Return the subject that `said` means as the bearer of `predicate`, or None where nothing tells."""
        if said is None:
            return self._topic(predicate)
        if said.startswith(INHERITED):
            return f"{self.subject}{said[1:]}" if self.subject else None
        if said.startswith(ANTECEDENT):
            return f"{self.object}{said[1:]}" if self.object else None
        subject = self.discourse.resolve(said, self.speaker)
        return self._stored(self._kin(self._country(subject, predicate))) if subject else None

    def value_of(self, said: str) -> str:
        """Return the name that a value stands for ("it", "my boss"), the text itself, or "" for nobody known."""
        if said.startswith(INHERITED):
            said = self.subject or ""
        elif said.startswith(ANTECEDENT):
            said = self.object or ""
        if said.lower() in PRONOUNS or said.split(" ", 1)[0].lower() in FIRST_PERSON:
            return self.discourse.resolve(said, self.speaker) or ""
        return said

    def remember(self, subject: str, reading: Reading, values: list[Value]) -> None:
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
            told = name == subject or reading.inverted or "person" in kinds_of(name) or kinds in _ALIVE
            if told and name != "user":
                self.discourse.mention(name, kinds if len(kinds) == 1 else ())

    def _topic(self, predicate: str) -> str | None:
        """Whom a bare label ("Budget: ...") is about: the topic of the text, not a person named in passing."""
        last, first = self.discourse.last, self.discourse.first_thing
        declared = self.reader.vocabulary.get(predicate)
        of_people = declared is None or "person" in declared.subject_kinds or "phone" in declared.object_kinds
        return first if last and first and not of_people and self.discourse.is_person(last) else last

    def _kin(self, name: str) -> str:
        """The one person whom "user's sister" is by what is known, or the description itself."""
        match = _RELATIVE_OF.match(name)
        if match is None or not self.is_relation(match["noun"]):
            return name
        owner, noun = match["owner"], match["noun"]
        declared = self.reader.vocabulary.get(noun)
        predicate = declared.name if declared else noun
        known: dict[str, None] = {
            item.object: None
            for item in self.found
            if (item.subject, item.predicate, item.kind) == (owner, predicate, "assert")
        }
        known.update((str(ko.object), None) for ko in self.reader.read_values(owner, predicate))
        fitting = kin_among(noun, known)
        return fitting[0] if len(fitting) == 1 and fitting[0][:1].isupper() else name

    def _stored(self, name: str) -> str:
        """The one stored subject that `name` is without its title ("M.R." for "Patient M.R."), or the name itself."""
        if self.listed or not _UNTITLED.match(name) or name == self.speaker:
            return name
        known = self._titled.get(name)
        if known is None:
            whole = {title: f"{title} {name}" for title in TITLES}
            stored = self.reader.find_subjects([name, *whole.values()])
            fitting = dict.fromkeys(stored.values())
            known = next(iter(fitting)) if len(fitting) == 1 and name not in stored else name
            self._titled[name] = known
        return known

    def _country(self, name: str, predicate: str) -> str:
        """A country keeps the name under which it was first a subject, whatever else it is called."""
        common = country_named(name) or (demonym_of(name) if predicate in _OF_A_PEOPLE else None)
        if common is None:
            return name
        known = self._countries.get(common)
        if known is None:
            stored = self.reader.find_subjects(list(dict.fromkeys((name, common)))) if name != common else {}
            known = stored.get(name) or stored.get(common) or (name if country_named(name) else common)
            self._countries[common] = known
        return known
