"""`KOMemoryMiddleware`: current facts in, new statements out, for `langchain.agents.create_agent`."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from threading import Lock
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import OmitFromInput
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
from langgraph.channels.untracked_value import UntrackedValue
from langgraph.runtime import Runtime

from ko_integrations.errors import EmbedderError, KOError, SemanticIndexError
from ko_integrations.identity import check_count
from ko_integrations.langchain.scope import Namespacer, Scope, thread_of_run
from ko_integrations.langchain.tools import create_ko_tools
from ko_integrations.memory.hearing import MAX_BEFORE
from ko_integrations.memory.prompt import TokenCounter, render_facts
from ko_integrations.memory.recall import recall
from ko_integrations.memory.routing import classifier_of, routed_by
from ko_integrations.memory.turns import Learnt, Said, context, learn
from ko_integrations.models import count_tokens
from ko_integrations.store import KnowledgeStore

__all__ = ["KOMemoryMiddleware", "KOMemoryState"]

_log = logging.getLogger(__name__)
_Handler = Callable[[ModelRequest[Any]], ModelResponse[Any]]
_AsyncHandler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]


class KOMemoryState(AgentState[Any]):
    """The state that the middleware adds: what came of the turn, for whoever invoked the agent.

    It is untracked, so that no checkpoint keeps it and none goes stale.
    """

    ko_memory: NotRequired[Annotated[dict[str, Any], UntrackedValue, OmitFromInput]]


class KOMemoryMiddleware(AgentMiddleware[KOMemoryState, Any, Any]):
    """Gives an agent a memory in which the newest statement wins.

    Before each model call it appends to the system message the current facts that the last human message
    calls for, within `token_budget`, escaped and marked as data. After the turn it compiles the new human
    message (and no other) and stores what it states, once for each message id; should the model fail, it
    does so too. The agent also gets the tools `remember`, `recall`, `forget` and `history`.

    Whose memory it is comes from the runtime context (see `Scope`). A failing store or embedder never breaks
    the turn; a message of which nothing could be stored is reported under `ko_memory` in the result and in
    the log of this module.

    Example:
        >>> from langchain.agents import create_agent
        >>> from langchain_core.language_models import FakeListChatModel
        >>> from ko_integrations.embeddings import HashingEmbedder
        >>> store = KnowledgeStore.open(":memory:", embedder=HashingEmbedder())
        >>> model = FakeListChatModel(responses=["Noted."])  # binds no tools
        >>> agent = create_agent(model, middleware=[KOMemoryMiddleware(store, tools=False)])
        >>> result = agent.invoke({"messages": [{"role": "user", "content": "My phone number is 555-1111."}]})
        >>> [fact["object"] for fact in result["ko_memory"]["stored"]]
        ['555-1111']
    """

    state_schema = KOMemoryState

    def __init__(
        self,
        store: KnowledgeStore,
        *,
        namespace: Namespacer | Sequence[str] | None = None,
        k: int = 8,
        token_budget: int = 400,
        router: Any = None,
        learn: bool = True,
        tools: bool = True,
        source: str | None = None,
        count: TokenCounter = count_tokens,
    ) -> None:
        """Work on `store`, or below its namespace.

        Args:
            store: root handle or view.
            namespace: strings below the store's namespace, or a callable from the runtime context to them.
            k: facts found by meaning at most, beside those of the subjects that a message names; 0: these only.
            token_budget: of the facts in the system message, as `count` counts.
            router: as in `create_ko_chain`; a message that it calls fuzzy brings the facts of the subjects that
                it names and none found by meaning. Default: every message brings both.
            learn: compile what people say; without, only the tools write.
            tools: add the four tools.
            source: who is named as the source of what is learnt; default: the namespace's last part.
            count: how many tokens a text has.

        Raises:
            InvalidInputError: `store` or `router` is none, `k` is below 0 or `token_budget` below 1.
        """
        super().__init__()
        if router is not None:
            classifier_of(router)
        self._router = router
        self._scope = Scope(store, namespace)
        self._k, self._budget = check_count(k, "k", 0), check_count(token_budget, "token_budget")
        self._count = count
        self._learns, self._source = learn, source
        self._vectors = _LastVectors()
        self.tools = create_ko_tools(store, namespace=namespace, source=source) if tools else []

    # -- before the model ---------------------------------------------------------------------------------
    def wrap_model_call(self, request: ModelRequest[Any], handler: _Handler) -> ModelResponse[Any]:
        """Call the model with the facts that the turn needs; learn from the message even if it fails."""
        answered = False
        try:
            response = handler(self._with_facts(request))
            answered = True
            return response
        finally:
            if not answered:
                self._learn(request.messages, request.runtime)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: _AsyncHandler
    ) -> ModelResponse[Any]:
        """Do as `wrap_model_call` does, without blocking the event loop."""
        answered = False
        try:
            response = await handler(await asyncio.to_thread(self._with_facts, request))
            answered = True
            return response
        finally:
            if not answered:
                await asyncio.to_thread(self._learn, request.messages, request.runtime)

    def _with_facts(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        text = "\n".join(message.text for message in _new_human_messages(request.messages))
        if not text.strip():
            return request
        parts = self._scope.parts(request.runtime.context)
        try:
            view = self._scope.store.namespace(*parts)
            fuzzy = self._is_fuzzy(text)
            query = None if fuzzy else self._vectors.of(view, text)
            found = recall(view, text, k=0 if fuzzy else self._k, query=query)
        except KOError as error:
            _log.warning("no facts were read for this turn: %s", error)
            return request
        if found.error:
            _log.warning("facts were read by subject only: %s", found.error)
        block = render_facts(found.facts, budget=self._budget, count=self._count).text
        return request.override(system_message=_appended(request.system_message, block)) if block else request

    def _is_fuzzy(self, text: str) -> bool:
        if self._router is None:
            return False
        try:
            return routed_by(self._router, text).label == "fuzzy"
        except KOError as error:
            _log.warning("the message is not routed: %s", error)
            return False

    # -- after the turn -----------------------------------------------------------------------------------
    def after_agent(self, state: KOMemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Store what the new human message states."""
        return self._learn(state["messages"], runtime)

    async def aafter_agent(self, state: KOMemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Do as `after_agent` does, without blocking the event loop."""
        return await asyncio.to_thread(self._learn, state["messages"], runtime)

    def _learn(self, messages: Sequence[AnyMessage], runtime: Runtime[Any]) -> dict[str, Any] | None:
        if not self._learns:
            return None
        parts = self._scope.parts(runtime.context)
        named = (*self._scope.store.namespace_path, *parts)
        source = self._source or (named[-1] if named else None)
        said = _said(messages, source)
        try:
            return {"ko_memory": learn(self._scope.store.namespace(*parts), said).to_dict()}
        except KOError as error:  # the store is closed, or of another process
            _log.warning("nothing was learnt from this turn: %s", error)
            errors = tuple((message.key, f"{type(error).__name__}: {error}") for message in said)
            return {"ko_memory": Learnt(errors=errors).to_dict()}


def _said(messages: Sequence[AnyMessage], source: str | None) -> list[Said]:
    """Return what people said in the turn that ends a history, each message after what they said before it."""
    thread, replayed = thread_of_run()
    humans, new = _human_messages(messages), len(_new_human_messages(messages))
    return [
        Said(
            message.text, key=_key(message), source=source, place=_place(thread, message), replayed=replayed,
            before=context([earlier.text for earlier in humans[max(0, number - MAX_BEFORE) : number]]),
        )
        for number, message in enumerate(humans) if number >= len(humans) - new
    ]  # fmt: skip


def _new_human_messages(messages: Sequence[AnyMessage]) -> list[HumanMessage]:
    """Return the last human message, with those straight before it.

    Those before were never answered: they came together, or the model failed on them.
    """
    end = next((i for i in range(len(messages), 0, -1) if isinstance(messages[i - 1], HumanMessage)), 0)
    begin = end
    while begin > 0 and isinstance(messages[begin - 1], HumanMessage):
        begin -= 1
    return _human_messages(messages[begin:end])


def _human_messages(messages: Sequence[AnyMessage]) -> list[HumanMessage]:
    """Return what people said: summaries that other middleware puts in as human messages are not."""
    return [
        message
        for message in messages
        if isinstance(message, HumanMessage) and "lc_source" not in message.additional_kwargs
    ]


def _key(message: HumanMessage) -> str | None:
    """Return what names a message for ever: its id, and its text should somebody use an id again."""
    return f"message {message.id} {_digest(message)}" if message.id else None


def _place(thread: str | None, message: HumanMessage) -> str | None:
    """Return what names the words of a message in its thread.

    LangGraph gives a message without an id a new one when it replays the checkpoint that the message came with.
    """
    return None if thread is None else f"thread {thread} {_digest(message)}"


def _digest(message: HumanMessage) -> str:
    return sha256(message.text.encode(errors="replace")).hexdigest()


def _appended(system: SystemMessage | None, block: str) -> SystemMessage:
    if system is None:
        return SystemMessage(block)
    if isinstance(system.content, str):
        return system.model_copy(update={"content": f"{system.content}\n\n{block}"})
    return system.model_copy(update={"content": [*system.content, {"type": "text", "text": block}]})


class _LastVectors:
    """The vectors of the last few messages: a turn calls the model several times and encodes its text once."""

    def __init__(self, size: int = 64) -> None:
        self._size, self._lock = size, Lock()
        self._vectors: OrderedDict[tuple[str, str], Any] = OrderedDict()

    def of(self, store: KnowledgeStore, text: str) -> Any:
        """Return the vector of a text, or None when it cannot be encoded now (the read then says why)."""
        try:
            key = (store.embedder.model_id, text)
            with self._lock:
                if key in self._vectors:
                    self._vectors.move_to_end(key)
                    return self._vectors[key]
            vector = store.encode_query(text)
        except (EmbedderError, SemanticIndexError):
            return None
        with self._lock:
            self._vectors[key] = vector
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
        return vector
