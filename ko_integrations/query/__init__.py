"""Questions to slots: which subject, which predicates, which moment; with no model, or with one."""

from ko_integrations.query.llm import LLMQueryParser, Usage
from ko_integrations.query.offline import OfflineQueryParser
from ko_integrations.query.temporal import TemporalOperator, recognise

__all__ = ["LLMQueryParser", "OfflineQueryParser", "TemporalOperator", "Usage", "recognise"]
