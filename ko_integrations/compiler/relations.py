"""Wordings that no pattern declares, taken for a predicate when their words leave no doubt.

A clause is cut into two names and the words around them. The words vote for predicates by what they share
with the vocabulary; the kinds of the names rule predicates out and decide who is the subject. The nearest
declared wording by embedding (MiniLM) was tried as a last resort and left out: on ParaRel lemmas kept out of
development it turned 4 in 100 clauses from not understood into wrong ones and almost none into right ones.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from ko_integrations.compiler.naming import kind_score
from ko_integrations.compiler.patterns import FUNCTION_KEYS
from ko_integrations.compiler.reading import ClauseReader, Reading
from ko_integrations.compiler.rewriting import past_of
from ko_integrations.compiler.shape import is_nobody
from ko_integrations.compiler.text import FIRST_PERSON, Token, tokens_of
from ko_integrations.kinds import kinds_of
from ko_integrations.morphology import lemma
from ko_integrations.protocols import Embedder
from ko_integrations.vocabulary import Predicate

__all__ = ["RelationFinder"]

COVERAGE = 0.62
MARGIN = 0.12
"""How much of a wording a predicate must explain, and its lead over the next predicate."""
_TYPO_LENGTH, _TYPO_LENGTH_WITHOUT_VOWELS = 6, 4
"""Shorter words are as likely other words: "past" is not "part". Without vowels they are none ("wrks")."""
_VOWEL = re.compile(r"[aeiouy]")
_SURELY_MEANT = 1.3
_MOST_SPELLINGS = 4
_INNER = frozenset("of the de la le du da di von van der den and & for in 's".split())
_LINKS = ("at ", "in ", "for ", "by ", "from ", "to ", "with ", "")
_CLEFT = re.compile(
    r"^(?:The|the) (?P<noun>[a-z][a-z ]*?) (?:(?:in|at|for|on|by|to) )?(?:where|that|which|who|whom) (?P<rest>.+) (?:is|was|are|were) (?P<value>.+?)$"
)
_BARE_CLEFT = re.compile(
    r"^(?:The|the) (?P<noun>[a-z]+) (?P<rest>(?:[A-Z]\S*|I|we|he|she|they)(?: [A-Z]\S*)* [a-z]+(?: [a-z]+)?) (?:is|was) (?P<value>.+)$"
)
_MODIFIED = re.compile(
    r"^(?P<head>.+? (?:is|was|are|were|has|have) (?:an?|the|one of the)) (?P<modifiers>[a-z-]+(?: [a-z-]+)?) (?P<rest>[a-z-]+ (?:of|in|for|by|from|to|with|at) .+)$"
)
_ADVERB = re.compile(
    r"\b(?!(?:only|early|family|daily|weekly|monthly|yearly|hardly|barely|rarely|likely|possibly|probably|allegedly|reportedly|supposedly|scarcely|falsely)\b)[a-z]+ly "
)
_SPELL = re.compile(
    r" for (?:[a-z]+|\d+) (?:seasons?|years?|months?|weeks?|decades?|episodes?)(?= (?:on|in|at|for|with|as) )"
)
_ASPECT = re.compile(r"\b(?:started|began|begun|continued|kept) (?P<stem>[a-z]{2,})ing\b")
_KIND = re.compile(r"^(?:An?|Every|Each|Any) (?P<subject>[a-z][a-z -]*) is an? (?P<value>[a-z][a-z -]*)$")
_OWNED_MAIN = re.compile(
    r"^(?P<owner>.+['’]s|[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir) (?:only|main|primary|principal|chief|sole|known|elimination|plasma|terminal|official|overall|current|newest|exact) (?P<rest>[a-z].+)$"
)
_NOUN_OF = re.compile(
    r"^(?:The|the|An?) (?P<noun>[a-z][a-z -]{1,40}?) (?:of|for|in|at) (?P<subject>.+?) (?:is|was|are|were) (?P<value>.+)$"
)
_NOUN_HAD = re.compile(
    r"^(?P<subject>.+?)['’]s? (?P<noun>[a-z][a-z -]{1,40}?) (?:is|was|are|were) (?P<value>.+)$"
)
_NOUN_MINE = re.compile(
    r"^(?P<subject>[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir) (?P<noun>[a-z][a-z -]{1,40}?) (?:is|was|are|were) (?P<value>.+)$"
)


class RelationFinder:
    """Finds what a clause states when no declared form fits."""

    def __init__(self, clauses: ClauseReader) -> None:
        self._clauses = clauses
        self.embedder: Embedder | None = None
        self._predicates: dict[str, Predicate] = {}
        self._wordings: dict[str, list[tuple[frozenset[str], bool, bool]]] = {}
        self._by_word: defaultdict[str, set[str]] = defaultdict(set)
        self._weights: dict[str, float] = {}
        self._by_start: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        self._slips: dict[str, list[str]] = {}

    def find(self, text: str) -> Reading | None:
        """Return the one reading that the words of the clause support, or None."""
        return (
            self._unmodified(text)
            or self._spelt(text)
            or self.cleft(text)
            or self._related(text)
            or self._named(text)
        )

    def _unmodified(self, text: str) -> Reading | None:
        """Read "X is a selective inhibitor of Y" as "X is an inhibitor of Y"."""
        if (kind := _KIND.match(text)) and self._clauses.vocabulary.get("subclass_of"):
            return Reading("subclass_of", kind["subject"], kind["value"], 0.9)
        plainer = _ASPECT.sub(lambda begun: past_of(begun["stem"]), _SPELL.sub("", _ADVERB.sub("", text)))
        if plainer != text and (reading := self._clauses.read(plainer)):
            return replace(reading, score=reading.score - 0.2) if reading.score >= _SURELY_MEANT else None
        if (owned := _OWNED_MAIN.match(text)) and (
            reading := self._clauses.read(f"{owned['owner']} {owned['rest']}")
        ):
            return replace(reading, score=reading.score - 0.2)
        match = _MODIFIED.match(text)
        if match is None:
            return None
        for drop in range(1, len(match["modifiers"].split()) + 1):
            kept = " ".join(match["modifiers"].split()[drop:])
            reading = self._clauses.read(f"{match['head']} {f'{kept} ' if kept else ''}{match['rest']}")
            if reading and reading.score >= _SURELY_MEANT:
                return replace(reading, score=reading.score - 0.3)
        return None

    def _spelt(self, text: str) -> Reading | None:
        """Read the clause with words of the vocabulary in place of their misspellings."""
        index = self._clauses.index
        readings: list[Reading] = []
        for token in tokens_of(text):
            word = token.text
            if not word.islower() or word in index.surfaces or token.key in index.lexicon:
                continue
            if len(word) < (_TYPO_LENGTH if _VOWEL.search(word) else _TYPO_LENGTH_WITHOUT_VOWELS):
                continue
            for other in self._near(word):
                changed = text[: token.start] + other + text[token.end :]
                reading = self._clauses.read(changed) or self.cleft(changed)
                if reading and reading.score >= _SURELY_MEANT:
                    readings.append(reading)
        if not readings or len({reading.predicate for reading in readings}) > 1:
            return None
        return replace(readings[0], score=readings[0].score - 0.5)

    def _near(self, word: str) -> list[str]:
        """Return the words of the vocabulary that are one slip away, if they are few."""
        from rapidfuzz.distance import OSA

        known = self._slips.get(word)
        if known is None:
            if not self._by_start:
                for other in self._clauses.index.surfaces:
                    self._by_start[other[0], len(other)].append(other)
            lengths = (len(word) - 1, len(word), len(word) + 1)
            others = (other for length in lengths for other in self._by_start.get((word[0], length), ()))
            known = [other for other in others if OSA.distance(word, other, score_cutoff=1) == 1]
            if len(self._slips) > 8_192:
                self._slips.clear()
            self._slips[word] = known
        return known if len(known) <= _MOST_SPELLINGS else []

    def cleft(self, text: str) -> Reading | None:
        """Read "the university where X studied is Y" as "X studied at Y"."""
        match = _CLEFT.match(text) or _BARE_CLEFT.match(text)
        if match is None:
            return None
        named = None if lemma(match["noun"]) in _CLASSES else self._clauses.vocabulary.get(match["noun"])
        # "The company that made X is Y": Y made X. "The university where X studied is Y": X studied at Y.
        asked = [f"{match['value']} {match['rest']}"]
        asked += [f"{match['rest']} {link}{match['value']}" for link in _LINKS]
        value = match["value"]
        readings = []
        for text in asked:
            reading = self._clauses.read(text)
            if reading and reading.subject == value:
                readings.append(reading)
            elif reading and value.startswith(reading.object):
                readings.append(replace(reading, object=value))
        meant = [reading for reading in readings if named and reading.predicate == named.name]
        if meant or readings and not named:
            best = max(meant or readings, key=lambda reading: reading.score)
            return replace(best, score=best.score - 0.3)
        rest = f"so {match['rest']}"  # the first word of a sentence may be capitalised and no name
        tokens = tokens_of(rest)
        runs = list(_names(tokens))
        if named and runs and kind_score(named, value) > -1.4:
            subject = rest[tokens[runs[0][0]].start : tokens[runs[0][1] - 1].end]
            return Reading(named.name, subject, value, 0.8, stated=False)
        return max(readings, key=lambda reading: reading.score) if readings else None

    def _named(self, text: str) -> Reading | None:
        """Read "the P of X is Y" for a noun that the vocabulary does not know: by another name, or a new predicate."""
        match = _NOUN_OF.match(text) or _NOUN_HAD.match(text) or _NOUN_MINE.match(text)
        if match is None or self._clauses.vocabulary.strict or len(match["value"].split()) > 8:
            return None
        noun = match["noun"].strip()
        if any(word in _NO_NOUNS for word in noun.split()):
            return None
        found = self._clauses.vocabulary.resolve(noun, self.embedder)
        if found.how == "new" and match.re is _NOUN_MINE and match["value"].startswith(("a ", "an ")):
            return None  # what a thing is like, not which one it is ("my commute is a pain")
        declared = self._clauses.vocabulary.get(found.predicate)
        if declared is None and (declared := self._of_kind(noun, match["value"])):
            found = found.model_copy(update={"predicate": declared.name, "how": "morphology"})
        if declared and (
            kind_score(declared, match["value"]) < -1.0 or is_nobody(declared, match["subject"])
        ):
            return None
        certain = {"new": 0.6, "embedding": 0.7}.get(found.how, 0.8)
        return Reading(
            found.predicate,
            match["subject"],
            match["value"].removeprefix("at "),
            certain,
            stated=False,
            possessive=match.re is _NOUN_MINE,
        )

    def _of_kind(self, noun: str, value: str) -> Predicate | None:
        """The one predicate that ends with the noun and holds values of this kind ("my number is 555-0199")."""
        kinds = kinds_of(value)
        fitting = [
            predicate
            for predicate in (self._clauses.vocabulary if kinds else ())
            if predicate.name.endswith(f"_{noun}") and kinds & set(predicate.object_kinds)
        ]
        return fitting[0] if len(fitting) == 1 else None

    def _related(self, text: str) -> Reading | None:
        """Let the words around two names vote for a predicate."""
        cut = _cut(text)
        if cut is None:
            return None
        first, second, words, by = cut
        content = [word for word in words if word not in FUNCTION_KEYS and word not in _CLASSES]
        if not content:
            return None
        self._learn()
        scored = []
        for name in set().union(*(self._by_word.get(word, ()) for word in content)):
            predicate = self._predicates[name]
            shared = self._shared(predicate, content)
            if shared < COVERAGE:
                continue
            for subject, value, forward in ((first, second, True), (second, first, False)):
                fit = _fits(predicate, subject, value)
                if fit is not None and (fit >= _KIND_FITS or len(content) > 1):
                    score = shared + fit + self._order(predicate, content, forward, by)
                    scored.append((score, name, subject, value, forward))
        if not scored:
            return None
        scored.sort(key=lambda item: -item[0])
        score, name, subject, value, forward = scored[0]
        rival = next((other for other, *rest in scored if rest[0] != name), 0.0)
        opposite = next((other for other, *rest in scored[1:] if rest[0] == name), 0.0)
        symmetric = self._clauses.vocabulary.get(name)
        if (
            score < COVERAGE
            or score - rival < MARGIN
            or score - opposite < MARGIN / 2
            and not (symmetric and symmetric.inverse == name)
        ):
            return None
        return Reading(name, subject, value, min(score, 0.8), stated=False, inverted=not forward)

    def _learn(self) -> None:
        """Collect the words of every predicate's names and wordings, once."""
        if self._by_word:
            return
        for predicate in self._clauses.vocabulary:
            self._predicates[predicate.name] = predicate
            self._wordings[predicate.name] = [
                (frozenset(_content(form)), form.find("[X]") < form.find("[Y]"), " by [" in form)
                for form in predicate.statement_forms
            ]
            named = (frozenset(_content(name)) for name in (*predicate.nouns, *predicate.aliases))
            for words in (*named, *(words for words, _, _ in self._wordings[predicate.name])):
                for word in words:
                    self._by_word[word].add(predicate.name)
        count = len(self._predicates)
        self._weights = {word: math.log(1 + count / len(owners)) for word, owners in self._by_word.items()}

    def _shared(self, predicate: Predicate, content: list[str]) -> float:
        """The part of the wording, by weight, that the predicate's own wordings explain."""
        most = math.log(1 + len(self._predicates))
        known = [word for word in content if predicate.name in self._by_word.get(word, ())]
        total = sum(self._weights.get(word, most) for word in content)
        return sum(self._weights[word] for word in known) / total

    def _order(self, predicate: Predicate, content: list[str], forward: bool, by: bool) -> float:
        """A little for the order of subject and object that the nearest declared wording has."""
        best, agreed, said = 0.0, 0.0, set(content)
        for words, subject_first, passive in self._wordings[predicate.name]:
            near = len(words & said) / (1 + len(words | said))
            if near > best:
                best, agreed = near, 0.15 if (subject_first == forward) == (passive == by) else -0.15
        return agreed


_KIND_FITS = 0.25
_CLASSES = frozenset(
    lemma(word)
    for word in "organisation company group person people place thing city country name work kind type year day".split()
)
"""Nouns that say of what kind a name is, and nothing of what is stated about it."""
_NO_NOUNS = frozenset(
    "thing things reason point problem issue question idea fact rest best worst kind part one way time truth case".split()
)


def _content(form: str) -> list[str]:
    text = form.replace("_", " ").replace("[X]", "Q").replace("[Y]", "Q")
    return [
        token.key
        for token in tokens_of(text)
        if token.key and token.key != "q" and token.key.isalpha() and token.key not in FUNCTION_KEYS
    ]


def _fits(predicate: Predicate, subject: str, value: str) -> float | None:
    """How well the kinds of both names suit the predicate, or None where they rule it out."""
    kind = kind_score(predicate, value)
    named = kinds_of(subject) & set(predicate.object_kinds)
    if named and not kinds_of(value) and named.isdisjoint(predicate.subject_kinds):
        return None  # the other way round
    if kind < -0.5 or is_nobody(predicate, subject):
        return None
    kinds = kinds_of(subject)
    if kinds and predicate.subject_kinds and not kinds & set(predicate.subject_kinds):
        return None
    return (_KIND_FITS if kind > 1.0 else 0.0) + (0.1 if kinds & set(predicate.subject_kinds) else 0.0)


def _cut(text: str) -> tuple[str, str, list[str], bool] | None:
    """Return (first name, second name, keys of the other words, whether "by" stands before the second)."""
    tokens = tokens_of(text)
    while tokens and not tokens[-1].text[0].isalnum():
        tokens = tokens[:-1]
    runs = list(_names(tokens))
    if len(runs) != 2:
        return None
    (start, middle), (second, end) = runs
    if second and tokens[second - 1].text in ("a", "an"):
        return None  # one of its kind, nothing of that name
    words = [
        token.key
        for number, token in enumerate(tokens)
        if token.key and not (start <= number < middle or second <= number < end)
    ]
    by = tokens[second - 1].text == "by" if second else False
    return (
        text[tokens[start].start : tokens[middle - 1].end],
        text[tokens[second].start : tokens[end - 1].end],
        words,
        by,
    )


def _names(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """Yield the runs of words that name something: capitals, numbers, first persons, members of a closed kind."""
    number = 0
    while number < len(tokens):
        if not _is_name(tokens, number):
            number += 1
            continue
        end = number + 1
        while end < len(tokens):
            if _is_name(tokens, end):
                end += 1
            elif (
                tokens[end].text in _INNER
                and end + 1 < len(tokens)
                and _is_name(tokens, end + 1)
                and tokens[end].text not in ("in", "for", "and")
            ):
                end += 2
            elif (
                tokens[end].text in ("of", "de")
                and end + 2 < len(tokens)
                and tokens[end + 1].text == "the"
                and _is_name(tokens, end + 2)
            ):
                end += 3
            else:
                break
        yield number, end
        number = end


def _is_name(tokens: list[Token], number: int) -> bool:
    text = tokens[number].text
    if text.lower() in FIRST_PERSON and text.lower() in ("i", "we"):
        return True
    if not text[0].isalnum():
        return False
    if text[0].isupper() or text[0].isdigit() or not text.isascii():
        return (
            number > 0 or tokens[number].key not in FUNCTION_KEYS and text.lower() not in ("the", "a", "an")
        )
    return (
        bool(kinds_of(text) & {"instrument", "language", "religion", "sport", "genre", "occupation"})
        and number > 0
    )
