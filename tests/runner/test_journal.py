"""The journal keeps what was written; torn lines are asked again."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest

from berryeval.data.records import Hit
from berryeval.errors import ConfigurationError, DataError
from berryeval.runner.journal import Journal, read_journal
from berryeval.runner.outcome import Ranking

if TYPE_CHECKING:
    from pathlib import Path

HEADER = {"provider": "bm25", "k": 10}
RANKINGS = [
    Ranking("q1", "ok", (Hit("a", 2.5, 1, "text\nof “a”"), Hit("b", 1.0, 2)), 0.25, returned=2),
    Ranking("q2", "empty"),
    Ranking("ünï/3", "error", error="ValueError: \ud800", attempts=3),
    Ranking("q4", "timeout", latency=1.5, cost={"tokens": 7}),
]


def write_journal(path: Path) -> bytes:
    with Journal(path, HEADER) as journal:
        for ranking in RANKINGS:
            journal.add(ranking)
    return path.read_bytes()


def test_rankings_are_read_back_unchanged(tmp_path: Path) -> None:
    write_journal(tmp_path / "results.jsonl")
    assert list(read_journal(tmp_path / "results.jsonl")) == RANKINGS


def test_every_line_is_json(tmp_path: Path) -> None:
    lines = write_journal(tmp_path / "results.jsonl").splitlines()
    found = [json.loads(line) for line in lines]
    assert found[0]["schema_version"] == 1
    assert [entry["query_id"] for entry in found[1:]] == [r.query_id for r in RANKINGS]
    assert all("checksum" in entry for entry in found)


def test_a_journal_cut_at_any_byte_is_resumed(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    whole = write_journal(path)
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        with Journal(path, HEADER) as journal:
            kept = max(sum(end <= cut for end in ends) - 1, 0)
            assert list(journal.done) == [r.query_id for r in RANKINGS[:kept]]
            assert journal.damaged == 0
            for ranking in RANKINGS:
                if ranking.query_id not in journal.done:
                    journal.add(ranking)
        assert path.read_bytes() == whole


def test_a_line_with_a_flipped_bit_is_ignored_and_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    whole = bytearray(write_journal(path))
    place = whole.index(b'"b"')
    whole[place + 1] ^= 1
    path.write_bytes(whole)
    with Journal(path, HEADER) as journal:
        assert journal.damaged == 1
        assert list(journal.done) == [r.query_id for r in RANKINGS[1:]]
        journal.add(RANKINGS[0])
    assert {r.query_id: r for r in read_journal(path)} == {r.query_id: r for r in RANKINGS}


def test_the_last_answer_of_a_query_counts(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    write_journal(path)
    better = Ranking("q4", "ok", (Hit("c", 1.0, 1),))
    with Journal(path, HEADER) as journal:
        journal.add(better)
    assert list(read_journal(path)) == [*RANKINGS[:3], better]


def test_the_journal_of_another_run_is_rejected_and_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    whole = write_journal(path)
    with pytest.raises(ConfigurationError, match=r"belongs to another run \(k differ\)"):
        Journal(path, {**HEADER, "k": 20})
    assert path.read_bytes() == whole


def test_a_file_that_is_not_a_journal_is_left_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("my\nshopping\nlist\n", encoding="utf-8")
    with pytest.raises(
        DataError, match="not the first line of a journal; the file was left unchanged"
    ):
        Journal(path, HEADER)
    assert path.read_text(encoding="utf-8") == "my\nshopping\nlist\n"


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        Journal(tmp_path / "file" / "results.jsonl", HEADER)


def test_a_full_disk_is_reported_and_the_journal_can_be_resumed(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="limits of file sizes are a thing of Unix")
    path = tmp_path / "results.jsonl"
    whole = write_journal(path)
    size = len(whole) - 40
    path.unlink()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        with Journal(path, HEADER) as journal:
            for ranking in RANKINGS[:3]:
                journal.add(ranking)
            with pytest.raises(DataError, match="cannot be written"):
                journal.add(RANKINGS[3])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    with Journal(path, HEADER) as journal:
        journal.add(RANKINGS[3])
    assert path.read_bytes() == whole


@pytest.mark.parametrize("text", ["my shopping list\n", "my shopping list", "\n"])
def test_a_one_line_file_that_is_not_a_journal_is_left_unchanged(tmp_path: Path, text: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(
        DataError, match="not the first line of a journal; the file was left unchanged"
    ):
        Journal(path, HEADER)
    assert path.read_text(encoding="utf-8") == text


def test_a_journal_has_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with Journal(path, HEADER) as journal:
        with pytest.raises(DataError, match="another process is writing to it"):
            Journal(path, HEADER)
        journal.add(RANKINGS[0])
    with Journal(path, HEADER) as journal:
        assert list(journal.done) == ["q1"]


def test_values_that_json_cannot_express_are_written_as_text(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    loop: dict[str, object] = {}
    loop["self"] = loop
    odd = {"nan": float("nan"), "set": {1}, 3: object, "loop": loop, "half": "\ud800"}
    with Journal(path, HEADER) as journal:
        journal.add(Ranking("q", "ok", (Hit("a", 1.0, 1, metadata=odd),)))  # type: ignore[arg-type]
    (ranking,) = read_journal(path)
    found = ranking.hits[0].metadata
    assert (found["nan"], found["set"], found["half"]) == ("nan", [1], "?")
    for line in path.read_text(encoding="utf-8").splitlines():
        json.loads(line, parse_constant=pytest.fail)


def test_a_torn_line_is_removed_after_a_failed_write(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="limits of file sizes are a thing of Unix")
    path = tmp_path / "results.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with Journal(path, HEADER) as journal:
            journal.add(RANKINGS[0])
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 9, before[1]))
            with pytest.raises(DataError, match="cannot be written"):
                journal.add(RANKINGS[1])
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            journal.add(RANKINGS[2])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert list(read_journal(path)) == [RANKINGS[0], RANKINGS[2]]
