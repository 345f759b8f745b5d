"""What may be the subject or the object of a statement at all, and what the words of a name look like."""

import re
from collections.abc import Sequence, Set

from ko_integrations.compiler.text import FIRST_PERSON, INHERITED, OPTIONAL, SKIPPED, tokens_of
from ko_integrations.kinds import CLOSED_KINDS, PLACE_KINDS, kinds_of
from ko_integrations.morphology import PREPOSITIONS, is_participle
from ko_integrations.vocabulary import Predicate

__all__ = [
    "ATTRIBUTES",
    "LIGHT_KEYS",
    "PERSON_NOUNS",
    "cannot_bear",
    "is_no_name",
    "is_nobody",
    "is_possible",
    "shape",
]

LIGHT_KEYS = frozenset(
    tokens_of(word)[0].key for word in "take get give receive do report experience have earn need go".split()
)
"""Keys of verbs that say little themselves: the object decides what is stated."""

PERSON_NOUNS = frozenset(
    "mother father mum mom dad parent parents son daughter child children kid kids brother sister sibling twin wife husband spouse "
    "partner girlfriend boyfriend fiance fiancee cousin uncle aunt nephew niece grandfather grandmother grandma grandpa grandson granddaughter "
    "friend boss manager colleague coworker neighbour neighbor teacher doctor dentist student roommate flatmate assistant client "
    "patient dog cat pet puppy kitten horse team family widow widower mentor ex stepfather stepmother".split()
)
"""Nouns of somebody who belongs to somebody: "her brother" lives somewhere, "her work" does not."""
_OWNED = re.compile(r"^(?:.+['’]s?|(?i:my|our|his|her|its|their)) (?:[\w-]+ )*?(?P<noun>[a-z][\w-]*)$")
ATTRIBUTES = frozenset(
    "mean median average maximum minimum maximal minimal total overall approximate estimated baseline "
    "both all most some many no each every such another same further".split()
)
"""Words that say which or how much, and name nothing when nothing follows."""
_SUBORDINATE = frozenset(
    "after before following during despite since until because if when while although though unless upon without having given "
    "or but so then than once whereas".split()
)
_STATED = frozenset(("number", "date", "quantity", "phone", "email"))


def is_possible(predicate: Predicate, value: str) -> bool:
    """Return whether a predicate of names may hold `value`: nobody is born in "1931" or works for "12 kg"."""
    if _is_subordinate(value.split(" ")):
        return False
    wanted = predicate.object_kinds
    if not wanted:
        return True
    if first_person(value) and _SPEAKERS.isdisjoint(wanted):
        return False
    if predicate.value_type != "name" or not (kinds := kinds_of(value)):
        return True
    stated = kinds <= _STATED and any(map(str.isdigit, value))
    return not (_is_of_another_kind(kinds, wanted, value) or stated and kinds.isdisjoint(wanted))


def _is_of_another_kind(kinds: Set[str], wanted: Sequence[str], value: str) -> bool:
    """Whether the value is known to be a religion, say, where a language or place is asked for."""
    if (
        not kinds & CLOSED_KINDS
        or not kinds.isdisjoint(wanted)
        or "country" in wanted
        and "nationality" in kinds
    ):
        return False
    return _APART.issuperset(wanted) and (value.islower() or CLOSED_KINDS.issuperset(wanted))


def is_nobody(predicate: Predicate, subject: str) -> bool:
    """Return whether `subject` can be no subject: "mean", "following his death", "her work" of a predicate of persons."""
    return is_no_name(subject) or cannot_bear(predicate, subject)


def is_no_name(subject: str) -> bool:
    """Return whether `subject` can be no subject of whatever predicate: "mean", "following his death"."""
    words = subject.split(" ")
    if ", " in subject and _FRONTED.match(subject) or _COUNTED.match(subject):
        return True
    if all(word.lower() in ATTRIBUTES for word in words) or _is_subordinate(words):
        return True
    if subject[0].islower() and (
        words[0] not in _DETERMINERS and _PLACED.search(subject) or _GERUND.match(subject)
    ):
        return True
    return len(words) == 1 and subject.islower() and (subject.endswith("ly") or subject in _ADVERBS)


def cannot_bear(predicate: Predicate, subject: str) -> bool:
    """Return whether a subject is of no kind that has such a predicate: "her work" of one of persons."""
    kinds = predicate.subject_kinds
    if kinds and first_person(subject) and _SPEAKERS.isdisjoint(kinds):
        return True
    if subject.islower() and predicate.cardinality == "single" and _is_generic(predicate, subject):
        return True
    if "person" in kinds and (trailed := _TRAILED.match(subject)):
        return trailed["last"] not in PERSON_NOUNS and "occupation" not in kinds_of(trailed["last"])
    if kinds == ("person",) and (owned := _OWNED.match(subject)):
        return owned["noun"] not in PERSON_NOUNS and "occupation" not in kinds_of(owned["noun"])
    return False


def _is_subordinate(words: list[str]) -> bool:
    """Whether a phrase begins like a clause ("after graduating from ..."), and not like a title ("After the Storm")."""
    if words[0].lower() not in _SUBORDINATE:
        return False
    rest = [word for word in words[1:] if word != "the"]
    return not rest or words[0].islower() or rest[0][:1].islower()


def first_person(subject: str) -> bool:
    """Return whether the speaker is the subject."""
    return subject.lower() in FIRST_PERSON


def _is_generic(predicate: Predicate, subject: str) -> bool:
    """Whether a plural without an article stands for all of its kind: "pumps" are made by many."""
    made = not _MADE.isdisjoint(predicate.subject_kinds)
    return made and subject.split(" of ")[0].endswith("s") and not subject.endswith("ss")


_APART = PLACE_KINDS | {"language", "religion", "currency"}
"""Kinds that nobody takes for another one, as a field is for an occupation."""
_ADVERBS = frozenset(
    "early late soon now then here there well hard fast again today tonight tomorrow yesterday always often sometimes".split()
)
_COUNTED = re.compile(
    r"(?:(?:[Ss]ome|[Aa]bout|[Aa]round|[Oo]ver|[Nn]early|[Aa]lmost|[Mm]ore than) )?\d[\d,.]* [a-z]"
)
# A name and a noun behind it; "The user" is no name.
_TRAILED = re.compile(
    r"^(?:(?:The|An?|My|Our|His|Her|Its|Their|This|That) )?(?!(?:The|An?|My|Our|His|Her|Its|Their|This|That) )"
    r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)* (?P<last>[a-z]+)$"
)
_FRONTED = re.compile(r"(?:In|At|On|During|Among|For|With|From|By|Of|Under|Over) [a-z].*, ")
_GERUND = re.compile(r"[a-z]{3,}ing (?:the |an? )?[A-Z\d]")
_PLACED = re.compile(r" (?:at|in|on|to|for|from|with) ")
_DETERMINERS = frozenset("the a an my our his her its their this that these those".split())
_SPEAKERS = frozenset(("person", "team"))
_MADE = frozenset(("product", "software", "work"))


_BREAKING = frozenset(
    ("be", "not", "never", "who", "which", ":", ";", "because", "but", "when", "while", "where", INHERITED)
)


_AS_ROLE = re.compile(r" as (?!an? |the )[a-z]+(?: [a-z]+)? (?:of|at|for|in) ")
_FINISHED = re.compile(r"(?:I|He|She|They|We|It) [a-z](?!nd )")
"""A pronoun and a word after it: no subject, but a clause."""
_CLAUSE_INSIDE = re.compile(r", (?:[A-Z][\w'’-]*|he|she|it|they|I|we)(?: [A-Z][\w'’-]*)* [a-z]+(?:ed|s)\b")
"""A name and a verb after a comma: another clause, no part of a name."""


def shape(keys: tuple[str, ...], span: tuple[int, int], text: str, *, is_object: bool) -> float:
    """Return a price for words that a name does not contain or begin with."""
    part = keys[span[0] : span[1]]
    score = 0.0
    if part == ("their",):
        return score
    if len(part) > 1 and not _BREAKING.isdisjoint(part):
        score -= 1.2 * sum(key in _BREAKING for key in part)
    if (
        part[0] in PREPOSITIONS
        and (text[0].islower() or part[0] == "as")
        or part[0] in (",", "'s", "not")
        or text.startswith(("and ", "to "))
    ):
        score -= 1.5
    if "not" in part or "never" in part:
        score -= 3.0
    if part[0] == "be" or part[-1] in ("be", "have", "of", "and", "their", "'s"):
        score -= 2.0
    if len(part) > 9:
        score -= 0.3
    if (
        is_object
        and len(part) > 1
        and part[1] in PREPOSITIONS
        and text[0].islower()
        and is_participle(text.split(" ", 1)[0])
    ):
        score -= 2.0
    if not is_object and " as " in text and _AS_ROLE.search(text):
        score -= 1.5
    if not is_object and "be" in part[1:]:
        score -= 2.0
    if is_object and " by " in text and part[0] != "by":
        score -= 1.5
    last = text.rsplit(" ", 1)[-1]
    if (
        not is_object
        and len(part) > 1
        and (last in OPTIONAL or last in SKIPPED or last.islower() and last.endswith("ly"))
    ):
        score -= 1.0
    if not is_object and _FINISHED.match(text):
        score -= 2.0
    if is_object and ", " in text and _CLAUSE_INSIDE.search(text):
        score -= 2.5
    if is_object and (text.startswith("like ") or len(part) > 1 and last in _ADVERBS):
        score -= 2.0
    if " that " in text:
        score -= 1.2
    if not is_object and "'s" in part[1:-1]:
        score -= 0.4
    objective = part[0] in ("him", "them", "me", "us") and text[0].islower()
    if objective or is_object and part[0] in ("him", "her", "it", "them", "me", "us", "you"):
        score -= 2.0
    return score
