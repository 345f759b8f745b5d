"""The answer that a chosen path gives: value, route, versions, and one sentence."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from ko_integrations.query.chains import Found, Slot, apply, distinct
from ko_integrations.query.lexicon import Profile
from ko_integrations.query.linking import SPEAKER
from ko_integrations.query.paths import Candidate
from ko_integrations.query.ranking import Ranked
from ko_integrations.query.temporal import TemporalOperator
from ko_integrations.query.words import key_of, spelt
from ko_integrations.types import Answer, KnowledgeObject

__all__ = ["Found", "abstain", "is_dated", "render", "respond"]

_TIME_NOUNS = frozenset("date time year day month birthday anniversary deadline".split())
_ORIGINALLY = key_of("originally")
_PRESENT = frozenset({"none", "current", "latest"})


def abstain(reason: str, confidence: float = 0.0, facts: Sequence[KnowledgeObject] = ()) -> Answer:
    """Return the answer that gives no value; `confidence` is what a guess would have had."""
    return Answer(value=None, route="abstain", facts=tuple(facts), confidence=confidence, text=reason)


def respond(best: Ranked, slots: Sequence[Slot], operator: TemporalOperator, mentioned: str) -> Answer:
    """Return the answer of the best path, read with the temporal operator.

    Without a value for the time asked about it abstains, and says so.
    """
    candidate = best.candidate
    if candidate.inverse:
        return _inverse(best)
    operator = _effective(operator, candidate, slots, mentioned)
    found = _combined([apply(operator, slot, mentioned) for slot in slots])
    if candidate.asked.wants == "count" and operator.kind not in ("count", "duration"):
        found = _counted(found, operator, slots)
    what = _described(candidate)
    if found.value is None or found.value == []:
        return abstain(f"Nothing is known of {what} for that time.", best.probability, candidate.facts)
    return Answer(
        value=found.value,
        route=_route(candidate, operator),
        facts=(*candidate.facts, *found.facts),
        confidence=best.probability,
        text=_sentence(what, found, operator, any(slot.is_set for slot in slots)),
        path=path_of(candidate, slots),
    )


def path_of(candidate: Candidate, slots: Sequence[Slot]) -> tuple[tuple[str, str], ...]:
    """Return the (subject, predicate) pairs that were followed."""
    steps = [
        (ko.subject, profile.name) for ko, profile in zip(candidate.facts, candidate.profiles, strict=False)
    ]
    return (*steps, *((slot.subject, slot.predicate) for slot in slots))


def _inverse(best: Ranked) -> Answer:
    candidate = best.candidate
    several = list({ko.subject: ko for ko in candidate.values}.values())
    names = [ko.subject for ko in several]
    value: Any = names if len(names) > 1 else names[0]
    text = "; ".join(
        f"{ko.subject} {spelt(ko.predicate.replace('_', ' '))} {render(ko.object)}" for ko in several[:5]
    )
    path = tuple((ko.subject, ko.predicate) for ko in several)
    return Answer(
        value=value,
        route="exact",
        facts=tuple(several),
        confidence=best.probability,
        text=f"{text}.",
        path=path,
    )


def _effective(
    operator: TemporalOperator, candidate: Candidate, slots: Sequence[Slot], question: str
) -> TemporalOperator:
    """Drop the operator where the predicate itself says it: "when was X founded" of a founding date.

    So does an original network, of which one may ask who "originally" aired something.
    """
    if operator.kind == "first" and "originally" in question.lower():
        return TemporalOperator() if _ORIGINALLY in candidate.profiles[-1].cues else operator
    values = [ko.object for slot in slots for ko in slot.current]
    if operator.kind == "when" and is_dated(candidate.profiles[-1], values):
        return TemporalOperator()
    return operator


def is_dated(profile: Profile, values: Sequence[Any]) -> bool:
    """Tell whether a predicate holds a date or a time of day: by type, by kind, by its name, or by its values."""
    if profile.value_type == "date" or "date" in profile.kinds:
        return True
    return profile.label.split()[-1] in _TIME_NOUNS or any(isinstance(value, date) for value in values)


def _combined(found: Sequence[Found]) -> Found:
    """Join what several subjects say ("where do Alice's children live")."""
    some = [part for part in found if part.value is not None]
    if len(some) <= 1:
        return some[0] if some else Found(None)
    facts = tuple(ko for part in some for ko in part.facts)
    if all(
        isinstance(part.value, list) or not part.facts or part.value == part.facts[0].object for part in some
    ):
        values = [ko.object for ko in distinct(facts)]
        return Found(values if len(values) > 1 else values[0], facts)
    return Found([part.value for part in some], facts)


def _counted(found: Found, operator: TemporalOperator, slots: Sequence[Slot]) -> Found:
    """Return how many: a number that is stored, the size of a set, or of all that a slot ever held."""
    value = found.value
    if isinstance(value, int | float) or (isinstance(value, str) and value[:1].isdigit()):
        return found
    if isinstance(value, list) and (slots[0].is_set or len(value) > 1):
        return Found(len(value), found.facts)
    return Found(None) if operator.kind in _PRESENT else Found(len(found.facts), found.facts)


def _route(candidate: Candidate, operator: TemporalOperator) -> Any:
    if len(candidate.profiles) > 1:
        return "multi_hop"
    return "exact" if operator.kind in _PRESENT else "temporal"


def _described(candidate: Candidate) -> str:
    subject = candidate.asked.mention.subject
    labels = " of the ".join(spelt(profile.label) for profile in reversed(candidate.profiles))
    if subject == SPEAKER and len(candidate.profiles) == 1:
        return f"your {labels}"
    return f"the {labels} of {'you' if subject == SPEAKER else subject}"


def render(value: Any) -> str:
    """Return a value in words: lists with "and", dates without a time of midnight."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        midnight = (value.hour, value.minute, value.second) == (0, 0, 0)
        return f"{value:%Y-%m-%d}" if midnight else f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, list):
        parts = [render(item) for item in value]
        return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return str(value)


def _sentence(what: str, found: Found, operator: TemporalOperator, is_set: bool) -> str:
    value = render(found.value)
    subject = what[0].upper() + what[1:]
    if operator.kind == "count":
        return f"{subject} changed {value} time{'' if found.value == 1 else 's'}."
    if operator.kind == "when":
        return f"{subject} has been {render(found.facts[0].object)} since {value}."
    if operator.kind == "ended":
        return f"{subject} stopped being {render(found.facts[0].object)} on {value}."
    if operator.kind == "duration":
        return f"{subject} has been {render(found.facts[0].object)} for {value}s."
    if operator.kind == "trajectory":
        steps = "; ".join(f"{render(ko.object)} (from {ko.valid_from:%Y-%m-%d})" for ko in found.facts)
        return f"{subject}: {steps}."
    verb = "is" if operator.kind in _PRESENT else "was"
    if isinstance(found.value, list) and is_set:
        return f"{subject}: {value}."
    return f"{subject} {verb} {value}."
