"""Files that are small and would grow without end."""

from __future__ import annotations

import gzip
import os
import threading
import zlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import zstandard

from berryeval._internal.files import read_bytes
from berryeval.data import Run, read_parquet_rows
from berryeval.errors import ConfigurationError, DataError
from berryeval.runs.store.schema import unpack
from tests.bounded import run_bounded

SIZE = 700_000_000
READ = "from berryeval.data import Run\nRun.load(sys.argv[1])"
ADVICE = "set BERRYEVAL_MAX_UNPACKED_MB to allow more"
measured = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")


def write_bomb(path: Path) -> None:
    """Write blanks that are compressed to less than a hundredth."""
    opener: Any = partial(gzip.open, compresslevel=1)
    with (zstandard.open if path.suffix == ".zst" else opener)(path, "wb") as stream:
        for _ in range(SIZE // 10_000_000):
            stream.write(b" " * 10_000_000)


@measured
@pytest.mark.parametrize("name", ["run.trec.gz", "run.trec.zst", "run.json.zst"])
def test_compressed_bombs_are_errors_in_bounded_memory(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_bomb(path)
    said = run_bounded(READ, str(path))
    assert said.startswith(f"DataError: {path}: {path.stat().st_size:,} compressed bytes grow to")
    assert said.endswith(f"MB; {ADVICE}")


@pytest.mark.parametrize("kind", [".gz", ".zst"])
def test_a_variable_raises_the_limit(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    blank = b" " * 70_000_000
    path = tmp_path / f"file{kind}"
    pack = gzip.compress if kind == ".gz" else zstandard.ZstdCompressor().compress
    path.write_bytes(pack(blank))
    with pytest.raises(DataError, match="compressed bytes grow to more than 64 MB"):
        read_bytes(path)
    monkeypatch.setenv("BERRYEVAL_MAX_UNPACKED_MB", "70")
    assert len(read_bytes(path)) == len(blank)
    monkeypatch.setenv("BERRYEVAL_MAX_UNPACKED_MB", "much")
    with pytest.raises(ConfigurationError) as caught:
        read_bytes(path)
    assert str(caught.value) == (
        "BERRYEVAL_MAX_UNPACKED_MB must be a whole number from 1 to 999999999 (or unset), "
        "found 'much'"
    )


@pytest.mark.parametrize("kind", [".gz", ".zst"])
def test_a_large_regular_run_is_read(tmp_path: Path, kind: str) -> None:
    """Zstd shrinks this one to a fortieth, and it is larger than the limit of small files."""
    rows = "".join(f"q7 Q0 d{rank} {rank} {1000 - rank} run\n" for rank in range(1, 101))
    text = b"".join(rows.replace("q7", f"q{number}").encode() for number in range(30_000))
    path = tmp_path / f"run.trec{kind}"
    pack = partial(gzip.compress, compresslevel=1)
    path.write_bytes(pack(text) if kind == ".gz" else zstandard.ZstdCompressor().compress(text))
    assert len(text) > 64_000_000
    assert read_bytes(path).tobytes() == text


def test_members_may_be_followed_by_zeros(tmp_path: Path) -> None:
    """Tapes and `dd` leave them."""
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"a") + b"\0" * 5000 + gzip.compress(b"b") + b"\0")
    assert read_bytes(path).tobytes() == b"ab"
    path.write_bytes(gzip.compress(b"a") + b"garbage")
    with pytest.raises(DataError, match="is not valid gzip data"):
        read_bytes(path)


@measured
def test_a_device_without_an_end_is_an_error() -> None:
    said = run_bounded(READ, "/dev/zero")
    advice = "from a pipe or device; set BERRYEVAL_MAX_UNPACKED_MB to allow more"
    assert said == f"DataError: /dev/zero: more than 64 MB, {advice}"


def test_a_pipe_is_read_to_its_end_and_no_further_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def write(size: int) -> None:
        with path.open("wb") as stream:
            try:
                stream.write(b"x" * size)
            except BrokenPipeError:
                return

    for size in (3_000_000, 8_000_000):
        writer = threading.Thread(target=write, args=(size,))
        writer.start()
        if size == 3_000_000:
            monkeypatch.setenv("BERRYEVAL_MAX_PIPE_MB", "3")
            assert len(read_bytes(path)) == size
        else:
            with pytest.raises(DataError, match="more than 3 MB, from a pipe or device; set BERRY"):
                read_bytes(path)
        writer.join()


def test_a_parquet_file_with_very_many_equal_rows_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.parquet"
    same = pa.DictionaryArray.from_arrays(np.zeros(4_000_000, dtype=np.int8), ["q1"])
    score = pa.DictionaryArray.from_arrays(np.zeros(4_000_000, dtype=np.int8), [1.0])
    table = pa.table({"query_id": same, "doc_id": same, "score": score})
    pa.parquet.write_table(table, path)
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match="compressed bytes grow to more than 64 MB; set BERRYEVAL_"):
        Run.load(path)
    with pytest.raises(DataError, match="compressed bytes grow to more than 64 MB"):
        next(read_parquet_rows(path))
    monkeypatch.setenv("BERRYEVAL_MAX_UNPACKED_MB", "100")
    assert next(read_parquet_rows(path)).value == {"query_id": "q1", "doc_id": "q1", "score": 1.0}


def test_stored_data_are_bounded() -> None:
    assert unpack(zlib.compress(b'{"a": 1}'), "run") == {"a": 1}
    with pytest.raises(DataError, match=r"run: the stored data cannot be read .*more than 64 MB"):
        unpack(zlib.compress(b" " * 70_000_000), "run")
    for damaged in (zlib.compress(b'{"a": 1}')[:-1], b"no data", b""):
        with pytest.raises(DataError, match="run: the stored data cannot be read"):
            unpack(damaged, "run")
