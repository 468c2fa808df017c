"""`berryeval eval`: its output, its JSON, its exit codes."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from berryeval.benchmarks import write_benchmark
from berryeval.data.records import Anchor, Judgment
from tests.benchmarks.samples import BEIR
from tests.cli.eval_world import DRINKS as DRINKS_BENCHMARK
from tests.cli.eval_world import GOLDEN, berryeval, data_of, printed

DRINKS = ("eval", "--benchmarks", "drinks", "--output", "run")
BM25 = (*DRINKS, "--providers", "bm25")
TWO = (*DRINKS, "--providers", "bm25", "bm25:fixed-5", "--metrics", "nDCG@10,P@1", "RR")


pytestmark = pytest.mark.usefixtures("drinks_folder")


def golden(name: str) -> str:
    """Read an expected output."""
    return (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_the_table_shows_scores_times_outcomes_and_files(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert berryeval(*TWO) == 0
    assert printed(capsys) == golden("table")


def test_each_group_of_queries_has_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*TWO, "--by", "category") == 0
    assert printed(capsys) == golden("by-category")


def test_queries_are_grouped_by_several_properties(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*TWO, "--by", "category", "difficulty") == 0
    shown = printed(capsys)
    assert re.findall(r"^(category|difficulty) \w+(?=: )", shown, re.MULTILINE) == (
        ["category"] * 2 + ["difficulty"] * 2
    )
    assert berryeval("eval", "--resume", "run", "--by", "category,difficulty", "--json") == 0
    groups = data_of(capsys)["benchmarks"][0]["providers"][0]["groups"]
    assert list(groups) == ["category", "difficulty"]


def test_where_it_fails_shows_hits_grades_and_missed_targets(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert berryeval(*TWO, "--where-it-fails", "2") == 0
    assert printed(capsys) == golden("where-it-fails")


def test_where_it_fails_leaves_out_perfect_queries(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*BM25, "-m", "Success@5", "--where-it-fails", "9", "--json") == 0
    (provider,) = data_of(capsys)["benchmarks"][0]["providers"]
    assert [one["query"]["id"] for one in provider["where_it_fails"]] == ["q4"]


def test_where_it_fails_shows_three_queries_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*BM25, "-m", "P@5", "--where-it-fails", "--json") == 0
    (provider,) = data_of(capsys)["benchmarks"][0]["providers"]
    assert len(provider["where_it_fails"]) == 3


def test_where_it_fails_has_every_wanted_target(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*BM25, "--where-it-fails", "--json") == 0
    (provider,) = data_of(capsys)["benchmarks"][0]["providers"]
    worst = provider["where_it_fails"]
    assert worst[0]["query"]["id"] == "q4"
    assert len(worst) == 2  # the others are perfect
    assert worst[0]["missed"] == [{"target": "'coffee'", "grade": 1}]
    assert worst[1]["wanted"] == [
        {"target": "'tea', section 'Tea > Green tea'", "grade": 2, "rank": 1},
        {"target": "'water'", "grade": 1, "rank": None},
    ]


def test_each_wanted_target_has_a_rank_if_one_hit_covers_several(
    capsys: pytest.CaptureFixture[str],
) -> None:
    both = Judgment("q1", Anchor(document="tea", quote="green tea at 80 degrees"), 1)
    more = replace(DRINKS_BENCHMARK, judgments=(*DRINKS_BENCHMARK.judgments, both))
    write_benchmark(more, Path("drinks"))
    assert berryeval(*BM25, "--where-it-fails", "--json") == 0
    (provider,) = data_of(capsys)["benchmarks"][0]["providers"]
    (query,) = [one for one in provider["where_it_fails"] if one["query"]["id"] == "q1"]
    assert [(one["grade"], one["rank"]) for one in query["wanted"]] == [(2, 1), (1, 1), (1, None)]
    capsys.readouterr()
    assert berryeval("runs", "show", "run", "--worst", "--json") == 0
    shown = json.loads(capsys.readouterr().out)["data"]["benchmarks"][0]["providers"][0]
    assert shown["where_it_fails"] == provider["where_it_fails"]
    assert berryeval("runs", "show", "run", "--worst", "1") == 0
    lines = capsys.readouterr().out
    assert "where bm25 fails" in lines
    assert "not found  grade 1  'coffee'" in lines
    assert berryeval("runs", "show", "run", "--worst", "0") == 2


def test_the_documented_command_of_the_template_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The output names the token fallback that decided relevance."""
    command = (
        "eval --benchmarks rag-template --providers bm25 "
        "--metrics ndcg_at_5 ndcg_at_10 precision_at_5 recall_at_10 --limit 10"
    )
    assert berryeval(*command.split()) == 0
    text = printed(capsys)
    assert text.startswith(
        "rag-template: 10 queries, 20 hits each; relevance decided by token-fallback\n"
    )
    (head,) = [line for line in text.splitlines() if line.startswith("provider ")]
    assert head.split()[:5] == ["provider", "nDCG@5", "nDCG@10", "P@5", "R@10"]
    (folder,) = Path(".berryeval/runs").iterdir()
    assert folder.name.endswith("-rag-template")
    assert (folder / "manifest.json").exists()


def test_benchmarks_can_be_named_without_a_flag(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("eval", "drinks", *BM25[3:], "--json") == 0
    assert data_of(capsys)["benchmarks"][0]["benchmark"] == "drinks"


def test_evaluate_is_an_alias_of_eval(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("evaluate", *BM25[1:], "--json") == 0
    assert data_of(capsys)["benchmarks"][0]["queries"] == 4


def test_the_envelope_holds_everything_in_full_precision(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert berryeval(*TWO, "--json", "--by", "difficulty", "--limit", "3") == 0
    data = data_of(capsys)
    assert data["folder"] == "run"
    assert data["passed"] is True
    assert data["plan"]["limit"] == 3
    (benchmark,) = data["benchmarks"]
    first, second = benchmark["providers"]
    assert (benchmark["benchmark"], benchmark["queries"], benchmark["k"]) == ("drinks", 3, 20)
    assert first["scores"]["metrics"]["nDCG@10"].keys() == {"value", "aggregate", "std", "ci", "n"}
    assert set(first["latency_seconds"]) == {"p50", "p95", "p99", "max"}
    assert first["outcomes"] == {"ok": 3}
    assert set(second["groups"]["difficulty"]) == {"easy", "hard"}
    assert first["details"]["nDCG@10"] == {
        "average": first["scores"]["metrics"]["nDCG@10"]["value"], "queries_with_relevant": 3,
        "total": 3, "k": 10, "threshold": 0.3, "strategy_used": "qrels",
        "strategies": {"qrels": 3, "pack": 0, "token-fallback": 0, "none": 0},
    }  # fmt: skip
    saved = json.loads(Path("run/drinks/bm25/scores.json").read_text())
    mean = sum(saved["values"]["nDCG@10"]) / 3
    assert first["scores"]["metrics"]["nDCG@10"]["value"] == pytest.approx(mean, abs=1e-12)


def test_a_threshold_that_is_met_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*BM25, "--fail-below", "recall@10=0.5") == 0
    assert "Quality threshold" not in capsys.readouterr().err


def test_a_threshold_that_is_missed_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    """The threshold is logged, and the table is printed."""
    assert berryeval(*BM25, "-m", "AP", "--fail-below", "mrr=0.99", "P@1=0.1") == 1
    out, err = capsys.readouterr()
    assert "error: Quality threshold not met: RR=0.750 < 0.99 (bm25 on drinks)\n" in err
    assert "P@1" not in err
    assert out.splitlines()[2].split()[:4] == ["provider", "AP", "RR", "P@1"]


def test_the_thresholds_of_a_benchmark_are_shown_and_fail_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert berryeval(*DRINKS, "--providers", "bm25", "--filter", "category=conceptual") == 0
    assert "thresholds of the benchmark: RR 0.7\n" in capsys.readouterr().out


def test_a_filter_selects_queries_ignoring_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*BM25, "--filter", "category=FACTUAL", "difficulty=hard", "--json") == 0
    assert data_of(capsys)["benchmarks"][0]["queries"] == 1


def test_metrics_deeper_than_the_hits_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*BM25, "--k", "5", "-m", "nDCG@5", "nDCG@10", "AP") == 0
    assert "note: nDCG@10 would use more than the 5 hits\n" in capsys.readouterr().out


def test_verbose_shows_only_our_log(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*BM25, "--verbose", "--concurrency", "1") == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "info: Starting quality evaluation with 4 queries"
    assert "info: Quality metrics: P@5=0.150, P@10=0.075, MRR=0.750" in lines
    assert "warning: bm25: Query q4 returned no relevant results" in lines
    queries = [line for line in lines if line.startswith("debug: Query q")]
    assert len(queries) == 4
    assert all(line.split(" results in ")[1].endswith("ms") for line in queries)
    assert len(lines) == 7


def test_a_variable_sets_the_log_level(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERRYEVAL_LOG", "info")
    assert berryeval(*BM25) == 0
    err = capsys.readouterr().err
    assert "info: Quality metrics: " in err
    assert "debug: " not in err
    monkeypatch.setenv("BERRYEVAL_LOG", "loud")
    assert berryeval(*BM25) == 2
    assert "BERRYEVAL_LOG must be one of debug, info, warning, error; found 'loud'" in (
        capsys.readouterr().err
    )


def test_quiet_prints_the_table_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*BM25, "--quiet") == 0
    out, err = capsys.readouterr()
    assert not err
    assert "warning: " not in out
    assert berryeval("eval", "--resume", "run") == 0
    assert "warning: bm25: returned fewer than the 20 hits" in capsys.readouterr().out
    assert "results:" not in out
    assert out.startswith("drinks: 4 queries")


def test_the_command_restores_logging() -> None:
    ours, root = logging.getLogger("berryeval"), logging.getLogger()
    before = (list(ours.handlers), list(root.handlers), ours.level)
    assert berryeval(*BM25, "--verbose") == 0
    assert (list(ours.handlers), list(root.handlers), ours.level) == before


def test_a_provider_that_fails_exits_with_3_and_keeps_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("berryeval.yaml").write_text(
        "benchmarks: [drinks]\nproviders:\n  - bm25\n  - name: away\n    type: postgres\n"
        "    options: {dsn: 'postgresql://me:swordfish@127.0.0.1:9/db', mode: text}\n"
        "run: {attempts: 1, timeout: 5}\n"
    )
    assert berryeval("eval", "--output", "run") == 3
    out, err = capsys.readouterr()
    row = next(line for line in out.splitlines() if line.startswith("away"))
    assert row.split() == ["away", *["-"] * 9, "failed"]
    assert "failed: away: " in out
    assert "127.0.0.1" in out
    assert "swordfish" not in out + err + Path("run/manifest.json").read_text()


CANNOT: list[tuple[list[str], str]] = [
    (["--providers", "bm52"], "unknown provider 'bm52'; did you mean 'bm25'?"),
    (["--providers", "bm25:fxed-400"], "did you mean 'fixed'"),
    (["--providers", "bm25", "--benchmarks", "technical-dosc"], "did you mean 'technical-docs'?"),
    (["--providers", "bm25", "--metrics", "ndgc@10"], "unknown metric 'ndgc@10'; did you mean"),
    (["--providers", "bm25", "--fail-below", "ndgc=1"], "unknown metric 'ndgc'; did you mean"),
    (["--providers", "bm25", "--fail-below", "AP"], "expected METRIC=VALUE"),
    (["--providers", "bm25", "--fail-below", "AP=nan"], "finite number, found nan"),
    (["--providers", "bm25", "--filter", "category"], "--filter: expected NAME=VALUE"),
    (["--providers", "bm25", "--filter", "category=x"], "there are conceptual, factual"),
    (["--providers", "bm25", "--filter", "categry=x"],
     "no query of drinks has a 'categry'; did you mean 'category'?"),
    (["--providers", "bm25", "--filter", "colour=x"],
     "no query of drinks has a 'colour'; there are id, category, difficulty"),
    (["--providers", "bm25", "-m", ""], "--metrics: expected names of metrics, found ''"),
    (["--providers", "bm25", "-m", ","], "--metrics: expected names of metrics, found ','"),
    (["--providers", ""], "--providers: expected names of providers, found ''"),
    (["--providers", "bm25", "--fail-below", ","], "--fail-below: expected METRIC=VALUE"),
    (["--providers", "bm25", "--fail-below", "RR=0,5"], "found 'RR=0,5'"),
    (["--providers", "bm25", "--fail-below"], "--fail-below: expected METRIC=VALUE, as recall@10"),
    (["--providers", "bm25", "--max-drop"], "--max-drop: expected METRIC=VALUE, as nDCG@10=0.01"),
    (["--providers", "bm25", "--baseline", ""], "--baseline is empty; name a file"),
    (["--providers", "bm25", "--fail-below", "RR=-1"], "lies between 0 and 1: at_least -1 would"),
    (["--providers", "bm25", "--fail-below", "R@5=0.1", "recall@5=0.2"],
     "--fail-below: R@5 has two limits, R@5=0.1 and recall@5=0.2; give one"),
    (["--providers", "bm25", "--batch", "0"], "run.batch: input should be greater than or equal"),
    (["--providers", "bm25", "--by", "colour"], "no query of drinks has a 'colour'"),
    (["--providers", "bm25", "--k", "0"], "k: input should be greater than or equal to 1, found 0"),
    (["--providers", "bm25", "--concurrency", "0"], "run.concurrency: input should be greater"),
    (["--providers", "bm25", "--timeout", "-1"], "run.timeout: input should be greater than 0"),
    (["--providers", "bm25", "--k", "ten"], "--k"),
    (["--providers", "bm25", "bm25"], "two providers are called 'bm25'"),
    (["--providers", "bm25", "--benchmarks", "drinks", "./drinks"], "two benchmarks are called"),
    (["--providers", "bm25", "--where-it-fails", "0"], "--where-it-fails must be 1 or more"),
    (["--providers", "bm25", "--quiet", "--verbose"], "choose one of --quiet and --verbose"),
    (["--providers", "bm25", "--output", "drinks/queries.jsonl"], "found a file"),
    (["--providers", "bm25", "--config", "nowhere.yaml"], "nowhere.yaml: no such file"),
    (["--providers", "bm25", "--resume", "run"], "run: holds no run"),
    (["--providers", "bm25", "--retry-errors"], "--retry-errors needs --resume"),
    (["--providers", "bm25", "--resume", "run", "-m", "AP"], "leave out --metrics"),
    (["--providers"], "no providers; give them with --providers"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "said"), CANNOT)
def test_wrong_usage_is_one_line_and_exit_code_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    resuming = "--resume" in arguments
    first = [] if "--benchmarks" in arguments or resuming else ["--benchmarks", "drinks"]
    arguments = arguments[2:] if resuming else arguments
    assert berryeval("eval", *first, *arguments) == 2
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if not line.startswith("warning: Query")]
    assert not out
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert said in lines[0]


def test_an_unreadable_corpus_names_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("drinks/documents.jsonl").write_bytes(b'{"id": "tea", "text": "\xff"}\n')
    assert berryeval(*BM25) == 2
    err = capsys.readouterr().err
    assert "documents.jsonl" in err
    assert err.count("\n") == 1


def test_a_missing_package_names_the_install_command(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['wordllama'] = None\n"
        "from berryeval.cli.app import build_app, run\n"
        "sys.exit(run(build_app(), sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "eval", "--benchmarks", "drinks", "--providers", "dense"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2
    assert 'pip install "wordllama>=0.4"' in done.stderr
    assert "Traceback" not in done.stderr


def test_logs_of_other_packages_are_hidden(tmp_path: Path) -> None:
    script = (
        "import logging, sys\n"
        "from berryeval.cli.app import build_app, run\n"
        "from berryeval.providers.bm25 import Bm25\n"
        "index = Bm25.index\n"
        "def noisy(self, chunks):\n"
        "    logging.warning('noise'); logging.getLogger('bm25s').debug('more noise')\n"
        "    index(self, chunks)\n"
        "Bm25.index = noisy\n"
        "sys.exit(run(build_app(), sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *BM25], capture_output=True, text=True, check=False,
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == "warning: bm25: Query q4 returned no relevant results\n"


def test_the_help_names_every_flag(capsys: pytest.CaptureFixture[str]) -> None:
    """The help is complete, and its example runs."""
    assert berryeval("eval", "--help") == 0
    text = capsys.readouterr().out
    for flag in (
        "--benchmarks", "--providers", "--metrics", "--metrics", "-m", "--k", "--limit",
        "--filter", "--seed", "--concurrency", "--timeout", "--config", "--output", "--resume",
        "--retry-errors", "--by", "--where-it-fails", "--fail-below", "--json", "--quiet",
        "--verbose", "--baseline-doc",
    ):  # fmt: skip
        assert flag in text, flag


def test_commas_separate_names_as_spaces_do(capsys: pytest.CaptureFixture[str]) -> None:
    """A metric under two names is one column."""
    arguments = ["eval", "--benchmarks", "drinks,rag-template", "--providers", "bm25,bm25:fixed-5"]
    arguments += ["-m", "nDCG@10,RR", "-m", "ndcg_cut_10", "--fail-below", "RR=0.001,nDCG@10=2e-3"]
    assert berryeval(*arguments, "--json") == 1  # chunks of five words find nothing
    data = data_of(capsys)
    assert data["plan"]["benchmarks"] == ["drinks", "rag-template"]
    assert [spec["name"] for spec in data["plan"]["providers"]] == ["bm25", "bm25:fixed-5"]
    assert data["plan"]["metrics"] == ["nDCG@10", "RR"]
    assert data["plan"]["thresholds"] == {"RR": 0.001, "nDCG@10": 0.002}


def test_a_path_with_a_comma_is_one_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    Path("drinks").rename("drinks, hot")
    assert berryeval("eval", "--benchmarks", "drinks, hot", "--providers", "bm25", "--json") == 0
    assert data_of(capsys)["plan"]["benchmarks"] == ["drinks, hot"]


def test_an_unknown_group_is_rejected_before_the_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The closest name is suggested, and no folder is created."""
    assert berryeval(*BM25, "--by", "dificulty") == 2
    said = "no query of drinks has a 'dificulty'; did you mean 'difficulty'?"
    assert said in capsys.readouterr().err
    assert not Path("run").exists()


def test_a_provider_that_never_answered_has_no_times(capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.py").write_text("def search(text, k):\n    raise ValueError('no')\n")
    Path("berryeval.yaml").write_text(
        "providers: [{name: broken, type: callable, options: {function: 'broken:search'}}]\n"
        "run: {error_budget: 1}\n"
    )
    assert berryeval(*DRINKS, "-m", "RR") == 3
    (row,) = [line for line in printed(capsys).splitlines() if line.startswith("broken")]
    assert row.split() == ["broken", "0.000", "-", "-", "-", "4", "error"]
    assert berryeval("eval", "--resume", "run", "--json") == 3
    (provider,) = data_of(capsys)["benchmarks"][0]["providers"]
    assert provider["latency_seconds"] == {"p50": None, "p95": None, "p99": None, "max": None}


def test_an_error_is_in_the_envelope_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*BM25, "--filter", "category=x", "--json") == 2
    out, err = capsys.readouterr()
    envelope = json.loads(out)
    assert (envelope["schema_version"], envelope["command"]) == (1, "eval")
    assert envelope["error"]["kind"] == "configuration"
    assert err == f"error: {envelope['error']['message']}\n"
    assert "data" not in envelope


def test_shared_times_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """Concurrent queries and batches are explained; a single query is not."""
    Path("found.py").write_text("def search(text, k):\n    return ['tea']\n")
    Path("berryeval.yaml").write_text(
        "benchmarks: [drinks]\nmetrics: [RR]\n"
        "providers: [bm25, {name: mine, type: callable, options: {function: 'found:search'}}]\n"
    )
    assert berryeval("eval", "--concurrency", "2", "--batch", "3") == 0
    out = capsys.readouterr().out
    said = (
        "times of bm25: with --concurrency 2, queries in this process wait for each other; without "
        "it each is timed alone\n"
    )
    assert said in out
    assert "times of bm25: of batches of up to 3 queries, divided by their size\n" in out
    assert "asked one query per call, because they take no batches: mine\n" in out
    assert berryeval("eval") == 0
    out = capsys.readouterr().out
    assert "times" not in out
    assert "one by one" not in out


def test_remarks_of_a_loader_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    path = BEIR.write(Path("beir"))
    assert berryeval("eval", "--benchmarks", str(path), "--providers", "bm25", "--output", "r") == 0
    said = "queries.jsonl: a query is skipped, without judgments in test.tsv"
    assert f"{said}\n" in capsys.readouterr().out
    assert berryeval("eval", "--resume", "r", "--json") == 0
    (benchmark,) = data_of(capsys)["benchmarks"]
    assert benchmark["queries"] == 2
    assert [remark.endswith(said) for remark in benchmark["remarks"]] == [True]
    assert berryeval("inspect", str(path)) == 0
    assert f"{said}\n" in capsys.readouterr().out


def test_a_batch_flag_changes_no_score(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*BM25, "--json") == 0
    (alone,) = data_of(capsys)["benchmarks"][0]["providers"]
    together_in = ("eval", "--benchmarks", "drinks", "--providers", "bm25", "--output", "other")
    assert berryeval(*together_in, "--batch", "3", "--json") == 0
    (together,) = data_of(capsys)["benchmarks"][0]["providers"]
    assert (alone["batch"], together["batch"]) == (1, 3)
    assert alone["scores"] == together["scores"]


def test_the_seed_is_part_of_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*BM25, "--seed", "7", "--json") == 0
    data: dict[str, Any] = data_of(capsys)
    assert data["plan"]["seed"] == 7


def test_a_drop_against_a_baseline_fails_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*BM25) == 0
    assert berryeval("baseline", "set", "run", "-o", "kept.json") == 0
    capsys.readouterr()
    again = ("eval", "--benchmarks", "drinks", "--providers", "bm25", "--output", "again")
    drop = ("--baseline", "kept.json", "--max-drop", "nDCG@10=0")
    assert berryeval(*again, *drop) == 0
    assert "PASS  nDCG@10 is unchanged: all 4 queries" in capsys.readouterr().out
    assert berryeval(*BM25[:-2], "--resume", "again") == 2
    capsys.readouterr()
    assert berryeval("eval", "--resume", "again", "--json") == 0
    assert data_of(capsys)["passed"] is True


def test_a_baseline_without_rules_forbids_drops(capsys: pytest.CaptureFixture[str]) -> None:
    """Every shared metric is judged; a report of the run judges alike."""
    assert berryeval(*BM25, "-m", "nDCG@10", "RR") == 0
    assert berryeval("baseline", "set", "run", "-o", "kept.json") == 0
    capsys.readouterr()
    again = ("eval", "--benchmarks", "drinks", "--providers", "bm25", "--output", "again")
    assert berryeval(*again, "-m", "RR", "P@3", "--baseline", "kept.json") == 0
    printed = capsys.readouterr().out
    assert "no rule about drops: any significant drop fails\nbm25 on drinks\n" in printed
    assert "PASS  RR is unchanged: all 4 queries" in printed
    assert "P@3 is unchanged" not in printed
    assert berryeval("report", "again", "--format", "markdown") == 0
    assert "RR is unchanged: all 4 queries" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (("--baseline", "none.json", "--max-drop", "nDCG@10=0"), "'none.json' is no file"),
        (("--max-drop", "nDCG@10=0"), "needs a baseline"),
        (("--baseline", "kept.json", "--k", "7"), "asked bm25 for 20"),
        (("--baseline", "kept.json", "--max-drop", "P@3=0"), "has no P@3 of bm25"),
        (("--baseline", "kept.json", "--max-drop", "nDCG@10=0", "--k", "7"), "asked bm25 for 20"),
        (("--baseline", "kept.json", "--max-drop", "nDCG@10=0.999"), "would never fail: in the"),
        (("--config", "where.yaml"), "covers no query of drinks; values of category there: "),
        (
            ("--config", "benchmark.yaml"),
            "names the benchmark 'drink', but the run",
        ),
    ],
)
def test_rules_that_cannot_be_judged_are_rejected_before_the_run(
    flags: tuple[str, ...], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is asked, and no folder is created."""
    rule = "gate: {{rules: [{{metric: RR, at_least: 0.1, {0}}}]}}\n"
    Path("where.yaml").write_text(rule.format("where: {category: poem}"), encoding="utf-8")
    Path("benchmark.yaml").write_text(rule.format("benchmarks: [drink]"), encoding="utf-8")
    assert berryeval(*BM25) == 0
    assert berryeval("baseline", "set", "run", "-o", "kept.json") == 0
    capsys.readouterr()
    again = ("eval", "--benchmarks", "drinks", "--providers", "bm25", "--output", "again")
    assert berryeval(*again, *flags) == 2
    assert word in capsys.readouterr().err
    assert not Path("again").exists()


def test_a_provider_without_a_baseline_is_rejected_unless_its_name_is_a_mistake(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`--config none` leaves out the gate of the file that is there."""
    assert berryeval(*BM25) == 0
    assert berryeval("baseline", "set", "run", "-o", "kept.json") == 0
    gate = "gate: {baseline: kept.json, rules: [{metric: RR, max_drop: 0}]}\n"
    Path("berryeval.yaml").write_text(gate, encoding="utf-8")
    capsys.readouterr()
    again = ("eval", "--benchmarks", "drinks", "--output", "again", "--providers")
    assert berryeval(*again, "bm52") == 2
    assert "unknown provider 'bm52'; did you mean 'bm25'?" in capsys.readouterr().err
    assert berryeval(*again, "bm25:whole") == 2
    assert "has no bm25:whole on drinks" in (said := capsys.readouterr().err)
    assert "--config none leaves out the rules of berryeval.yaml" in said
    assert not Path("again").exists()
    assert berryeval(*again, "bm25:whole", "--config", "none") == 0


def test_a_run_is_no_baseline_of_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """A resumed run is rejected, too; a file of the run is accepted."""
    assert berryeval(*BM25) == 0
    assert berryeval("baseline", "set", "run", "-o", "kept.json") == 0
    capsys.readouterr()
    again = ("eval", "--resume", "run", "--max-drop", "nDCG@10=0")
    assert berryeval(*again, "--baseline", "run") == 2
    assert "is the run run itself, which cannot drop below itself" in capsys.readouterr().err
    assert berryeval(*again, "--baseline", "kept.json") == 0


def test_a_baseline_of_other_queries_is_rejected_before_the_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    easy = ("--filter", "difficulty=easy")
    assert berryeval(*BM25, *easy) == 0
    other = ("eval", "--benchmarks", "drinks", "--providers", "bm25", "--output", "other")
    hard = ("--filter", "difficulty=hard", "--baseline", "run", "--max-drop", "nDCG@10=0")
    assert berryeval(*other, *hard) == 2
    assert "has none of the queries that bm25 was asked on drinks" in capsys.readouterr().err
    assert not Path("other").exists()


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ("[{errors: true, at_most: 0.25}]", 0),
        ("[{errors: true, at_most: 0.2}]", 3),
        ("[{errors: true, at_most: 0.25}, {errors: true, at_most: 0}]", 3),
        ("[{errors: true, at_most: 0.25, providers: [bm25]}]", 3),
        ("[{metric: RR, at_least: 0.01}]", 3),
    ],
)
def test_a_rule_about_errors_allows_them(rules: str, code: int) -> None:
    """A failed query does not fail the run if a passing rule covers it."""
    Path("flaky.py").write_text(
        "def search(text, k):\n"
        "    if 'zymurgy' in text:\n        raise ValueError('no')\n    return ['tea']\n"
    )
    Path("berryeval.yaml").write_text(
        "providers: [bm25, {name: mine, type: callable, options: {function: 'flaky:search'}}]\n"
        f"run: {{error_budget: 1}}\ngate: {{rules: {rules}}}\n"
    )
    assert berryeval(*DRINKS, "-m", "RR") == code


def test_absent_marks_and_files_are_not_mentioned(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*DRINKS, "--providers", "bm25", "bm25:section", "--metrics", "RR") == 0
    out = capsys.readouterr().out
    assert "*" not in out
    assert "each value with its 95 % bootstrap confidence interval" in out
    assert "run.trec: rankings" in out
    tea, *others = DRINKS_BENCHMARK.documents
    documents = (replace(tea, id="green tea"), *others)
    judgments = (Judgment("q1", Anchor(document="green tea"), 1),)
    odd = replace(DRINKS_BENCHMARK, documents=documents, judgments=judgments, thresholds={})
    write_benchmark(replace(odd, queries=odd.queries[:1]), "odd")
    assert berryeval("eval", "--benchmarks", "odd", "--providers", "bm25", "--output", "o") == 0
    out = capsys.readouterr().out
    assert "its 95 % interval" not in out
    assert "run.trec was not written" in out
    assert "run.trec: rankings" not in out
    assert "scores.json: scores of every query" in out


def test_the_format_and_its_options_may_be_flags(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tea.md").write_text("Green tea steeps at 80 degrees.")
    (tmp_path / "docs" / "beans.md").write_text("Coffee is made of ground beans.")
    golden = tmp_path / "golden.csv"
    golden.write_bytes("Frage;Seite\nGreen tea, h\u00f6w hot?;tea\n".encode("cp1252"))
    docs = f"corpus={tmp_path / 'docs'}"
    columns = ("text=Frage", "document=Seite", "encoding=cp1252")
    flags = (str(golden), "--providers", "bm25", "-m", "RR", "--json", "--store", "none")
    assert berryeval("eval", *flags, "--format", "csv", "--options", docs, *columns) == 0
    (provider,) = data_of(capsys)["benchmarks"][0]["providers"]
    assert provider["scores"]["metrics"]["RR"]["value"] == 1.0
    assert berryeval("eval", *flags, "--format", "csv", "--options", docs, columns[2]) == 2
    assert "no column with the query" in capsys.readouterr().err
    assert berryeval("eval", "--format", "csv", "--providers", "bm25") == 2
    said = "--format and --options describe benchmarks on the command line; name them there"
    assert said in capsys.readouterr().err


def test_warnings_about_queries_are_one_line_for_each_provider(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    unknown = tuple(replace(one, text="zymurgy") for one in DRINKS_BENCHMARK.queries)
    write_benchmark(replace(DRINKS_BENCHMARK, queries=unknown), tmp_path / "unknown")
    command = ("eval", str(tmp_path / "unknown"), "--providers", "bm25", "bm25:fixed-5", "-m", "RR")
    assert berryeval(*command) == 0
    words = "Query q1 returned no relevant results (and 3 more like it: q2, q3, …)"
    assert [line for line in capsys.readouterr().err.splitlines() if "q1" in line] == [
        f"warning: {name}: {words}" for name in ("bm25", "bm25:fixed-5")
    ]
    assert berryeval(*command, "--verbose") == 0
    lines = capsys.readouterr().err.splitlines()
    assert "debug: bm25:fixed-5: Query q4 returned no relevant results" in lines


def test_our_warnings_have_no_source_path() -> None:
    command = [sys.executable, "-m", "berryeval", "eval", "drinks", "--providers", "bm25:code"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    warned = [line for line in done.stderr.splitlines() if "supported language" in line]
    assert len(warned) == 1
    assert warned[0].startswith("warning: ")
    assert ".py" not in done.stderr
    quiet = subprocess.run([*command, "--quiet"], capture_output=True, text=True, check=True)
    assert quiet.stderr == ""


def test_thresholds_that_are_goals_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["eval", "--benchmarks", "technical-docs", "--providers", "bm25", "--limit", "2"]
    assert berryeval(*asked, "--baseline-doc", "page.md") == 0
    out = " ".join(capsys.readouterr().out.split())
    said = "P@5 and R@10 are goals: no bundled provider reaches them, and R@10 needs a strong model"
    assert f"thresholds of the benchmark: RR 0.7, P@5 0.7, R@10 0.75 ({said})" in out
    assert f"\n\n{said}.\n\n" in Path("page.md").read_text("utf-8")
