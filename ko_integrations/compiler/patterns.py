"""The statement forms of a vocabulary, indexed by their words, and the frames in which its nouns state a fact.

Finding the forms that a sentence may fit takes a walk down a trie from each of its words, so that the cost
grows with the sentence and not with the number of patterns.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple
from weakref import WeakKeyDictionary

from ko_integrations.compiler.shape import LIGHT_KEYS
from ko_integrations.compiler.text import Words, keys_of, tokens_of
from ko_integrations.morphology import HAVE, PREPOSITIONS
from ko_integrations.vocabulary import Predicate, Vocabulary

__all__ = ["CHANGES", "FUNCTION_KEYS", "Match", "PatternIndex", "pattern_index"]

FUNCTION_KEYS = (
    PREPOSITIONS
    | HAVE
    | frozenset(("be", "'s", "their", ",", ":", "and", "that", "who", "which", "where", "not"))
)
CHANGES = frozenset(
    tokens_of(word)[0].key
    for word in "change switch update move become turn go rise increase raise drop decrease fall grow shrink reduce".split()
)
_LINKS = frozenset(("of", "for", "in", "at", "on", "to"))
_PLACEHOLDER = re.compile(r"\[([XY])\]")
_CHOICE = re.compile(r"\(([^()]*)\)")
_END = ""

_DECLARED = 0.1
"""A declared pattern goes before the general frame of a noun."""

_ITS_NAME = 0.2
"""A wording that is a name of the predicate ("created by") is its own before it is another's."""

Span = tuple[int, int]


class Match(NamedTuple):
    """A way to read a clause: positions count keys, not tokens.

    `subject` is None where the form names none; `possessive` marks a subject that is a word like "her".
    `literal` weighs the words of the form itself: content words count 1, grammar 0.35. `shared` marks a
    wording that several predicates claim, so that the kind of the object has to tell. `verb` is the position of
    an inflected verb, so that "the new design" does not say who designed what. `light` marks a form that
    consists of a light verb ("take", "get", "have") and grammar.
    """

    predicate: str
    subject: Span | None
    object: Span
    literal: float
    words: tuple[int, ...] = ()
    possessive: bool = False
    noun: bool = False
    shared: bool = False
    verb: int | None = None
    light: bool = False


@dataclass(slots=True)
class _Form:
    predicate: str
    prefix: tuple[str, ...]
    middle: tuple[str, ...]
    suffix: tuple[str, ...]
    subject_first: bool | None
    literal: float
    shared: bool = False
    verb: bool = False
    light: bool = field(init=False)

    def __post_init__(self) -> None:
        words = {*self.prefix, *self.middle, *self.suffix}
        content = words - FUNCTION_KEYS
        self.light = (bool(content) or "have" in words) and content <= LIGHT_KEYS


@dataclass(slots=True)
class _Node:
    children: "dict[str, _Node]" = field(default_factory=dict)
    forms: list[_Form] = field(default_factory=list)
    predicates: list[str] = field(default_factory=list)

    def add(self, keys: tuple[str, ...]) -> "_Node":
        node = self
        for key in keys:
            node = node.children.setdefault(key, _Node())
        return node

    def walk(self, keys: tuple[str, ...], start: int) -> "list[tuple[int, _Node]]":
        """Return (end, node) for every stored sequence that begins at `start`."""
        found: list[tuple[int, _Node]] = []
        node = self
        for end in range(start, len(keys)):
            if keys[end] not in node.children:
                break
            node = node.children[keys[end]]
            if node.forms or node.predicates:
                found.append((end + 1, node))
        return found


class PatternIndex:
    """The compiled forms of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._by_prefix = _Node()
        self._by_middle = _Node()
        self._by_suffix = _Node()
        self._nouns = _Node()
        self.verbs: set[str] = set()
        self.lexicon: set[str] = set()
        self.surfaces = _surfaces(vocabulary)
        owners: dict[tuple[object, ...], list[_Form]] = {}
        for predicate in vocabulary:
            named = {_keys(name.replace("_", " ")) for name in (predicate.name, *predicate.aliases)}
            for pattern in dict.fromkeys(predicate.patterns):
                for form in _forms(predicate.name, pattern):
                    if form.middle[form.middle[:1] == ("be",) :] in named:
                        form.literal += _ITS_NAME
                    self._add(form)
                    owners.setdefault((form.prefix, form.middle, form.suffix), []).append(form)
            self._add_named(predicate)
            for noun in predicate.nouns:
                for spelling in {noun, noun.replace(" ", "-", 1)}:
                    if keys := _keys(spelling):
                        self._nouns.add(keys).predicates.append(predicate.name)
                        self.lexicon.update(keys)
        for forms in owners.values():
            shared = len({form.predicate for form in forms}) > 1
            for form in forms:
                form.shared = shared
                self.lexicon.update((*form.prefix, *form.middle, *form.suffix))
        self.verbs -= FUNCTION_KEYS
        self.verbs |= {"be", "have"}

    def _add_named(self, predicate: Predicate) -> None:
        """Add "head of the [X] government is [Y]" for a noun such as "head of government"."""
        for noun in predicate.nouns:
            first, of, second = noun.partition(" of ")
            for form in _forms(predicate.name, f"{first} of [X] {second} is [Y]") if of else ():
                self._add(form)

    def _add(self, form: _Form) -> None:
        if form.prefix:
            self._by_prefix.add(form.prefix).forms.append(form)
            if form.subject_first is None:
                self.verbs.add(form.prefix[-1])
        elif form.suffix and sum(key not in FUNCTION_KEYS for key in form.middle) == 0:
            self._by_suffix.add(form.suffix[::-1]).forms.append(form)
        else:
            self._by_middle.add(form.middle).forms.append(form)
            self.verbs.add(form.middle[0])

    def explicit(self, words: Words) -> Iterator[Match]:
        """Yield the readings by the declared patterns; `words` come without possessives."""
        for form, start, end in self._places(words.keys):
            if match := _placed(form, words.keys, start, end):
                yield match

    def _places(self, keys: tuple[str, ...]) -> Iterator[tuple[_Form, int, int]]:
        """Yield the forms whose words stand among `keys`, each with the place of its middle."""
        count = len(keys)
        for end, node in self._by_prefix.walk(keys, 0):
            for form in node.forms:
                if not form.middle:
                    right = count - len(form.suffix)
                    yield form, right, right
                    continue
                size = len(form.middle)
                for start in range(end + 1, count - size):
                    if keys[start] == form.middle[0] and keys[start : start + size] == form.middle:
                        yield form, start, start + size
        for start in range(1, count):
            for end, node in self._by_middle.walk(keys, start):
                for form in node.forms:
                    yield form, start, end
        for _, node in self._by_suffix.walk(keys[::-1], 0):
            for form in node.forms:
                size, limit = len(form.middle), count - len(form.suffix)
                for start in range(1, limit - size):
                    if keys[start : start + size] == form.middle:
                        yield form, start, start + size

    def nouns_at(self, keys: tuple[str, ...], start: int) -> Iterator[tuple[int, str]]:
        """Yield (end, predicate) for the nouns of the vocabulary that begin at `start`."""
        for end, node in self._nouns.walk(keys, start):
            for predicate in node.predicates:
                yield end, predicate

    def framed(self, words: Words) -> Iterator[Match]:
        """Yield the readings in which a noun of the vocabulary states the fact."""
        keys = words.keys
        covered: dict[int, int] = {}
        for start in range(len(keys)):
            for end, predicate in self.nouns_at(keys, start):
                if covered.setdefault(end, start) < start:
                    continue  # a longer noun ends here: "favourite colour" is not a colour
                for subject, value, around, possessive in frames(keys, start, end):
                    content = sum(key not in FUNCTION_KEYS for key in keys[start:end])
                    literal = content + 0.35 * (end - start - content + len(around))
                    yield Match(
                        predicate, subject, value, literal, (*range(start, end),), possessive, True, False
                    )


def frames(
    keys: tuple[str, ...], start: int, end: int
) -> Iterator[tuple[Span | None, Span, tuple[int, ...], bool]]:
    """Yield (subject, object, words of the frame, possessive) of the frames in which a noun states a fact.

    The noun stands at `keys[start:end]`: "the N of X is Y", "X's N is Y", "her N is Y", "Y is the N of X",
    "Y is X's N", "X has N Y", "N: Y", "X N Y" and "X's N, Y" without a verb ("Acme CEO Jane Doe"),
    "X and its N Y", "X changed her N to Y".
    """
    count = len(keys)
    before, after = keys[start - 1] if start else _END, keys[end] if end < count else _END
    copula = _copula(keys, end)
    if copula and copula[1] == count:
        copula = None  # nothing follows it: "the capital of Norway is"
    if start == 0 and after in _LINKS and copula and copula[0] > end + 1:
        yield (end + 1, copula[0]), (copula[1], count), (end, *range(*copula)), False
    if copula and copula[0] == end:
        if before == "'s" and start > 1:
            yield (0, start - 1), (copula[1], count), (start - 1, *range(*copula)), False
        elif before == "their" and start == 1:
            yield (0, 1), (copula[1], count), (0, *range(*copula)), True
        elif start and before not in FUNCTION_KEYS and "be" not in keys[:start]:
            yield (0, start), (copula[1], count), (*range(*copula),), False
    if before == "be" and start > 1 and after in _LINKS and end + 1 < count:
        yield (end + 1, count), (0, start - 1), (start - 1, end), False
    if after in ("of", "at") and end + 1 < count and (begun := _appointed(keys, start)):
        yield (end + 1, count), (0, begun), (*range(begun, start), end), False
    if end == count and "be" in keys[:start]:
        be = keys.index("be")
        if before == "'s" and be + 1 < start - 1 and be:
            yield (be + 1, start - 1), (0, be), (be, start - 1), False
        elif before == "their" and be == start - 2 and be:
            yield (start - 1, start), (0, be), (be,), True
    if "be" not in keys and after == "," and before == "'s" and start > 1 and end + 1 < count:
        yield (0, start - 1), (end + 1, count), (start - 1, end), False
    if "be" not in keys and start == 0 and after in _LINKS and "," in keys[end + 2 : count - 1]:
        comma = keys.index(",", end + 2)
        yield (end + 1, comma), (comma + 1, count), (end, comma), False
    if before == "have" and start > 1 and end < count:
        value = end + 1 if after in ("of", ":", "be", "call", "nam") else end
        if value < count and (value > end or after not in FUNCTION_KEYS):
            yield (0, start - 1), (value, count), (start - 1,), False
    if start == 0 and after in _LINKS and ":" in keys[end + 2 : count - 1]:
        colon = keys.index(":", end + 2)
        yield (end + 1, colon), (colon + 1, count), (end, colon), False
    if after == ":" and end + 1 < count:
        owner = start - 1 if before == "'s" else start
        yield ((0, owner) if owner else None), (end + 1, count), (end,), before == "their" and start == 1
    if start and after and not possible_verb(keys) and end < count:
        yield (0, start), (end, count), (), False
    if before == "their" and start > 2 and keys[start - 2] == "and" and end < count and "be" not in keys:
        yield (0, start - 2), (end, count), (start - 2, start - 1), False
    if (
        before == "their"
        and start > 2
        and keys[start - 2] in CHANGES
        and after in ("to", "into", "from", "as")
        and end + 1 < count
    ):
        yield (0, start - 2), (end + 1, count), (start - 2, start - 1, end), False


def _appointed(keys: tuple[str, ...], start: int) -> int:
    """Where "was appointed", "became" or "serves as" begins that ends before `start`; 0 if none does."""
    place = start - 1
    if place > 0 and keys[place] == "as":
        place -= 1
    if place < 1 or keys[place] not in _APPOINTED:
        return 0
    return place - 1 if keys[place - 1] == "be" and place > 1 else place


_APPOINTED = frozenset(
    tokens_of(word)[0].key
    for word in "appointed elected named became become chosen serves acts made confirmed reelected".split()
)


def possible_verb(keys: tuple[str, ...]) -> bool:
    """Return whether a copula, an auxiliary or grammar that ties a clause together is among the keys."""
    return any(key in FUNCTION_KEYS for key in keys)


def _copula(keys: tuple[str, ...], start: int) -> Span | None:
    """The next "is", or "changed to", at or after `start`."""
    for number in range(start, len(keys)):
        if keys[number] == "be":
            if (
                number + 2 < len(keys)
                and keys[number + 1] in CHANGES
                and keys[number + 2] in ("to", "into", "from")
            ):
                return number, number + 3
            return number, number + 1
        if keys[number] in CHANGES and number + 1 < len(keys) and keys[number + 1] in ("to", "into", "from"):
            return number, number + 2
        if keys[number] == "becam" or keys[number] == "becom":
            return number, number + 1
    return None


def _placed(form: _Form, keys: tuple[str, ...], start: int, end: int) -> Match | None:
    """The reading with the form's middle at `keys[start:end]`, if the rest of the form fits too."""
    count = len(keys)
    left, right = len(form.prefix), count - len(form.suffix)
    if form.suffix and keys[right:] != form.suffix or start <= left and form.middle or end > right:
        return None
    subject: Span | None
    middle: Sequence[int]
    if form.subject_first is None:
        if left >= right:
            return None
        subject, value, middle = None, (left, right), ()
    elif left < start and end < right:
        subject, value, middle = (left, start), (end, right), range(start, end)
        if not form.subject_first:
            subject, value = value, subject
    else:
        return None
    words = (*range(left), *middle, *range(right, count))
    verb = start if form.verb else None
    return Match(
        form.predicate, subject, value, form.literal, words, shared=form.shared, verb=verb, light=form.light
    )


def _keys(text: str) -> tuple[str, ...]:
    return keys_of(tokens_of(text), possessives=False).keys


def _forms(predicate: str, pattern: str) -> Iterator[_Form]:
    """Yield the forms of a pattern, wordings that differ in nothing that matters only once."""
    parts = _CHOICE.split(pattern)
    choices = [
        list(dict.fromkeys(part.split("|"))) if number % 2 else [part] for number, part in enumerate(parts)
    ]
    seen = set()
    for choice in product(*choices):
        pieces = _PLACEHOLDER.split("".join(choice))
        # A possessive or verb at the edge of a slot needs a word beside it to be read as in a sentence.
        keys = [_edge_keys(piece, number) for number, piece in enumerate(pieces[::2])]
        order = pieces[1::2]
        if len(order) == 1:
            form = _Form(predicate, keys[0], (), keys[1], None, _weight(keys))
        else:
            form = _Form(predicate, keys[0], keys[1], keys[2], order == ["X", "Y"], _weight(keys))
            form.verb = bool(_INFLECTED.match(pieces[2]))
        signature = (form.prefix, form.middle, form.suffix, form.subject_first)
        if signature not in seen and (form.middle or len(order) == 1):
            seen.add(signature)
            yield form


def _edge_keys(piece: str, number: int) -> tuple[str, ...]:
    piece = piece.strip(" .")
    if not number:
        return _keys(piece)
    if piece.split(" ")[0] in ("their", "his", "her", "its", "my", "our"):
        piece = piece.split(" ", 1)[1]
    return _keys(f"Q{piece}" if piece.startswith(("'s", "-")) else f"Q {piece}")[1:]


def _weight(keys: list[tuple[str, ...]]) -> float:
    return sum(0.35 if key in FUNCTION_KEYS else 1.0 for part in keys for key in part) + _DECLARED


def _surfaces(vocabulary: Vocabulary) -> frozenset[str]:
    """The words of the vocabulary as they are spelt, long enough to be told from their misspellings."""
    texts = (text for predicate in vocabulary for text in (*predicate.nouns, *predicate.patterns))
    return frozenset(word for text in texts for word in _LONG_WORD.findall(text))


_INFLECTED = re.compile(r" (?!(?:is|was|has|as)\b)[a-z]+(?:ed|[^su]s)\b(?! of)")
_LONG_WORD = re.compile(r"[a-z]{4,}")
_INDEXES: "WeakKeyDictionary[Vocabulary, PatternIndex]" = WeakKeyDictionary()


def pattern_index(vocabulary: Vocabulary) -> PatternIndex:
    """Return the compiled forms of `vocabulary`, made once a vocabulary."""
    index = _INDEXES.get(vocabulary)
    if index is None:
        index = _INDEXES[vocabulary] = PatternIndex(vocabulary)
    return index
