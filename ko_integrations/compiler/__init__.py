"""Text to facts: `OfflineCompiler` by rule, `LLMCompiler` by any language model."""

from ko_integrations.compiler.llm import LLMCompiler
from ko_integrations.compiler.offline import OfflineCompiler

__all__ = ["LLMCompiler", "OfflineCompiler"]
