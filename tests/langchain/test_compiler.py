"""A compiler and a parser from a chat model (PITFALLS 32)."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from ko_integrations import KnowledgeStore
from ko_integrations.errors import ModelError
from ko_integrations.langchain import create_ko_chain, create_ko_compiler, create_ko_parser


@pytest.fixture
def opened(embedder: Any) -> Iterator[Callable[..., KnowledgeStore]]:
    stores: list[KnowledgeStore] = []

    def opener(**options: Any) -> KnowledgeStore:
        stores.append(KnowledgeStore.open(":memory:", embedder=embedder, **options))
        return stores[-1]

    yield opener
    for store in stores:
        store.close()


def facts(**fact: Any) -> AIMessage:
    """A reply as a tool-calling model gives it; the tool is named after the schema's title."""
    entry = {"subject": "Alice", "predicate": "residence", "object": "Basel", "sentence": 1, **fact}
    call = {"name": "Facts", "args": {"facts": [entry]}, "id": "1", "type": "tool_call"}
    usage = {"input_tokens": 300, "output_tokens": 40, "total_tokens": 340}
    return AIMessage("", tool_calls=[call], usage_metadata=usage)


def test_a_model_extracts_facts_by_structured_output(opened: Any, scripted: Any) -> None:
    model = scripted(facts())
    store = opened(compiler=create_ko_compiler(model))
    report = store.write("Alice lives in Basel.")
    assert [result.ko.object for result in report.results] == ["Basel"]
    assert report.tokens == 340
    [tool] = model.tools
    predicates = json.dumps(tool)
    assert '"enum"' in predicates
    assert '"residence"' in predicates


def test_what_does_not_fit_is_mended_once_then_reported_never_stored(opened: Any, scripted: Any) -> None:
    store = opened(compiler=create_ko_compiler(scripted(facts(predicate="dwells_at"), facts())))
    assert len(store.write("Alice lives in Basel.").results) == 1
    model = scripted(facts(predicate="dwells_at"))
    store = opened(compiler=create_ko_compiler(model))
    report = store.write("Alice lives in Basel.")
    assert len(model.prompts) == 2
    assert report.results == ()
    assert "predicate" in report.not_understood[0].reason
    assert store.count() == 0


def test_a_model_that_cannot_call_tools_answers_in_json(opened: Any) -> None:
    reply = {"facts": [{"subject": "Alice", "predicate": "residence", "object": "Basel", "sentence": 1}]}
    store = opened(compiler=create_ko_compiler(FakeListChatModel(responses=[json.dumps(reply)])))
    assert len(store.write("Alice lives in Basel.").results) == 1


def test_a_failing_model_is_a_typed_error_and_stores_nothing(opened: Any, scripted: Any) -> None:
    store = opened(compiler=create_ko_compiler(scripted(ValueError("quota"))))
    with pytest.raises(ModelError, match="quota"):
        store.write("Alice lives in Basel.")
    assert store.count() == 0


def test_calls_are_runs_with_tags_below_their_parent(opened: Any, scripted: Any, runs: Any) -> None:
    config = {"callbacks": [runs], "tags": ["mine"]}
    store = opened(compiler=create_ko_compiler(scripted(facts()), config=config))
    store.write("Alice lives in Basel.")
    assert ("chain", "ko_compile") in runs.started
    assert {"mine", "ko_integrations"} <= set(runs.tags)


def test_a_call_inside_a_run_is_its_child(opened: Any, scripted: Any, runs: Any) -> None:
    store = opened(compiler=create_ko_compiler(scripted(facts())))
    RunnableLambda(lambda text: store.write(text)).invoke("Alice lives in Basel.", {"callbacks": [runs]})
    assert ("chain", "ko_compile") in runs.started
    assert runs.parents["ko_compile"] is not None


def test_the_two_call_pipeline_costs_at_most_900_tokens(opened: Any, scripted: Any) -> None:
    """Follow-up 7.2: a model parses, a model answers. With the offline parser it is one call of about 250."""
    question = "What is the battery life of Model 7?"

    def told(store: KnowledgeStore) -> None:
        for number in range(300):
            store.update(f"Model {number}", "battery_life", f"{number} hours")
            store.update(f"Model {number}", "price", f"{number} francs")

    parse = AIMessage(json.dumps({"subject": "Model 7", "path": ["battery_life"], "time": "current"}))
    answer = AIMessage("It lasts 7 hours [1].")
    usages: list[Any] = []
    parser_model, model = scripted(parse), scripted(answer)
    store = opened(parser=create_ko_parser(parser_model, on_usage=usages.append))
    told(store)
    result = create_ko_chain(store, model).invoke(question)
    assert result["citations"][0]["cited"]
    assert "7 hours" in result["citations"][0]["text"]
    assert (len(parser_model.prompts), len(model.prompts)) == (1, 1)
    assert usages[0].tokens + result["tokens"] <= 900

    model = scripted(answer)
    store = opened()
    told(store)
    result = create_ko_chain(store, model).invoke(question)
    assert (len(model.prompts), result["route"]) == (1, "factual")
    assert result["tokens"] <= 250
    nearest = create_ko_chain(store, model, router=lambda question: True, k=10).invoke(
        "Which thing costs least?"
    )
    assert len(nearest["citations"]) == 10
    assert nearest["tokens"] <= 300
