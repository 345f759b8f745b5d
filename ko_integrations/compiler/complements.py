"""What "X is a 42-year-old Norwegian cardiologist at MGH" says: one clause each for age, country, work and place."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ko_integrations.compiler.definitions import definition
from ko_integrations.kinds import demonym_of, kinds_of

__all__ = ["AGED", "COPULA", "Complements"]

AGED = re.compile(r"^(?P<age>\d{1,3})[- ](?:year|yr)s?[- ]old\b,? ?(?P<rest>.*)$")
"""An age as an adjective, and what stands behind it."""
COPULA = re.compile(
    r"^(?P<subject>.+?)(?: (?:is|am|are|was|were)|['’](?:s|m|re))(?P<now> (?:currently|now|also|still))? (?P<article>an? )?(?P<complement>\S.*)$"
)
"""A form of "be" between a subject and what is said of it."""
_EMPLOYED = re.compile(
    r"^(?P<role>[a-z][\w -]*?(?: (?:of|in) [a-z]\w+(?: \w+)?)?) (?P<link>at|for|with|in) (?P<where>(?:the )?[A-Z\d].*)$"
)
_ATTRIBUTIVE = re.compile(
    r"^(?P<one>(?:[A-Z][\w.'’&-]*)(?: [A-Z][\w.'’&-]*){0,3}) (?P<noun>[a-z]\w+(?: [a-z]\w+)?) (?P<two>(?:The )?[A-Z].*)$"
)
_AS_ROLE = re.compile(
    r"^(?P<head>.+? (?:joined|joins|at|for|with|from|by|in) .+?) as (?:an? |the |their |its )?(?P<role>[a-z][\w -]+)$"
)
_ROLE_AT = re.compile(
    r"^(?P<head>.+? (?:works?|worked|working|started|employed)) as (?P<role>(?:an? |the )?[a-z][\w -]*?) (?P<link>at|for|with) (?P<where>(?:the )?[A-Z\d].*)$"
)
_PLACED = re.compile(
    r"^(?P<name>(?:The )?[A-Z][\w.'’&-]*(?: [A-Z][\w.'’&-]*){0,5}) (?P<where>(?:in|from) (?:the )?[A-Z][\w.'’&-]*(?: [A-Z][\w.'’&-]*){0,4})$"
)
_BORN = re.compile(r"^(?P<where>[A-Z]\w+)-born (?P<rest>[a-z].*)$")
_SOMEBODYS = re.compile(
    r"^(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir) (?:[a-z]+ )?(?:son|daughter|brother|sister|wife|husband|mother|father|mum|mom|dad|dog|cat|friend|boss|partner|kid|baby)(?: [A-Z]\w+)?$"
)
_BOTH = re.compile(r"^(?P<one>[a-z][\w -]*?) and (?P<two>[a-z][\w -]* (?:to|of|in|at|with|for) .+)$")
_PERSONAL = frozenset("I i he she He She we".split())
_LEARNING = frozenset("student pupil graduate undergraduate alumnus alumna apprentice patient".split())
_SEXES = frozenset("man woman boy girl male female gentleman lady".split())


@dataclass(frozen=True, slots=True)
class Complements:
    """Takes apart what a form of "be" says of its subject, and roles told with "as".

    `finite` tells whether a text has a verb, `reads` whether a clause has a reading as it stands, `leading_name`
    the name that a text begins with.
    """

    finite: Callable[[str], bool]
    reads: Callable[[str], bool]
    leading_name: Callable[[str], str | None]

    def parts(self, clause: str) -> Iterator[str]:
        """Yield the statements of a clause, one clause each; the clause itself where it makes only one."""
        if (role := _AS_ROLE.match(clause)) and self.finite(role["head"]) and _is_occupation(role["role"]):
            subject = self.leading_name(role["head"]) or role["head"].split(" ", 1)[0]
            yield from self.parts(role["head"])
            yield f"{subject} works as {role['role']}"
        elif (post := _ROLE_AT.match(clause)) and _is_occupation(post["role"]):
            yield f"{post['head']} as {post['role']}"
            yield f"{post['head']} {post['link']} {post['where']}"
        elif (match := COPULA.match(clause)) is None:
            yield from self._verbless(clause)
        elif self.finite(match["subject"]):
            yield clause
        else:
            yield from self._predicated(clause, match)

    def _verbless(self, clause: str) -> Iterator[str]:
        """Yield what "Jane Doe in Oslo" and "Acme founder Jane Doe" say without a verb."""
        if (where := _PLACED.match(clause)) and not self.finite(clause):
            yield f"{where['name']} is {where['where']}"
            return
        if (pair := _ATTRIBUTIVE.match(clause)) and not self.finite(clause):
            yield f"{pair['two']} is a {pair['one']} {pair['noun']}"
        yield clause

    def _predicated(self, clause: str, match: re.Match[str]) -> Iterator[str]:
        subject, complement = match["subject"], match["complement"]
        if two := _BOTH.match(complement):
            both = [f"{subject} is {two[name]}" for name in ("one", "two")]
            if self.reads(both[1]):
                yield from both
                return
        if complement.isdigit() and len(complement) < 3 and _has_an_age(subject):
            yield f"{subject} is {complement} years old"
            return
        told, rest = _attributes(subject, complement)
        yield from told
        if not rest:
            return
        if (job := _EMPLOYED.match(rest)) and (work := _employment(subject, job)):
            yield from work
        elif rest != complement:
            yield f"{subject} is a {rest}"
        else:
            parts = definition(subject, rest) if match["article"] and not self.reads(clause) else []
            yield from parts or [clause]


def _attributes(subject: str, complement: str) -> tuple[list[str], str]:
    """What stands before a role (country of birth, age, sex, citizenship), one clause each, and what is left."""
    told, rest = [], complement
    if (born := _BORN.match(rest)) and (country := demonym_of(born["where"])):
        told.append(f"{subject} was born in {country}")
        rest = born["rest"]
    aged = AGED.match(rest)
    if aged:
        told.append(f"{subject} is {aged['age']} years old")
        rest = aged["rest"]
    first, _, role = rest.partition(" ")
    if aged and first.lower() in _SEXES:
        told.append(f"{subject}'s gender is {first}")
        rest = role.strip()
    elif first[:1].isupper() and role and (country := demonym_of(first)) and _is_occupation(role):
        told.append(f"{subject} is a citizen of {country}")
        rest = role
    return told, rest


def _employment(subject: str, job: re.Match[str]) -> list[str]:
    """What "cardiologist at MGH" says, one clause each; nothing where it is no work ("student at MIT")."""
    role, where = f"{subject} works as {job['role']}", job["where"]
    if "party" in kinds_of(where):
        return [role, f"{subject} is a member of {where}"]
    if job["role"].rsplit(" ", 1)[-1] in _LEARNING or not _is_occupation(job["role"]):
        return []
    return [role] if job["link"] == "in" else [role, f"{subject} works {job['link']} {where}"]


def _has_an_age(subject: str) -> bool:
    """Whether a bare number said of a subject is its age."""
    return subject in _PERSONAL or "person" in kinds_of(subject) or _SOMEBODYS.match(subject) is not None


def _is_occupation(text: str) -> bool:
    """Whether the noun phrase before a preposition ("professor" of "professor of physics") is an occupation."""
    noun = re.split(r" (?:of|in|at|for|with|from|on|who|and)\b|,", text, maxsplit=1)[0].strip()
    return "occupation" in kinds_of(noun)
