"""The tests of production memory that need a language model: LangChain's, LlamaIndex's or a `TextModel`."""

from collections.abc import Sequence
from dataclasses import dataclass

from ko_integrations.baselines import ContextMemory
from ko_integrations.errors import ModelError
from ko_integrations.experiments.corpora import Item
from ko_integrations.experiments.lab import percent
from ko_integrations.experiments.statements import CORRECTIONS, SCHEMA, Statement
from ko_integrations.identity import normalize_predicate
from ko_integrations.models import read_json
from ko_integrations.protocols import TextModel
from ko_integrations.vocabulary import Vocabulary

__all__ = ["ModelFigures", "measure_model"]

_EXTRACT = (
    'Extract facts from the statement as JSON. Use this exact format: {"entity": "...", "predicate": "...", '
    '"value": "..."}. Respond with ONLY the JSON, no other text.'
)
"""The paper's prompt (section 5.7), for one statement a call."""
_EXTRACT_ALL = (
    "Extract facts from the statements as JSON, one fact a statement, in their order. Use this exact format: "
    '{"facts": [{"entity": "...", "predicate": "...", "value": "..."}]}. Respond with ONLY the JSON, no other text.'
)
"""The same for all statements in one call: the paper does not give its words for that."""
_RECALL = "Answer the question from the notes, which are in the order in which they were taken."


@dataclass(frozen=True)
class ModelFigures:
    """Percentages of one model, as in tables 8 and 9 of the main paper.

    `schema_*` is how often the model's own predicate name is the expected one; `resolved` how often it is
    after the vocabulary has had it.
    """

    schema_multi: float
    schema_single: float
    resolved: float
    corrections: float
    retrieval: float
    position: float


def measure_model(model: TextModel, items: Sequence[Item], vocabulary: Vocabulary) -> ModelFigures:
    """Run all five tests of section 5.7 on `model`; `items` are 50 facts for retrieval and position.

    Raises:
        ModelError: the model failed.
    """
    multi = [name for statement in SCHEMA for name in _extract(model, [statement])]
    single = _extract(model, SCHEMA)
    return ModelFigures(
        schema_multi=percent(_same(multi)),
        schema_single=percent(_same(single)),
        resolved=percent(
            vocabulary.canonical(name or "?") == vocabulary.canonical(s.predicate)
            for name, s in zip(multi, SCHEMA, strict=True)
        ),
        corrections=_corrections(model),
        retrieval=_recall(model, items[:20], range(20)),
        position=_recall(model, items, range(0, len(items), 5)),
    )


def _extract(model: TextModel, statements: Sequence[Statement]) -> list[str]:
    """Return the predicate name given to each statement, "" where there is none."""
    prompt = _EXTRACT if len(statements) == 1 else _EXTRACT_ALL
    reply, _ = model.complete(prompt, "\n".join(s.text for s in statements))
    try:
        found = read_json(reply)
    except ModelError:  # a reply that is no JSON names no predicate; that is a result, not a failure
        found = {}
    listed = found.get("facts", [found])
    facts = listed if isinstance(listed, list) else []
    names = [str(fact.get("predicate", "")) if isinstance(fact, dict) else "" for fact in facts]
    return [*names, *[""] * len(statements)][: len(statements)]


def _same(names: Sequence[str]) -> list[bool]:
    return [normalize_predicate(name) == s.predicate for name, s in zip(names, SCHEMA, strict=True)]


def _corrections(model: TextModel) -> float:
    """Percentage of answers that give the new value and do not mention the old one."""
    clean = []
    for c in CORRECTIONS:
        memory = ContextMemory(system=_RECALL)
        memory.add([c.said, c.corrected])
        answer, _ = memory.ask(c.question, model)
        clean.append(c.new.casefold() in answer.casefold() and c.old.casefold() not in answer.casefold())
    return percent(clean)


def _recall(model: TextModel, items: Sequence[Item], asked: range) -> float:
    memory = ContextMemory()
    memory.update_many(item.fact for item in items)
    answers = ((items[i], memory.ask(items[i].question, model)[0]) for i in asked)
    return percent(item.value.casefold() in answer.casefold() for item, answer in answers)
