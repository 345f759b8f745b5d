"""What the store is compared with: append-only retrieval, everything in the prompt, a fixed threshold."""

from ko_integrations.baselines.context import ContextMemory
from ko_integrations.baselines.rag import AppendOnlyRAG
from ko_integrations.baselines.threshold import StaticThreshold
from ko_integrations.baselines.tokens import CostModel, Prices, Usage

__all__ = [
    "AppendOnlyRAG",
    "ContextMemory",
    "CostModel",
    "Prices",
    "StaticThreshold",
    "Usage",
]
