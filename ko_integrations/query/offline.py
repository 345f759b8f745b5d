"""Questions to answers by look-up, with no language model."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from ko_integrations.kinds import is_country
from ko_integrations.protocols import FactReader
from ko_integrations.query.answers import abstain, is_dated, respond
from ko_integrations.query.calendar import read_interval
from ko_integrations.query.chains import Slot, names_in, names_value
from ko_integrations.query.events import at_event
from ko_integrations.query.evidence import Nearness
from ko_integrations.query.fallback import near_candidates
from ko_integrations.query.framing import unframed
from ko_integrations.query.household import with_household
from ko_integrations.query.inverse import inverse_candidates
from ko_integrations.query.kin import relatives
from ko_integrations.query.lexicon import Lexicon, lexicon_of
from ko_integrations.query.linking import MAX_WORDS, Mention, link
from ko_integrations.query.narrowing import asks_an_attribute, narrowed
from ko_integrations.query.paths import Candidate, Walker, slots_of
from ko_integrations.query.polarity import of_right_polarity
from ko_integrations.query.question import ANY_KIND, analyse, readings
from ko_integrations.query.ranking import ACCEPT, Ranked, rank
from ko_integrations.query.scoring import fit
from ko_integrations.query.temporal import TemporalOperator, recognise
from ko_integrations.query.truth import answer_truth
from ko_integrations.query.words import FUNCTION_WORDS, Word, words_of
from ko_integrations.times import Moment
from ko_integrations.types import Answer

__all__ = ["OfflineQueryParser"]

_MENTIONS = 4
_SURE_NAME = 0.75
_CLEAR = 0.75
_SUPPORTED = 0.6
_DATED = 0.5
_NAMING_KINDS = frozenset({"when", "ended", "duration"})
_NOUN_KINDS = frozenset({"previous", "first", "nth", "latest", "trajectory"})
_VALUED = 12
_NEARLY = 0.35
_COUNTRY = frozenset({"country"})


class OfflineQueryParser:
    """Answers from stored facts: subject by name, predicate by words and meaning, hops, words of time.

    Time grows with the question and with what is stored of the subjects it names, not with the store.
    The embedder is called at most once for the paths (one batch); a semantic fallback encodes once more.
    Stored values are data: they are matched and returned, never interpreted. Thread-safe.

    Source: main paper 4.2 and A.3.
    """

    def __init__(self) -> None:
        self._nearness = Nearness()

    def answer(
        self, question: str, *, reader: FactReader, now: datetime, known_at: Moment | None = None
    ) -> Answer:
        """Return what the store knows; abstain (`value is None`) without evidence."""
        question = unframed(question)
        words = words_of(question)[:MAX_WORDS]
        if not any(word.is_word for word in words):
            return abstain("The question is empty.")
        return _Session(question, words, reader, now, known_at, self._nearness).answer()


class _Session:
    """One question to one reader."""

    def __init__(
        self, question: str, words: Sequence[Word], reader: FactReader, now: datetime,
        known_at: Moment | None, nearness: Nearness,
    ) -> None:  # fmt: skip
        self.question, self.words, self.reader = question, words, reader
        self.now, self.known_at, self.nearness = now, known_at, nearness
        self.lexicon: Lexicon = lexicon_of(reader.vocabulary)
        self.mentions = with_household(words, relatives(words, link(question, words, reader), reader), reader)
        self.operator = self._operator()
        if self._named_by_time():
            self.operator = TemporalOperator()
        self.text = self.operator.without_time(question)
        self.walker = Walker(reader, self.lexicon, now, self._moment(), known_at)

    def answer(self) -> Answer:
        """Try names first, then the object's side, then meaning."""
        ranked = self._dated_attribute() or self._forward()
        if ranked and ranked[0].candidate.asked.wants == "truth":
            ever = any(word.lower == "ever" for word in self.words)
            verdict = answer_truth(ranked, self._slots, self.operator, ever)
            return verdict or abstain("No stored fact says yes or no.", ranked[0].probability)
        best = ranked[0] if ranked else None
        if best is None or best.probability < _CLEAR:
            inverse = self._ranked(
                inverse_candidates(self.text, self.words, self._outside(), self.reader, self.lexicon)
            )
            if inverse and (best is None or inverse[0].probability > best.probability):
                best = inverse[0]
        if best is None or best.probability < ACCEPT:
            return self._fallback(best)
        if best.candidate.asked.kinds == _COUNTRY and not best.candidate.inverse:
            return self._in_country(best)
        return self._respond(best)

    def _in_country(self, best: Ranked) -> Answer:
        """Answer with a country: where a place of any size is stored, with the country that it is in."""
        candidate = best.candidate
        named = [
            ko for ko in candidate.values if not is_country(str(ko.object)) and "country" not in ko.predicate
        ]
        if not named or not (candidate.profiles[-1].kinds - _COUNTRY):
            return self._respond(best)
        further = self.walker.follow(candidate.asked, (*candidate.predicates, "country"))
        if further is not None:
            return self._respond(replace(best, candidate=further))
        where = ", ".join(str(ko.object) for ko in named)
        return abstain(f"It is {where}; in which country that is, is not stored.", best.probability, named)

    def _fallback(self, best: Ranked | None) -> Answer:
        """Answer by meaning if the evidence is good enough, else abstain and say what is missing."""
        near = self._ranked(
            near_candidates(
                self.text,
                self.words,
                self._outside(),
                self.reader,
                self.lexicon,
                self._moment(),
                self.known_at,
            )
        )
        if near and near[0].probability >= ACCEPT:
            answer = self._respond(near[0])
            return answer if answer.value is None else answer.model_copy(update={"route": "semantic"})
        confidence = max((ranked.probability for ranked in (best, *near[:1]) if ranked), default=0.0)
        known = self._outside()
        if known:
            return abstain(f"Nothing stored about {known[0].subject} answers this.", confidence)
        return abstain("No stored subject is named in the question.", confidence)

    # -- what is asked -------------------------------------------------------------------------------------------
    def _operator(self) -> TemporalOperator:
        spans = [
            (self.words[m.start].start, self.words[m.end - 1].end)
            for m in self.mentions
            if m.prior >= _SURE_NAME and any(word.is_name_like for word in self.words[m.start : m.end])
        ]
        operator = recognise(self.question, self.now, names=spans)
        if operator.anchor is not None and self.mentions and not self._outside(operator):
            return TemporalOperator()  # the clause holds the subject itself: it is no mere time
        if operator.kind == "none" or operator.anchor is not None:
            event = at_event(self.question, self.mentions, self.reader, self.lexicon, self.known_at)
            return event or operator
        return operator

    def _outside(self, operator: TemporalOperator | None = None) -> list[Mention]:
        """Return the mentions that are not part of the words of time."""
        spans = (operator or self.operator).spans

        def apart(mention: Mention) -> bool:
            start, end = self.words[mention.start].start, self.words[mention.end - 1].end
            return not any(a < end and start < b for a, b in spans)

        return [mention for mention in self.mentions if apart(mention)]

    def _named_by_time(self) -> bool:
        """Tell whether the words of time are what a stored predicate is called by: "medical history"."""
        operator = self.operator
        if operator.kind not in _NOUN_KINDS or operator.start or operator.end or operator.anchor:
            return False
        content = [word for word in self.words if word.is_word and word.lower not in FUNCTION_WORDS]
        taken = {word.key for word in content if any(a <= word.start < b for a, b in operator.spans)}
        keys = f" {' '.join(word.key for word in content)} "
        return any(
            taken & set(phrase) and f" {' '.join(phrase)} " in keys
            for mention in self._outside()[:1]
            for name in self.reader.predicates(mention.subject)
            for phrase in self.lexicon.profile(name, mention.subject).phrases
        )

    def _moment(self) -> datetime | None:
        """Return the moment that facts on the way are read at, or None for the present."""
        operator = self.operator
        if operator.kind == "as_of" and operator.start is not None:
            return operator.start
        if operator.kind in ("before", "until") and operator.end is not None:
            return operator.end - timedelta(microseconds=1)
        return None

    # -- where it is stored --------------------------------------------------------------------------------------
    def _forward(self) -> list[Ranked]:
        found: list[Candidate] = []
        for mention in self._outside()[:_MENTIONS]:
            for asked in readings(self.text, self.words, mention, self.lexicon):
                found += self.walker.candidates(asked)
        found = of_right_polarity(found, self.words, self.lexicon)
        if found and (self.operator.kind in _NAMING_KINDS or found[0].asked.wants == "truth"):
            found = [self._with_values(candidate) for candidate in found[:_VALUED]]
        ranked = self._rank(found)
        return self._changing(ranked) if self.operator.kind == "trajectory" else ranked

    def _changing(self, ranked: list[Ranked]) -> list[Ranked]:
        """Put first what has changed, of what fits nearly as well: a tumour that "responded" has a size, not a site."""
        near = [one for one in ranked if one.score >= ranked[0].score - _NEARLY]
        for one in near:
            if any(len(slot.chain()) > 1 and not slot.is_set for slot in self._slots(one.candidate)):
                return [one, *(other for other in ranked if other is not one)]
        return ranked

    def _dated_attribute(self) -> list[Ranked]:
        """Return the predicate that itself holds the date asked for: "when was X founded", or nothing."""
        if self.operator.kind != "when" or self.operator.ordinal < 0:
            return []
        found: list[Candidate] = []
        for mention in self._outside()[:_MENTIONS]:
            found += self.walker.candidates(analyse(self.question, self.words, mention, self.lexicon))
        ranked = self._ranked([candidate for candidate in found if candidate.values and _is_dated(candidate)])
        return ranked if ranked and ranked[0].probability >= _DATED else []

    def _with_values(self, candidate: Candidate) -> Candidate:
        """Let the values that the last slot has or had explain words: "when did X move to [Porto]"."""
        chain = [ko for slot in self._slots(candidate) for ko in slot.chain()]
        stated = frozenset(word.key for ko in chain for word in words_of(str(ko.object)) if word.is_word)
        asked = candidate.asked
        if self.operator.kind in _NAMING_KINDS:  # the time is asked for, whatever the slot holds
            asked = replace(asked, focus=frozenset(), focus_text="", kinds=ANY_KIND)
        path = candidate.profiles
        if candidate.contrary is not None:
            path = (*path[:-1], candidate.contrary)
        return replace(candidate, asked=asked, fit=fit(asked, path, self.lexicon, stated))

    def _ranked(self, candidates: list[Candidate]) -> list[Ranked]:
        """Rank those that are of the right polarity."""
        return self._rank(of_right_polarity(candidates, self.words, self.lexicon))

    def _rank(self, asked_for: list[Candidate]) -> list[Ranked]:
        return rank(asked_for, self.reader.embedder, self.nearness) if asked_for else []

    def _slots(self, candidate: Candidate) -> list[Slot]:
        return slots_of(candidate, self.walker)

    # -- when, told by an event ----------------------------------------------------------------------------------
    def _respond(self, best: Ranked) -> Answer:
        if asks_an_attribute(best.candidate, self.words):
            return abstain("What is asked for is not stored of it.", best.probability)
        meant = narrowed(best.candidate, self.words, self.reader)
        if meant is None:
            return abstain("None of those that are stored is known for one.", best.probability)
        best = replace(best, candidate=meant)
        slots = self._slots(best.candidate)
        operator = self.operator
        if operator.anchor is not None and not self._anchors_value(slots):
            moment = self._moment_of(operator.anchor)
            if moment is None:
                return abstain(f"It is not known when {operator.anchor}.", best.probability)
            operator = _at(operator, moment)
        return respond(best, slots, operator, self.question)

    def _anchors_value(self, slots: Sequence[Slot]) -> bool:
        """Tell whether "before the Lakers" names a value of the chain itself."""
        anchor = self.operator.anchor or ""
        relative = self.operator.kind in ("before", "after")
        return relative and any(names_value(anchor, ko) for slot in slots for ko in slot.chain())

    def _moment_of(self, anchor: str) -> datetime | None:
        """Return when an event was ("Ada was born"): the date that is stored, or since when its fact holds."""
        words = words_of(anchor)[:MAX_WORDS]
        found: list[Candidate] = []
        for mention in link(anchor, words, self.reader)[:1]:
            found += self.walker.candidates(analyse(anchor, words, mention, self.lexicon))
        ranked = [one for one in self._ranked(found) if one.candidate.values]
        ranked.sort(key=lambda one: not _is_dated(one.candidate))
        if not ranked or max(ranked[0].candidate.fit.support) < _SUPPORTED:
            return None
        chain = [ko for slot in self._slots(ranked[0].candidate) for ko in slot.chain()]
        named = [
            ko for ko in chain if names_in(anchor, ko)
        ]  # "when she moved to Dublin", where she no longer is
        fact = (named or ranked[0].candidate.values)[-1]
        return _as_moment(fact.object, self.now) or fact.valid_from


def _is_dated(candidate: Candidate) -> bool:
    return is_dated(candidate.profiles[-1], [ko.object for ko in candidate.values])


def _as_moment(value: object, now: datetime) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    interval = read_interval(str(value), now) if isinstance(value, str | int) else None
    return interval.start if interval else None


def _at(operator: TemporalOperator, moment: datetime) -> TemporalOperator:
    """Put a known moment in the place of the event that stood for it."""
    instant = moment + timedelta(microseconds=1)
    if operator.kind == "before":
        return replace(operator, anchor=None, end=moment)
    if operator.kind == "after":
        return replace(operator, anchor=None, start=instant)
    return replace(operator, anchor=None, start=moment, end=instant)
