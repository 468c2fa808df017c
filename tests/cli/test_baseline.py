"""`berryeval baseline set|show|diff`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from berryeval.cli.app import build_app, run
from tests.cli.gate_world import outcome_of, write_runs
from tests.gates.worlds import run_of

FILE = "berryeval-baseline.json"


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with runs."""
    monkeypatch.chdir(tmp_path)
    write_runs(tmp_path)


def test_set_writes_a_file_to_commit(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["baseline", "set", "before.json"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(
        f"baseline written to {FILE}: bm25 on drinks\npower of one rule: with 40 "
    )
    first = Path(FILE).read_bytes()
    assert run(build_app(), ["baseline", "set", "before.json", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert (data["run"], data["left_out"], data["power"]["fewest"]) == ("before", [], 6)
    assert data["parts"][0]["queries"] == 40
    assert Path(FILE).read_bytes() == first
    assert sum(b'"nDCG@10": [' in line for line in first.splitlines()) == 1


def test_names_of_a_record_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    record = run_of({"nDCG@10": [0.5, 0.7]}, name="foreign", outcomes={"ok": 1, "error": 1})
    (part,) = record.benchmarks
    names = ("\x1b[2Jbm25", "\x1b]0;dense\x07")
    providers = [replace(part.providers[0], name=name) for name in names]
    providers[1] = replace(providers[1], scores=None, standard=None, failure="gone")
    foreign = replace(record, benchmarks=(replace(part, providers=tuple(providers)),))
    Path("foreign.json").write_text(foreign.dumps(), encoding="utf-8")
    assert run(build_app(), ["baseline", "set", "foreign.json", "--allow-errors"]) == 0
    shown = capsys.readouterr()
    assert all(name[1:-1] in shown.out and "\x1b" not in shown.out + shown.err for name in names)


def test_a_run_without_scores_overwrites_no_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["baseline", "set", "before.json"]) == 0
    kept = Path(FILE).read_bytes()
    assert run(build_app(), ["baseline", "set", "failed.json"]) == 2
    assert "no provider of failed has scores" in capsys.readouterr().err
    assert Path(FILE).read_bytes() == kept


@pytest.mark.parametrize("place", ["folder", "taken/b.json"])
def test_a_file_that_cannot_be_written_is_named(
    place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("folder").mkdir()
    Path("taken").write_text("", encoding="utf-8")
    assert run(build_app(), ["baseline", "set", "before.json", "--output", place]) == 2
    shown = capsys.readouterr()
    assert place.split("/", maxsplit=1)[0] in shown.err
    assert "bug" not in shown.err
    assert not shown.out


def test_show_prints_the_values(capsys: pytest.CaptureFixture[str]) -> None:
    run(build_app(), ["baseline", "set", "before.json"])
    capsys.readouterr()
    assert run(build_app(), ["baseline", "show"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{FILE}: run before of 2026-11-15T10:00:00+00:00"
    assert [line.split()[:4] for line in lines[3:]] == [
        ["drinks", "bm25", "40", "nDCG@10"],
        ["drinks", "bm25", "40", "RR"],
    ]
    assert run(build_app(), ["baseline", "show", "--json"]) == 0
    (part,) = json.loads(capsys.readouterr().out)["data"]["parts"]
    assert lines[3].split()[4:] == [f"{part['values']['nDCG@10']:.4f}", "mean"]


def test_show_prints_sums_and_geometric_means(capsys: pytest.CaptureFixture[str]) -> None:
    values = {"GMAP": [0.25, 1.0], "NumRelRet": [3.0, 4.0], "RR": [0.25, 1.0]}
    record = run_of(values)
    hows = ("geometric mean", "sum", "mean")
    (part,) = record.benchmarks
    provider = part.providers[0]
    assert provider.scores is not None
    provider = replace(provider, scores=replace(provider.scores, aggregates=hows))
    record = replace(record, benchmarks=(replace(part, providers=(provider,)),))
    Path("sums.json").write_text(record.dumps(), encoding="utf-8")
    assert run(build_app(), ["baseline", "set", "sums.json"]) == 0
    data = json.loads(Path(FILE).read_text(encoding="utf-8"))
    assert data["parts"][0].pop("aggregates") == {"GMAP": "geometric mean", "NumRelRet": "sum"}
    Path("old.json").write_text(json.dumps(data), encoding="utf-8")
    for file in (FILE, "old.json"):
        capsys.readouterr()
        assert run(build_app(), ["baseline", "show", file]) == 0
        rows = [
            line.rstrip().split(maxsplit=5)[3:] for line in capsys.readouterr().out.splitlines()[3:]
        ]
        assert rows == [
            ["GMAP", "0.5000", "geometric mean"],
            ["NumRelRet", "7.0000", "sum"],
            ["RR", "0.6250", "mean"],
        ]


def test_diff_names_items_missing_from_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    before = run_of({"nDCG@10": [0.5, 0.6], "RR": [0.5, 1.0]}, name="whole")
    (part,) = before.benchmarks
    dense = replace(part.providers[0], name="dense")
    parts = (replace(part, providers=(*part.providers, dense)), replace(part, name="food"))
    Path("whole.json").write_text(replace(before, benchmarks=parts).dumps(), encoding="utf-8")
    less = run_of({"nDCG@10": [0.5, 0.6]}, name="less")
    Path("less.json").write_text(less.dumps(), encoding="utf-8")
    asked = ("baseline", "diff", "less.json", "--baseline", "whole.json")
    found = outcome_of(capsys, *asked)
    for word in ("PASS  nDCG@10 is unchanged", "has RR of bm25 on drinks, the run does not",
                 "has dense on drinks", "has bm25 on food"):  # fmt: skip
        assert word in found
    assert found.endswith("exit code 0\n")
    assert outcome_of(capsys, *asked, "--strict").endswith("exit code 1\n")


def test_diff_finds_runs_like_the_gate(capsys: pytest.CaptureFixture[str]) -> None:
    asked = run_of({"nDCG@10": [0.5, 0.6]}, name="asked")
    (part,) = asked.benchmarks
    (bm25,) = run_of({"RR": [0.5, 1.0]}).benchmarks[0].providers
    whole = replace(part, providers=(replace(part.providers[0], standard=bm25.scores),))
    Path("asked.json").write_text(replace(asked, benchmarks=(whole,)).dumps(), encoding="utf-8")
    before = run_of({"RR": [0.5, 1.0]}, name="ranks")
    Path("ranks.json").write_text(before.dumps(), encoding="utf-8")
    found = outcome_of(capsys, "baseline", "diff", "asked.json", "--baseline", "ranks.json")
    assert "PASS  RR is unchanged" in found


@pytest.mark.parametrize("text", ["mean value", 3])
def test_an_unknown_aggregate_is_rejected(text: object, capsys: pytest.CaptureFixture[str]) -> None:
    run(build_app(), ["baseline", "set", "before.json"])
    data = json.loads(Path(FILE).read_text(encoding="utf-8"))
    data["parts"][0]["aggregates"] = {"RR": text}
    Path(FILE).write_text(json.dumps(data), encoding="utf-8")
    assert run(build_app(), ["baseline", "show"]) == 2
    assert f"{FILE}.parts[0].aggregates['RR']: expected" in capsys.readouterr().err


def test_a_repeated_part_is_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    run(build_app(), ["baseline", "set", "before.json"])
    data = json.loads(Path(FILE).read_text(encoding="utf-8"))
    data["parts"] *= 2
    Path(FILE).write_text(json.dumps(data), encoding="utf-8")
    assert run(build_app(), ["baseline", "diff", "worse.json"]) == 2
    assert "parts has bm25 on drinks 2 times" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "strict", "code", "word"),
    [
        ("same", False, 0, "is unchanged"),
        ("worse", False, 1, "FAIL  nDCG@10 dropped by 0.1"),
        ("noisy", False, 0, "INCONCLUSIVE  nDCG@10 dropped"),
        ("noisy", True, 1, "INCONCLUSIVE  nDCG@10 dropped"),
        ("other-data", False, 2, "none of 40 queries of drinks is as it was in the baseline"),
        (
            "failed",
            False,
            1,
            "FAIL  RR has no value because bm25 has no scores: the server went away",
        ),
        ("two", False, 0, "hybrid on drinks is new and not in the baseline"),
        ("two", True, 1, "hybrid on drinks is new and not in the baseline"),
        ("few", False, 0, "INCONCLUSIVE  nDCG@10 is unchanged: all 10 shared queries"),
        ("few", True, 1, "30 queries of the baseline are missing from the run"),
        ("empty", False, 2, "share no provider, benchmark and metric"),
    ],
)
def test_diff_prints_the_changes(
    name: str,
    strict: bool,
    code: int,
    word: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(build_app(), ["baseline", "set", "before.json"])
    flags = ["--strict"] if strict else []
    found = outcome_of(capsys, "baseline", "diff", f"{name}.json", *flags)
    assert word in found
    assert found.endswith(f"exit code {code}\n")


@pytest.mark.parametrize(
    "command", ["baseline diff two-lost.json", "gate two-lost.json --max-drop RR=0"]
)
def test_a_new_provider_that_failed_fails(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = outcome_of(capsys, *f"{command} --baseline before.json".split())
    assert "hybrid on drinks\n  FAIL  " in found
    assert "has no scores: the server went away" in found
    assert found.endswith("exit code 1\n")


def test_diff_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["baseline", "diff", "worse.json", "--baseline", "before.json",
                             "--json"]) == 1  # fmt: skip
    data = json.loads(capsys.readouterr().out)["data"]
    assert (data["passed"], data["strict"]) == (False, False)
    assert [one["status"] for one in data["verdicts"]] == ["fail", "pass"]
    sentence = "nDCG@10 dropped by 0.150, 95 % CI [-0.188, -0.150] (p < 0.001)"
    assert data["verdicts"][0]["sentence"] == sentence


def test_failed_queries_make_no_baseline_unless_allowed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(build_app(), ["baseline", "set", "errors.json"]) == 2
    refused = capsys.readouterr().err
    words = (
        "4 of 40 queries of bm25 on drinks failed and score 0: as a baseline they hide later "
        "drops of these queries"
    )
    assert words in refused
    assert "--retry-errors" in refused
    assert not Path(FILE).exists()
    assert run(build_app(), ["baseline", "set", "errors.json", "--allow-errors"]) == 0
    assert capsys.readouterr().err == f"warning: {words}\n"
    assert run(build_app(), ["baseline", "set", "errors.json", "--allow-errors", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["failed_queries"] == [
        {"benchmark": "drinks", "provider": "bm25", "failed": 4, "queries": 40}
    ]


def test_diff_compares_unregistered_metrics(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, values in {"a": [0.5, 0.6], "b": [0.5, 0.6]}.items():
        run_file = run_of({"TheirOwn": values}, name=name)
        Path(f"{name}.json").write_text(run_file.dumps(), encoding="utf-8")
    found = outcome_of(capsys, "baseline", "diff", "b.json", "--baseline", "a.json")
    assert "PASS  TheirOwn is unchanged" in found
    both = run_of({"RR": [0.5, 0.6], "TheirOwn": [0.5, 0.6]}, name="c")
    Path("c.json").write_text(both.dumps(), encoding="utf-8")
    only = run_of({"RR": [0.5, 0.6]}, name="d")
    Path("d.json").write_text(only.dumps(), encoding="utf-8")
    found = outcome_of(capsys, "baseline", "diff", "d.json", "--baseline", "c.json")
    assert "the baseline has TheirOwn of bm25 on drinks, the run does not measure it" in found
    assert "rescore" not in found  # nothing here knows the metric
    assert found.endswith("exit code 0\n")


@pytest.mark.parametrize("text", ["{", "[]", '{"schema_version": 9, "parts": []}', "{}"])
def test_a_broken_file_is_rejected(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.json").write_text(text, encoding="utf-8")
    assert run(build_app(), ["baseline", "show", "broken.json"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error: broken.json")
    assert "bug" not in shown
