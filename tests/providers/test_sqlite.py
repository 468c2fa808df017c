"""The provider `sqlite`: files, full text and errors. Shared behaviour is in test_engines."""

from __future__ import annotations

import ctypes
import math
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest

from berryeval.data.records import Chunk
from berryeval.errors import ProviderError
from berryeval.providers.catalogue import build_provider
from berryeval.providers.sqlite import Sqlite
from tests.providers.corpus import CHUNKS, query

if TYPE_CHECKING:
    from pathlib import Path


def tables(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]


def test_a_file_created_for_the_run_is_removed(tmp_path: Path) -> None:
    with Sqlite(str(tmp_path / "index.db")) as provider:
        provider.index(CHUNKS)
        provider.index(CHUNKS[:2])
        assert (tmp_path / "index.db").stat().st_size > 0
        assert provider.search(query("tokens"), 1)[0].id == "tokens"
    assert list(tmp_path.iterdir()) == []


def test_a_user_file_keeps_its_tables(tmp_path: Path) -> None:
    file = tmp_path / "mine.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE mine (x)")
    with Sqlite(str(file)) as first, Sqlite(str(file), mode="text") as second:
        for provider in (first, second):
            provider.index(CHUNKS)
            assert provider.search(query("tokens"), 1)[0].id == "tokens"
        assert len(tables(file)) > 3
    assert tables(file) == ["mine"]


def test_text_scores_match_the_bm25_formula() -> None:
    """FTS5: k1 1.2, b 0.75, ln((N - n + 0.5) / (n + 0.5)), and a factor of k1 + 1."""
    texts = ["alpha alpha beta", "beta gamma", "gamma delta", "x y", "z w v"]
    with Sqlite(mode="text", stemming=False) as provider:
        provider.index([Chunk(str(place), "d", text) for place, text in enumerate(texts)])
        (hit,) = provider.search(query("alpha"), 5)
    idf = math.log((5 - 1 + 0.5) / (1 + 0.5))
    mean = sum(len(text.split()) for text in texts) / len(texts)
    assert hit.score == pytest.approx(idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / mean)))


@pytest.mark.parametrize(
    ("options", "text", "found"),
    [
        ({}, "token", True), ({"stemming": False}, "token", False),
        ({}, "after", False), ({"stopwords": False}, "after", True),
    ],
)  # fmt: skip
def test_words_are_stemmed_and_stop_words_dropped(
    options: dict[str, bool], text: str, *, found: bool
) -> None:
    with build_provider("sqlite", {"mode": "text", **options}) as provider:
        provider.index(CHUNKS)
        assert bool(provider.search(query(text), 5)) == found


def test_a_database_in_memory_may_exceed_a_gigabyte() -> None:
    with Sqlite(mode="text") as provider, provider._database.connection() as connection:
        limit = ctypes.c_int64(-1)  # asks for the limit
        connection.file_control("main", apsw.SQLITE_FCNTL_SIZE_LIMIT, ctypes.addressof(limit))
        assert limit.value > 2**40


def test_a_file_that_is_not_a_database_is_named(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database, but long enough to be taken for one" * 20)
    with (
        Sqlite(str(file), mode="text") as provider,
        pytest.raises(ProviderError, match=r"SQLite at .+notes\.txt: .*not a database") as caught,
    ):
        provider.index(CHUNKS)
    assert not caught.value.passing
    assert file.read_text().startswith("not a database")


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with (
        Sqlite(str(tmp_path / "no" / "index.db"), mode="text") as provider,
        pytest.raises(ProviderError, match=r"SQLite at .+index\.db: unable to open database file"),
    ):
        provider.index(CHUNKS)
    assert list(tmp_path.iterdir()) == []


def test_a_locked_file_is_a_temporary_error(tmp_path: Path) -> None:
    file = tmp_path / "shared.db"
    with closing(apsw.Connection(str(file))) as other:
        other.execute("CREATE TABLE theirs (x)")
        with Sqlite(str(file), mode="text") as provider:
            provider.index(CHUNKS)
            with provider._database.connection() as connection:
                connection.set_busy_timeout(0)
            other.execute("BEGIN EXCLUSIVE")
            with pytest.raises(ProviderError, match=r"SQLite at .+: .*locked") as caught:
                provider.search(query("tokens"), 1)
            assert caught.value.passing
            other.execute("COMMIT")
            assert provider.search(query("tokens"), 1)[0].id == "tokens"
