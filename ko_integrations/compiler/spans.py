"""The words of a clause as a form finds them: the phrases between them, and what may speak against the form.

Several forms put the same words of a clause in the same slots. What depends on the words alone is found once.
"""

from collections.abc import Set
from typing import NamedTuple

from ko_integrations.compiler.patterns import FUNCTION_KEYS, Match, Span
from ko_integrations.compiler.shape import is_no_name, shape
from ko_integrations.compiler.text import INHERITED, POSSESSIVES, Token, Words, tokens_of
from ko_integrations.morphology import ARTICLES, BE, PAST_FORMS, is_bare

__all__ = ["Phrase", "Spans"]

_SECOND_FORM = frozenset("i we you they who that which and".split())
_HELPING = frozenset("to not do does did also now still".split())
_VERBAL_ING = frozenset(
    tokens_of(word)[0].key for word in "record play sing live work found sign make".split()
)


class Phrase(NamedTuple):
    """The words of a span as they were written, and the prices for what a name does not look like.

    `shape` is the price of its own words, `verbs` that of a finite verb inside. `nobody` marks a subject that can
    be none of any predicate.
    """

    text: str
    shape: float
    verbs: float
    nobody: bool


class Spans:
    """The spans of one clause, counted in its words that matter; `verbs` are those of the vocabulary."""

    def __init__(self, text: str, tokens: list[Token], words: Words, verbs: Set[str]) -> None:
        self.text, self.tokens, self.words = text, tokens, words
        self._verbs = verbs
        self._phrases: dict[tuple[Span, bool], Phrase] = {}
        self._capitals: dict[tuple[int, ...], float] = {}
        self._has_ing = any(token.text.endswith("ing") for token in tokens)

    def phrase(self, span: Span, *, is_object: bool) -> Phrase:
        """Return the words of a span as an object, or as a subject."""
        phrase = self._phrases.get((span, is_object))
        if phrase is None:
            text = self._written(span)
            price = shape(self.words.keys, span, text, is_object=is_object)
            nobody = not is_object and is_no_name(text)
            phrase = Phrase(text, price, self._verbs_inside(span), nobody)
            self._phrases[span, is_object] = phrase
        return phrase

    def inside_a_name(self, numbers: tuple[int, ...]) -> float:
        """Return a price for words of a form that look like part of a name, for they are capitalised."""
        price = self._capitals.get(numbers)
        if price is None:
            price = self._capitals[numbers] = sum(0.8 for number in numbers if self._is_capital(number))
        return price

    def said(self, numbers: tuple[int, ...]) -> str:
        """Return the words of a form as the clause says them, in lower case."""
        return " ".join(self.tokens[self.words.places[number]].text.lower() for number in numbers)

    def stands_alone(self, match: Match) -> bool:
        """Return whether a verb of the form is an "-ing" without "is": in "Y recording artist X" nobody records."""
        for number in match.words if self._has_ing else ():
            tokens, place = self.tokens, self.words.places[number]
            if place and tokens[place].text.endswith("ing") and tokens[place].key in _VERBAL_ING:
                return BE.isdisjoint((tokens[place - 1].text.lower(), tokens[place - 2].text.lower()))
        return False

    def is_bare(self, position: int) -> bool:
        """Return whether a verb stands in its bare form after a name: then it is a noun, unless the subject is plural."""
        tokens, place = self.tokens, self.words.places[position]
        if not is_bare(tokens[place].text.lower()):
            return False
        before = [token.text for token in tokens[:place]]
        plural = any(word.lower() in _SECOND_FORM or word == INHERITED for word in before)
        helped = bool(before) and before[-1].lower() in _HELPING
        return not (plural or helped or bool(before) and before[-1].endswith("s") and before[-1].islower())

    def is_indefinite(self, position: int) -> bool:
        """Return whether a noun has "a" before it: "Y is a type of X" does not say that the type of X is Y."""
        place = self.words.places[position]
        return place > 0 and self.tokens[place - 1].text.lower() in ("a", "an")

    def _is_capital(self, number: int) -> bool:
        token = self.tokens[self.words.places[number]]
        titled = token.text[0].isupper() and not token.text.isupper() and token.key not in FUNCTION_KEYS
        return titled and number > 0 and self.words.places[number] > 0

    def _verbs_inside(self, span: Span) -> float:
        """A price for a finite verb after a name: another clause begins or ends there ("Jane Doe resigned")."""
        places, tokens = self.words.places, self.tokens
        for place in range(places[span[0]] + 1, places[span[1] - 1] + 1):
            token, before = tokens[place], tokens[place - 1].text
            ended = token.text.endswith("ed") or (
                token.key in self._verbs and (token.text.endswith("s") or token.text in PAST_FORMS)
            )
            if ended and (before[0].isupper() or before == "and") and token.text.islower():
                return 1.8
        return 0.0

    def _written(self, span: Span) -> str:
        """The words of a span as they were written, with the article before it."""
        tokens, places = self.tokens, self.words.places
        first, last = places[span[0]], places[span[1] - 1]
        following = places[span[1]] if span[1] < len(places) else len(tokens)
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
        if (
            last + 1 < len(tokens)
            and tokens[last + 1].text == "."
            and tokens[last + 1].start == tokens[last].end
        ):
            last += 1  # an abbreviation: the full stop of the sentence is gone
        return self.text[tokens[first].start : tokens[last].end].strip()


def _is_finite(text: str) -> bool:
    return text.endswith(("s", "ed")) and text.isalpha() and text.islower()
