"""A question as material to explain: its content words, from the subject outwards, and what it wants."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ko_integrations.morphology import PREPOSITIONS
from ko_integrations.query.lexicon import Lexicon
from ko_integrations.query.linking import Mention
from ko_integrations.query.words import CARRIERS, FUNCTION_WORDS, Word, key_of

__all__ = ["ANY_KIND", "Asked", "Token", "analyse", "readings"]

ANY_KIND = frozenset({"any"})
"""The kinds wanted by a question that does not ask for the value itself."""

# Nouns for the kinds of things that vocabularies speak of; "what city" wants a value of one of these kinds.
_KIND_NOUNS = {
    key_of(noun): frozenset(kinds.split())
    for kinds, nouns in {
        "person": "person individual man woman people human leader figure artist sportsperson player writer official",
        "organisation": "organisation organization company corporation firm institution business agency body",
        "organisation school": "university school college academy",
        "organisation team": "team club",
        "city": "city town municipality",
        "country": "country nation homeland",
        "city country place": "place location area region spot land",
        "continent": "continent",
        "language": "language tongue",
        "religion": "religion faith denomination belief",
        "sport": "sport discipline",
        "date": "date year day month birthday",
        "number quantity": "number amount count age",
        "occupation position": "occupation profession job",
        "award": "award prize",
        "work": "work book film movie album song series novel",
    }.items()
    for noun in nouns.split()
}  # fmt: skip
_WH_KINDS = {
    "who": frozenset({"person", "animal", "organisation", "team", "party"}),
    "whom": frozenset({"person", "animal", "organisation", "team", "party"}),
    "where": frozenset({"place", "city", "country", "continent", "organisation"}),
    "when": frozenset({"date"}),
}
_OPEN_KINDS = frozenset(_WH_KINDS.values())
_AUXILIARIES = frozenset(
    "is are was were am do does did has have had can could will would should may might must".split()
)
_YES_NO = _AUXILIARIES | {"whether", "if"}
_BOUNDARIES = _AUXILIARIES | frozenset("where that which who whom whose when what how".split())
_BE = frozenset({"is", "was", "are", "were", "'s", "’s"})
_STOPS = frozenset(".,;:?!")
_LIGHT_NOUNS = frozenset("name title position office post role job identity holder".split())
_CLIPPED = range(3, 6)
_MASK = "X"
_OWNING = frozenset({"my", "our"})
_ARTICLES_OR_QUOTES = frozenset(("the", "a", "an", '"', "'", "“", "‘"))
_RELATIVE = frozenset({"who", "whom", "where", "when", "which"})
_NESTING = frozenset({"of", "where", "that", "which", "who", "whose", "in", "by", "for"})
"""What ties a noun to the clause or phrase that says which one is meant."""


@dataclass(frozen=True, slots=True)
class Token:
    """A content word to explain.

    Attributes:
        kinds: the kinds of thing that it names, if any.
        place: which word of the question it is.
        clipped: it may be the beginning of a longer word: "uni", "ver".
    """

    key: str
    lower: str
    weight: float
    name_like: bool
    kinds: frozenset[str]
    place: int
    clipped: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What one reading of a question asks of one subject.

    Attributes:
        mention: the subject, and the words that name it.
        tokens: the content words around it, nearest by grammar first.
        orders: other orders that grammar allows, as places in `tokens`.
        focus: keys of the words that say what kind of answer is wanted.
        focus_text: these words as they stand.
        kinds: the kinds of thing that the question word wants; empty if it does not say.
        wants: `value`, `truth` (yes or no) or `count`.
        form: the words of the question with the subject as `[x]`.
        masked: the question with a placeholder for the subject.
        weight: of all tokens together.
        owned: the subject stands as an owner: "X's", "my".
    """

    mention: Mention
    tokens: tuple[Token, ...]
    orders: tuple[tuple[int, ...], ...]
    focus: frozenset[str]
    focus_text: str
    kinds: frozenset[str]
    wants: str
    form: tuple[str, ...]
    masked: str
    weight: float
    owned: bool


def readings(text: str, words: Sequence[Word], mention: Mention, lexicon: Lexicon) -> list[Asked]:
    """Return the ways to read `words` as a question about `mention`, the usual one first.

    "The country of X's capital" is a country, or the capital of a country: what is owned may belong to all
    that stands before it.
    """
    asked = analyse(text, words, mention, lexicon)
    nested = any(word.lower in _NESTING for word in words[: mention.start])
    if not (nested and asked.owned and asked.orders) or words[mention.end - 1].lower in _OWNING:
        return [asked]
    kinds, noun = _noun_after(words, [i for i in _visible(text, words) if i >= mention.end])
    if not noun or any(_is_content(word) and word.start > noun[-1].start for word in words[mention.end :]):
        return [asked]  # what is owned is not the end of it: "where X's wife was born"
    group = replace(
        asked,
        tokens=tuple(asked.tokens[i] for i in asked.orders[0]),  # outwards on the left, then what is owned
        orders=(),
        focus=frozenset(word.key for word in noun),
        focus_text=" ".join(word.lower for word in noun),
        kinds=kinds,
    )
    return [asked, group]


def _visible(text: str, words: Sequence[Word]) -> list[int]:
    return [i for i, word in enumerate(words) if text[word.start : word.end] == word.text]


def analyse(text: str, words: Sequence[Word], mention: Mention, lexicon: Lexicon) -> Asked:
    """Read `words` (of `text`, time blanked out) as a question about `mention`."""
    visible = _visible(text, words)
    outside = [i for i in visible if not mention.start <= i < mention.end]
    told = {i for i in outside if _is_content(words[i])}
    ordered = [i for i in _by_distance(words, mention) if i in told]
    kinds, noun = _wanted(words, outside)
    if (
        kinds in _OPEN_KINDS
        and any(i >= mention.end for i in ordered)
        and _has_main_verb_last(words, mention)
    ):
        noun = []  # "where was the head of X [born]": the verb is what is asked about, not the head
    tokens = tuple(_token(words, i, lexicon) for i in ordered)
    return Asked(
        mention=mention,
        tokens=tokens,
        orders=_other_orders(ordered, mention),
        focus=frozenset(lexicon.respelled(word) for word in noun),
        focus_text=" ".join(word.lower for word in noun),
        kinds=kinds,
        wants=_wants(words, [i for i in range(len(words)) if not mention.start <= i < mention.end]),
        form=_form(words, visible, mention),
        masked=_masked(text, words, mention),
        weight=sum(token.weight for token in tokens),
        owned=_owns(words, mention),
    )


def _is_content(word: Word) -> bool:
    return word.is_word and word.lower not in FUNCTION_WORDS


def _other_orders(ordered: Sequence[int], mention: Mention) -> tuple[tuple[int, ...], ...]:
    """Return the orders that a parser would weigh, as places in `ordered`.

    A verb after the subject may be that of the main clause ("where was the head of X *born*": all before the
    subject first) or of its own ("the country X was *born* in": what follows first).
    """
    places = {i: place for place, i in enumerate(ordered)}
    left = [places[i] for i in sorted(ordered, reverse=True) if i < mention.start]
    right = [places[i] for i in sorted(ordered) if i >= mention.end]
    usual = tuple(range(len(ordered)))
    both = ((*left, *right), (*right, *left))
    return tuple(dict.fromkeys(order for order in both if left and right and order != usual))


def _token(words: Sequence[Word], index: int, lexicon: Lexicon) -> Token:
    word = words[index]
    name_like = word.is_name_like and (index > 0 or word.text[1:] != word.lower[1:])
    key = word.key if word.is_name_like or word.lower in CARRIERS else lexicon.respelled(word)
    kinds = _KIND_NOUNS.get(key, frozenset())
    if word.lower in CARRIERS or _is_light(words, index):
        weight = 0.2
    elif lexicon.frequency[key]:
        weight = lexicon.weight(key)
    elif name_like:
        weight = 1.5
    else:
        weight = 0.7
    clipped = not lexicon.frequency[key] and len(word.lower) in _CLIPPED and word.lower not in CARRIERS
    return Token(key, word.lower, weight * (0.6 if kinds else 1.0), name_like, kinds, index, clipped)


def _is_light(words: Sequence[Word], index: int) -> bool:
    """Tell whether a noun only leads to another: "the position of the [president] of", "the title of the"."""
    following = [word.lower for word in words[index + 1 : index + 3]]
    return words[index].lower in _LIGHT_NOUNS and following == ["of", "the"]


def _by_distance(words: Sequence[Word], mention: Mention) -> list[int]:
    """Order the words around a subject from the inside of the nesting outwards.

    "the capital of the country where the spouse of X was born": spouse, then the verb of its clause, then
    country and capital. A possessive's noun comes first of all: "X's spouse".
    """
    left, right = list(range(mention.start - 1, -1, -1)), list(range(mention.end, len(words)))
    while right and words[right[0]].text in "\"'”’»)":
        right.pop(0)
    owned = 0
    if right and (mention.owner or words[right[0]].lower in ("'s", "’s") or words[right[0] - 1].text in "'’"):
        while owned < len(right) and words[right[owned]].lower not in _BOUNDARIES | {",", ".", "?"}:
            owned += 1
    inner = 0
    while inner < len(left) and words[left[inner]].lower not in _BOUNDARIES | _STOPS:
        inner += 1
    return [*right[:owned], *left[:inner], *right[owned:], *left[inner:]]


def _owns(words: Sequence[Word], mention: Mention) -> bool:
    following = words[mention.end].lower if mention.end < len(words) else ""
    return mention.owner or words[mention.end - 1].lower in _OWNING or following in ("'s", "’s")


def _wanted(words: Sequence[Word], outside: Sequence[int]) -> tuple[frozenset[str], list[Word]]:
    """Return the kinds of thing that the question wants and the noun that says so."""
    for place, i in enumerate(outside):
        word = words[i].lower
        if word in _RELATIVE and _is_relative(words, i, outside):
            continue  # "the person *who* founded it"
        if word in _WH_KINDS or word in ("what", "which", "how"):
            later = _coordinated(words, outside[place + 1 :])
            if later:
                return _wanted(words, later)
        if word in _WH_KINDS:
            return _WH_KINDS[word], _predicate_noun(words, outside[place + 1 :])
        if word in ("what", "which"):
            return _noun_after(words, outside[place + 1 :])
        if word == "how" and place + 1 < len(outside) and words[outside[place + 1]].lower != "is":
            return frozenset(), _measured(words, outside[place + 1 :])
    return _noun_after(words, outside)


def _is_relative(words: Sequence[Word], i: int, outside: Sequence[int]) -> bool:
    """Tell whether a question word follows a noun: "the person who", "the country of which"."""
    if i > 1 and words[i - 1].lower in PREPOSITIONS:
        i -= 1
    return i > 0 and (_is_content(words[i - 1]) or i - 1 not in outside)


def _has_main_verb_last(words: Sequence[Word], mention: Mention) -> bool:
    """Tell whether what follows the subject belongs to the main clause: "where was the head of X born".

    It belongs to the subject's own clause in "the country of which X is a citizen" and "the country X comes from".
    """
    before = mention.start - 1
    if _owns(words, mention) or before < 0 or _is_content(words[before]):
        return False
    while before >= 0 and words[before].lower in _ARTICLES_OR_QUOTES:
        before -= 1
    return before >= 0 and words[before].lower not in _RELATIVE | {"that", "whose"}


def _measured(words: Sequence[Word], rest: Sequence[int]) -> list[Word]:
    """Return the noun of "how many [children]", or the adjective of "how [old]"."""
    first = words[rest[0]]
    return _noun_after(words, rest[1:])[1][:1] if first.lower in ("many", "much") else [first]


def _coordinated(words: Sequence[Word], rest: Sequence[int]) -> Sequence[int]:
    """Return the second question of two: "in which country was ..., and [who is ...]"; it is what is asked for."""
    for place in range(len(rest) - 1):
        if words[rest[place]].lower == "and" and words[rest[place + 1]].lower in {
            *_WH_KINDS,
            "what",
            "which",
        }:
            return rest[place + 1 :]
    return ()


def _predicate_noun(words: Sequence[Word], rest: Sequence[int]) -> list[Word]:
    """Return the noun of "who is the [chairperson] of ...", nothing for "who founded ..."."""
    lead = [words[i].lower for i in rest[:3]]
    if lead[:1] and lead[0] in _BE and any(word in ("the", "a", "an", "'s", "’s") for word in lead[1:]):
        return _noun_after(words, rest[1:])[1]
    return []


def _noun_after(words: Sequence[Word], rest: Sequence[int]) -> tuple[frozenset[str], list[Word]]:
    """Return the first noun phrase without "the name of": "what is the [capital city] of the ...".

    A bare noun after "of" belongs to it: "the [chief of state] of the country".
    """
    focus: list[Word] = []
    kinds: frozenset[str] = frozenset()
    headed = False
    for place, i in enumerate(rest):
        word = words[i]
        if not word.is_word or word.lower in FUNCTION_WORDS:
            if (
                focus and word.lower in ("'s", "’s") and words[i - 1] is focus[-1]
            ):  # what it owns is asked for
                focus, kinds, headed = [], frozenset(), False
            elif focus and not _joins(words, word, rest[place + 1 : place + 2]):
                break
            else:
                headed = bool(focus)
            continue
        if (word.lower in CARRIERS and word.key not in _KIND_NOUNS) or _is_light(words, i):
            if focus:
                break
            continue
        focus.append(word)
        # The head of "capital city" is its last noun, of "chief of state" the one before "of".
        if not headed:
            kinds = _KIND_NOUNS.get(word.key, kinds)
        if len(focus) == 4:
            break
    return kinds, focus


def _joins(words: Sequence[Word], link: Word, following: Sequence[int]) -> bool:
    """Tell whether a noun phrase goes on: a bare common noun after "of", or the other half of "director/manager"."""
    if link.text in "/-":
        return True
    return link.lower == "of" and any(
        words[i].lower not in FUNCTION_WORDS and not words[i].is_name_like for i in following
    )


def _wants(words: Sequence[Word], outside: Sequence[int]) -> str:
    asked = [words[i].lower for i in outside if words[i].is_word][:3]
    if asked[:2] == ["how", "many"]:
        return "count"
    every = {words[i].lower for i in outside}
    if asked and asked[0] in _YES_NO and not every & {"what", "which", "who", "when", "where", "whom", "how"}:
        return "truth"
    return "value"


def _form(words: Sequence[Word], visible: Iterable[int], mention: Mention) -> tuple[str, ...]:
    form: list[str] = []
    for i in visible:
        if mention.start <= i < mention.end:
            if i == mention.start or not form:
                owner = mention.owner or words[mention.end - 1].lower in _OWNING
                form += ["[x]", "s"] if owner else ["[x]"]
        elif words[i].is_word or words[i].lower in ("'s", "’s"):
            form.append(words[i].lower.strip("'’"))
    return tuple(form)


def _masked(text: str, words: Sequence[Word], mention: Mention) -> str:
    first, last = words[mention.start], words[mention.end - 1]
    mask = f"{_MASK}'s" if mention.owner or last.lower in _OWNING else _MASK
    masked = f"{text[: first.start]}{mask}{text[last.end :]}"
    return " ".join(re.sub(r"[\"“”«»]", "", masked).split())
