"""Whole-context memory: every statement goes into every prompt (main paper, sections 5.6 to 5.8)."""

from collections.abc import Callable, Iterable
from typing import Any

from ko_integrations.baselines.documents import Statements, as_document
from ko_integrations.baselines.tokens import Usage
from ko_integrations.models import as_text_model, count_tokens
from ko_integrations.types import Fact, Hit, KnowledgeObject

__all__ = ["ContextMemory"]

_SYSTEM = (
    "Answer the question from the statements given, which are in the order in which they were made. "
    "Give the value alone. If they do not say, answer: unknown."
)


class ContextMemory(Statements):
    """Statements in the order in which they were made; the whole list is the memory.

    Nothing is retrieved and nothing replaced: the model sees old and new values and has to choose. The
    price of a question grows with the number of statements.

    >>> memory = ContextMemory()
    >>> memory.add(["Bob's phone is 555-1111.", "Bob's phone changed to 555-2222."])
    >>> memory.prompt("What is Bob's phone?").count("555")
    2
    """

    def __init__(self, *, system: str = _SYSTEM, count: Callable[[str], int] = count_tokens) -> None:
        """Start empty.

        Args:
            system: the instruction that stands before the statements.
            count: counts tokens.
        """
        self.system = system
        self._count = count
        self._documents: list[KnowledgeObject] = []

    def __len__(self) -> int:
        """Return how many statements there are."""
        return len(self._documents)

    def update_many(self, facts: Iterable[Fact]) -> None:
        """Append facts as statements, in order.

        Raises:
            InvalidInputError: a blank subject or predicate, or no value; nothing was appended.
        """
        start = len(self._documents)
        self._documents += [as_document(fact, start + i + 1) for i, fact in enumerate(facts)]

    def read(self, query: str, k: int = 5) -> list[Hit]:  # noqa: ARG002 - the search call of every memory
        """Return every statement, oldest first, with score 1: this memory does not search, `k` is unused."""
        return [Hit(ko=document, score=1.0) for document in self._documents]

    def prompt(self, question: str) -> str:
        """Return what the model is sent beside the instruction: every statement, then the question."""
        statements = "\n".join(document.text for document in self._documents)
        return f"{statements}\n\nQuestion: {question}"

    def usage(self, question: str, answer: str = "") -> Usage:
        """Return the tokens that asking would use, given the answer."""
        return Usage(self._count(self.system) + self._count(self.prompt(question)), self._count(answer))

    def ask(self, question: str, model: Any) -> tuple[str, Usage]:
        """Ask a model with everything in the prompt; return its answer and what it used.

        `model` is a LangChain chat model, a LlamaIndex LLM or a `TextModel`. The split of its total into
        input and output counts the answer with `count`.

        Raises:
            InvalidInputError: `model` is none of these.
            ModelError: it failed.
        """
        answer, total = as_text_model(model, count=self._count).complete(self.system, self.prompt(question))
        written = min(self._count(answer), total)
        return answer, Usage(total - written, written)
