"""Every backend passes the shipped suite, the reference included."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from ko_integrations.log import VersionLog, open_log
from ko_integrations.testing.log_suite import LogSuite
from ko_integrations.testing.reference_log import ReferenceLog


class TestReference(LogSuite):
    examples = 2

    @pytest.fixture
    def make_log(self) -> Callable[[], VersionLog]:
        return ReferenceLog


class TestSqliteFile(LogSuite):
    @pytest.fixture
    def make_log(self, tmp_path: Path) -> Callable[[], VersionLog]:
        numbers = count()
        return lambda: open_log(tmp_path / f"{next(numbers)}.sqlite3")


class TestSqliteMemory(LogSuite):
    @pytest.fixture
    def make_log(self) -> Callable[[], VersionLog]:
        return lambda: open_log(":memory:")


@pytest.mark.postgres
class TestPostgres(LogSuite):
    examples = 8

    @pytest.fixture
    def make_log(self, make_postgres_url: Callable[[], str]) -> Callable[[], VersionLog]:
        return lambda: open_log(make_postgres_url())
