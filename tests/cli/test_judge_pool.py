"""`berryeval judge pool` and `berryeval judge status`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from berryeval.judging import Ledger, Pool, Vote
from tests.cli.eval_world import berryeval

POOL = Path("drinks.judged") / "pool.json"


@pytest.fixture(autouse=True)
def _a_run(drinks_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("eval", "--benchmarks", "drinks", "-q", "--providers", "bm25", "bm25:fixed-5")
    assert berryeval(*words) == 0
    assert drinks_folder.exists()
    capsys.readouterr()


def test_a_pool_is_written_and_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("judge", "pool", "latest#bm25") == 0
    found = capsys.readouterr().out
    assert found == (
        f"2 pairs of 2 queries from 1 system to depth 10 (2 added): {POOL}\n"
        "next: berryeval judge next\n"
    )
    assert berryeval("judge", "pool", "latest#bm25:fixed-5", "--depth", "3") == 0
    assert "(1 added, 2 were there)" in capsys.readouterr().out
    assert berryeval("judge", "pool", "latest", "--json") == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert (data["pairs"], data["added"], data["strategy"]) == (5, 2, "depth")
    assert list(data["systems"]) == ["bm25", "bm25:fixed-5"]


def test_judged_pairs_are_not_pooled(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("judge", "pool", "latest#bm25") == 0
    Ledger(POOL.parent).append(
        Vote(pair.query_id, pair.target, 0, "ann") for pair in Pool.read(POOL).pairs
    )
    POOL.unlink()
    capsys.readouterr()
    assert berryeval("judge", "pool", "latest#bm25") == 0
    assert "nothing to judge: every hit is judged" in capsys.readouterr().out


def test_the_status_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("judge", "pool", "latest", "--strategy", "decisive", "-m", "nDCG@5", "P@5")
    assert berryeval(*words) == 0
    pair = Pool.read(POOL).pairs[0]
    Ledger(POOL.parent).append([Vote(pair.query_id, pair.target, 1, "ann")])
    capsys.readouterr()
    assert berryeval("judge", "status") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        f"{POOL}: 1 of 5 pairs of 2 queries judged (20.0%); strategy decisive, depth 10"
    )
    assert lines[3].split() == ["ann", "human", "1", "1"]
    assert lines[5].split()[:5] == ["system", "metric", "judged", "difference", "can"]
    assert [line.split()[:2] for line in lines[6:8]] == [
        ["bm25:fixed-5", "nDCG@5"], ["bm25:fixed-5", "P@5"],
    ]  # fmt: skip
    assert "no significant difference (certain)" in lines[6]  # four queries never suffice
    assert lines[8] == "against bm25; unjudged pairs count as 0"
    assert berryeval("judge", "status", "--json") == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert [one["metric"] for one in data["comparisons"]] == ["nDCG@5", "P@5"]


def test_estimates_of_a_random_pool_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("judge", "pool", "latest", "--strategy", "random", "--share", "0.9", "-m", "P@5")
    assert berryeval(*words) == 0
    Ledger(POOL.parent).append(
        Vote(pair.query_id, pair.target, 1, "ann") for pair in Pool.read(POOL).pairs
    )
    capsys.readouterr()
    assert berryeval("judge", "status") == 0
    found = capsys.readouterr().out
    assert "bm25:fixed-5 - bm25  P@5" in found


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("pool", "latest", "--strategy", "deep"), "--strategy must be one of depth, random"),
        (("pool", "latest", "--share", "0.5"), "--share and --count belong to --strategy random"),
        (("pool", "nothing"), "no run 'nothing'"),
        (("pool",), "name at least one run"),
        (("status",), "no benchmark here has been judged or pooled"),
        (("status", "--benchmark", "drinks"), "there is no pool in drinks.judged"),
    ],
)
def test_bad_input_is_one_line(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert berryeval("judge", *words) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.startswith("error: ")
    assert message in found.err
    assert found.err.count("\n") == 1
    assert not POOL.exists()
