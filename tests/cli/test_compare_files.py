"""`berryeval compare` on run files: findings and missing answers."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

import berryeval as be
from berryeval.cli.app import build_app, run
from berryeval.errors import ConfigurationError, DataError
from berryeval.reports.exports import EXPORTERS
from tests.workflows.compare_world import mixed, run_of

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.reports.sections import Report

QUERIES = [f"q{place:02}" for place in range(50)]


def ranks_in(path: Path, ranks: dict[str, int]) -> None:
    """A run that has the only relevant document at this rank of each query; 0: not at all."""
    lines = []
    for query, rank in ranks.items():
        for place in range(1, 8):
            name = "right" if place == rank else f"wrong{place}"
            lines.append(f"{query} Q0 {name} {place} {10 - place} x")
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Judgments, a run, one that wins 43 of 50 queries with a lower mean, and one of 20 queries."""
    text = "\n".join(f"{query} 0 right 1" for query in QUERIES)
    (tmp_path / "q.txt").write_text(text, encoding="utf-8")
    before = {query: 5 if place < 43 else 1 for place, query in enumerate(QUERIES)}
    ranks_in(tmp_path / "a.run", before)
    ranks_in(tmp_path / "b.run", {query: 4 if rank == 5 else 0 for query, rank in before.items()})
    ranks_in(tmp_path / "few.run", dict(list(before.items())[:20]))
    return tmp_path


def printed(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What the command prints about files of the folder, in one line."""
    names = [str(folder / word) if word.endswith(".run") else word for word in words]
    options = ["--qrels", str(folder / "q.txt"), "-m", "RR", "--moved", "1"]
    assert run(build_app(), ["compare", *names, *options]) == 0
    return capsys.readouterr().out


def test_wins_can_contradict_the_mean(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(folder, capsys, "a.run", "b.run", "--test", "sign")
    joined = " ".join(text.split())
    assert "\n~  RR" in text
    assert (
        "b.run wins more queries than a.run (43 of 50, sign test p < 0.001), but its mean is "
        "lower, so neither is significantly better: RR -0.0"
    ) in joined
    assert "~ mixed: the test and the difference disagree in direction; neither system" in joined
    assert "is worse" not in joined
    data = json.loads(printed(folder, capsys, "a.run", "b.run", "--test", "sign", "--json"))
    (row,) = data["data"]["compared"][0]["comparison"]["rows"]
    assert (row["mixed"], row["better"], row["worse"], row["test_sign"]) == (True, False, False, 1)
    by_mean = printed(folder, capsys, "a.run", "b.run")
    assert "mixed" not in by_mean


def mixed_report() -> Report:
    """A comparison of two runs whose only row is mixed."""
    poor, best = ("x", "y", "z", "tea"), ("tea", "x", "y", "cup")
    old = run_of("old", {"bm25": [poor] * 16 + [best] * 4})
    new = run_of("new", {"bm25": [("x", "y", "tea")] * 16 + [("x", "y", "z")] * 4})
    return be.compare_runs([old, new], metrics=["RR"], test="sign", moved=0)


def test_reports_call_it_mixed() -> None:
    report = mixed_report()
    (row,) = report.compared[0].comparison.rows
    assert (row.wins, row.losses, row.mixed) == (16, 4, True)
    files = {
        name: "\n".join(file.text for file in EXPORTERS.get(name).files(report, ""))
        for name in ("markdown", "latex", "html")
    }
    assert "| 16/0/4 | mixed |" in files["markdown"]
    assert "- mixed: the test and the difference disagree in direction" in files["markdown"]
    assert r"^{\ddagger}$ &" in files["latex"]
    assert r"^{\dagger}$ &" not in files["latex"]
    assert "<td>mixed</td>" in files["html"]
    assert "mixed: the test and the difference disagree in direction" in files["html"]
    table = next(one for one in EXPORTERS.get("csv").files(report, "") if "comparison" in one.name)
    (cells,) = csv.DictReader(io.StringIO(table.text))
    assert cells["finding"] == "mixed"


def test_missing_answers_are_a_warning(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(printed(folder, capsys, "a.run", "few.run").split())
    assert (
        "warning: few.run has no answers to 30 of 50 queries (q20, q21, q22, q23, q24 and 25 "
        "more); these score 0, so a difference may come from missing answers, not from the "
        "rankings"
    ) in text
    assert text.count("has no answers") == 1
    assert "few.run has no answer on record" in text
    assert "few.run against a.run, 50 queries" in text
    assert "warning" not in printed(folder, capsys, "a.run", "b.run")


@pytest.mark.parametrize("ending", ["md", "tex", "json", "csv", "html"])
def test_compared_files_can_be_reported(
    folder: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    out = folder / f"report.{ending}"
    printed(folder, capsys, "a.run", "few.run", "--output", str(out))
    texts = [path.read_text(encoding="utf-8") for path in folder.glob(f"report*.{ending}")]
    assert any("worse" in text or "dagger" in text for text in texts)


def test_failed_queries_are_reported_once() -> None:
    rankings = mixed(*range(10))
    new = run_of("new", {"bm25": [*rankings[:-1], ()]})
    report = be.compare_runs([run_of("old", {"bm25": rankings}), new])
    told = [*report.compared[0].warnings, *report.compared[0].comparison.notes]
    assert [text.startswith("1 query has no answer of bm25 (new)") for text in told] == [True]


def test_few_queries_have_no_bootstrap_interval(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = (run_of(name, {"bm25": mixed(*better)[:12]}) for name, better in (
        ("old", range(5)), ("new", range(3, 11))))  # fmt: skip
    report = be.compare_runs([old, new], metrics=["RR"], interval="bca")
    (page,) = EXPORTERS.get("html").files(report, "")
    assert "RR: no interval: bootstrap intervals of fewer than 20 queries" in page.text
    text = printed(folder, capsys, "a.run", "b.run", "--interval", "bca")
    assert "no interval" not in text


def test_run_files_without_judgments_name_the_missing_option(folder: Path) -> None:
    """Files of rankings, which hold no run of `berryeval eval`, need --qrels."""
    with pytest.raises(DataError, match=r"a\.run:1: not valid JSON .*: --qrels FILE$"):
        be.compare_runs([str(folder / "a.run"), str(folder / "b.run")])


def test_an_empty_list_of_metrics_is_an_error() -> None:
    runs = [run_of(name, {"bm25": mixed(1)}) for name in ("old", "new")]
    with pytest.raises(ConfigurationError, match="metrics is empty: name one or more"):
        be.compare_runs(runs, metrics=[])
