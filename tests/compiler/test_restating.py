"""One event in two constructions, and definite descriptions without an owner."""

from datetime import date
from typing import Any

import pytest

from ko_integrations import Quantity

from .conftest import Reads


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("We moved the review to Tuesday.", [("review", "event_date", date(2026, 12, 1))]),
        ("They changed the gate code to 7710.", [("user", "gate_code", 7710)]),
        ("I speak Finnish and Dutch, but no Danish.",
         [("user", "languages_spoken", "Finnish"), ("user", "languages_spoken", "Dutch")]),
        ("I prefer rye to wheat.", [("user", "likes", "rye")]),
        ("I prefer going to the gym.", [("user", "likes", "going to the gym")]),
        ("Leda is leading the intake project now instead of Jon.", [("intake project", "project_lead", "Leda")]),
        ("I take 5 mg of ramipril daily.",
         [("user", "medications", "ramipril"), ("user's ramipril", "dosage", Quantity(5, "mg"))]),
        ("Morl Bank belongs to the Tessin Group.", [("Morl Bank", "owner", "the Tessin Group")]),
        ("Malta belongs to the EU.", [("Malta", "member_of", "the EU")]),
        ("We ruled out Kafka and will use NATS.", [("user", "vetoed", "Kafka"), ("user", "decision", "NATS")]),
        ("We'll go with Terraform.", [("user", "decision", "Terraform")]),
        ("I will use the car.", []),
        ("I start at six every morning.", []),
        ("I have a dog, Bo, and a cat, Ulla.",
         [("user", "pets", "Bo"), ("Bo", "species", "dog"), ("user", "pets", "Ulla"), ("Ulla", "species", "cat")]),
    ],
)  # fmt: skip
def test_said_in_another_construction(reads: Reads, text: str, facts: list[tuple[str, str, Any]]) -> None:
    assert sorted(map(str, reads(text))) == sorted(map(str, facts))


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("The wifi password is fjord88.", [("user", "wifi_password", "fjord88")]),
        ("The plumber is Mr. Ortiz.", [("user", "plumber", "Mr. Ortiz")]),
        ("The gate is heavy.", []),
        ("Acme is a startup. The door code is 4471.", []),  # Acme's, it may be
        ("The spare key is under the mat.", [("spare key", "location", "under the mat")]),
        (
            "The first aid kit is behind the kitchen door.",
            [("first aid kit", "location", "behind the kitchen door")],
        ),
        ("The lab is on the second floor.", [("lab", "floor", "second")]),
        ("The deal is on the table.", []),
    ],
)
def test_definite_descriptions_without_an_owner(
    reads: Reads, text: str, facts: list[tuple[str, str, Any]]
) -> None:
    assert reads(text) == facts
