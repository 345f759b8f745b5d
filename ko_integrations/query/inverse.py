"""Questions asked from the object's side: "Who works at Acme?", "Which company was founded by Bob?"."""

from collections.abc import Sequence
from dataclasses import replace

from ko_integrations.protocols import FactReader
from ko_integrations.query.lexicon import Lexicon, Profile
from ko_integrations.query.linking import Mention, name_runs
from ko_integrations.query.paths import Candidate, canonical
from ko_integrations.query.question import Asked, analyse
from ko_integrations.query.scoring import fit
from ko_integrations.query.words import FIRST_PERSON, FUNCTION_WORDS, Word
from ko_integrations.types import KnowledgeObject

__all__ = ["inverse_candidates"]

_LOOK_UPS = 4
_MOST = 100


def inverse_candidates(
    text: str, words: Sequence[Word], mentions: Sequence[Mention], reader: FactReader, lexicon: Lexicon
) -> list[Candidate]:
    """Return the predicates by which current facts name something in the question, best first.

    The values of such a candidate are the facts; their subjects answer.
    """
    found: list[Candidate] = []
    for mention in _objects(text, words, mentions)[:_LOOK_UPS]:
        by_predicate: dict[str, list[KnowledgeObject]] = {}
        for ko in _facts_naming(mention, words, reader):
            by_predicate.setdefault(canonical(reader, ko.predicate), []).append(ko)
        asked = analyse(text, words, mention, lexicon) if by_predicate else None
        if asked is not None and asked.wants != "count":  # who is stored is not how many there are
            for name, facts in by_predicate.items():
                found += _turned(asked, words, lexicon.profile(name), facts, lexicon)
    return sorted(found, key=lambda candidate: -candidate.fit.score)


def _facts_naming(mention: Mention, words: Sequence[Word], reader: FactReader) -> list[KnowledgeObject]:
    """Return the facts that name the thing, with "the" too where the question says it."""
    found = reader.facts_naming(mention.subject, limit=_MOST)
    if not found and mention.start and words[mention.start - 1].lower == "the":
        found = reader.facts_naming(f"the {mention.subject}", limit=_MOST)
    return found


def _turned(
    asked: Asked, words: Sequence[Word], profile: Profile, facts: list[KnowledgeObject], lexicon: Lexicon
) -> list[Candidate]:
    """Return readings of the facts from the object's side, where grammar allows them."""
    predicate = lexicon.vocabulary.get(profile.name)
    subjects = tuple(dict.fromkeys(ko.subject for ko in facts))
    readings: list[tuple[Asked, Profile]] = []
    if predicate is not None and predicate.inverse:
        inverse = lexicon.profile(predicate.inverse)
        readings.append((asked, replace(inverse, kinds=inverse.kinds or profile.subject_kinds)))
    if not _owns_noun(asked, words, profile):
        # The subject is what is asked for: its kinds take the place of the object's, and the noun asked for
        # ("which company was founded by X") says nothing of the predicate.
        turned = replace(asked, focus=frozenset(), focus_text="")
        readings.append((turned, replace(profile, kinds=profile.subject_kinds, concept="")))
    return [
        Candidate(read, (reading,), subjects, (), tuple(facts), fit(read, (reading,), lexicon), inverse=True)
        for read, reading in readings
    ]


def _owns_noun(asked: Asked, words: Sequence[Word], profile: Profile) -> bool:
    """Tell whether the name owns the noun ("Alice's manager", "the manager of Alice"): it is the subject then."""
    start, end = asked.mention.start, asked.mention.end
    if words[start].lower in FIRST_PERSON & {"my", "our"} or (
        end < len(words) and words[end].lower in ("'s", "’s")
    ):
        return True
    before = start - 1
    while before > 0 and words[before].lower in ("the", "a", "an", '"', "'", "“"):
        before -= 1
    if before < 1 or words[before].lower != "of":
        return False
    return words[before - 1].key not in profile.of_objects


def _objects(text: str, words: Sequence[Word], mentions: Sequence[Mention]) -> list[Mention]:
    """Return the names in a question that may stand as objects: linked ones, then runs of capitals and quotations."""
    found = [
        Mention(text[words[m.start].start : words[m.end - 1].end], m.start, m.end, m.prior) for m in mentions
    ]
    for start, end in name_runs(words):
        if not any(m.start < end and start < m.end for m in mentions):
            found.append(Mention(text[words[start].start : words[end - 1].end], start, end, 0.8))
    tail = _last_phrase(text, words)
    if tail is not None and not any(m.start <= tail.start and tail.end <= m.end for m in found):
        found.append(tail)
    return [mention for mention in found if mention.subject.strip()]


def _last_phrase(text: str, words: Sequence[Word]) -> Mention | None:
    """Return the words at the end that hold no grammar: "who is allergic to [peanuts]", "who plays [chess]"."""
    end = len(words)
    while end and not words[end - 1].is_word:
        end -= 1
    start = end
    while start and words[start - 1].is_word and words[start - 1].lower not in FUNCTION_WORDS:
        start -= 1
    if end - start > 2:
        start = end - 1
    return Mention(text[words[start].start : words[end - 1].end], start, end, 0.5) if start < end else None
