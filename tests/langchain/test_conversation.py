"""`KOConversationMemory` in chains of langchain-classic."""

import warnings
from typing import Any

import pytest

pytest.importorskip("langchain_classic")
from langchain_core.prompts import PromptTemplate

from ko_integrations import KnowledgeStore
from ko_integrations.errors import InvalidInputError
from ko_integrations.langchain import KOConversationMemory


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_a_classic_chain_reads_and_learns(store: KnowledgeStore, scripted: Any) -> None:
    from langchain_classic.chains import LLMChain
    from langchain_core.messages import AIMessage

    model = scripted(AIMessage("ok"))
    prompt = PromptTemplate.from_template("{memory}\n{question}")
    chain = LLMChain(llm=model, prompt=prompt, memory=KOConversationMemory(store=store, input_key="question"))
    chain.invoke({"question": "I live in Bern."})
    chain.invoke({"question": "I live in Basel."})
    chain.invoke({"question": "Where do I live?"})
    assert "Basel" in model.prompt()
    assert "Bern" not in model.prompt()


def test_an_input_is_read_after_those_before_it(store: KnowledgeStore) -> None:
    memory = KOConversationMemory(store=store)
    for said in ("My sister Ann lives in Bern.", "She works for Acme."):
        memory.save_context({"input": said}, {"output": "ok"})
    assert store.read_exact("Ann", "employer").object == "Acme"
    memory.clear()
    memory.save_context({"input": "She works for Globex."}, {"output": "ok"})
    assert list(store.snapshot()) == []


def test_the_input_must_be_known_and_clear_erases(store: KnowledgeStore) -> None:
    memory = KOConversationMemory(store=store)
    assert memory.memory_variables == ["memory"]
    assert memory.load_memory_variables({"input": "hello"}) == {"memory": ""}
    with pytest.raises(InvalidInputError, match="input_key"):
        memory.load_memory_variables({"a": "x", "b": "y"})
    store.update("user", "city", "Basel")
    memory.clear()
    assert store.history("user", "city") == []


@pytest.mark.parametrize(
    ("field", "given"),
    [("token_budget", 0), ("token_budget", -1), ("k", -1), ("k", True), ("store", "memory/")],
)
def test_what_cannot_be_used_is_refused_by_name(store: KnowledgeStore, field: str, given: object) -> None:
    with pytest.raises(InvalidInputError, match=f"^{field}: "):
        KOConversationMemory(**{"store": store, field: given})
    KOConversationMemory(store=store, k=0)  # the facts of named subjects only
