"""Contraries: what somebody hates does not answer what he likes, and what was decided against was not chosen."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ko_integrations.query.lexicon import Lexicon
from ko_integrations.query.paths import Candidate
from ko_integrations.query.scoring import fit
from ko_integrations.query.words import Word

__all__ = ["of_right_polarity"]

_NEGATIONS = frozenset({"not", "never"})
_DENYING = re.compile(r"\b(?:not|never)\b|n['’]t\b|\bagainst\b")


def of_right_polarity(
    candidates: Sequence[Candidate], words: Sequence[Word], lexicon: Lexicon
) -> list[Candidate]:
    """Return the candidates that are asked for; one whose contrary is asked for can only say no.

    The contrary is the predicate that cannot hold of the same value (`Predicate.excludes`). It is what the
    question asks for when its words fit it better. To a yes-no question such a candidate is kept, marked with
    its `contrary`; to any other it is no answer. A yes-no question with a negation of its own is left as it
    is; where another has one ("what don't I eat"), what holds is no answer, but what is denied may be.
    """
    negated = _is_negated(words, candidates)
    kept: list[Candidate] = []
    for candidate in candidates:
        if negated:
            if candidate.asked.wants == "truth" or candidate.inverse or _is_denial(candidate, lexicon):
                kept.append(candidate)
            continue
        turned = None if candidate.contrary is not None else _turned(candidate, lexicon)
        if turned is None:
            kept.append(candidate)
        elif candidate.asked.wants == "truth":
            kept.append(turned)
    return kept


def _is_negated(words: Sequence[Word], candidates: Sequence[Candidate]) -> bool:
    """Tell whether the question denies, outside the names in it."""
    spans = {(one.asked.mention.start, one.asked.mention.end) for one in candidates}
    return any(
        word.text in _NEGATIONS and not any(start <= i < end for start, end in spans)
        for i, word in enumerate(words)
    )


def _is_denial(candidate: Candidate, lexicon: Lexicon) -> bool:
    """Tell whether the predicate says what somebody does not do: "dislikes", "vetoed"."""
    declared = lexicon.vocabulary.get(candidate.profiles[-1].name)
    return declared is not None and any(map(_DENYING.search, declared.patterns))


def _turned(candidate: Candidate, lexicon: Lexicon) -> Candidate | None:
    """Return the candidate as a reading of the contrary, if that explains the question better."""
    last = candidate.profiles[-1]
    declared = lexicon.vocabulary.get(last.name)
    if declared is None or declared.excludes is None:
        return None
    contrary = replace(lexicon.profile(declared.excludes), kinds=last.kinds, subject_kinds=last.subject_kinds)
    other = fit(candidate.asked, (*candidate.profiles[:-1], contrary), lexicon)
    better = other.score - candidate.fit.score
    if better < 0 or better == 0 and not _is_denial(candidate, lexicon):
        return None  # without a negation, the words that both share ask for what is the case
    return replace(candidate, fit=other, contrary=contrary)
