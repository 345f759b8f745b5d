"""From candidate paths to the one that answers, with a calibrated probability that it does."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ko_integrations.protocols import Embedder
from ko_integrations.query.evidence import Near, Nearness
from ko_integrations.query.paths import Candidate

__all__ = ["ACCEPT", "Ranked", "rank"]

ACCEPT = 0.15
"""The probability from which on an answer is given: unanswerable questions rarely reach it (see `evaluation`)."""

_COMPARED, _BEHIND = 8, 0.35
_PRIOR, _PATH, _FOCUS = 0.15, 0.3, 0.1
_UNSAID = 4.0
"""What each hop that the question does not speak of costs after the first, in log odds."""
_STRANGER = 8.0
_UNTOLD, _MEANT = 4.0, 0.6
"""What it costs that no word of the question is one of the path's, unless they are as near in meaning as this."""
_USUAL_PATH, _USUAL_FOCUS = 0.5, 0.4


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with the evidence for it.

    Attributes:
        score: words and meaning together; about 1 is a perfect fit. Candidates are ranked by it.
        path_near: similarity in meaning of the question to the path; None where it was not asked.
        focus_near: the same of the noun asked for and the last predicate.
    """

    candidate: Candidate
    score: float
    path_near: float | None = None
    focus_near: float | None = None

    @property
    def probability(self) -> float:
        """Probability that the candidate is what the question asks for: logistic in its parts.

        The weights are those of a logistic regression on answered questions and on the same questions after
        the fact that answers them was taken away, rounded; the second set is for embedders that tell
        nothing about meaning.
        """
        fit = self.candidate.fit
        mean = sum(fit.support) / len(fit.support)
        if fit.exact:
            logit = 2.7 + 2.7 * fit.focus
        elif self.path_near is None:
            implied = (
                fit.coverage if min(fit.support) == 0 else 0.0
            )  # a hop that the question does not speak of
            logit = 1.2 * fit.coverage + 1.7 * fit.loose + 3.7 * mean + 5.9 * fit.focus - 1.3 * fit.denied
            logit += 1.1 * len(fit.support) - 2.8 * implied - 10.5
        else:
            focus = 0.5 if self.focus_near is None else self.focus_near
            logit = 0.6 * fit.coverage + 1.3 * fit.loose + 2.2 * fit.focus - 3.2 * fit.denied
            logit += 0.2 * len(fit.support) + 2.4 * self.path_near + 0.5 * focus - 2.6
            logit -= _UNTOLD * (max(fit.support) == 0 and max(self.path_near, focus) < _MEANT)
        logit -= _UNSAID * max(fit.support.count(0) - 1, 0)
        logit -= 1.6 * fit.rival + 4.0 * fit.clash + 1.6 * fit.lost + 4.0 * fit.other + 0.5 * fit.leap
        logit -= _STRANGER * fit.stranger
        return math.sqrt(math.sqrt(self.candidate.asked.mention.prior)) / (1 + math.exp(-logit))


def rank(candidates: Sequence[Candidate], embedder: Embedder, nearness: Nearness) -> list[Ranked]:
    """Return the best candidates, best first.

    The embedder is asked for the question alone, and not at all for an exact form: what a predicate is called
    is encoded once for all questions, and a path is as near as its predicates taken together.
    """
    ranked = sorted((Ranked(c, _by_words(c)) for c in candidates), key=lambda r: -r.score)[:_COMPARED]
    ranked = [one for one in ranked if one.score >= ranked[0].score - _BEHIND]
    if not ranked or ranked[0].candidate.fit.exact or not nearness.tells_meaning(embedder):
        return ranked
    texts = list(dict.fromkeys(text for r in ranked for text in _texts(r.candidate)))
    labels = list(dict.fromkeys(profile.label for r in ranked for profile in r.candidate.profiles))
    near = nearness.of(embedder, texts, labels)
    # The score tells paths apart by how much they explain, the probability by what they leave unexplained.
    return sorted((_with_meaning(r, near) for r in ranked), key=lambda r: -(r.score + r.probability))


def _by_words(candidate: Candidate) -> float:
    return candidate.fit.score - _PRIOR * (1 - candidate.asked.mention.prior)


def _texts(candidate: Candidate) -> list[str]:
    asked = candidate.asked
    return [asked.masked, asked.focus_text] if asked.focus_text else [asked.masked]


def _with_meaning(ranked: Ranked, near: Near) -> Ranked:
    """Move the score by how much nearer in meaning a candidate is than is usual."""
    asked = ranked.candidate.asked
    labels = [profile.label for profile in ranked.candidate.profiles]
    path_near = near.path(asked.masked, labels)
    score = ranked.score + _PATH * (path_near - _USUAL_PATH)
    focus_near = near.label(asked.focus_text, labels[-1]) if asked.focus_text else None
    if focus_near is not None:
        score += _FOCUS * (focus_near - _USUAL_FOCUS)
    return replace(ranked, score=score, path_near=path_near, focus_near=focus_near)
