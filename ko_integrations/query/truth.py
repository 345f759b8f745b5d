"""Yes-no questions on stored facts: yes if a fact says so, no only if a single-valued slot holds something else."""

from collections.abc import Callable, Sequence

from ko_integrations.query.answers import path_of, render
from ko_integrations.query.chains import Slot, apply
from ko_integrations.query.paths import Candidate
from ko_integrations.query.question import Token
from ko_integrations.query.ranking import ACCEPT, Ranked
from ko_integrations.query.scoring import explains
from ko_integrations.query.temporal import TemporalOperator
from ko_integrations.query.words import CARRIERS, key_of, words_of
from ko_integrations.types import Answer, KnowledgeObject

__all__ = ["answer_truth"]

_SUPPORTED = 0.6


def answer_truth(
    ranked: Sequence[Ranked],
    slots_of: Callable[[Candidate], list[Slot]],
    operator: TemporalOperator,
    ever: bool,
) -> Answer | None:
    """Return True or False with the fact that says so, or None if no fact decides it.

    `ever` asks whether it was so at any time.
    """
    denied: Answer | None = None
    for one in ranked:
        candidate = one.candidate
        claimed = [token for token in candidate.asked.tokens if _is_claim(token, candidate)]
        slots = slots_of(candidate)
        held = _held(slots, operator, ever)
        said = next((ko for ko in held if _says(ko, claimed, candidate)), None)
        if said is not None:
            stated = said.object if isinstance(said.object, bool) else True
            return _verdict(stated is (candidate.contrary is None), one, [said], slots)
        if denied is None and held and claimed and _excludes(one, slots, ever):
            denied = _verdict(False, one, held, slots)
    return denied


def _is_claim(token: Token, candidate: Candidate) -> bool:
    """Tell whether a word is part of the value that the question puts forward."""
    if token.name_like:
        return True
    profiles = (*candidate.profiles, *((candidate.contrary,) if candidate.contrary else ()))
    return token.lower not in CARRIERS and max(explains(token, p) for p in profiles) < 0.5


def _held(slots: Sequence[Slot], operator: TemporalOperator, ever: bool) -> list[KnowledgeObject]:
    if ever:
        return [ko for slot in slots for ko in slot.chain()]
    return [ko for slot in slots for ko in apply(operator, slot).facts]


def _says(ko: KnowledgeObject, claimed: Sequence[Token], candidate: Candidate) -> bool:
    """Tell whether a fact states what is claimed: its value has every word of the claim, or is itself yes or no.

    The contrary of a claim must be of just that: who hates black olives may like olives.
    """
    if isinstance(ko.object, bool):
        return min(candidate.fit.support) >= _SUPPORTED and not claimed
    value = {word.key for word in words_of(str(ko.object)) if word.is_word}
    if candidate.contrary is not None and len(value) > len({token.key for token in claimed}):
        return False
    return bool(claimed) and all(token.key in value or key_of(token.lower) in value for token in claimed)


def _excludes(one: Ranked, slots: Sequence[Slot], ever: bool) -> bool:
    """Tell whether another value of this slot means no."""
    single = bool(slots) and not any(slot.is_set for slot in slots)
    return (
        single
        and one.candidate.contrary is None
        and not ever
        and min(one.candidate.fit.support) >= _SUPPORTED
        and one.candidate.fit.loose > 0.2
    )


def _verdict(value: bool, one: Ranked, facts: Sequence[KnowledgeObject], slots: Sequence[Slot]) -> Answer:
    said = "; ".join(f"{ko.subject} {ko.predicate.replace('_', ' ')} {render(ko.object)}" for ko in facts[:3])
    return Answer(
        value=value,
        route="multi_hop" if len(one.candidate.profiles) > 1 else "exact",
        facts=(*one.candidate.facts, *facts),
        confidence=max(one.probability, ACCEPT),
        text=f"{'Yes' if value else 'No'}: {said}.",
        path=path_of(one.candidate, slots),
    )
