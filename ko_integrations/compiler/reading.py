"""One clause, read by the vocabulary: which predicate, which words are the subject and which the object."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ko_integrations.compiler.guess import KindGuesser
from ko_integrations.compiler.naming import MEASURED, bare, kind_score, subject_score
from ko_integrations.compiler.patterns import Match, Span, pattern_index
from ko_integrations.compiler.shape import cannot_bear, is_possible, shape
from ko_integrations.compiler.spans import Spans
from ko_integrations.compiler.text import OPTIONAL, POSSESSIVES, PRONOUNS, Token, keys_of, tokens_of
from ko_integrations.compiler.values import clean
from ko_integrations.kinds import CLOSED_KINDS, PLACE_KINDS, kinds_of
from ko_integrations.morphology import ARTICLES, PREPOSITIONS
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
_MOST_OF_SUBJECT = 0.5
_NEAR = 1.2
"""The most that a subject can add, and a lead after which a rival does not matter to what is preferred."""

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
_OWNING = frozenset(("'s", "of"))
_PARTIES = frozenset(("person", "organisation"))
_NO_NOUNS = ARTICLES | POSSESSIVES | PRONOUNS


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
                near = other.inverted and first.score - other.score < _NEAR and other.object == first.subject
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
        """Return the best reading a predicate, best first; scores below `ACCEPT` are guesses.

        One that can neither be preferred nor rival the best may be left out.
        """
        tokens = _trimmed(tokens_of(clause))
        best: dict[str, Reading] = {}
        tried = self._matches(clause, tokens)
        found = [(match, spans, cost) for spans, cost, matches in tried for match in matches]
        found.sort(key=lambda item: -item[0].literal)
        leader = 0.0
        for match, spans, cost in found:
            if match.literal + _MOST_KIND < leader - _CLEAR:
                break
            reading = self._reading(spans, match, cost, max(leader, ACCEPT) - _NEAR)
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

    def _matches(self, clause: str, tokens: list[Token]) -> Iterator[tuple[Spans, float, Iterator[Match]]]:
        """Yield (spans, price, matches): with the words that may only decorate, then without."""
        for optional in (True, False) if any(token.text in OPTIONAL for token in tokens) else (True,):
            spans = Spans(clause, tokens, keys_of(tokens, optional=optional), self.index.verbs)
            plain = spans
            if "their" in spans.words.keys[1:]:
                words = keys_of(tokens, optional=optional, possessives=False)
                plain = Spans(clause, tokens, words, self.index.verbs)
            cost = 0.0 if optional else 0.2
            yield plain, cost, self.index.explicit(plain.words)
            yield spans, cost, self.index.framed(spans.words)

    def _reading(self, spans: Spans, match: Match, cost: float, least: float) -> Reading | None:
        """Read a clause by one form that its words match; None if it cannot mean that, or surely scores below `least`."""
        predicate = self._predicates[match.predicate]
        if _is_misread(predicate, spans, match):
            return None
        keys = spans.words.keys
        of_people = match.noun and "person" in predicate.object_kinds
        score = match.literal - cost - (0.0 if of_people else spans.inside_a_name(match.words))
        if match.noun:
            score += 0.15 if spans.said(match.words) in predicate.nouns else 0.0
        elif spans.stands_alone(match):
            score -= 1.0
        said = spans.phrase(match.object, is_object=True)
        value, span = _value(predicate, said.text, match)
        if predicate.object_kinds == ("person",) and value.split(" ", 1)[0] in PREPOSITIONS:
            return None  # "my parents are in Oslo" tells where they are, not who
        score += said.shape if value == said.text else shape(keys, span, value, is_object=True)
        score -= said.verbs
        if match.noun and predicate.value_type == "name" and _DOING.match(value):
            score -= 1.5
        subject = None
        if match.subject is not None:
            if match.literal < 0.5 and not _OWNING.isdisjoint(keys[slice(*match.subject)]):
                score -= 1.6
            named = spans.phrase(match.subject, is_object=False)
            subject = named.text
            if named.nobody or _is_no_subject(predicate, subject, match):
                return None
            score -= named.verbs
            score += named.shape
        if score + _MOST_KIND < 0.5 or not is_possible(predicate, value):
            return None
        fit = _fit(predicate, value, keys, match)
        if fit is None:
            return None
        score += fit
        if score + _MOST_OF_SUBJECT < least:
            return None
        if subject is not None and match.subject is not None:
            score += subject_score(predicate, subject) - self._lead_in(keys, match.subject, subject)
        return Reading(
            match.predicate, subject, value, score, possessive=match.possessive, inverted=_is_inverted(match)
        )


def _fit(predicate: Predicate, value: str, keys: tuple[str, ...], match: Match) -> float | None:
    """How well the kind of a value fits; None where a light verb and what follows it state nothing."""
    fit = kind_score(predicate, value)
    if fit < 1.0 and " " in value and (shorter := clean(value)) != value:
        fit = max(fit, kind_score(predicate, shorter))
    if fit < 1.0 and match.light and _is_loose(predicate, value, keys, match):
        return None
    if not match.shared and match.literal >= 1.0 and predicate.value_type not in MEASURED:
        kinds = kinds_of(bare(value)[0])
        if not (value.islower() and kinds & CLOSED_KINDS):
            fit = max(fit, -0.3 if not kinds else -0.7)
    return fit


def _is_inverted(match: Match) -> bool:
    return match.subject is not None and match.object < match.subject


def _is_misread(predicate: Predicate, spans: Spans, match: Match) -> bool:
    """Whether the words of a form are others here: a noun that is a verb, a verb that is a noun, "a type of"."""
    if match.verb is not None and spans.is_bare(match.verb):
        return True
    if not match.noun:
        return False
    if _is_verb_form(spans.tokens[spans.words.places[match.words[-1]]].text):
        return True
    single = predicate.cardinality == "single" and match.subject and _is_inverted(match)
    return bool(single) and spans.is_indefinite(match.words[0])


def _value(predicate: Predicate, value: str, match: Match) -> tuple[str, Span]:
    """The value without what only leads to it, and its span."""
    span = match.object
    of_place = match.noun and not PLACE_KINDS.isdisjoint(predicate.object_kinds)
    if of_place and (placed := _SITUATED.match(value)):
        value, span = _after(placed, span)  # "X's head office is (located) in Y": the place is Y
    if "drug" in predicate.object_kinds and (dose := _DOSE.match(value)):
        value, span = _after(dose, span)  # what is taken is the drug, not how much of it
    if match.noun and value.startswith(("called ", "named ", "at ")):
        value = value.partition(" ")[2]
    return value, span


def _after(lead: re.Match[str], span: Span) -> tuple[str, Span]:
    """What follows the first words of a span, and its span."""
    return lead.string[lead.end() :], (min(span[0] + len(lead[0].split()), span[1] - 1), span[1])


def _is_no_subject(predicate: Predicate, subject: str, match: Match) -> bool:
    """Whether no such words can be what a form is about."""
    if match.literal < 0.5 and subject[:1].islower():
        return True
    adjacent = match.noun and match.subject is not None and match.subject[1] == match.words[0]
    if adjacent and (_DEFINITE.match(subject) or _MODIFIED_OF.search(subject)):
        return True
    # Who "owns a Volvo" is not the owner of Volvo, nor does who "started school" found one.
    if not match.noun and _is_inverted(match) and _is_common(predicate, subject):
        return True
    return cannot_bear(predicate, subject)


def _is_loose(predicate: Predicate, value: str, keys: tuple[str, ...], match: Match) -> bool:
    """Whether after a light verb the object tells nothing: what one "takes" or "goes to" is seldom what is held."""
    common = value.removeprefix("the ").removeprefix("a ")[:1].islower()
    prepositional = not PREPOSITIONS.isdisjoint(keys[number] for number in match.words)
    return common or bool(predicate.object_kinds) and not prepositional


def _is_common(predicate: Predicate, subject: str) -> bool:
    """Whether "a", or a common noun where the predicate has a person or an organisation, names no one."""
    wanted = predicate.subject_kinds
    if subject.startswith(("a ", "an ")):
        return True
    common = subject[:1].islower() and subject.partition(" ")[0] not in _NO_NOUNS
    return common and bool(wanted) and _PARTIES.issuperset(wanted)


def _is_verb_form(text: str) -> bool:
    """Whether a word that looks like a noun of the vocabulary is a form of a verb ("headquartered")."""
    return text.islower() and len(text) > 5 and text.endswith(("ed", "ing")) and text not in _NOUNS_IN_ING


_NOUNS_IN_ING = frozenset("building setting rating funding training feeling backing".split())


def _trimmed(tokens: list[Token]) -> list[Token]:
    while tokens and tokens[-1].text in ".!?,;:…。！？":
        tokens = tokens[:-1]
    return tokens
