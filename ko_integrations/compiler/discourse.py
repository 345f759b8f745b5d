"""Whom a text speaks of: the first person, pronouns, short names and descriptions such as "the company"."""

import re
from dataclasses import dataclass, field

from ko_integrations.compiler.naming import bare
from ko_integrations.compiler.text import FIRST_PERSON
from ko_integrations.kinds import country_named, formal_kin, kinds_of, pronoun_of, pronoun_of_kin
from ko_integrations.morphology import PREPOSITIONS

__all__ = ["TITLES", "Discourse"]

_POSSESSED = re.compile(
    r"^(?P<owner>(?i:my|our|his|her|its|their)|[^\W\d_].*?['’]s?) (?P<noun>[a-z][\w -]*?|[A-Z]{2,5})(?:,? (?P<name>[A-Z][\w.'’ -]*))?$"
)
_DESCRIBED = re.compile(r"^(?:[Tt]he|[Tt]his|[Tt]hat) (?P<noun>[a-z][\w -]*)$")
_NAMED = re.compile(r"^(?:[Tt]he |[Aa]n? )?[a-z].* (?:named|called) (?P<name>[A-Z].*)$")
TITLES = ("Patient", "Dr.", "Dr", "Prof.", "Prof", "Professor", "Mr.", "Mr", "Mrs.", "Mrs", "Ms.", "Ms", "Sir", "Dame")  # fmt: skip
_NOBODY = frozenset(
    "you your yours there who which what someone somebody everyone everybody people nobody one".split()
)
"""Words for whoever is meant or for nobody in particular."""
_SPOKEN_OF = frozenset("he him his she her hers it its they them their this that these those".split())
_TITLE = re.compile(r"^(?:(?:Dr|Mr|Mrs|Ms|Prof|Professor|Sir|Dame)\.?|[Pp]atient) ")
_OBJECTS = frozenset(
    "organisation place city country continent label broadcaster team party award work product software".split()
)
_KINDS_OF_NOUNS = {
    "person": frozenset("patient man woman boy girl doctor physician singer actor actress author writer player director artist politician musician guy lady person user customer employee".split()),
    "organisation": frozenset("company firm organisation organization band group team club startup start-up university school agency institution label manufacturer hospital bank corporation".split()),
    "place": frozenset("city town village country state region river mountain island building capital place".split()),
    "work": frozenset("film movie book novel song album series show game play poem painting magazine newspaper article trial study paper".split()),
    "product": frozenset("product car phone device drug medication compound software app application program project tool system service library model inhibitor tumour tumor".split()),
}  # fmt: skip


_AGED = re.compile(r"^(?P<article>(?:[Tt]he|[Aa]n?) )\d{1,3}-year-old ")
_ACCOMPANIED = re.compile(r" (?:with|who) .*$")
_CAPITALS = re.compile(r"^[A-Z][A-Z\d&]+$")


@dataclass(slots=True)
class _Mention:
    name: str
    kinds: set[str]
    pronoun: str | None


@dataclass(slots=True)
class Discourse:
    """The subjects of a text so far, latest last."""

    _mentions: list[_Mention] = field(default_factory=list)
    _mentions_in_order: list[_Mention] = field(default_factory=list)

    @property
    def last(self) -> str | None:
        """The subject spoken of last."""
        return self._mentions[-1].name if self._mentions else None

    @property
    def first_thing(self) -> str | None:
        """The first subject that is not known for a person."""
        return next((known.name for known in self._mentions_in_order if not self.is_person(known.name)), None)

    def topic(self, kinds: tuple[str, ...]) -> str | None:
        """The subject spoken of last that is known for one of `kinds`."""
        for known in reversed(self._mentions):
            if known.kinds.intersection(kinds) or "person" in kinds and self.is_person(known.name):
                return known.name
        return None

    def is_person(self, name: str) -> bool:
        """Return whether a subject is known, or by its name likely, to be a person."""
        known = next((known for known in self._mentions if known.name == name), None)
        return known is not None and ("person" in known.kinds or known.pronoun in ("he", "she"))

    def mention(self, name: str, kinds: tuple[str, ...] = ()) -> None:
        """Remember that `name` was the subject of a statement that fits things of `kinds`."""
        for number, known in enumerate(self._mentions):
            if known.name == name:
                known.kinds.update(kinds)
                self._mentions.append(self._mentions.pop(number))
                return
        if not name:
            return
        found = set(kinds_of(name)) or set(kinds)
        pronoun = pronoun_of_kin(name.rsplit(" ", 1)[-1]) or pronoun_of(name)
        self._mentions.append(_Mention(name, found, pronoun if not found & _OBJECTS else None))
        self._mentions_in_order.append(self._mentions[-1])

    def resolve(self, text: str, speaker: str) -> str | None:
        """Return the subject that `text` means, or None where nothing in the text tells."""
        text = _AGED.sub(r"\g<article>", text.strip(' ,;:"“”'))
        lower = text.lower()
        if lower in FIRST_PERSON:
            return speaker
        if lower in _NOBODY:
            return None
        if lower in _SPOKEN_OF:
            return self._by_pronoun(lower, speaker)
        if match := _POSSESSED.match(text):
            return self._possessed(match, speaker)
        if (match := _DESCRIBED.match(text)) and not bare(text)[1]:
            return self._described(match["noun"].lower()) or match["noun"]
        name = _named(text)
        return self._by_short_name(name) or name

    def pair(self) -> tuple[str, ...]:
        """The two persons that "they" means, where the text speaks of exactly two; else nobody."""
        persons = [
            known.name
            for known in self._mentions
            if known.pronoun in ("he", "she") or "person" in known.kinds
        ]
        return tuple(persons) if len(persons) == 2 else ()

    def _possessed(self, match: re.Match[str], speaker: str) -> str | None:
        """ "My brother" is a subject of its own: "user's brother"; "my brother Tom" is Tom."""
        if match["name"] and match["noun"].rsplit(" ", 1)[-1] not in PREPOSITIONS:
            return str(match["name"])
        owner = re.sub(r"['’]s?$", "", match["owner"])
        resolved = self.resolve(owner, speaker)
        noun = match["noun"]
        if match["name"]:  # "my flight to Rome" is no Rome
            noun = f"{noun} {match['name']}"
        return f"{resolved}'s {formal_kin(noun)}" if resolved else None

    def _by_pronoun(self, word: str, speaker: str) -> str | None:
        group = {"him": "he", "his": "he", "her": "she", "hers": "she"}.get(word, word)
        for known in reversed(self._mentions):
            if group in ("he", "she"):
                if (
                    _CAPITALS.match(known.name)
                    or known.kinds & _OBJECTS
                    and pronoun_of(known.name) != group  # Sofia is a city and a woman
                    or known.name == speaker == "user"
                    or known.pronoun not in (None, "they", group)
                ):
                    continue
            elif group in ("it", "its", "this", "that"):
                if "person" in known.kinds or known.name == speaker or known.pronoun in ("he", "she"):
                    continue
            elif known.name == speaker or known.pronoun in ("he", "she"):
                continue  # "they" are several, or of no told sex
            if group in ("he", "she") and known.pronoun is None:
                known.pronoun = group  # from now on the text has told
            return known.name
        return None

    def _described(self, noun: str) -> str | None:
        head = noun.rsplit(" ", 1)[-1]
        for kind, nouns in _KINDS_OF_NOUNS.items():
            if head not in nouns:
                continue
            for known in reversed(self._mentions):
                fits = known.kinds & {kind, "city", "country"} if kind == "place" else kind in known.kinds
                unknown = not known.kinds and (kind != "person" or known.pronoun is not None)
                if (fits or unknown or head in known.name.lower()) and (
                    known.name != "user" or kind == "person"
                ):
                    return known.name
        return None

    def _by_short_name(self, name: str) -> str | None:
        """Return the one person mentioned whose full name has `name` as its first or last words."""
        short = _TITLE.sub("", name).split()
        if len(short) > 2 or not short or not short[0][:1].isupper() or kinds_of(name) & _OBJECTS:
            return None
        found = []
        for known in self._mentions:
            full = _TITLE.sub("", known.name).split()
            if (
                known.name != name
                and len(full) >= len(short)
                and (full[: len(short)] == short or full[-len(short) :] == short)
            ):
                # "Norway" is not short for "Harald V of Norway", nor "Acme" for "Acme Foods".
                if any(word.islower() for word in full) or known.kinds & _OBJECTS and full != short:
                    continue
                found.append(known.name)
        return found[0] if len(found) == 1 else None


def _named(text: str) -> str:
    """The name in a noun phrase, without what introduces or accompanies it."""
    if match := _NAMED.match(text):
        text = match["name"]
    name = bare(text)[0]
    if not name[:1].isupper():
        name = _ACCOMPANIED.sub("", name)
    if name[:4] in ("The ", "the ") and name.rsplit(" ", 1)[-1].islower():
        name = name[4:]
    if name[:4] in ("The ", "the ") and country_named(name):
        name = name[4:]
    return name
