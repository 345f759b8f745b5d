"""`KOConversationMemory`: the classic `BaseMemory`, for chains of `langchain-classic` that still use it."""

from typing import Any

from langchain_classic.base_memory import BaseMemory
from pydantic import ConfigDict, Field, PrivateAttr, StrictInt

from ko_integrations.errors import InvalidInputError, KOError
from ko_integrations.memory.hearing import MAX_BEFORE
from ko_integrations.memory.prompt import render_facts
from ko_integrations.memory.recall import recall
from ko_integrations.memory.turns import Learnt, Said, context, learn
from ko_integrations.store import KnowledgeStore
from ko_integrations.types import Checked

__all__ = ["KOConversationMemory"]


class KOConversationMemory(Checked, BaseMemory):
    """Loads the current facts that an input calls for, and learns what the input states.

    The facts come under `memory_key`, escaped, marked as data, within `token_budget`. `save_context` compiles
    the human side only: what the model said is no evidence. `clear` erases the namespace of `store`, with its
    history.

    Attributes:
        store: whose memory; one view a user.
        memory_key: the variable of the prompt.
        input_key: which input is the human's; needed where there are several.
        k: facts by meaning at most; 0: those of the subjects that an input names only.
        token_budget: of the facts.

    Raises:
        InvalidInputError: `store` is none, `k` is below 0 or `token_budget` below 1.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    store: KnowledgeStore
    memory_key: str = "memory"
    input_key: str | None = None
    k: StrictInt = Field(default=8, ge=0)
    token_budget: StrictInt = Field(default=400, ge=1)
    source: str | None = None
    last: Learnt | None = None
    """What came of the last turn."""
    _heard: list[str] = PrivateAttr(default_factory=list)

    @property
    def memory_variables(self) -> list[str]:
        """The one variable that this memory fills."""
        return [self.memory_key]

    def load_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the facts for an input; `""` when there are none, or none can be read now."""
        try:
            facts = recall(self.store, self._said(inputs), k=self.k).facts
        except InvalidInputError:
            raise
        except KOError:
            facts = ()
        return {self.memory_key: render_facts(facts, budget=self.token_budget).text}

    def save_context(self, inputs: dict[str, Any], outputs: dict[str, str]) -> None:  # noqa: ARG002 - the contract's
        """Store what the human input states; `last` says what came of it."""
        said = self._said(inputs)
        self.last = learn(self.store, [Said(said, source=self.source, before=context(self._heard))])
        self._heard = [*self._heard[1 - MAX_BEFORE :], said]

    def clear(self) -> None:
        """Erase the namespace of the store."""
        self._heard = []
        self.store.erase_namespace()

    def _said(self, inputs: dict[str, Any]) -> str:
        if self.input_key is not None:
            return str(inputs[self.input_key])
        names = [name for name in inputs if name not in (self.memory_key, "stop")]
        if len(names) != 1:
            raise InvalidInputError("input_key", f"say which of the inputs is the human's: {sorted(names)}")
        return str(inputs[names[0]])
