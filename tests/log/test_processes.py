"""Several processes on one log."""

import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ko_integrations.log import open_log
from ko_integrations.log.fold import fold
from ko_integrations.testing.log_rows import NOW, address, entry

PROCESSES, UPDATES, SLOTS = 4, 500, 10


def run(work: Callable[..., None], *arguments: Any) -> None:
    """Run `work` in some processes at once, each with a number and a barrier."""
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(PROCESSES)
    workers = [context.Process(target=work, args=(n, barrier, *arguments)) for n in range(PROCESSES)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(240)
    assert [worker.exitcode for worker in workers] == [0] * PROCESSES


def open_and_append(number: int, barrier: Any, wheres: list[str]) -> None:
    for where in wheres:
        barrier.wait(60)
        log = open_log(where)
        log.append([entry(f"s{number}", "p", "v")], now=NOW)
        log.close()


def update(number: int, barrier: Any, where: str) -> None:
    log = open_log(where)
    barrier.wait(60)
    for i in range(UPDATES):
        log.append([entry(f"s{i % SLOTS}", "p", f"{number}/{i}")], now=NOW + i)
    log.close()


def check_updates(where: str) -> None:
    log = open_log(where)
    slots = [address(f"s{i}", "p").slot for i in range(SLOTS)]
    chains = log.chains(slots)
    values = sorted(version.first.value or "" for chain in chains.values() for version in fold(chain))
    assert values == sorted(f"{n}/{i}" for n in range(PROCESSES) for i in range(UPDATES))
    assert log.count() == SLOTS
    sequences = [event.sequence for event in log.events(0, 10_000)]
    assert sequences == list(range(1, PROCESSES * UPDATES + 1))
    assert log.check() == []
    log.close()


def test_a_fresh_sqlite_log_opened_by_four(tmp_path: Path) -> None:
    wheres = [str(tmp_path / f"{i}.sqlite3") for i in range(10)]
    run(open_and_append, wheres)
    for where in wheres:
        log = open_log(where)
        assert log.count() == PROCESSES
        log.close()


def test_four_writers_on_the_same_slots_of_sqlite(tmp_path: Path) -> None:
    where = str(tmp_path / "log.sqlite3")
    run(update, where)
    check_updates(where)


@pytest.mark.postgres
def test_a_fresh_postgres_log_opened_by_four(make_postgres_url: Callable[[], str]) -> None:
    wheres = [make_postgres_url() for _ in range(3)]
    run(open_and_append, wheres)
    for where in wheres:
        log = open_log(where)
        assert log.count() == PROCESSES
        log.close()


@pytest.mark.postgres
def test_four_writers_on_the_same_slots_of_postgres(postgres_url: str) -> None:
    run(update, postgres_url)
    check_updates(postgres_url)


def follow(number: int, barrier: Any, where: str) -> None:
    """Process 0 follows the change feed while the others write."""
    log = open_log(where)
    barrier.wait(60)
    total = (PROCESSES - 1) * 100
    if number:
        for i in range(100):
            log.append([entry(f"s{number}", "p", str(i))], now=NOW + i)
    else:
        seen: list[int] = []
        while len(seen) < total:
            seen += [event.sequence for event in log.events(seen[-1] if seen else 0, 7)]
        assert seen == list(range(1, total + 1))
    log.close()


@pytest.mark.postgres
def test_a_follower_misses_nothing(postgres_url: str) -> None:
    run(follow, postgres_url)
