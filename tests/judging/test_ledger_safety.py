"""Many writers, kills, full disks and wrong clocks: the ledger loses and doubles nothing."""

from __future__ import annotations

import itertools
import json
import logging
import os
import random
import resource
import signal
import threading
import time
import zlib
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from berryeval._internal.files import try_lock
from berryeval._internal.json import encode_json_line
from berryeval.data import Anchor
from berryeval.errors import DataError, NotWrittenError
from berryeval.judging import Ledger, Vote, open_ledger
from tests.judging.processes import finish, kill, start

EACH = 25


def vote(query: str, grade: float | None = 1, judge: str = "Ann", **fields: object) -> Vote:
    return Vote(query, Anchor(document="d"), grade, judge, **fields)  # type: ignore[arg-type]


@pytest.fixture(params=["folder", "store"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the place of a ledger: a folder, or a store."""
    return str(tmp_path / ("x.judged" if request.param == "folder" else "votes.db"))


def write_numbers(place: str, first: int, judges: tuple[str, ...]) -> None:
    ledger = Ledger(place)
    for number in range(first, first + EACH):
        for judge in judges:
            ledger.append([vote(f"q{number}", number % 4, judge)])


def test_many_processes_write_at_once(tmp_path: Path) -> None:
    """Six processes, each for one judge of its own and one that all share."""
    running = [
        start(write_numbers, str(tmp_path), n * EACH, ("shared", f"own {n}")) for n in range(6)
    ]
    finish(*running)
    found = [(one.judge, one.query_id, one.grade) for one in Ledger(tmp_path).votes()]
    expected = [
        (judge, f"q{number}", number % 4)
        for n in range(6)
        for number in range(n * EACH, (n + 1) * EACH)
        for judge in ("shared", f"own {n}")
    ]
    assert sorted(found) == sorted(expected)
    lines = (tmp_path / "votes" / "shared.jsonl").read_text().splitlines()
    times = [json.loads(line)["time"] for line in lines]
    assert times == sorted(set(times))  # whoever writes, each vote comes after the one before


def test_a_reader_sees_whole_votes_while_others_write(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What was read once is there in every later reading, and nothing is damaged."""
    writers = [start(write_numbers, str(tmp_path), n * EACH, ("shared",)) for n in range(2)]
    ledger, seen = Ledger(tmp_path), set[str]()
    with caplog.at_level(logging.WARNING, logger="berryeval"):
        while any(one.is_alive() for one in writers):
            found = {one.query_id for one in ledger.votes()}
            assert seen <= found
            seen = found
    finish(*writers)
    assert len(ledger.votes()) == 2 * EACH
    assert "no vote" not in caplog.text


BATCH, NOTE = 40, "x" * 20_000


def write_for_ever(place: str, first: int, report: int) -> None:
    ledger = Ledger(place)
    for number in itertools.count(first):
        ledger.append([vote(f"q{number}-{n}", note=NOTE) for n in range(BATCH)])
        os.write(report, f"{number}\n".encode())


def test_a_kill_loses_nothing_that_was_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Batches large enough that some kills come in the middle of a write."""
    drawn = random.Random(5)
    ledger, reported = Ledger(tmp_path), set[str]()
    for turn in range(12):
        said, report = os.pipe()
        running = start(write_for_ever, str(tmp_path), turn * 1000, report)
        os.close(report)
        first = os.read(said, 5).decode()
        time.sleep(drawn.uniform(0, 0.01))
        lines = (first + kill(running, said)).split()
        os.close(said)
        reported |= {f"q{line}-{n}" for line in lines for n in range(BATCH)}
        ledger.append([vote(f"after {turn}")])
        reported.add(f"after {turn}")
    with caplog.at_level(logging.WARNING, logger="berryeval"):
        found = ledger.votes()
    names = [one.query_id for one in found]
    assert reported <= set(names)
    assert len(names) == len(set(names))
    assert {one.note for one in found} == {"", NOTE}


def test_a_torn_line_does_not_spoil_the_next(tmp_path: Path) -> None:
    """Whatever part of a line a kill leaves, the votes before and after it count."""
    Ledger(tmp_path / "whole").append([vote("q1"), vote("q2", 2, note="ä")])
    whole = (tmp_path / "whole/votes/ann.jsonl").read_bytes()
    first = whole.index(b"\n") + 1
    for end in (*range(first, len(whole) - 1, 7), len(whole) - 1):
        ledger = Ledger(tmp_path / str(end))
        file = ledger.folder / "votes" / "ann.jsonl"
        file.parent.mkdir(parents=True)
        file.write_bytes(whole[:end])
        ledger.append([vote("q3", 3)])
        kept = ["q1", "q2", "q3"] if end == len(whole) - 1 else ["q1", "q3"]
        assert [one.query_id for one in ledger.votes()] == kept


def fill_disk(place: str, most: int, report: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        Ledger(place).append([vote(f"q{n}") for n in range(500)])
    except NotWrittenError as error:
        os.write(report, str(error).encode())


def test_a_full_disk_is_one_message_and_leaves_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.append([vote("q1")])
    (file,) = (tmp_path / "votes").iterdir()
    before = file.read_bytes()
    ours, theirs = os.pipe()
    finish(start(fill_disk, str(tmp_path), len(before) + 5000, theirs))
    os.close(theirs)
    said = os.read(ours, 1000).decode()
    os.close(ours)
    assert said == f"{tmp_path}: cannot be written (File too large); the votes of Ann were not kept"
    assert file.read_bytes() == before
    ledger.append([vote("q2")])
    assert [one.query_id for one in ledger.votes()] == ["q1", "q2"]


def test_a_place_that_is_a_file_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "x.judged").write_text("not a folder")
    with pytest.raises(NotWrittenError, match=r"x\.judged: cannot be written .*not kept"):
        Ledger(tmp_path / "x.judged").append([vote("q1")])


def test_a_later_vote_counts_although_the_clock_was_set_back(anywhere: str) -> None:
    ledger = open_ledger(anywhere, "fruit")
    ahead = datetime.now(timezone.utc) + timedelta(days=400)
    ledger.append([vote("q1", 1, time=ahead.isoformat())])
    ledger.append([vote("q1", 2), vote("q1", 3), vote("q1", 2)])
    assert [one.grade for one in ledger.votes()] == [1, 2, 3, 2]
    assert [one.grade for one in ledger.current()] == [2]


def test_a_vote_with_the_latest_possible_time_does_not_block_others(anywhere: str) -> None:
    ledger = open_ledger(anywhere, "fruit")
    ledger.append([vote("q1", 1, time="9999-12-31T23:59:59.999999+00:00")])
    ledger.append([vote("q2", 2)])
    assert {one.query_id for one in ledger.current()} == {"q1", "q2"}


def test_a_vote_without_a_time_is_the_oldest(tmp_path: Path) -> None:
    """No writer of ours makes such a line."""
    ledger = Ledger(tmp_path)
    ledger.append([vote("q1")])
    text = encode_json_line(vote("q2").to_json())
    line = text[:-1] + b', "checksum": "%08x"}\n' % zlib.crc32(text)
    (tmp_path / "votes" / "ben.jsonl").write_bytes(line)
    assert [one.query_id for one in ledger.votes()] == ["q2", "q1"]


def test_times_of_any_zone_are_compared(anywhere: str) -> None:
    ledger = open_ledger(anywhere, "fruit")
    ledger.append([vote("q1", 1, time="2026-03-01T09:00:00+09:00")])
    ledger.append([vote("q1", 2, "Ben", time="2026-02-28T23:00:00Z")])
    assert [one.judge for one in ledger.votes()] == ["Ben", "Ann"]


def test_the_order_of_lines_does_not_matter(tmp_path: Path) -> None:
    """As after a merge: lines in any order, some of them twice."""
    ledger = Ledger(tmp_path)
    ledger.append([vote("q1", grade) for grade in (1, 2, 0)])
    expected = ledger.votes()
    (file,) = (tmp_path / "votes").iterdir()
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*reversed(lines), *lines]).replace(b"\n", b"\r\n"))
    assert ledger.votes() == expected


def test_judges_of_one_file_name_keep_their_votes(tmp_path: Path) -> None:
    names = ["Ann Lee", "ann-lee", "ANN LEE"]
    ledger = Ledger(tmp_path)
    for grade, name in enumerate(names):
        ledger.append([vote("q1", grade, name)])
    assert len(list((tmp_path / "votes").iterdir())) == 1
    assert {one.judge: one.grade for one in ledger.current()} == {
        name: grade for grade, name in enumerate(names)
    }


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "\x1b[31m"])
def test_a_judge_needs_a_name_that_can_be_printed(name: str) -> None:
    with pytest.raises(DataError, match="a vote needs the name of its judge"):
        vote("q1", judge=name)


@pytest.mark.parametrize("name", ["con", "../../x", "ann/lee", "é" * 300, "名前"])
def test_any_name_makes_a_file_in_the_folder(tmp_path: Path, name: str) -> None:
    ledger = Ledger(tmp_path / "x.judged")
    ledger.append([vote("q1", 2, name)])
    (file,) = (tmp_path / "x.judged" / "votes").iterdir()
    assert file.suffix == ".jsonl"
    assert [one.judge for one in ledger.votes()] == [name]


def test_a_file_that_git_replaces_meanwhile_gets_the_vote(tmp_path: Path) -> None:
    """The writer waits for the lock of a file that is replaced, as by a pull, before it gets it."""
    ledger = Ledger(tmp_path)
    ledger.append([vote("q1")])
    (file,) = (tmp_path / "votes").iterdir()
    held = os.open(file, os.O_RDWR)
    assert try_lock(held)
    writer = threading.Thread(target=ledger.append, args=([vote("q2")],))
    writer.start()
    time.sleep(0.2)
    new = tmp_path / "new"
    new.write_bytes(file.read_bytes())
    new.replace(file)
    os.close(held)
    writer.join(timeout=30)
    assert [one.query_id for one in ledger.votes()] == ["q1", "q2"]


def test_damaged_lines_are_counted_not_repeated(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Ledger(tmp_path)
    ledger.append([vote(f"q{n}") for n in range(100)])
    (file,) = (tmp_path / "votes").iterdir()
    file.write_bytes(file.read_bytes().replace(b'"grade": 1', b'"grade": 2'))
    with caplog.at_level(logging.WARNING, logger="berryeval"):
        assert ledger.votes() == []
    assert len(caplog.records) == 4
    assert "97 more lines are damaged" in caplog.text
