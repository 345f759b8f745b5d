"""What each predicate is asked by: the words of its names and question forms, weighed by how telling they are."""

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from ko_integrations.query.words import FUNCTION_WORDS, Word, key_of, words_of
from ko_integrations.vocabulary import Predicate, Vocabulary

__all__ = ["Lexicon", "Profile", "lexicon_of"]

_LENT, _KIN = 1.0, 0.9
_NAME, _ALIAS, _QUESTION, _PATTERN = 1.0, 0.9, 0.85, 0.6
_SLOTS = re.compile(r"\[[XY]\]")
_OF_OBJECT = re.compile(r"(\w+) of \[Y\]")
_MAX_PROFILES = 8_192
# Words that a question form may have or lack without asking something else.
_LOOSE = frozenset(
    "a an the currently current now present presently right today actually please exactly".split()
)
_VERBS = {
    form: base for base, forms in {"be": "am is are was were s re been", "do": "does did", "have": "has had"}.items()
    for form in forms.split()
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Profile:
    """A predicate as questions see it.

    Attributes:
        name: canonical name.
        label: the name in plain English.
        cues: key of a word -> how firmly it points here (0 to 1).
        phrases: names and aliases as tuples of keys, for exact matches.
        kinds: kinds of its object (`person`, `city` ...), where declared.
        subject_kinds: kinds of its subject, where declared.
        value_type: as declared.
        concept: the declared predicate that it stands for, else its own name.
        of_objects: keys of the words that stand before "of" and its object: "a citizen of [Y]".
    """

    name: str
    label: str
    cues: dict[str, float]
    phrases: tuple[tuple[str, ...], ...] = ()
    kinds: frozenset[str] = frozenset()
    subject_kinds: frozenset[str] = frozenset()
    value_type: str = "any"
    concept: str = ""
    of_objects: frozenset[str] = frozenset()


class Lexicon:
    """The profiles of one vocabulary, how telling each word is among them, and its question forms."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.frequency: Counter[str] = Counter()
        self.declared: dict[str, Profile] = {}
        self._called: dict[str, list[str]] = {}
        self._forms: dict[tuple[str, ...], set[str]] = {}
        self._undeclared: dict[tuple[str, str], Profile] = {}
        for predicate in vocabulary:
            profile = _declared(predicate)
            self.declared[predicate.name] = profile
            for key, weight in profile.cues.items():
                if weight >= _ALIAS:
                    self._called.setdefault(key, []).append(predicate.name)
            self.frequency.update(key for key, weight in profile.cues.items() if weight >= _QUESTION)
            for form in predicate.question_forms:
                words = _normal_form(re.findall(r"\[x\]|\w+", form.lower()))
                self._forms.setdefault(words, set()).add(predicate.name)

    def weight(self, key: str) -> float:
        """Return how telling a word is: 1 for one that few predicates share, down to 0.3."""
        shared = max(self.frequency[key] - 1, 0)
        return max(0.3, 1 - math.log1p(shared) / math.log1p(max(len(self.declared), 8)))

    def calls(self, key: str) -> bool:
        """Tell whether some predicate is called by this word."""
        return key in self._called

    def best_named(self, keys: Iterable[str]) -> float:
        """Return how well the best declared predicate is named by `keys` together, if by all of them; else 0."""
        wanted = list(keys)
        shared = set.intersection(*(set(self._called.get(key, ())) for key in wanted)) if wanted else set()
        return max(
            (sum(self.declared[name].cues[key] for key in wanted) / len(wanted) for name in shared),
            default=0.0,
        )

    def also_called(self, key: str) -> list[Profile]:
        """Return the declared predicates of another name with an alias of two words that ends in `key`."""
        profiles = (self.declared[name] for name in self._called.get(key, ()))
        return [
            profile
            for profile in profiles
            if profile.phrases[0][-1:] != (key,) and any(len(p) == 2 and p[1] == key for p in profile.phrases)
        ]

    def asked_by(self, form: Iterable[str]) -> set[str]:
        """Return the declared predicates that have exactly this question form; the subject stands as `[x]`."""
        return self._forms.get(_normal_form(form), set())

    def profile(self, predicate: str, subject: str = "") -> Profile:
        """Return the profile of a stored predicate of `subject`.

        An undeclared one that repeats its subject ("president_of_italy" of Italy) is read without it, and
        borrows from the declared predicate that what is left names, if one does.
        """
        declared = self.vocabulary.get(predicate)
        if declared is not None:
            return self.declared[declared.name]
        key = (predicate, subject)
        if key not in self._undeclared:
            if len(self._undeclared) >= _MAX_PROFILES:
                self._undeclared.clear()
            self._undeclared[key] = _undeclared(self, predicate, subject)
        return self._undeclared[key]


@lru_cache(maxsize=8)
def lexicon_of(vocabulary: Vocabulary) -> Lexicon:
    """Return the lexicon of a vocabulary; it is built once."""
    return Lexicon(vocabulary)


def _content(words: Iterable[Word]) -> list[str]:
    return [word.key for word in words if word.is_word and word.lower not in FUNCTION_WORDS]


def _normal_form(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        _VERBS.get(word) or (word if word == "[x]" or word in FUNCTION_WORDS else key_of(word))
        for word in words
        if word not in _LOOSE
    )


def _declared(predicate: Predicate) -> Profile:
    cues: dict[str, float] = {}

    def add(text: str, weight: float) -> tuple[str, ...]:
        keys = _content(words_of(_SLOTS.sub(" ", text.replace("_", " "))))
        for key in keys:
            cues[key] = max(cues.get(key, 0.0), weight)
        return tuple(keys)

    phrases = [add(predicate.name, _NAME), *(add(alias, _ALIAS) for alias in predicate.aliases)]
    for form in predicate.questions:
        add(form, _QUESTION)
    for pattern in predicate.patterns:
        add(pattern, _PATTERN)
    cues.setdefault(key_of(predicate.name.replace("_", "")), _ALIAS)
    return Profile(
        name=predicate.name,
        label=predicate.name.replace("_", " "),
        cues=cues,
        phrases=tuple(dict.fromkeys(phrase for phrase in phrases if phrase)),
        kinds=frozenset(predicate.object_kinds),
        subject_kinds=frozenset(predicate.subject_kinds),
        value_type=predicate.value_type,
        concept=predicate.name,
        of_objects=frozenset(
            key_of(match[1]) for form in predicate.statement_forms for match in _OF_OBJECT.finditer(form)
        ),
    )


def _undeclared(lexicon: Lexicon, predicate: str, subject: str) -> Profile:
    words = _own_words(predicate, subject)
    keys = tuple(_content(words_of(" ".join(words)))) or tuple(key_of(word) for word in words)
    profile = Profile(predicate, " ".join(words), dict.fromkeys(keys, _NAME), (keys,), concept=predicate)
    # Of "president of the French Republic" the noun is before "of the".
    before, joined, _ = " ".join(words).partition(" of the ")
    noun = before.split() if joined else words
    # "federal chancellor" is a chancellor: the longest right-hand part that is declared lends its words. So do,
    # for one word alone, predicates also called so: a "state president" is a president, and a head of state.
    lent: Profile | None = None
    for start in range(len(noun)):
        declared = lexicon.vocabulary.get("_".join(noun[start:]))
        if declared is not None:
            lent = lexicon.declared[declared.name]
            break
    cues = dict(profile.cues)
    kin = (
        [known for known in lexicon.also_called(key_of(noun[0])) if known is not lent]
        if len(noun) == 1
        else []
    )
    for known, factor in [*((known, _KIN) for known in kin), *(((lent, _LENT),) if lent else ())]:
        for key, weight in known.cues.items():
            cues[key] = max(cues.get(key, 0.0), factor * weight)
    if lent is None:
        return replace(profile, cues=cues)
    phrases = (keys, *lent.phrases)
    return replace(lent, name=predicate, label=profile.label, cues=cues, phrases=phrases)


def _own_words(predicate: str, subject: str) -> list[str]:
    """Return the words of a predicate without those of its subject and grammar at the edges."""
    own = {word.key for word in words_of(subject) if word.is_word}
    words = [word for word in words_of(predicate.replace("_", " ")) if word.is_word]
    kept = [word.lower for word in words if word.key not in own] or [word.lower for word in words]
    while kept and kept[-1] in FUNCTION_WORDS:
        kept.pop()
    while kept and kept[0] in FUNCTION_WORDS:
        kept.pop(0)
    return kept or [predicate]
