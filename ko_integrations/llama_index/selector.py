"""`KOSelector`: factual questions to one choice, fuzzy ones to the other, without asking a model."""

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import QueryBundle
from llama_index.core.tools.types import ToolMetadata

from ko_integrations.errors import InvalidInputError
from ko_integrations.llama_index.events import QuestionRouted, dispatcher
from ko_integrations.memory.routing import Label, classifier_of, is_sure, routed_by
from ko_integrations.store import KnowledgeStore, expect_store

__all__ = ["KOSelector"]


class KOSelector(BaseSelector):
    """Chooses between two query engines or retrievers in `RouterQueryEngine` and `RouterRetriever`.

    By default the factual choice comes first and the fuzzy one second; `factual` and `fuzzy` say which
    otherwise, by position (from 0). `router` is a callable or an object with `classify`; without one, the
    confidence of `store.ask` decides, or the learned router where no store is given either.
    """

    def __init__(
        self, router: Any = None, *, store: KnowledgeStore | None = None, factual: int = 0, fuzzy: int = 1
    ) -> None:
        """Route by `router`, else by what `store` can answer, else by the learned router.

        Raises:
            InvalidInputError: `router` is none.
        """
        super().__init__()
        if router is None and store is None:
            from ko_integrations.router import Router

            router = Router()
        if router is not None:
            classifier_of(router)
        self._router = router
        self._store = None if store is None else expect_store(store)
        self._places: dict[Label, int] = {"factual": factual, "fuzzy": fuzzy}

    def _select(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        label, probability, why = self._decide(query.query_str)
        place = self._places[label]
        if not 0 <= place < len(choices):
            raise InvalidInputError(
                "choices", f"{len(choices)} choice(s), none at position {place} for {label!r}"
            )
        dispatcher.event(
            QuestionRouted(question=query.query_str, route=label, probability=probability, references=[])
        )
        return SelectorResult(selections=[SingleSelection(index=place, reason=f"{label}: {why}")])

    async def _aselect(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        return await asyncio.to_thread(self._select, choices, query)

    def _decide(self, question: str) -> tuple[Label, float, str]:
        if self._router is None:
            assert self._store is not None  # one of the two is set
            answer = self._store.ask(question)
            label: Label = "factual" if is_sure(answer) else "fuzzy"
            return label, answer.confidence, f"ask went {answer.route}"
        decision = routed_by(self._router, question)
        return decision.label, decision.probability, decision.why

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """There are none."""
