"""Stores with concurrent writers, killed processes, full disks and missing permissions."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from sqlalchemy import Connection, create_engine, inspect, text

from berryeval.errors import ConfigurationError, DataError
from berryeval.runs.store.database import Database, NoStoreError, Place
from berryeval.runs.store.schema import SCHEMA_VERSION, migrate, read_version
from berryeval.runs.store.store import open_store
from tests.runs.kept import ended, program, run_of

if TYPE_CHECKING:
    from collections.abc import Iterator

EACH = 40


def test_concurrent_writers_lose_no_run(place: str) -> None:
    writing = (
        "first, count = int(sys.argv[2]), int(sys.argv[3])",
        "with open_store(sys.argv[1]) as store:",
        "    for number in [*range(first, first + count), 1000]:",
        "        store.add(run_of(number, queries=2))",
    )
    both = [program(*writing, arguments=(place, str(n * EACH), str(EACH))) for n in (0, 1)]
    for one in both:
        ended(one)
    with open_store(place) as store:
        assert set(store.names()) == {f"run-{n:04}" for n in [*range(2 * EACH), 1000]}
        for number in (0, EACH - 1, EACH, 2 * EACH - 1):
            assert store.get(f"run-{number:04}") == run_of(number, queries=2)
        assert len(store.trend("RR")) == 2 * (2 * EACH + 1)


def wait_for_others_to_end(place: str) -> None:
    """Wait until the server has finished the work of processes that are gone."""
    if "://" not in place:
        return
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND backend_type = 'client backend' AND pid != pg_backend_pid()"
    )
    with psycopg.connect(place, autocommit=True) as connection:
        while connection.execute(others).fetchone() != (0,):
            time.sleep(0.01)


def test_killed_process_leaves_no_partial_run(place: str) -> None:
    """Every stored run is complete, and the next process can write."""
    endless = (
        "with open_store(sys.argv[1]) as store:",
        "    number = int(sys.argv[2])",
        "    while True:",
        "        store.add(run_of(number, queries=400))",
        "        print(number, flush=True)",
        "        number += 1",
    )
    for turn in range(4):
        running = program(*endless, arguments=(place, str(turn * 1000)))
        assert running.stdout is not None
        said = running.stdout.readline()
        time.sleep(0.013 * turn)  # a different moment each time
        running.send_signal(signal.SIGKILL)
        more, _ = running.communicate(timeout=60)
        said += more
        wait_for_others_to_end(place)
        with open_store(place) as store:
            names = store.names()
            assert {f"run-{int(line):04}" for line in said.splitlines()} <= set(names)
            newest = max(name for name in names if int(name[4:]) // 1000 == turn)
            assert store.get(newest) == run_of(int(newest[4:]), queries=400)
            assert len(store.trend("RR")) == 2 * len(names)
    if "://" not in place:
        with sqlite3.connect(place) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()


def test_full_disk_is_reported_and_keeps_the_store_intact(tmp_path: Path) -> None:
    place = tmp_path / "results.db"
    with open_store(place) as store:
        store.add(run_of(1))
    limit = place.stat().st_size + 8192
    out = ended(
        program(
            "import resource",
            "from berryeval.errors import DataError",
            "big = run_of(2, queries=3000)",
            "sys.dont_write_bytecode = True",  # Python would keep a part of what it compiles
            f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))",
            "with open_store(sys.argv[1]) as store:",
            "    try:",
            "        store.add(big)",
            "    except DataError as error:",
            "        print(error)",
            "    print(store.get('run-0001') == run_of(1), store.names())",
            arguments=(str(place),),
        )
    )
    assert "cannot be written" in out
    assert "check the free disk space. The store is unchanged" in out
    assert out.endswith("True ['run-0001']\n")
    with open_store(place) as store:
        assert store.add(run_of(2, queries=3000)).how == "added"
        assert store.get("run-0001") == run_of(1)


@pytest.fixture
def locked_folder() -> Iterator[Path]:
    """Create a folder with a store that can be read but not written."""
    folder = Path(tempfile.mkdtemp(prefix="berryeval-locked-"))  # only the owner can read tmp_path
    with open_store(folder / "results.db") as store:
        store.add(run_of(1))
    (folder / "results.db").chmod(0o444)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_read_only_store_can_be_read(locked_folder: Path) -> None:
    out = ended(
        program(
            "from berryeval.errors import DataError",
            "record = run_of(2)",
            "import sqlalchemy.dialects.sqlite.pysqlite",
            "if os.geteuid() == 0: os.setuid(65534)",  # root may write anywhere
            "with open_store(sys.argv[1], make=False) as store:",
            "    print(store.names(), store.get('run-0001') == run_of(1))",
            "    try:",
            "        store.add(record)",
            "    except DataError as error:",
            "        print(error)",
            "try:",
            "    with open_store(os.path.dirname(sys.argv[1]) + '/new/x.db') as store: pass",
            "except DataError as error:",
            "    print(error)",
            arguments=(str(locked_folder / "results.db"),),
        )
    )
    first, second, third = out.splitlines()
    assert first == "['run-0001'] True"
    assert "cannot be written (attempt to write a readonly database)" in second
    assert "or use another store" in second
    assert "cannot be created in" in third
    assert "(Permission denied)" in third


def test_store_of_a_newer_schema_is_an_error(place: str) -> None:
    with open_store(place) as store:
        store.add(run_of(1))
    database = Database(Place.of(place), make=False)
    with database.writing() as connection:
        connection.execute(text("UPDATE berryeval_store SET version = 7"))
    database.close()
    wanted = r"schema version 7, this BerryEval supports versions up to 5; .*pip install --upgrade"
    for make in (True, False):
        with pytest.raises(DataError, match=wanted), open_store(place, make=make):
            pass


def test_migration_is_atomic(place: str) -> None:
    """A step that fails leaves the old version with all rows."""

    def colours(connection: Connection) -> None:
        connection.execute(text("ALTER TABLE berryeval_runs ADD COLUMN colour TEXT"))
        connection.execute(text("UPDATE berryeval_runs SET colour = 'red'"))

    def breaks(connection: Connection) -> None:
        connection.execute(text("DELETE FROM berryeval_runs"))
        connection.execute(text("SELECT * FROM nowhere"))

    with open_store(place) as store:
        store.add(run_of(1))
    database = Database(Place.of(place), make=False)
    now = SCHEMA_VERSION
    try:
        with pytest.raises(DataError, match="nowhere"), database.writing() as connection:
            migrate(connection, "x", {now: colours, now + 1: breaks}, now + 2)
        with database.reading() as connection:
            assert read_version(connection) == now
            columns = connection.execute(text("SELECT * FROM berryeval_runs")).keys()
            assert "colour" not in columns
        with database.writing() as connection:
            migrate(connection, "x", {now: colours}, now + 1)
        with database.reading() as connection:
            assert read_version(connection) == now + 1
            assert connection.scalar(text("SELECT colour FROM berryeval_runs")) == "red"
    finally:
        database.close()


def test_two_processes_may_create_a_store_at_once(place: str) -> None:
    lines = ("with open_store(sys.argv[1]) as store: print(store.names())",)
    several = [program(*lines, arguments=(place,)) for _ in range(4)]
    assert [ended(one) for one in several] == ["[]\n"] * 4


@pytest.mark.parametrize(
    ("content", "problem"), [(b"SQLite? No.\n" * 100, "not a database"), (b"", None)]
)
def test_file_that_is_not_a_store_is_an_error(
    tmp_path: Path, content: bytes, problem: str | None
) -> None:
    place = tmp_path / "results.db"
    place.write_bytes(content)
    if problem is None:
        with open_store(place) as store:
            assert store.names() == []
        return
    with pytest.raises(DataError, match=rf"{problem}.*runs import"), open_store(place):
        pass
    assert place.read_bytes() == content


def tables_of(place: str) -> set[str]:
    """Return the tables of a database."""
    engine = create_engine(Place.of(place).url)
    found = set(inspect(engine).get_table_names())
    engine.dispose()
    return found


def make_songs(place: str) -> None:
    """Create a table of another program."""
    engine = create_engine(Place.of(place).url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE songs (name TEXT)"))
    engine.dispose()


def test_reading_creates_no_tables(place: str) -> None:
    if "://" not in place:
        Path(place).touch()
    with pytest.raises(NoStoreError, match="there is no store at"), open_store(place, make=False):
        pass
    assert tables_of(place) == set()


def test_database_of_another_program_is_not_changed(place: str) -> None:
    """A run goes into a shared PostgreSQL database, but not into a foreign SQLite file."""
    make_songs(place)
    with pytest.raises(DataError, match=r"songs|there is no store"), open_store(place, make=False):
        pass
    assert tables_of(place) == {"songs"}
    if "://" not in place:
        with pytest.raises(DataError, match="is another database, with the tables songs"):
            open_store(place).__enter__()
        assert tables_of(place) == {"songs"}
        return
    with open_store(place) as store:
        store.add(run_of(1))
    with open_store(place, make=False) as store:
        assert store.names() == ["run-0001"]
    assert {"songs", "berryeval_runs"} < tables_of(place)


def test_store_may_have_additional_tables(place: str) -> None:
    with open_store(place) as store:
        store.add(run_of(1))
    make_songs(place)
    with open_store(place) as store:
        assert store.names() == ["run-0001"]


def test_damaged_store_is_an_error(tmp_path: Path) -> None:
    place = tmp_path / "results.db"
    with open_store(place) as store:
        for number in range(5):
            store.add(run_of(number, queries=50))
    content = bytearray(place.read_bytes())
    content[4096:] = b"\x5a" * (len(content) - 4096)
    place.write_bytes(bytes(content))
    with pytest.raises(DataError, match=r"the store .*results\.db"), open_store(place) as store:
        store.get("run-0001")


def test_invalid_places_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected a file, found a folder"), open_store(tmp_path):
        pass
    absent = tmp_path / "no.db"
    with pytest.raises(DataError, match="there is no store"), open_store(absent, make=False):
        pass
    assert not absent.exists()
    for url, wanted in (
        ("mysql://me:hunter2@host/x", "mysql://...: expected a path, sqlite:///path, or"),
        ("sqlite://", "expected a file"),
        ("postgresql://me:hunter2@host:port/x", "the store is not the address of a PostgreSQL"),
    ):
        with pytest.raises(ConfigurationError, match=wanted) as caught, open_store(url):
            pass
        assert "hunter2" not in str(caught.value)


def test_passwords_are_never_shown(server: str) -> None:
    """This holds for a server that is down and for one that rejects the password."""
    socket = server.partition("host=")[2]
    for url in (
        "postgres://me:hunter2%40@127.0.0.1:1/x",
        "postgresql://me:hunter2%40@127.0.0.1:1/x?password=hunter2%40",
        f"postgresql://nobody:hunter2%40@/x?host={socket}",
    ):
        with pytest.raises(DataError, match="cannot be read") as caught, open_store(url):
            pass
        assert "hunter2" not in str(caught.value)
        assert "***" in str(caught.value)


def test_missing_driver_error_has_the_install_command() -> None:
    out = ended(
        program(
            "sys.modules['psycopg'] = None",
            "from berryeval.errors import MissingDependencyError",
            "try:",
            "    with open_store('postgresql://me:hunter2@host/x'): pass",
            "except MissingDependencyError as error:",
            "    print(error)",
        )
    )
    assert out == 'a store in PostgreSQL needs psycopg: pip install "psycopg[binary]>=3.2"\n'


def test_store_of_the_first_schema_is_upgraded(place: str) -> None:
    """Runs of the first schema have no fingerprints, but costs and tags; new ones can be added."""
    record = run_of(1)
    (part,) = record.benchmarks
    costs = [replace(one, cost={"usd": 0.25}) for one in part.providers]
    part = replace(part, providers=tuple(costs))
    record = replace(record, benchmarks=(part,), plan={"tags": {"model": "small"}})
    with open_store(place) as store:
        store.add(record)
    database = Database(Place.of(place), make=False)
    with database.writing() as connection:
        for column in ("data", "cost"):
            connection.execute(text(f"ALTER TABLE berryeval_results DROP COLUMN {column}"))
        connection.execute(text("ALTER TABLE berryeval_runs DROP COLUMN tags"))
        for table in ("votes", "users"):
            connection.execute(text(f"DROP TABLE berryeval_{table}"))
        connection.execute(text("UPDATE berryeval_store SET version = 1"))
    database.close()
    with open_store(place) as store:
        store.add(run_of(2))
        assert store.tag_values() == ["model=small"]
        assert [point.run for point in store.trend("RR") if point.provider == "bm25"] == [
            "run-0001",
            "run-0002",
        ]
        assert [point.value.value for point in store.trend(cost="usd")] == [0.25, 0.25]
        assert store.users.list() == []


def test_damaged_run_does_not_prevent_an_upgrade(place: str) -> None:
    """A run of schema 4 whose head cannot be read gets no tags, and the others get theirs."""
    with open_store(place) as store:
        for number in (1, 2):
            store.add(replace(run_of(number), plan={"tags": {"round": number}}))
    database = Database(Place.of(place), make=False)
    with database.writing() as connection:
        connection.execute(text("ALTER TABLE berryeval_runs DROP COLUMN tags"))
        connection.execute(text("DROP TABLE berryeval_users"))
        connection.execute(text("UPDATE berryeval_runs SET head = 'x' WHERE id = 'run-0001'"))
        connection.execute(text("UPDATE berryeval_store SET version = 4"))
    database.close()
    with open_store(place) as store:
        assert [one.tags for one in store.list_runs()] == [{"round": "2"}, {}]


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:hunter2@/x?host=/run/pg", "postgresql://me:***@/x?host=/run/pg"),
        ("postgresql://me:hunter2@/x?host=db&port=5433", "postgresql://me:***@db:5433/x"),
        ("postgresql://me:hunter2@a:1,b:2/x", "postgresql://me:***@/x?host=a,b&port=1,2"),
        ("host=/run/pg dbname=x password=hunter2", "?host=/run/pg"),
        ("postgresql:///x?service=prod", "postgresql:///x?service=prod"),
    ],
)
def test_the_place_of_a_store_names_its_host(address: str, shown: str) -> None:
    place = Place.of(address)
    assert place.shown.endswith(shown)
    assert "hunter2" not in place.shown
