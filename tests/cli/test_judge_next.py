"""`berryeval judge next`: judging in a terminal, by keys or by lines."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from berryeval.benchmarks import write_benchmark
from berryeval.data import Anchor
from berryeval.judging import Ledger, Pair, Pool, make_pair_id
from tests.cli.eval_world import DRINKS, berryeval, write_drinks


@pytest.fixture(autouse=True)
def drinks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERRYEVAL_JUDGE", "ann")
    write_drinks(tmp_path)
    targets = [("q1", "tea"), ("q1", "coffee"), ("q2", "water")]
    texts = {one.id: one.text for one in DRINKS.documents}
    pairs = [
        Pair(make_pair_id(query, Anchor(document=name)), query, Anchor(document=name), texts[name])
        for query, name in targets
    ]
    folder = tmp_path / "drinks.judged"
    folder.mkdir()
    Pool("drinks", DRINKS.content_hash, "depth", 10, 0, tuple(pairs)).write(folder / "pool.json")
    return folder


def type_lines(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def grades(folder: Path) -> list[float | None]:
    return [one.grade for one in Ledger(folder).current()]


def test_grades_are_stored_one_by_one(
    drinks: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_lines(monkeypatch, "0 too general", "2")
    assert berryeval("judge", "next") == 0
    out = capsys.readouterr().out
    assert "judging as ann: 0 no use, 1 supports, 2 answers; ? cannot tell" in out
    assert "How hot is green tea?" in out
    assert "Steep green tea at 80 degrees" in out
    assert "2 pairs judged" in out
    assert "1 left" in out
    assert grades(drinks) == [0, 2]
    assert Ledger(drinks).votes()[0].note == "too general"


def test_undo_skip_and_unknown_keys(
    drinks: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_lines(monkeypatch, "3", "2", "u", "1", "s", "?")
    assert berryeval("judge", "next") == 0
    out = capsys.readouterr().out
    assert "'3' is no key" in out
    assert "taken back" in out
    assert "1 skipped: they are shown again next time" in out
    assert grades(drinks) == [1, None]


def test_only_the_passage_has_a_bar_not_its_context(
    drinks: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = Pool.read(drinks / "pool.json")
    pair = replace(whole.pairs[0], text="One two\n\nthree", before="Zero\n", after="\n\nFour")
    replace(whole, pairs=(pair,)).write(drinks / "pool.json")
    type_lines(monkeypatch)
    assert berryeval("judge", "next") == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    place = lines.index("│ One two")
    assert lines[place - 1 : place + 4] == ["  Zero", "│ One two", "│", "│ three", "  Four"]


def test_a_very_long_passage_is_cut_with_a_remark(
    drinks: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = Pool.read(drinks / "pool.json")
    pair = replace(whole.pairs[0], text="green tea " * 100_000)
    replace(whole, pairs=(pair,)).write(drinks / "pool.json")
    type_lines(monkeypatch, "1")
    assert berryeval("judge", "next") == 0
    out = capsys.readouterr().out
    assert out.count("green") == 2_000 + 1  # the query has it, too
    assert "… 980,000 more characters; `berryeval judge export` has all of them" in out
    assert grades(drinks) == [1]


def test_blind(drinks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What other judges said, and which system found it, is nowhere in what a judge sees."""
    whole = Pool.read(drinks / "pool.json")
    rankings = {"secret-system": {"q1": [whole.pairs[0].id]}}
    Pool(**{**vars(whole), "rankings": rankings}).write(drinks / "pool.json")
    assert berryeval("judge", "next", "--json") == 0
    out = capsys.readouterr().out
    assert "secret-system" not in out
    data = json.loads(out)["data"]
    assert (data["left"], data["pair"]["query"]) == (3, "How hot is green tea?")


def test_adjudication_shows_the_votes_of_others(
    drinks: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for judge, grade in (("ann", "2"), ("ben", "0 too hot")):
        type_lines(monkeypatch, grade)
        assert berryeval("judge", "next", "--judge", judge, "--count", "1") == 0
    assert "ann:" not in capsys.readouterr().out.partition("judging as ben")[2]
    type_lines(monkeypatch, "1")
    assert berryeval("judge", "next", "--judge", "cy", "--adjudicate") == 0
    out = capsys.readouterr().out
    assert "ann: grade 2" in out
    assert "ben: grade 0 too hot" in out
    assert "the judges disagree about no other pair" in out
    assert [one.grade for one in Ledger(drinks).current() if one.adjudicates] == [1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--count", "0"), "--count must be 1 or more, found 0"),
        (("--judge", " "), "the name of the judge is empty"),
        (("--judge", "benchmark"), "no judge can be called 'benchmark'"),
        (("--benchmark", "other"), "other.judged: has no pool; make one with berryeval judge pool"),
    ],
)
def test_mistakes(words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("judge", "next", *words) == 2
    assert message in capsys.readouterr().err


def test_the_name_of_a_judge_is_checked_first(
    drinks: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_lines(monkeypatch, "1")
    assert berryeval("judge", "next", "--judge", " ann ") == 0
    assert "first session" not in capsys.readouterr().out
    assert {one.judge for one in Ledger(drinks).votes()} == {"ann"}
    for name, problem in (
        ("Ann", "no votes of the judge 'Ann'; did you mean 'ann'?"),
        ("a nn", "no votes of the judge 'a nn'; did you mean 'ann'?"),
        ("a\nb", "the name of the judge must be printable, found 'a\\nb'"),
    ):
        assert berryeval("judge", "next", "--judge", name) == 2
        said = capsys.readouterr()
        assert problem in said.err
        assert said.out == ""
    assert len(Ledger(drinks).votes()) == 1


def test_a_new_judge_sees_who_judged_before(
    drinks: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, said in (
        ("ben", False), ("ann", True), ("ann", False), ("anne", True), ("anne", False),
    ):  # fmt: skip
        type_lines(monkeypatch, "1")
        assert berryeval("judge", "next", "--judge", name, "--count", "1") == 0
        out = capsys.readouterr().out
        assert (f"first session of {name}; known judges: " in out) is said
    assert len(Ledger(drinks).votes()) == 5
    type_lines(monkeypatch)
    assert berryeval("judge", "next", "--judge", "cy") == 0
    assert "first session of cy; known judges: ann, anne, ben\n" in capsys.readouterr().out


def test_a_pool_of_another_benchmark_is_refused(
    drinks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert berryeval("judge", "next", "--benchmark", "rag-template", "--ledger", str(drinks)) == 2
    assert "the pool belongs to another benchmark" in capsys.readouterr().err
    assert grades(drinks) == []


def test_keys_in_a_real_terminal(drinks: Path) -> None:
    """No Enter is needed; a note is a line; Ctrl-C ends and keeps what is stored."""
    seen = in_terminal(drinks, b"n", b"see milk\n", b"2", b"q")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", seen)
    assert "grade 2, stored" in plain
    assert "2 left" in plain
    assert "\x1b[1;4m" in seen  # words of the query are marked
    (stored,) = Ledger(drinks).votes()
    assert (stored.grade, stored.note) == (2, "see milk")


def test_keys_typed_before_a_pair_was_shown_do_not_grade_it(drinks: Path) -> None:
    in_terminal(drinks, b"20", b"q")
    assert grades(drinks) == [2]


def test_grades_of_several_characters_are_lines_in_a_terminal(drinks: Path) -> None:
    declared = replace(DRINKS, metadata={"grades": [-1, 0, 0.5, 10]})
    write_benchmark(declared, drinks.parent / "drinks")
    seen = in_terminal(drinks, b"10\n", b"-1 no\n", b"n\n", b"half\n", b"0.5\n")
    assert grades(drinks) == [10, -1, 0.5]
    assert [one.note for one in Ledger(drinks).votes()] == ["", "no", "half"]
    assert "3 pairs judged" in seen


def test_ctrl_c_in_a_note_ends_with_the_summary(drinks: Path) -> None:
    assert "1 pair judged" in in_terminal(drinks, b"2", b"n", b"\x03")
    assert grades(drinks) == [2]


def in_terminal(folder: Path, *typed: bytes) -> str:
    """Type at each prompt of `judge next` in a terminal, and return what was shown."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", _IN_TERMINAL],
        stdin=slave, stdout=slave, stderr=slave, cwd=folder.parent,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"}, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    seen = ""
    for one in typed:
        seen += read_until(master, r"(grade\?|note:) (\x1b\[0m)?$")
        os.write(master, one)
    seen += read_until(master, r"\d left", typed[-1])
    assert process.wait(timeout=60) == 0
    os.close(master)
    return seen


_IN_TERMINAL = """
import fcntl, sys, termios
from berryeval.cli.app import main
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C reaches this process
sys.argv[1:] = ["judge", "next"]
sys.exit(main())
"""


def read_until(file: int, wanted: str, again: bytes = b"") -> str:
    """Read until a pattern is there; `again` is typed if nothing happens.

    Python may miss Ctrl-C between showing a prompt and waiting for the answer.
    """
    seen = ""
    end = time.monotonic() + 60
    while not re.search(wanted, seen) and time.monotonic() < end:
        if select.select([file], [], [], 5)[0]:
            seen += os.read(file, 4096).decode(errors="replace")
        elif again:
            os.write(file, again)
    assert re.search(wanted, seen)
    return seen
