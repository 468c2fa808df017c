"""`berryeval compare`: output as in the golden files, and rejected input."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rich.console import Console

import berryeval as be
from berryeval.cli.app import build_app, run
from berryeval.cli.compare import print_comparisons
from berryeval.reports.differences import ComparedBenchmark
from berryeval.reports.exporters.markdown import comparison_parts
from berryeval.reports.exports import EXPORTERS
from berryeval.reports.sections import Report
from tests.stats.worlds import scores_of
from tests.workflows.compare_world import BEST, POOR, mixed, run_of, save

if TYPE_CHECKING:
    from berryeval.runs.record import RunRecord

GOLDEN = Path(__file__).parents[1] / "golden" / "compare"
AGAIN = os.environ.get("BERRYEVAL_GOLDEN") == "write"


def old() -> RunRecord:
    """The run before: five of twenty queries well answered."""
    return run_of("old", {"bm25": mixed(0, 1, 2, 3, 4)})


def text_of(*runs: RunRecord, width: int = 120, **options: Any) -> str:
    """What is printed on a terminal of this width."""
    stream = io.StringIO()
    screen = Console(file=stream, width=width, markup=False, highlight=False, emoji=False)
    print_comparisons(screen, be.compare_runs(list(runs), **options))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def check(name: str, text: str) -> None:
    """Compare with the golden file."""
    if AGAIN:
        (GOLDEN / name).write_text(text, encoding="utf-8")
    assert text == (GOLDEN / name).read_text(encoding="utf-8")


def rounded(text: str) -> str:
    """The text with nine digits of each long number: the last bit is the machine's."""
    return re.sub(r"-?\d\.\d{10,}", lambda found: f"{float(found[0]):.9g}", text)


@pytest.mark.parametrize("width", [80, 120])
def test_a_better_system_matches_the_golden_file(width: int) -> None:
    text = text_of(old(), run_of("new", {"bm25": mixed(*range(16))}), width=width)
    assert max(map(len, text.splitlines())) <= width
    check(f"better-{width}.txt", text)


def test_a_worse_system_matches_the_golden_file() -> None:
    check("worse.txt", text_of(run_of("old", {"bm25": mixed(*range(16))}), run_of(
        "new", {"bm25": mixed(0, 1, 2, 3)})))  # fmt: skip


def test_an_insignificant_difference_matches_the_golden_file() -> None:
    text = text_of(old(), run_of("new", {"bm25": mixed(*range(5, 11))}))
    assert "80 % power" in text
    check("cannot-tell.txt", text)


def test_a_single_query_matches_the_golden_file() -> None:
    runs = run_of("old", {"bm25": [POOR]}), run_of("new", {"bm25": [BEST]})
    check("one-query.txt", text_of(*runs))


def test_equal_systems_match_the_golden_file() -> None:
    check("constant.txt", text_of(old(), run_of("new", {"bm25": mixed(0, 1, 2, 3, 4)})))


def test_a_constant_difference_matches_the_golden_file() -> None:
    runs = run_of("old", {"bm25": [POOR] * 8}), run_of("new", {"bm25": [BEST] * 8})
    check("constant-difference.txt", text_of(*runs, test="t", moved=1))


def test_groups_match_the_golden_file() -> None:
    new = run_of("new", {"bm25": mixed(0, 1, 2, 3, 4, 6, 8, 10, 12, 14)})
    check("by-category.txt", text_of(old(), new, by="category", moved=0))


def test_several_systems_match_the_golden_file() -> None:
    systems = {"bm25": mixed(0, 1), "dense": mixed(*range(2, 9)), "hybrid": mixed(*range(15))}
    text = text_of(run_of("one", systems), width=80, moved=0)
    assert max(map(len, text.splitlines())) <= 80
    check("several-80.txt", text)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_narrow_terminals_keep_the_names(width: int) -> None:
    systems = {"bm25": mixed(0, 1), "dense": mixed(*range(2, 9)), "hybrid": mixed(*range(15))}
    text = text_of(run_of("one", systems), width=width, moved=0, by="category")
    assert max(map(len, text.splitlines())) <= width
    for name in ("metric", "nDCG@3", "RR", "category", "conceptual", "factual"):
        assert re.search(rf"^[+ ] {name} .*(\+0\.|delta)", text, re.MULTILINE), name


def test_notes_of_rows_are_printed() -> None:
    random = np.random.default_rng(3)
    tables = [
        scores_of(name, {"AP": {f"q{n:02}": float(random.random()) for n in range(45)}})
        for name in ("one", "two")
    ]
    groups: dict[str, str | None] = {f"q{n:02}": "few" if n < 4 else "many" for n in range(45)}
    found = be.compare(tables, baseline="one", groups=groups)
    one = ComparedBenchmark("drinks", (), found, by="category")
    stream = io.StringIO()
    print_comparisons(Console(file=stream, width=200), Report("", (), (), compared=(one,)))
    markdown = "\n".join(comparison_parts(one))
    note = "only 4 queries differ: the smallest possible p is 0.125"
    shown = " ".join(stream.getvalue().split())
    assert f"note: few: {note}" in shown
    assert f"- AP in few: {note}" in markdown
    words = "randomization test, 100,000 random samples, and exact in 1 of 3 rows"
    assert words in shown
    assert words in markdown


def test_incomparable_runs_are_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = run_of("new", {"bm25": mixed(1)}, world=("drinks", "sha256:two"))
    first, second = save(old(), tmp_path), save(other, tmp_path)
    assert run(build_app(), ["compare", first, second]) == 2
    check("not-comparable.txt", capsys.readouterr().err)
    assert run(build_app(), ["compare", first, second, "--anyway"]) == 0
    assert (
        "warning: drinks changed between bm25 (old) and bm25 (new): 0 of 20 queries are the same"
        in capsys.readouterr().out
    )


def test_compare_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = save(old(), tmp_path), save(run_of("new", {"bm25": mixed(1)}), tmp_path)
    assert run(build_app(), ["compare", first, second, "-m", "RR,AP", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["command"] == "compare"
    [one] = found["data"]["compared"]
    assert one["comparison"]["metrics"] == ["RR", "AP"]
    assert one["comparison"]["rows"][0]["p"] == pytest.approx(0.125)
    assert one["moved"][0]["left"][0]["name"] == "guide > Tea"


@pytest.mark.parametrize("ending", ["md", "tex", "json", "csv", "html"])
def test_compare_writes_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    first, second = save(old(), tmp_path), save(run_of("new", {"bm25": mixed(1)}), tmp_path)
    target = tmp_path / f"c.{ending}"
    assert run(build_app(), ["compare", first, second, "-o", str(target)]) == 0
    assert f"written: {tmp_path}" in capsys.readouterr().out
    name = "c-comparison.csv" if ending == "csv" else target.name
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert "bm25 (new)" in text
    if ending in {"md", "tex"}:
        check(f"report.{ending}", text.replace(str(tmp_path), ""))


def test_the_csv_report_has_the_numbers(tmp_path: Path) -> None:
    report = be.compare_runs([old(), run_of("new", {"bm25": mixed(1)})], by="category")
    [path, *_] = be.write_report(report, tmp_path / "c.csv")
    assert path.name == "c-comparison.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    places = [(row["group"], row["metric"], row["queries"], row["finding"]) for row in rows]
    assert places == [
        (group, metric, str(count), "not significant")
        for group, count in (("", 20), ("conceptual", 10), ("factual", 10))
        for metric in ("nDCG@3", "RR")
    ]
    assert float(rows[1]["difference"]) == pytest.approx(-4 * (2 / 3) / 20)
    assert rows[1]["p"] == "0.125"


def test_the_page_shows_the_comparison() -> None:
    odd = "<b>&"
    report = be.compare_runs(
        run_of("one", {"bm25": mixed(), odd: mixed(*range(12))}), baseline="bm25", moved=1
    )
    [page] = EXPORTERS.get("html").files(report, "")
    assert "&lt;b&gt;&amp; is better than bm25</bdi>.</p>" in page.text
    assert "<bdi>nDCG@3 +0.486, 95" in page.text
    assert "entered the top 3: guide &gt; Tea (grade 2, not found → rank 1)" in page.text
    assert odd not in page.text


def test_every_format_takes_a_comparison() -> None:
    report = be.compare_runs([old(), run_of("new", {"bm25": mixed(1)})], by="category")
    for name in EXPORTERS:
        exporter = EXPORTERS.get(name)
        assert exporter.track or exporter.files(report, "")


def test_run_files_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.txt").write_text("".join(f"q{i} 0 a 1\n" for i in range(8)), encoding="utf-8")
    for name, docs in (("one.run", "xa"), ("two.run", "ax")):
        lines = [f"q{i} Q0 {d} 1 {9 - at} t\n" for i in range(8) for at, d in enumerate(docs)]
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
    paths = [str(tmp_path / name) for name in ("one.run", "two.run")]
    command = ["compare", *paths, "--qrels", str(tmp_path / "q.txt"), "-m", "RR"]
    assert run(build_app(), command) == 0
    out = capsys.readouterr().out
    assert "two.run is better than one.run: RR +0.500" in out
    assert "moved: a (grade 1, rank 2 → rank 1)" in out


def test_a_run_file_with_nan_is_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.txt").write_text("q1 0 a 1\n", encoding="utf-8")
    (tmp_path / "one.run").write_text("q1 Q0 a 1 nan t\n", encoding="utf-8")
    (tmp_path / "two.run").write_text("q1 Q0 a 1 1 t\n", encoding="utf-8")
    paths = [str(tmp_path / name) for name in ("one.run", "two.run")]
    assert run(build_app(), ["compare", *paths, "--qrels", str(tmp_path / "q.txt")]) == 2
    assert "one.run:1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no run to compare"),
        (["nowhere"], "no run 'nowhere'"),
        (["{old}"], "there is nothing to compare"),
        (["{old}", "{old}"], "given twice"),
        (["{old}", "{new}", "--moved", "-1"], "moved must be 0 or more"),
        (["{old}", "{new}", "--format", "html"], "needs --output"),
        (["{old}", "{new}", "--test", "z"], "'z'"),
        (["{old}", "{new}", "--correction", "guess"], "'guess'"),
        (["{old}", "{new}", "--level", "2"], "level must be a number between 0 and 1"),
        (["{old}", "{new}", "--seed", "-1"], "seed must be 0 or more"),
        (["{old}", "{new}", "-m", "nDCG@7"], "nDCG@7"),
        (["{old}", "{new}", "--baseline", "nobody"], "the baseline 'nobody' is no system"),
    ],
)
def test_wrong_usage_is_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    first, second = save(old(), tmp_path), save(run_of("new", {"bm25": mixed(1)}), tmp_path)
    filled = [text.format(old=first, new=second) for text in arguments]
    assert run(build_app(), ["compare", *filled]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
