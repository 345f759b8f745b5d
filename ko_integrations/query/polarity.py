"""Contraries: what somebody hates does not answer what he likes, and what was decided against was not chosen."""

from collections.abc import Sequence
from dataclasses import replace

from ko_integrations.query.lexicon import Lexicon
from ko_integrations.query.paths import Candidate
from ko_integrations.query.scoring import fit
from ko_integrations.query.words import Word

__all__ = ["of_right_polarity"]

_NEGATIONS = frozenset({"not", "n't", "n’t", "never", "no", "without"})


def of_right_polarity(
    candidates: Sequence[Candidate], words: Sequence[Word], lexicon: Lexicon
) -> list[Candidate]:
    """Return the candidates that are asked for; one whose contrary is asked for can only say no.

    The contrary is the predicate that cannot hold of the same value (`Predicate.excludes`). It is what the
    question asks for when its words fit it better. To a yes-no question such a candidate is kept, marked with
    its `contrary`; to any other it is no answer. A question with a negation of its own is left as it is.
    """
    if any(word.lower in _NEGATIONS or word.lower.endswith(("n't", "n’t")) for word in words):
        return list(candidates)
    kept: list[Candidate] = []
    for candidate in candidates:
        turned = None if candidate.contrary is not None else _turned(candidate, lexicon)
        if turned is None:
            kept.append(candidate)
        elif candidate.asked.wants == "truth":
            kept.append(turned)
    return kept


def _turned(candidate: Candidate, lexicon: Lexicon) -> Candidate | None:
    """Return the candidate as a reading of the contrary, if that explains the question better."""
    last = candidate.profiles[-1]
    declared = lexicon.vocabulary.get(last.name)
    if declared is None or declared.excludes is None:
        return None
    contrary = replace(lexicon.profile(declared.excludes), kinds=last.kinds, subject_kinds=last.subject_kinds)
    other = fit(candidate.asked, (*candidate.profiles[:-1], contrary), lexicon)
    return replace(candidate, fit=other, contrary=contrary) if other.score > candidate.fit.score else None
