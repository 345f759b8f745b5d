"""A made-up world of any size, and questions about it: for the speed of answers in a large store."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime

from ko_integrations.types import Fact

__all__ = ["synthetic_facts", "synthetic_questions"]


def synthetic_facts(count: int) -> Iterator[Fact]:
    """Make a world of `count` facts: people with employers, employers with cities, cities with countries."""
    people = count // 6
    start = datetime(2020, 1, 1, tzinfo=UTC)
    for i in range(people):
        person, firm, city = f"Person {i:05d}", f"Firm {i % (people // 5 + 1):05d}", f"Town {i % 997:05d}"
        rows = [
            (person, "employer", firm), (person, "birth_place", city), (person, "occupation", f"trade {i % 61}"),
            (firm, "ceo", f"Person {(i * 7) % people:05d}"), (firm, "headquarters", city),
            (city, "country", f"Land {i % 89:03d}"),
        ]  # fmt: skip
        for subject, predicate, value in rows:
            yield Fact(subject=subject, predicate=predicate, object=value, valid_from=start)


def synthetic_questions(facts: int, count: int = 100, seed: int = 0) -> list[str]:
    """Return questions about `synthetic_facts`: direct ones and paths."""
    rng, people = random.Random(seed), facts // 6
    forms = (
        "Where was {} born?", "Who does {} work for?", "What is the occupation of {}?",
        "Who is the CEO of the company where {} works?", "In which country is the birthplace of {}?",
        "Which city is the headquarters of the employer of {} located in?",
    )  # fmt: skip
    return [rng.choice(forms).format(f"Person {rng.randrange(people):05d}") for _ in range(count)]
