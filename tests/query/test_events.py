"""A subject's own predicate as a time."""

from datetime import UTC, datetime

import pytest

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder

JANUARY, MARCH, NOVEMBER = (datetime(2025, month, 14, tzinfo=UTC) for month in (1, 3, 11))


@pytest.mark.parametrize(
    ("question", "value", "route"),
    [
        ("What was M.R.'s tumor size at diagnosis?", "3 cm", "temporal"),
        ("What was the tumor size of M.R. at the time of diagnosis?", "3 cm", "temporal"),
        ("What is M.R.'s tumor size?", "1.2 cm", "exact"),
        ("What was M.R.'s diagnosis?", "NSCLC IIB", "exact"),
        ("What is M.R.'s phone number at work?", "555-1111", "exact"),
        ("What was M.R.'s phone number at work?", "555-1111", "exact"),
    ],
)
def test_what_was_at_an_event(question: str, value: str, route: str) -> None:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), clock=lambda: NOVEMBER) as store:
        store.update("patient_MR", "diagnosis", "NSCLC IIB", valid_from=JANUARY)
        store.update("patient_MR", "tumor_size", "3 cm", valid_from=JANUARY)
        store.update("patient_MR", "tumor_size", "1.2 cm", valid_from=MARCH)
        store.update("patient_MR", "phone_number", "555-1111", valid_from=JANUARY)
        store.alias("patient_MR", "M.R.")
        answer = store.ask(question)
        assert (answer.value, answer.route) == (value, route)
