"""One clause, read by the vocabulary: which predicate, which words are the subject and which the object."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ko_integrations.compiler.guess import KindGuesser
from ko_integrations.compiler.naming import bare, kind_score, subject_score
from ko_integrations.compiler.patterns import FUNCTION_KEYS, Match, Span, pattern_index
from ko_integrations.compiler.shape import LIGHT_KEYS, is_nobody, is_possible, shape
from ko_integrations.compiler.text import (
    INHERITED,
    OPTIONAL,
    POSSESSIVES,
    PRONOUNS,
    Token,
    Words,
    keys_of,
    tokens_of,
)
from ko_integrations.compiler.values import clean
from ko_integrations.kinds import CLOSED_KINDS, PLACE_KINDS, kinds_of
from ko_integrations.morphology import ARTICLES, BE, PAST_FORMS, PREPOSITIONS, is_bare
from ko_integrations.protocols import Embedder
from ko_integrations.vocabulary import Predicate, Vocabulary

__all__ = ["STRONG", "ClauseReader", "Reading"]

STRONG = 2.0
"""Score of a reading that covers its words well."""
ACCEPT = 0.85
"""Least score of a reading: one content word of the form, or less with an object of the right kind."""

_MOST_KIND = 2.0
_CLEAR = 0.5
"""The most that kinds can add to a form, and a lead after which the weaker forms need not be read."""

_MEASURED = ("number", "quantity", "date")
_SITUATED = re.compile(r"(?:(?:located|situated|based|found) )?(?:in|at) (?=\S)")
_DOSE = re.compile(
    r"\d[\d.,]* ?(?:mg|mcg|µg|ml|units?|tablets?|pills?|capsules?|drops?|puffs?) (?:of )?(?=[^\W\d])"
)
_DOING = re.compile(r"[a-z]{3,}ing [\w]")
_MODIFIED_OF = re.compile(r"['’]s [a-z][a-z-]*$")
_DEFINITE = re.compile(r"(?:[Tt]he|[Aa]n?|[Tt]his|[Oo]ne) [a-z][a-z -]*$")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a clause states, in its own words.

    Attributes:
        subject: None where the clause names none; `possessive` when it is a word like "her".
        score: how well the clause fits; `margin` is the lead over the best reading with another predicate.
        stated: whether the vocabulary declares the wording (not a general form).
        inverted: whether the object comes first in the clause.
    """

    predicate: str
    subject: str | None
    object: str
    score: float
    margin: float = 1.0
    possessive: bool = False
    stated: bool = True
    inverted: bool = False


_UNREAD = "unread"


class ClauseReader:
    """Reads clauses with the forms of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.index = pattern_index(vocabulary)
        self._predicates = {predicate.name: predicate for predicate in vocabulary}
        self._recent: dict[str, Reading | None] = {}
        self.guesser = KindGuesser(None)

    def use(self, embedder: Embedder | None) -> None:
        """Guess kinds with `embedder` from now on."""
        if embedder is not self.guesser.embedder:
            self.guesser = KindGuesser(embedder)
            self._recent.clear()

    def read(self, clause: str) -> Reading | None:
        """Return the best reading of `clause` by the declared forms, or None."""
        known = self._recent.get(clause, _UNREAD)
        if not isinstance(known, str):
            return known
        readings = self.readings(clause)
        best = self._preferred(readings) if readings and readings[0].score >= ACCEPT else None
        if len(self._recent) > 512:
            self._recent.clear()
        self._recent[clause] = best
        return best

    def fits(self, clause: str) -> bool:
        """Return whether a declared form covers the clause well."""
        reading = self.read(clause)
        return reading is not None and reading.score >= STRONG

    def _preferred(self, readings: list[Reading]) -> Reading:
        """The best reading; of two that are about equal, the one whose kind of subject the name is like."""
        first = readings[0]
        if "position" in self._predicates[first.predicate].object_kinds:
            # "appointed CEO of Acme" states who is the CEO of Acme, in the slot that changes with the next one.
            for other in readings[1:]:
                near = other.inverted and first.score - other.score < 1.2 and other.object == first.subject
                if near and first.object.endswith(f" of {other.subject}"):
                    return replace(other, score=first.score)
        rivals = [
            first,
            *(
                other
                for other in readings[1:]
                if first.score - other.score < _CLEAR and other.subject == first.subject
            ),
        ]
        if len(rivals) < 2 or not first.subject or kinds_of(bare(first.subject)[0]):
            return first
        kinds = [kind for rival in rivals for kind in self._predicates[rival.predicate].subject_kinds]
        chosen = self.guesser.choose(bare(first.subject)[0], kinds)
        for rival in rivals if chosen else ():
            wanted = self._predicates[rival.predicate].subject_kinds
            if chosen in wanted:
                return replace(rival, margin=_CLEAR)
        return first

    def readings(self, clause: str) -> list[Reading]:
        """Return the best reading a predicate, best first; scores below `ACCEPT` are guesses."""
        tokens = _trimmed(tokens_of(clause))
        best: dict[str, Reading] = {}
        found = [(match, words, cost) for words, cost, matches in self._matches(tokens) for match in matches]
        found.sort(key=lambda item: -item[0].literal)
        leader = 0.0
        for match, words, cost in found:
            if match.literal + _MOST_KIND < leader - _CLEAR:
                break
            reading = self._reading(clause, tokens, words, match, cost)
            if reading and (match.predicate not in best or reading.score > best[match.predicate].score):
                best[match.predicate] = reading
                leader = max(leader, reading.score)
        ranked = sorted(best.values(), key=lambda reading: -reading.score)
        if not ranked:
            return []
        lead = ranked[0].score - (ranked[1].score if len(ranked) > 1 else 0.0)
        first = ranked[0]
        ranked[0] = replace(first, margin=lead)
        return ranked

    def _lead_in(self, keys: tuple[str, ...], span: Span, text: str) -> float:
        """A price for a subject that begins with a noun of the vocabulary: in "label artist Jane" it is no name."""
        first, _, rest = text.partition(" ")
        if first in ARTICLES:
            return 0.0
        return 0.8 if rest[:1].isupper() and first.islower() and keys[span[0]] in self.index.lexicon else 0.0

    def _verbs_inside(self, tokens: list[Token], words: Words, span: Span) -> float:
        """A price for a finite verb after a name: another clause begins or ends there ("Jane Doe resigned")."""
        for place in range(words.places[span[0]] + 1, words.places[span[1] - 1] + 1):
            token, before = tokens[place], tokens[place - 1].text
            ended = token.text.endswith("ed") or (
                token.key in self.index.verbs and (token.text.endswith("s") or token.text in PAST_FORMS)
            )
            if ended and (before[0].isupper() or before == "and") and token.text.islower():
                return 1.8
        return 0.0

    def _is_light(self, words: Words, match: Match) -> bool:
        """Whether the form consists of a light verb ("take", "get", "have") and grammar."""
        form = {words.keys[number] for number in match.words}
        content = form - FUNCTION_KEYS
        return (bool(content) or "have" in form) and content <= LIGHT_KEYS

    def _matches(self, tokens: list[Token]) -> Iterator[tuple[Words, float, Iterator[Match]]]:
        """Yield (words, price, matches): with the words that may only decorate, then without."""
        for optional in (True, False) if any(token.text in OPTIONAL for token in tokens) else (True,):
            words = keys_of(tokens, optional=optional)
            plain = words
            if "their" in words.keys[1:]:
                plain = keys_of(tokens, optional=optional, possessives=False)
            cost = 0.0 if optional else 0.2
            yield plain, cost, self.index.explicit(plain)
            yield words, cost, self.index.framed(words)

    def _reading(
        self, clause: str, tokens: list[Token], words: Words, match: Match, cost: float
    ) -> Reading | None:
        """Read a clause by one form that its words match; None if it cannot mean that."""
        predicate = self._predicates[match.predicate]
        if _is_misread(predicate, tokens, words, match):
            return None
        score = match.literal - cost - _inside_a_name(tokens, words, match, predicate)
        if match.noun:
            said = " ".join(tokens[words.places[number]].text.lower() for number in match.words)
            score += 0.15 if said in predicate.nouns else 0.0
        elif _stands_alone(tokens, words, match):
            score -= 1.0
        value, span = _value(predicate, _text(clause, tokens, words, match.object), match)
        if predicate.object_kinds == ("person",) and value.split(" ", 1)[0] in PREPOSITIONS:
            return None  # "my parents are in Oslo" tells where they are, not who
        score += shape(words.keys, span, value, is_object=True)
        score -= self._verbs_inside(tokens, words, match.object)
        if match.noun and predicate.value_type == "name" and _DOING.match(value):
            score -= 1.5
        subject = None
        if match.subject is not None:
            if match.literal < 0.5 and not {"'s", "of"}.isdisjoint(words.keys[slice(*match.subject)]):
                score -= 1.6
            subject = _text(clause, tokens, words, match.subject)
            if _is_no_subject(predicate, subject, match):
                return None
            score -= self._verbs_inside(tokens, words, match.subject)
            score += shape(words.keys, match.subject, subject, is_object=False)
        if score + _MOST_KIND < 0.5 or not is_possible(predicate, value):
            return None
        fit = self._fit(predicate, value, words, match)
        if fit is None:
            return None
        score += fit
        if subject is not None and match.subject is not None:
            score += subject_score(predicate, subject) - self._lead_in(words.keys, match.subject, subject)
        return Reading(
            match.predicate, subject, value, score, possessive=match.possessive, inverted=_is_inverted(match)
        )

    def _fit(self, predicate: Predicate, value: str, words: Words, match: Match) -> float | None:
        """How well the kind of a value fits; None where a light verb and what follows it state nothing."""
        fit = kind_score(predicate, value)
        if fit < 1.0 and " " in value and (shorter := clean(value)) != value:
            fit = max(fit, kind_score(predicate, shorter))
        light = fit < 1.0 and not match.noun and self._is_light(words, match)
        if light and _is_loose(predicate, value, words, match):
            return None
        if not match.shared and match.literal >= 1.0 and predicate.value_type not in _MEASURED:
            kinds = kinds_of(bare(value)[0])
            if not (value.islower() and kinds & CLOSED_KINDS):
                fit = max(fit, -0.3 if not kinds else -0.7)
        return fit


def _is_inverted(match: Match) -> bool:
    return match.subject is not None and match.object < match.subject


def _is_misread(predicate: Predicate, tokens: list[Token], words: Words, match: Match) -> bool:
    """Whether the words of a form are others here: a noun that is a verb, a verb that is a noun, "a type of"."""
    if match.verb is not None and _is_bare(tokens, words, match.verb):
        return True
    if not match.noun:
        return False
    if _is_verb_form(tokens[words.places[match.words[-1]]].text):
        return True
    single = predicate.cardinality == "single" and match.subject and _is_inverted(match)
    return bool(single) and _is_indefinite(tokens, words, match)


def _value(predicate: Predicate, value: str, match: Match) -> tuple[str, Span]:
    """The value without what only leads to it, and its span."""
    span = match.object

    def after(lead: re.Match[str]) -> tuple[str, Span]:
        return value[lead.end() :], (min(span[0] + len(lead[0].split()), span[1] - 1), span[1])

    of_place = match.noun and not PLACE_KINDS.isdisjoint(predicate.object_kinds)
    if of_place and (placed := _SITUATED.match(value)):
        value, span = after(placed)  # "X's head office is (located) in Y": the place is Y
    if "drug" in predicate.object_kinds and (dose := _DOSE.match(value)):
        value, span = after(dose)  # what is taken is the drug, not how much of it
    if match.noun and value.startswith(("called ", "named ", "at ")):
        value = value.partition(" ")[2]
    return value, span


def _is_no_subject(predicate: Predicate, subject: str, match: Match) -> bool:
    """Whether no such words can be what a form is about."""
    if match.literal < 0.5 and subject[:1].islower():
        return True
    adjacent = match.noun and match.subject is not None and match.subject[1] == match.words[0]
    if adjacent and (_DEFINITE.match(subject) or _MODIFIED_OF.search(subject)):
        return True
    # Who "owns a Volvo" is not the owner of Volvo, nor does who "started school" found one.
    common = subject.startswith(("a ", "an ")) or _names_no_one(predicate, subject)
    return is_nobody(predicate, subject) or common and _is_inverted(match) and not match.noun


def _is_loose(predicate: Predicate, value: str, words: Words, match: Match) -> bool:
    """Whether after a light verb the object tells nothing: what one "takes" or "goes to" is seldom what is held."""
    common = value.removeprefix("the ").removeprefix("a ")[:1].islower()
    prepositional = not PREPOSITIONS.isdisjoint(words.keys[number] for number in match.words)
    return common or bool(predicate.object_kinds) and not prepositional


def _names_no_one(predicate: Predicate, subject: str) -> bool:
    """Whether a common noun stands where the predicate has a person or an organisation."""
    wanted = set(predicate.subject_kinds)
    common = subject[:1].islower() and subject.partition(" ")[0] not in (*ARTICLES, *POSSESSIVES, *PRONOUNS)
    return bool(wanted) and wanted <= {"person", "organisation"} and common


def _is_verb_form(text: str) -> bool:
    """Whether a word that looks like a noun of the vocabulary is a form of a verb ("headquartered")."""
    return text.islower() and len(text) > 5 and text.endswith(("ed", "ing")) and text not in _NOUNS_IN_ING


_NOUNS_IN_ING = frozenset("building setting rating funding training feeling backing".split())


def _trimmed(tokens: list[Token]) -> list[Token]:
    while tokens and tokens[-1].text in ".!?,;:…。！？":
        tokens = tokens[:-1]
    return tokens


def _text(clause: str, tokens: list[Token], words: Words, span: Span) -> str:
    """The words of a span as they were written, with the article before it."""
    first, last = words.places[span[0]], words.places[span[1] - 1]
    following = words.places[span[1]] if span[1] < len(words.places) else len(tokens)
    attributive = following == last + 1 < len(tokens) and tokens[following].key not in FUNCTION_KEYS
    while first and tokens[first - 1].text.lower() in ARTICLES:
        # In "the [Y] language" the article belongs to the noun of the form, in "The Who played" to the name.
        if (
            attributive
            and (first == 1 or tokens[first - 1].text.islower())
            and not _is_finite(tokens[following].text)
        ):
            break
        first -= 1
    while first and tokens[first - 1].text in POSSESSIVES:
        first -= 1  # "my job" is not "job"
    if (
        first == 1
        and not tokens[0].key
        and tokens[0].text.lower() not in ARTICLES
        and tokens[0].text[0].isupper()
        and tokens[1].text[0].isupper()
    ):
        first = 0
    if last + 1 < len(tokens) and tokens[last + 1].text == "." and tokens[last + 1].start == tokens[last].end:
        last += 1  # an abbreviation: the full stop of the sentence is gone
    return clause[tokens[first].start : tokens[last].end].strip()


def _is_indefinite(tokens: list[Token], words: Words, match: Match) -> bool:
    """Whether the noun has "a" before it: "Y is a type of X" does not say that the type of X is Y."""
    place = words.places[match.words[0]]
    return place > 0 and tokens[place - 1].text.lower() in ("a", "an")


_SECOND_FORM = frozenset("i we you they who that which and".split())


def _is_bare(tokens: list[Token], words: Words, position: int) -> bool:
    """Whether a verb stands in its bare form after a name: then it is a noun, unless the subject is plural."""
    place = words.places[position]
    if not is_bare(tokens[place].text.lower()):
        return False
    before = [token.text for token in tokens[:place]]
    plural = any(word.lower() in _SECOND_FORM or word == INHERITED for word in before)
    helped = bool(before) and before[-1].lower() in ("to", "not", "do", "does", "did", "also", "now", "still")
    return not (plural or helped or bool(before) and before[-1].endswith("s") and before[-1].islower())


def _stands_alone(tokens: list[Token], words: Words, match: Match) -> bool:
    """Whether a verb of the form is an "-ing" without "is": in "Y recording artist X" nobody records."""
    for number in match.words:
        place = words.places[number]
        if place and tokens[place].text.endswith("ing") and tokens[place].key in _VERBAL_ING:
            return tokens[place - 1].text.lower() not in BE and tokens[place - 2].text.lower() not in BE
    return False


_VERBAL_ING = frozenset(
    tokens_of(word)[0].key for word in "record play sing live work found sign make".split()
)


def _is_finite(text: str) -> bool:
    return text.endswith(("s", "ed")) and text.isalpha() and text.islower()


def _inside_a_name(tokens: list[Token], words: Words, match: Match, predicate: Predicate) -> float:
    """A price for words of the form that look like part of a name, for they are capitalised."""
    price = 0.0
    for number in match.words:
        token = tokens[words.places[number]]
        text = token.text
        if (
            number
            and words.places[number]
            and text[0].isupper()
            and not text.isupper()
            and token.key not in FUNCTION_KEYS
        ):
            price += 0.0 if "person" in predicate.object_kinds and match.noun else 0.8
    return price
