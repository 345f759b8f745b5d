"""`create_ko_chain`: the hybrid of facts and model (main paper 4.3) as a Runnable."""

import re
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, TypedDict

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda, RunnablePassthrough
from pydantic import ConfigDict

from ko_integrations.identity import check_count
from ko_integrations.langchain.retriever import evidence_document
from ko_integrations.langchain.router import question_of
from ko_integrations.memory.evidence import Evidence, gather
from ko_integrations.memory.prompt import CITED_HEADER, TokenCounter, quote, render, told_line
from ko_integrations.memory.recall import named_chains
from ko_integrations.memory.routing import Label, classifier_of, is_sure, label_of, routed_by
from ko_integrations.models import count_tokens
from ko_integrations.router import Router
from ko_integrations.store import KnowledgeStore, expect_store
from ko_integrations.types import Answer

__all__ = ["ChainResult", "Citation", "create_ko_chain"]

SYSTEM = (
    "Answer the question briefly. Rely on the facts on record, where they bear on it, rather than on what you "
    "know, and put the number of each one you use in brackets. Say so if something asked for is not on record."
)
_CITED = re.compile(r"\[(\d{1,3})\]")


class Citation(TypedDict):
    """A fact that the model was given: its number in the prompt, its slot and version, and how it was found.

    `id` and `version` are None of documents that a retriever without slots gave. `cited` says that the
    answer names the number.
    """

    number: int
    id: str | None
    version: int | None
    route: str | None
    text: str
    source: str | None
    cited: bool


class ChainResult(TypedDict):
    """What the chain returns: the answer, how the question was routed, and what the answer rests on.

    `tokens` is what the answering model reports that it used, or what prompt and answer were counted at.
    """

    question: str
    answer: str
    route: Label
    citations: list[Citation]
    tokens: int
    message: BaseMessage | str


def create_ko_chain(
    store: KnowledgeStore,
    llm: Runnable[Any, Any],
    router: Any = None,
    retriever: BaseRetriever | None = None,
    *,
    k: int = 10,
    token_budget: int = 600,
    count: TokenCounter = count_tokens,
) -> Runnable[str | Mapping[str, Any], ChainResult]:
    """Return a chain that answers a question (a string, or `{"question": ...}`) from facts and a model.

    A factual question brings the facts that answer it into the prompt, or the `k` nearest where none do; any
    other goes to the model, with the version chains of the stored subjects that it names. The model answers
    with the numbers of facts; `citations` says which slot and version each is. Router, retriever, model and
    the chain itself are runs of their own in callbacks and traces.

    Args:
        store: whose facts.
        llm: a chat model (or any Runnable from messages to a message or text).
        router: a callable, a Runnable, or an object with `classify`, from the question to `"factual"` or
            `"fuzzy"`, to a bool (factual), or to something with a `label`. Default: factual where `ask` is
            at least `SURE`; with a `retriever`, of whose facts the store knows nothing, the learned `Router()`.
        retriever: takes the place of the store for factual questions: `FastWeightRetriever`, the retriever
            of an append-only store, any other.
        k: facts by meaning at most.
        token_budget: of the facts in the prompt, as `count` counts.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> from ko_integrations.embeddings import HashingEmbedder
        >>> store = KnowledgeStore.open(":memory:", embedder=HashingEmbedder())
        >>> _ = store.update("Alice", "employer", "Acme")
        >>> chain = create_ko_chain(store, FakeListChatModel(responses=["She works for Acme [1]."]))
        >>> result = chain.invoke("Who is Alice's employer?")
        >>> result["route"], result["citations"][0]["version"], result["citations"][0]["cited"]
        ('factual', 1, True)

    Raises:
        InvalidInputError: `store` or `router` is none, or `k` or `token_budget` is below 1.

    Source: main paper 4.3, 4.2.9; follow-up 7.2.
    """
    facts = _FactRetriever(store=expect_store(store), k=check_count(k, "k"))
    check_count(token_budget, "token_budget")
    if router is None and retriever is not None:
        router = Router()

    def retrieve(inputs: dict[str, Any], config: RunnableConfig) -> list[Document]:
        label, answer = inputs["decision"]
        if retriever is not None:
            return retriever.invoke(inputs["question"], config) if label == "factual" else []
        return facts.invoke(inputs["question"], config, label=label, answer=answer)

    def prompt(inputs: dict[str, Any]) -> dict[str, Any]:
        block = render(inputs["found"], line=_line, budget=token_budget, header=CITED_HEADER, count=count)
        nothing = "Nothing is on record about this." if inputs["decision"][0] == "factual" else ""
        system = "\n\n".join(part for part in (SYSTEM, block.text or nothing) if part)
        return {"messages": [SystemMessage(system), HumanMessage(inputs["question"])], "items": block.items}

    def result(inputs: dict[str, Any]) -> ChainResult:
        return _result(inputs, count)

    route = RunnableLambda(_router(store, router)).with_config(run_name="ko_route")
    answering = itemgetter("prompt") | RunnableLambda(itemgetter("messages")) | llm
    chain = (
        RunnableLambda(_question).with_config(run_name="ko_question")
        | RunnablePassthrough.assign(decision=route)
        | RunnablePassthrough.assign(found=RunnableLambda(retrieve).with_config(run_name="ko_facts"))
        | RunnablePassthrough.assign(prompt=RunnableLambda(prompt).with_config(run_name="ko_prompt"))
        | RunnablePassthrough.assign(message=answering)
        | RunnableLambda(result).with_config(run_name="ko_result")
    )
    return chain.with_config(run_name="ko_chain")


class _FactRetriever(BaseRetriever):
    """The store's facts for a question that was asked and routed already."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    store: KnowledgeStore
    k: int

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - the name is the contract
        label: Label = "factual",
        answer: Answer | None = None,
    ) -> list[Document]:
        if label == "fuzzy":
            return [evidence_document(Evidence(ko, "subject")) for ko in named_chains(self.store, query)]
        answer = answer or self.store.ask(query)
        wanted = len(answer.facts) if answer.value is not None and answer.facts else self.k
        return [evidence_document(piece) for piece in gather(self.store, query, wanted, answer=answer)]


# -- routing --------------------------------------------------------------------------------------------------
def _router(store: KnowledgeStore, router: Any) -> Callable[..., tuple[Label, Answer | None]]:
    """Return what routes an input: to its label, and the answer of `ask` where that was the way to it."""

    def by_confidence(inputs: dict[str, Any]) -> tuple[Label, Answer | None]:
        answer = store.ask(inputs["question"])
        return ("factual" if is_sure(answer) else "fuzzy"), answer

    def given(inputs: dict[str, Any], config: RunnableConfig) -> tuple[Label, Answer | None]:
        question = inputs["question"]
        if isinstance(router, Runnable):
            return label_of(router.invoke(question, config)), None
        return routed_by(router, question).label, None

    if router is None:
        return by_confidence
    classifier_of(router)
    return given


# -- in and out -----------------------------------------------------------------------------------------------
def _question(given: str | Mapping[str, Any]) -> dict[str, Any]:
    return {"question": question_of(given)}


def _line(document: Document) -> str:
    """Return a document as one escaped line: as `fact_line` does where it is a fact."""
    of = document.metadata
    if not (of.get("subject") and of.get("predicate") and of.get("object") is not None):
        return quote(document.page_content)
    return told_line(of)


def _result(inputs: dict[str, Any], count: TokenCounter) -> ChainResult:
    message = inputs["message"]
    answer = str(message.text if isinstance(message, BaseMessage) else message)
    cited = {int(number) for number in _CITED.findall(answer)}
    usage = getattr(message, "usage_metadata", None) or {}
    sent = sum(count(str(part.content)) for part in inputs["prompt"]["messages"])
    return ChainResult(
        question=inputs["question"],
        answer=answer,
        route=inputs["decision"][0],
        citations=[
            _citation(number, document, number in cited)
            for number, document in enumerate(inputs["prompt"]["items"], start=1)
        ],
        tokens=int(usage.get("total_tokens") or sent + count(answer)),
        message=message,
    )


def _citation(number: int, document: Document, cited: bool) -> Citation:
    metadata = document.metadata
    return Citation(
        number=number, id=metadata.get("id"), version=metadata.get("version"), route=metadata.get("route"),
        text=_line(document), source=metadata.get("source"), cited=cited,
    )  # fmt: skip
