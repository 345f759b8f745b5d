"""The hand-made surface features of the main paper, sections 4.3.3 and 5.5."""

import re
from typing import Final

from ko_integrations.router.lexicon import CLASSES, QUANTITY_ADJECTIVES, VERB_CLASSES
from ko_integrations.router.request import AUXILIARIES, without_marks, words_of

__all__ = ["SURFACE_FEATURES", "surface_features"]

SURFACE_FEATURES: Final = (
    "has_what", "has_who", "has_when", "has_where", "has_which", "has_how_quantity", "has_how_other", "has_why",
    "ends_with_question_mark", "has_proper_noun", "word_count", "has_creative_verb", "has_explanatory_verb",
    "is_the", "of", "my", "possessive", "opens_with_auxiliary", "opens_with_lookup_verb", "opens_with_verb",
    "has_opinion_word", "asks_meaning", "bare_definition",
)  # fmt: skip
"""Names of the surface features, in their order.

The paper lists interrogatives, the final question mark, proper nouns by their capitals, the word count, and
creative and explanatory verbs; its ablation adds "is the" and "my". The rest are of the same kind.
"""
_CREATIVE: Final = frozenset(
    "write compose create imagine invent draft generate design brainstorm craft make come pretend act rewrite "
    "continue produce pen".split()
)
_EXPLANATORY: Final = frozenset(
    "help suggest explain describe discuss compare summarize summarise recommend advise analyze analyse outline "
    "argue convince define interpret teach tips difference overview pros about".split()
)
_LOOKUP: Final = frozenset(
    "tell give show find look remind name list get check state fetch recall send".split()
)
_MEANING: Final = frozenset("mean means meaning definition define concept term".split())
_OPINION: Final = frozenset(
    "should best better good think would worth fair unfair right wrong ethical ideas favourite you more less".split()
)


def surface_features(query: str) -> list[float]:
    """Return the surface features of a query, in the order of `SURFACE_FEATURES`; all are 0 or 1 but the count.

    Source: main paper, sections 4.3.3 and 5.5.

    Example:
        >>> dict(zip(SURFACE_FEATURES, surface_features("Who created Python?")))["has_who"]
        1.0
    """
    tokens = query.split()
    words = without_marks(words_of(query))
    vocabulary = set(words)
    joined = f" {' '.join(words)} "
    first = words[0] if words else ""
    how = [following for word, following in zip(words, words[1:], strict=False) if word == "how"]
    values = {f"has_{word}": word in vocabulary for word in ("what", "who", "when", "where", "which", "why")}
    values |= {
        "has_how_quantity": any(word in QUANTITY_ADJECTIVES for word in how),
        "has_how_other": any(word not in QUANTITY_ADJECTIVES for word in how),
        "ends_with_question_mark": query.rstrip().endswith("?"),
        "has_proper_noun": any(token[:1].isupper() and token != "I" for token in tokens[1:]),
        "has_creative_verb": not vocabulary.isdisjoint(_CREATIVE),
        "has_explanatory_verb": not vocabulary.isdisjoint(_EXPLANATORY),
        "is_the": " is the " in joined,
        "of": "of" in vocabulary,
        "my": "my" in vocabulary,
        "possessive": any(word.endswith("'s") for word in words),
        "opens_with_auxiliary": first in AUXILIARIES,
        "opens_with_lookup_verb": first in _LOOKUP,
        "opens_with_verb": first not in _LOOKUP and any(first in CLASSES[name] for name in VERB_CLASSES),
        "has_opinion_word": not vocabulary.isdisjoint(_OPINION),
        "asks_meaning": not vocabulary.isdisjoint(_MEANING),
        "bare_definition": len(words) <= 5
        and bool(re.match(r" what (is|are)( an?)? (?!the |my )\S+ ", joined)),
    }
    return [float(len(tokens)) if name == "word_count" else float(values[name]) for name in SURFACE_FEATURES]
