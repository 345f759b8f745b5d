"""What each predicate is asked by: the words of its names and question forms, weighed by how telling they are."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ko_integrations.query.words import FUNCTION_WORDS, Word, key_of, words_of
from ko_integrations.vocabulary import Predicate, Vocabulary

__all__ = ["Lexicon", "Profile", "lexicon_of"]

_LENT, _KIN = 1.0, 0.9
_NAME, _ALIAS, _QUESTION, _PATTERN = 1.0, 0.9, 0.85, 0.6
_PART = 0.3
_SLIPPED = 4
_FEW, _ASIDE = 6, 0.45
"""From how many patterns on a word that only one of them has is worth less than those that recur."""
_CIRCUMSTANCE = re.compile(r"\b(?:under|for|at|in|with|on|from|as)\b")
"""Who "works under" somebody is managed, and does not work for them: the verb alone does not say the relation."""
_LIVELIHOOD = re.compile(r"\b(?:a|my|your|his|her|their)\s+living\b", re.IGNORECASE)
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

    def is_named_with(self, phrase: tuple[str, ...]) -> bool:
        """Tell whether a name of several words is the only one: that of a predicate that nobody declared."""
        return len(phrase) > 1 and self.phrases == (phrase,)


class Lexicon:
    """The profiles of one vocabulary, how telling each word is among them, and its question forms."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.frequency: Counter[str] = Counter()
        self.declared: dict[str, Profile] = {}
        self._called: dict[str, list[str]] = {}
        self._forms: dict[tuple[str, ...], set[str]] = {}
        self._undeclared: dict[tuple[str, str], Profile] = {}
        self._slips: dict[str, str] = {}
        self._spellings: dict[str, set[str]] = {}
        self._alone: dict[str, set[str]] = {}
        for predicate in vocabulary:
            for name in (predicate.name, *predicate.aliases):
                keys = _keys(name)
                if len(keys) == 1:
                    self._alone.setdefault(keys[0], set()).add(predicate.name)
        for predicate in vocabulary:
            others = {key for key, names in self._alone.items() if predicate.name not in names}
            profile = _declared(predicate, others)
            self.declared[predicate.name] = profile
            for key, weight in profile.cues.items():
                if weight >= _ALIAS:
                    self._called.setdefault(key, []).append(predicate.name)
            self.frequency.update(key for key, weight in profile.cues.items() if weight >= _QUESTION)
            for name in (predicate.name, *predicate.aliases, *predicate.questions):
                for spelt in re.findall(r"[a-z]{4,}", _SLOTS.sub(" ", name.replace("_", " ").lower())):
                    self._spellings.setdefault(spelt[0], set()).add(spelt)
            for form in predicate.question_forms:
                words = _normal_form(re.findall(r"\[x\]|\w+", form.lower()))
                self._forms.setdefault(words, set()).add(predicate.name)

    def weight(self, key: str) -> float:
        """Return how telling a word is: 1 for one that few predicates share, down to 0.3."""
        shared = max(self.frequency[key] - 1, 0)
        return max(0.3, 1 - math.log1p(shared) / math.log1p(max(len(self.declared), 8)))

    def respelled(self, word: Word) -> str:
        """Return the key of a word; of an unknown one that of the known word it is a slip of, if there is one.

        A slip is one letter too many, missing, wrong or out of order, not the first, in a word of five letters
        or more; in one of four, two that changed places.
        """
        lower = word.lower
        if (
            self.frequency[word.key]
            or len(lower) < _SLIPPED
            or not lower.isalpha()
            or lower in FUNCTION_WORDS
        ):
            return word.key
        if lower not in self._slips:
            if len(self._slips) >= _MAX_PROFILES:
                self._slips.clear()
            self._slips[lower] = self._slip_of(lower) or word.key
        return self._slips[lower]

    def _slip_of(self, lower: str) -> str | None:
        from rapidfuzz.distance import OSA

        swapped = sorted(lower)
        alike = (
            known
            for known in self._spellings.get(lower[0], ())
            if abs(len(known) - len(lower)) <= 1 and OSA.distance(known, lower, score_cutoff=1) <= 1
        )
        slips = {key_of(known) for known in alike if len(lower) > _SLIPPED or sorted(known) == swapped}
        slips = slips if len(slips) == 1 else {key for key in slips if self.names(key)}
        return slips.pop() if len(slips) == 1 else None

    def calls(self, key: str) -> bool:
        """Tell whether some predicate is called by this word."""
        return key in self._called

    def names(self, key: str) -> bool:
        """Tell whether some predicate is called by this word and no other."""
        return key in self._alone

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
    """Return a form in which "where does [x] live" and "where [x] lives" are one: auxiliaries stand last."""
    plain = [
        _VERBS.get(word) or (word if word == "[x]" or word in FUNCTION_WORDS else key_of(word))
        for word in words
        if word not in _LOOSE
    ]
    held = [word for word in ("be", "have") if word in plain]
    kept = [
        word for i, word in enumerate(plain) if word not in held and (word != "do" or i == len(plain) - 1)
    ]
    return (*kept, *held)


def _keys(text: str) -> list[str]:
    """Return the keys of the content words of a name or form; a "living" is an income, it lives nowhere."""
    return _content(words_of(_LIVELIHOOD.sub(" ", _SLOTS.sub(" ", text.replace("_", " ")))))


def _declared(predicate: Predicate, others: Collection[str]) -> Profile:
    """Return the profile of a declared predicate; `others` are keys that by themselves name other predicates.

    Such a word says little here: the "job" of a "job employer" is an occupation, and who "found employment"
    has not founded anything.
    """
    cues: dict[str, float] = {}

    def add(keys: Sequence[str], weight: float) -> tuple[str, ...]:
        for key in keys:
            cues[key] = max(cues.get(key, 0.0), weight)
        return tuple(keys)

    phrases = [add(_keys(predicate.name), _NAME)]
    for alias in predicate.aliases:
        keys = _keys(alias)
        phrases.append(tuple(keys))
        of = "_of_" in alias
        for place, key in enumerate(keys):
            aside = key in others and not of and place < len(keys) - 1
            add((key,), _PART if aside else _ALIAS)
    for form in predicate.questions:
        add(_keys(form), _QUESTION)
    told: Counter[str] = Counter()
    for pattern in predicate.patterns:
        keys = _keys(pattern)
        bare = len(set(keys)) == 1 and not _CIRCUMSTANCE.search(pattern)
        told.update({key for key in keys if key not in others or bare})
    for key, times in told.items():
        add((key,), _PATTERN if times > 1 or len(predicate.patterns) < _FEW else _ASIDE)
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
