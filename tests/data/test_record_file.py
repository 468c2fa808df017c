"""Records of a large corpus in a temporary file."""

from __future__ import annotations

import gc
import tempfile
import threading
from collections import deque
from pathlib import Path

import pytest

from berryeval.data import (
    HELD,
    Chunk,
    Document,
    RecordFile,
    collect_records,
    find_repeated,
    index_records,
)
from berryeval.errors import DataError


def documents(count: int) -> list[Document]:
    return [
        Document(f"d{number}", f"Text \ud800 {number}", metadata={"n": [number]})
        for number in range(count)
    ]


def test_records_are_read_as_a_list_holds_them() -> None:
    """By place, by slice, in order and again, also while more are appended."""
    held = documents(1000)
    stored = RecordFile(held[:900])
    assert len(stored) == 900
    assert stored[899] == held[899]
    for record in held[900:]:
        stored.append(record)
    assert list(stored) == list(stored) == held
    assert stored == held
    assert (stored[-1], stored[3:7], stored[::-300]) == (held[-1], held[3:7], held[::-300])
    assert stored[5:5] == []
    with pytest.raises(IndexError):
        stored[1000]


def test_records_are_found_by_id_and_by_other_fields() -> None:
    chunks = [Chunk(f"c{n}", f"d{n // 2}", f"Text {n}", section=("A",)) for n in range(600)]
    stored, plain = RecordFile(chunks), index_records(chunks)
    found = index_records(stored)
    assert list(found) == list(plain)
    assert {**found} == plain
    assert "c600" not in found
    assert found.get("c600") is None
    with pytest.raises(KeyError):
        found["d1"]
    by_document = index_records(stored, "doc_id")
    assert {name: by_document[name] for name in by_document} == index_records(chunks, "doc_id")


@pytest.mark.parametrize("kind", [list, RecordFile])
def test_the_first_repeated_id_is_found(kind: type) -> None:
    ids = ["a", "b", "c", "d", "c", "b", "a"]
    assert find_repeated(kind(Document(name, "") for name in ids)) == (2, 4)
    assert find_repeated(kind(Document(name, "") for name in ids[:4])) is None


def test_only_a_large_corpus_is_written() -> None:
    assert isinstance(collect_records(documents(3)), list)
    large = [Document(f"d{number}", "x" * (HELD // 4)) for number in range(6)]
    found = collect_records(iter(large))
    assert isinstance(found, RecordFile)
    assert list(found) == large


def test_several_threads_read_at_once() -> None:
    held = documents(500)
    stored = RecordFile(held)
    wrong: list[int] = []

    def read(start: int) -> None:
        wrong.extend(n for n in range(start, 500, 3) if stored[n] != held[n])

    threads = [threading.Thread(target=read, args=[start]) for start in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="lists open files by /proc")
def test_the_file_is_removed_with_its_records() -> None:
    gc.collect()  # of other tests
    opened = count_open()
    stored = RecordFile(documents(500))
    assert index_records(stored)["d1"] == stored[1]
    assert count_open() == opened + 1
    del stored
    assert count_open() == opened


def count_open() -> int:
    """Count the open temporary files, which have no name any more."""
    found = [str(one.readlink()) for one in Path("/proc/self/fd").iterdir() if one.is_symlink()]
    return sum(name.startswith(tempfile.gettempdir()) and "(deleted)" in name for name in found)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device without space")
def test_a_full_disk_is_an_error_that_says_what_to_do() -> None:
    stored = RecordFile(documents(1))
    with Path("/dev/full").open("wb", buffering=0) as full:
        stored._file = full
        with pytest.raises(DataError, match=r"No space left on device.*TMPDIR"):
            deque(map(stored.append, documents(300)), maxlen=0)
