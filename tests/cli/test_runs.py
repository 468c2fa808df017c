"""`berryeval runs`: list, show, trend, export, import and prune; and the store that eval writes."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from berryeval.runs.store.store import open_store
from tests.cli.eval_world import STORE, berryeval, data_of, fill_store
from tests.cli.terminal import on_a_terminal
from tests.runs.kept import run_of

if TYPE_CHECKING:
    from berryeval.runs.record import RunRecord

pytestmark = pytest.mark.usefixtures("drinks_folder")

EVAL = ("eval", "--benchmarks", "drinks", "--providers", "bm25", "--metrics", "nDCG@10", "RR")


def run_file() -> Path:
    """The record of the only run that has a folder."""
    (file,) = Path(".berryeval/runs").glob("*/run.json")
    return file


def test_eval_remembers_its_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*EVAL, "--quiet") == 0
    capsys.readouterr()
    record = run_file().read_text(encoding="utf-8").strip()
    with open_store(STORE, make=False) as store:
        (name,) = store.names()
        assert store.get(name).dumps() == record
    assert berryeval("eval", "--resume", str(run_file().parent), "--quiet") == 0
    with open_store(STORE, make=False) as store:
        assert store.names() == [name]


def test_flags_variables_and_the_file_locate_the_store(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WHERE", "from-env")
    (tmp_path / "conf").mkdir()
    config = Path("conf/berryeval.yaml")
    config.write_text(
        "benchmarks: [../drinks]\nproviders: [bm25]\nstore: kept/a.db\n", encoding="utf-8"
    )
    assert berryeval("eval", "--config", str(config), "-q") == 0
    assert Path("conf/kept/a.db").exists()
    monkeypatch.setenv("BERRYEVAL_STORE", "${WHERE}.db")
    assert berryeval("eval", "--config", str(config), "-q") == 0
    assert Path("from-env.db").exists()
    assert berryeval(*EVAL, "-q", "--store", "flag.db") == 0
    assert Path("flag.db").exists()
    assert berryeval(*EVAL, "-q", "--store", "none") == 0
    assert not STORE.exists()
    for file in Path(".berryeval/runs").glob("*/*.json"):
        assert "flag.db" not in file.read_text(encoding="utf-8")


def test_a_store_that_cannot_be_written_costs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Path("blocked").write_text("a file, no folder", encoding="utf-8")
    assert berryeval(*EVAL, "--store", "blocked/x.db", "--json", "--output", "run") == 0
    kept = data_of(capsys)["store"]
    assert kept["run"] is None
    assert kept["problem"].startswith("the store blocked/x.db cannot be created")
    assert berryeval(*EVAL, "--store", "blocked/x.db", "--quiet") == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "error: this run is not in the store: the store blocked/x.db cannot be created" in said
    command = re.search(r"berryeval (runs import \S+ --store blocked/x.db)", said)
    assert command
    Path("blocked").unlink()
    assert berryeval(*command[1].split()) == 0
    with open_store("blocked/x.db", make=False) as store:
        assert len(store.names()) == 1


def test_an_impossible_store_is_rejected_before_the_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert berryeval(*EVAL, "--store", "oracle://me:hunter2@x/y") == 2
    said = capsys.readouterr().err
    assert "expected a path, sqlite:///path, or postgresql://user@host/name" in said
    assert "hunter2" not in said
    assert not Path(".berryeval").exists()


def local(record: RunRecord) -> str:
    """When a run was made, by the clock of this place."""
    return datetime.fromisoformat(record.created).astimezone().strftime("%Y-%m-%d %H:%M")


def test_the_list_has_one_clock_and_the_order_that_was_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    far = replace(run_of(2), created="2026-01-01T12:00:00+10:00")
    fill_store(run_of(1), far)
    assert berryeval("runs", "list", "-m", "RR,nDCG@10", "--provider", "bm25") == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[-2:] == ["RR", "nDCG@10"]
    assert local(far) in rows[0]
    assert local(run_of(1)) in rows[1]
    assert berryeval("runs", "list", "-m", "nDCG@10", "mrr", "mrr") == 0
    assert capsys.readouterr().out.splitlines()[0].split()[-2:] == ["nDCG@10", "RR"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("width", [40, 64, 80, 140])
def test_names_of_runs_are_whole_on_any_terminal(
    width: int, clean_environment: dict[str, str]
) -> None:
    name = "2026-02-21T14-30-00-technical-docs"
    fill_store(run_of(1, name=name))
    command = ("runs", "list", "-m", "nDCG@10", "RR")
    environment = {**clean_environment, "TERM": "xterm-256color", "COLUMNS": str(width)}
    code, text = on_a_terminal(*command, **environment)
    assert code == 0, text
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert name in shown
    assert max(len(line.rstrip()) for line in shown.splitlines()) <= width or width < 60
    scores = run_of(1)["fruit"]["dense"].scores
    assert scores is not None
    assert all(f"{scores.mean[one]:.3f}" in shown for one in ("nDCG@10", "RR")) or width < 60


def test_runs_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    fill_store(run_of(1), run_of(2), run_of(3, providers=("splade",)))
    assert berryeval("runs", "list", "--provider", "dense") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    value = run_of(2)["fruit"]["dense"].scores
    assert value is not None
    low, high = value.ci("nDCG@10")
    assert lines[0] == ["run", "when", "benchmark", "provider", "nDCG@10"]
    assert lines[1] == [
        "run-0002", *local(run_of(2)).split(), "fruit", "dense", f"{value.mean['nDCG@10']:.3f}",
        f"{low:.2f}-{high:.2f}",
    ]  # fmt: skip
    assert [line[0] for line in lines[1:-1]] == ["run-0002", "run-0001"]
    assert " ".join(lines[-1]) == "each value with its 95 % bootstrap confidence interval"
    assert berryeval("runs", "list", "-m", "mrr,recall@5", "--limit", "1", "--json") == 0
    ((result,),) = [run["results"] for run in data_of(capsys, "runs list")["runs"]]
    assert [value["metric"] for value in result["values"]] == ["RR", "R@5"]
    assert berryeval("runs", "list", "--since", "2026-01-01T02:00+00:00") == 0
    assert capsys.readouterr().out.count("run-") == 2
    assert berryeval("runs", "list", "--until", "2025-12-30") == 0
    assert "no matching runs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("list", "--provider", "bm52"), "has a provider 'bm52'; did you mean 'bm25'?"),
        (("list", "--benchmark", "nut"), "has a benchmark 'nut'; there are fruit"),
        (("list", "--since", "soon"), "--since: expected a date (2026-02-21), a time or an age"),
        (("list", "-m", "foo@3"), "has 'foo@3'; there are "),
        (
            ("list", "-m", "RR", "P@7"),
            "runs rescore run-0002 -m P@7 --save adds it to that run",
        ),
        (("list", "--limit", "-1"), "--limit must be 0 or more, found -1"),
        (("list", "--store", "none"), "the store is turned off"),
        (("list", "--store", "other.db"), "there is no store at other.db"),
        (("show", "run-01"), "did you mean run-0001 or run-0002?"),
        (("show", "run-000"), "is the beginning of 2 runs: run-0002, run-0001; give more"),
        (("show", "latest~2"), "no run 'latest~2'"),
        (("trend", "ndgc@10"), "has 'ndgc@10'; did you mean 'nDCG@10'?"),
        (("trend", "P@7"), "runs rescore run-0002 -m P@7 --save adds it to that run"),
        (("trend", "P(rel=2)@5"), "runs rescore run-0002 -m 'P(rel=2)@5' --save"),
        (("trend", "RR", "-o", "x.doc"), "x.doc: expected a name that ends in .svg, .html, .csv"),
        (("prune",), "say which runs to delete"),
        (("prune", "--keep", "-1"), "--keep must be 0 or more"),
        (("prune", "--older-than", "old"), "--older-than: expected an age such as 90d, 12h or 2w"),
        (("prune", "--keep", "1"), "there is no terminal to confirm on; add --yes"),
        (("export",), "name one RUN (or latest), or give a folder with --all"),
        (("import", "nowhere"), "nowhere: no such file or folder"),
        (("import", "drinks"), "drinks: holds no finished run"),
    ],
)
def test_wrong_usage_is_rejected(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    fill_store(run_of(1), run_of(2))
    assert berryeval("runs", *arguments) == 2
    assert message in capsys.readouterr().err
    with open_store(STORE) as store:
        assert len(store.names()) == 2


def test_one_run_is_shown_from_the_store_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*EVAL) == 0
    printed = capsys.readouterr().out
    (row,) = [line for line in printed.splitlines() if line.startswith("bm25 ")]
    folder = run_file().parent
    folder.rename("elsewhere")
    for name in (folder.name, folder.name[:-3], "latest", "latest~0"):
        assert berryeval("runs", "show", name) == 0
        assert row in capsys.readouterr().out.splitlines()
    assert berryeval("runs", "show", "elsewhere", "--json") == 0
    shown = data_of(capsys, "runs show")
    assert shown["folder"] == "elsewhere"
    assert shown["benchmarks"][0]["providers"][0]["outcomes"] == {"ok": 3, "empty": 1}


def test_the_latest_is_the_newest_of_folders_and_store(capsys: pytest.CaptureFixture[str]) -> None:
    fill_store(run_of(1))
    assert berryeval(*EVAL, "--quiet", "--store", "none") == 0
    capsys.readouterr()
    found = []
    for name in ("latest", "latest~1"):
        assert berryeval("runs", "show", name, "--json") == 0
        found.append(data_of(capsys, "runs show")["run"])
    assert found == [run_file().parent.name, "run-0001"]


def test_of_runs_of_one_second_the_latest_began_last(capsys: pytest.CaptureFixture[str]) -> None:
    """Names do not decide: `latest` is what was typed last, also in a script."""
    assert berryeval(*EVAL, "--quiet", "--store", "none") == 0
    first = run_file().parent.rename(run_file().parent.with_name("2026-01-01T00-00-00-zebra"))
    second = Path(shutil.copytree(first, first.with_name("2026-01-01T00-00-00-apple")))
    for age, folder in enumerate((second, first)):
        os.utime(folder / "manifest.json", (2e9 - age, 2e9 - age))
    for command, options in (("runs show", ()), ("eval", ("--store", "none", "--resume"))):
        capsys.readouterr()
        assert berryeval(*command.split(), *options, "latest", "--json") == 0
        assert data_of(capsys, command)["folder"].endswith("apple")


def test_a_store_that_is_broken_hides_no_folder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert berryeval(*EVAL, "--quiet", "--store", "none") == 0
    name = run_file().parent.name
    Path("broken.db").write_text("no database, and long enough to look at" * 9, encoding="utf-8")
    for store in ("broken.db", "postgresql://u@127.0.0.1:1/x"):
        monkeypatch.setenv("BERRYEVAL_STORE", store)
        for text in ("latest", name[:-2]):
            capsys.readouterr()
            assert berryeval("runs", "show", text, "--json") == 0
            printed = capsys.readouterr()
            assert json.loads(printed.out)["data"]["run"] == name
            assert "warning: continuing without the store: " in printed.err
            assert berryeval("report", text, "-f", "md") == 0
            assert "warning: continuing without the store: " in capsys.readouterr().err
            assert berryeval("runs", "show", text, "--store", store) == 2
        capsys.readouterr()
        assert berryeval("runs", "show", "other") == 2
        assert "no run 'other'" in capsys.readouterr().err


def test_an_unfinished_run_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*EVAL, "--quiet") == 0
    done = run_file().parent
    later = json.loads((done / "manifest.json").read_text("utf-8"))
    later["created"] = "2999-01-01T00:00:00+00:00"
    begun = done.with_name("2999-begun")
    begun.mkdir()
    (begun / "manifest.json").write_text(json.dumps(later), encoding="utf-8")
    capsys.readouterr()
    for text in ("2999-begun", "2999"):
        assert berryeval("report", text) == 2
        said = capsys.readouterr().err
        assert "2999-begun: holds no finished run" in said
        assert f"to resume it: berryeval eval --resume {begun}" in said
    assert berryeval("runs", "show", "latest", "--json") == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["data"]["run"] == done.name
    assert f"latest is {done.name}: the newer 2999-begun is not finished" in printed.err
    assert berryeval("runs", "show", done.name) == 0
    assert "not finished" not in capsys.readouterr().err


def test_files_bring_everything_back(capsys: pytest.CaptureFixture[str]) -> None:
    records = [run_of(1), run_of(2), replace(run_of(3), id="a/../b:c")]
    fill_store(*records)
    assert berryeval("runs", "export", "--all", "out") == 0
    assert "3 runs written to out" in capsys.readouterr().out
    assert berryeval("runs", "export", "run-0001", "-o", "one.json.gz") == 0
    assert len(list(Path("out").iterdir())) == 3  # none of them elsewhere, whatever a run is called
    STORE.unlink()
    assert berryeval("runs", "import", *map(str, Path("out").iterdir()), "one.json.gz") == 0
    said = capsys.readouterr().out
    assert said.count(": added") == 3
    assert "run-0001: there already" in said
    with open_store(STORE) as store:
        for record in records:
            assert store.get(record.id).dumps() == record.dumps()
    assert berryeval("runs", "export", "run-0002") == 0
    assert (
        capsys.readouterr().out
        == records[1].dumps().encode(errors="backslashreplace").decode() + "\n"
    )


def test_exported_files_can_be_imported(capsys: pytest.CaptureFixture[str]) -> None:
    records = [run_of(1), run_of(2), run_of(3), run_of(4)]
    fill_store(*records)
    assert berryeval("runs", "export", "--all", "out") == 0
    Path("out/run-0002.json").unlink()
    assert berryeval("runs", "export", "run-0002", "-o", "out/deep/two.json.gz") == 0
    Path("out/run-0003.json").unlink()
    Path("out/run-0004.json").unlink()
    assert berryeval("report", "run-0003", "run-0004", "-o", "out/both.json") == 0
    Path("out/settings.json").write_text('{"id": 3}', encoding="utf-8")
    Path("out/list.txt").write_text("no record", encoding="utf-8")
    STORE.unlink()
    capsys.readouterr()
    assert berryeval("runs", "import", "out") == 0
    assert capsys.readouterr().out.count(": added") == 4
    with open_store(STORE) as store:
        for record in records:
            assert store.get(record.id).dumps() == record.dumps()
    Path("out/run-0001.json").write_text("{damaged", encoding="utf-8")
    assert berryeval("runs", "import", "out") == 2
    printed = capsys.readouterr()
    assert "out/run-0001.json:1: not valid JSON" in printed.err
    assert printed.out.count("there already") == 3


def test_an_unfinished_run_does_not_stop_an_import(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert berryeval(*EVAL, "--quiet", "--store", "none", "--output", "a") == 0
    Path("b").mkdir()
    Path("b/manifest.json").write_text("{}", encoding="utf-8")
    Path("c.json").write_text("[]", encoding="utf-8")
    capsys.readouterr()
    assert berryeval("runs", "import", "b", "nowhere", "c.json", "a") == 2
    printed = capsys.readouterr()
    assert printed.out == "a: added\n"
    assert "b: holds no finished run" in printed.err
    assert "to resume it: berryeval eval --resume b; nowhere: no such file" in printed.err
    assert "c.json: expected an object, found array" in printed.err
    assert printed.err.count("\n") == 1
    assert berryeval("runs", "import", "b", "a", "--json") == 2
    assert [one["how"] for one in data_of(capsys, "runs import")["runs"]] == ["", "there already"]
    assert berryeval("runs", "import", "nowhere", "--store", "new.db") == 2
    assert not Path("new.db").exists()


def test_a_store_that_was_deleted_comes_back_from_the_folders(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert berryeval(*EVAL, "--quiet") == 0
    STORE.unlink()
    assert berryeval("runs", "import") == 0
    with open_store(STORE) as store:
        assert store.get("".join(store.names())).dumps() == run_file().read_text("utf-8").strip()
    assert "added" in capsys.readouterr().out


def test_an_invalid_file_does_not_stop_an_import(
    capsys: pytest.CaptureFixture[str],
) -> None:
    old = run_of(1)
    fill_store(old)
    new = replace(old, config_hash="sha256:new")
    Path("a.json").write_text('{"schema_version": 1, "id": 3}', encoding="utf-8")
    Path("b.json").write_text(new.dumps().encode(errors="backslashreplace").decode(), "utf-8")
    assert berryeval("runs", "import", "a.json", "b.json") == 2
    printed = capsys.readouterr()
    assert "a.json.id: expected a string, found number 3" in printed.err
    assert "run-0001: differs; --replace takes the content of the file" in printed.out
    with open_store(STORE) as store:
        assert store.get(old.id) == old
    assert berryeval("runs", "import", "b.json", "--replace", "--json") == 0
    assert data_of(capsys, "runs import")["runs"][0]["how"] == "replaced"
    with open_store(STORE) as store:
        assert store.get(old.id).config_hash == "sha256:new"


def test_a_trend_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    fill_store(run_of(1, content_hash="sha256:0"), run_of(2), run_of(3), run_of(4))
    assert berryeval("runs", "trend", "ndcg@10", "--provider", "bm25") == 0
    printed = capsys.readouterr().out
    tables = [run_of(n)["fruit"]["bm25"].scores for n in (1, 2, 3, 4)]
    values = [table.mean["nDCG@10"] for table in tables[1:] if table]
    line = printed.splitlines()[1].strip()
    assert (line[0], len(line)) == (":", 4)
    assert line[1 + values.index(max(values))] == "█"
    assert line[1 + values.index(min(values))] == "▁"
    assert f"3 runs, lowest {min(values):.3f}, highest {max(values):.3f}, last" in printed
    assert ": run-0001: the benchmark changed; not compared" in printed
    assert f"{values[2] - values[1]:+.3f} against the run before" in printed
    assert berryeval("runs", "trend", "RR", "--until", "2026-01-01T03:00Z", "--json") == 0
    (first, _) = data_of(capsys, "runs trend")["lines"]
    found = [table.mean["RR"] for table in tables[:3] if table]
    assert [point["value"] for point in first["points"]] == found
    assert first["change"] == found[2] - found[1]


def test_a_run_of_fewer_queries_does_not_end_a_trend(capsys: pytest.CaptureFixture[str]) -> None:
    fill_store(run_of(1), run_of(2), run_of(3, queries=2), run_of(4))
    assert berryeval("runs", "trend", "RR", "--provider", "bm25", "--json") == 0
    (line,) = data_of(capsys, "runs trend")["lines"]
    tables = [run_of(n)["fruit"]["bm25"].scores for n in (1, 2, 4)]
    values = [table.mean["RR"] for table in tables if table]
    assert line["change"] == values[2] - values[1]
    assert line["change_since"] == "run-0002"
    reasons = [point["not_comparable"] for point in line["points"]]
    assert reasons == ["", "", "other queries were asked", ""]
    assert berryeval("runs", "trend", "RR", "--provider", "bm25") == 0
    printed = capsys.readouterr().out
    assert f"3 runs, lowest {min(values):.3f}, highest {max(values):.3f}" in printed
    assert "against run-0002, the last comparable run" in printed
    assert ": run-0003: other queries were asked; not compared" in printed
    assert "run-0004: " not in printed


def failing(number: int, failed: int) -> RunRecord:
    """Return a run in which `failed` of five bm25 queries failed."""
    record = run_of(number, providers=("bm25",))
    (part,) = record.benchmarks
    (provider,) = part.providers
    gone = replace(provider, outcomes={"ok": 5 - failed, "error": failed - 1, "timeout": 1})
    return replace(record, benchmarks=(replace(part, providers=(gone,)),))


def test_failed_queries_are_reported_in_a_trend(capsys: pytest.CaptureFixture[str]) -> None:
    fill_store(failing(1, 2), run_of(2, providers=("bm25",)), failing(3, 5))
    assert berryeval("runs", "list") == 0
    head, *rows, _ = capsys.readouterr().out.splitlines()
    assert head.split()[-1] == "queries"
    assert ["of 5 failed" in row for row in rows] == [True, False, True]
    assert rows[0].endswith("5 of 5 failed")
    assert berryeval("runs", "trend", "RR", "-o", "t.csv") == 0
    printed = capsys.readouterr().out
    assert ", 5 of 5 failed, " in printed
    assert "! run-0001 (2 of 5): queries failed and count as 0" in printed
    head, *rows = Path("t.csv").read_text("utf-8").splitlines()
    place = head.split(",").index("failed")
    assert [row.split(",")[place] for row in rows] == ["2", "0", "5"]
    assert berryeval("runs", "trend", "RR", "--json") == 0
    (line,) = data_of(capsys, "runs trend")["lines"]
    assert [point["failed"] for point in line["points"]] == [2, 0, 5]


def test_a_trend_names_failed_providers(capsys: pytest.CaptureFixture[str]) -> None:
    record = run_of(2, providers=("bm25",))
    (part,) = record.benchmarks
    gone = replace(part.providers[0], scores=None, standard=None, failure="no server")
    fill_store(
        run_of(1, providers=("bm25",)),
        replace(record, benchmarks=(replace(part, providers=(gone,)),)),
    )
    assert berryeval("runs", "trend", "RR") == 0
    printed = capsys.readouterr().out
    assert "1 run, lowest" in printed
    assert f"! run-0002: bm25 on {part.name} failed and has no value: no server" in printed
    assert berryeval("runs", "trend", "RR", "--json") == 0
    (told,) = data_of(capsys, "runs trend")["failed"]
    assert (told["run"], told["provider"], told["failure"]) == ("run-0002", "bm25", "no server")
    assert berryeval("runs", "trend", "RR", "--provider", "bm25", "--since", record.created) == 0
    printed = capsys.readouterr().out
    assert "no matching run has RR" in printed
    assert "run-0002: bm25" in printed


@pytest.mark.parametrize("runs", [(1, 2), (2,)])
def test_a_misspelled_metric_is_not_a_trend_of_failed_runs(
    runs: tuple[int, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    records = [run_of(one, providers=("bm25",)) for one in runs]
    (part,) = records[-1].benchmarks
    gone = replace(part.providers[0], scores=None, standard=None, failure="no server")
    fill_store(*records[:-1], replace(records[-1], benchmarks=(replace(part, providers=(gone,)),)))
    assert berryeval("runs", "trend", "ndgc@10") == 2
    assert "nDCG" in capsys.readouterr().err


def test_a_requested_metric_has_its_column(capsys: pytest.CaptureFixture[str]) -> None:
    old = run_of(1)
    (part,) = old.benchmarks
    (first, _) = part.providers
    assert first.scores is not None
    few = replace(first, scores=first.scores.only(["RR"]), standard=None)
    fill_store(replace(old, benchmarks=(replace(part, providers=(few,)),)), run_of(2))
    assert berryeval("runs", "list", "-m", "nDCG@10", "--until", "2026-01-01T01:30Z") == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.split()[-1] == "nDCG@10"
    assert row.split()[-1] == "-"


def test_a_database_of_something_else_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with sqlite3.connect("other.db") as connection:
        connection.execute("CREATE TABLE songs (name TEXT)")
    connection.close()
    before = Path("other.db").read_bytes()
    for command in (("runs", "list"), ("runs", "trend", "RR"), ("runs", "show", "x")):
        assert berryeval(*command, "--store", "other.db") == 2
        assert "other.db is another database, with the tables songs" in (capsys.readouterr().err)
    assert berryeval(*EVAL, "-q", "--store", "other.db") == 0
    assert "this run is not in the store" in capsys.readouterr().err
    assert Path("other.db").read_bytes() == before


def test_a_stdout_without_block_characters_gets_ascii(clean_environment: dict[str, str]) -> None:
    fill_store(run_of(1), run_of(2))
    done = subprocess.run(
        [sys.executable, "-m", "berryeval", "runs", "trend", "RR", "--provider", "bm25"],
        capture_output=True, check=True, env={**clean_environment, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert re.fullmatch(rb"  [_.=+*#@-]{2}", done.stdout.splitlines()[1])


def test_the_chart_and_the_numbers_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    odd = replace(run_of(2), id="<run & co>")
    fill_store(run_of(1), odd)
    for name in ("t.svg", "t.html", "t.csv"):
        assert berryeval("runs", "trend", "RR", "-o", name) == 0
        assert f"written to {name}" in capsys.readouterr().out
    assert Path("t.svg").read_text("utf-8").startswith("<svg")
    page = Path("t.html").read_text("utf-8")
    assert "&lt;run &amp; co&gt;" in page
    assert "<run & co>" not in page
    assert "<script" not in page
    assert "src=" not in page
    rows = Path("t.csv").read_text("utf-8").splitlines()
    table = run_of(1)["fruit"]["bm25"].scores
    assert table is not None
    assert rows[1].split(",")[:6] == [
        "fruit", "bm25", "RR", "run-0001", run_of(1).created, repr(table.mean["RR"])
    ]  # fmt: skip
    assert len(rows) == 5


def test_old_runs_are_pruned(capsys: pytest.CaptureFixture[str]) -> None:
    fill_store(*(run_of(n) for n in range(4)))

    def left() -> list[str]:
        capsys.readouterr()
        with open_store(STORE) as store:
            return store.names()

    assert berryeval("runs", "prune", "--keep", "1", "--dry-run") == 0
    assert "3 runs of" in capsys.readouterr().out
    assert len(left()) == 4
    assert berryeval("runs", "prune", "--keep", "3", "--yes") == 0
    assert "1 run deleted" in capsys.readouterr().out
    assert left() == ["run-0003", "run-0002", "run-0001"]
    assert berryeval("runs", "prune", "--keep", "2", "--older-than", "50000w", "--yes") == 0
    assert len(left()) == 3
    assert berryeval("runs", "prune", "--older-than", "1h", "--keep", "2", "--yes") == 0
    assert left() == ["run-0003", "run-0002"]


def test_prune_and_export_print_json(capsys: pytest.CaptureFixture[str]) -> None:
    fill_store(*(run_of(n) for n in range(3)))
    assert berryeval("runs", "prune", "--keep", "1", "--json") == 2
    assert "add --yes or --dry-run" in json.loads(capsys.readouterr().out)["error"]["message"]
    old = ["run-0001", "run-0000"]
    assert berryeval("runs", "prune", "--keep", "1", "--json", "--dry-run") == 0
    assert data_of(capsys, "runs prune") == {"store": str(STORE), "runs": old, "deleted": 0}
    assert berryeval("runs", "export", "--all", "out", "--json") == 0
    files = data_of(capsys, "runs export")["runs"]
    assert {one["run"] for one in files} == {"run-0002", *old}
    assert all(Path(one["path"]).exists() for one in files)
    assert berryeval("runs", "export", "latest", "--json") == 0
    (one,) = data_of(capsys, "runs export")["runs"]
    assert (one["run"], one["path"]) == ("run-0002", None)
    assert one["record"] == json.loads(run_of(2).dumps())
    assert berryeval("runs", "export", "latest", "-o", "one.json", "--json") == 0
    assert data_of(capsys, "runs export")["runs"] == [{"run": "run-0002", "path": "one.json"}]
    assert berryeval("runs", "prune", "--keep", "1", "--json", "--yes") == 0
    assert data_of(capsys, "runs prune")["deleted"] == 2
    assert berryeval("runs", "prune", "--keep", "1", "--json") == 0
    assert data_of(capsys, "runs prune")["runs"] == []


def test_help_needs_no_database() -> None:
    script = (
        "import sys\nfrom berryeval.cli.app import build_app, run\n"
        "run(build_app(), sys.argv[1:])\nprint('sqlalchemy' in sys.modules)"
    )
    for arguments in (["--help"], ["runs", "--help"], ["runs", "list", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == "False", arguments


def test_a_trend_of_failed_runs_alone_is_still_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    record = run_of(2, providers=("bm25",))
    (part,) = record.benchmarks
    gone = replace(part.providers[0], scores=None, standard=None, failure="no server")
    failed = replace(record, benchmarks=(replace(part, providers=(gone,)),))
    fill_store(run_of(1, providers=("bm25",)), failed)
    asked = ("runs", "trend", "RR", "--since", record.created)
    assert berryeval(*asked, "-o", "-") == 0
    shown = capsys.readouterr()
    (head,) = shown.out.splitlines()
    assert head.startswith("benchmark,provider,metric,")
    assert "no server" in shown.err
    file = tmp_path / "trend.csv"
    assert berryeval(*asked, "-o", str(file)) == 0
    assert file.read_text(encoding="utf-8").startswith(head)
    for name, words in (("trend.svg", "nothing to draw as svg"), ("trend.txt", "ends in .svg")):
        assert berryeval(*asked, "-o", str(tmp_path / name)) == 2
        assert words in capsys.readouterr().err
        assert not (tmp_path / name).exists()


def test_all_runs_go_to_one_folder_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    fill_store(run_of(1))
    folder = tmp_path / "all"
    assert berryeval("runs", "export", "--all", str(folder), "-o", "x.csv") == 2
    assert "--output is for one RUN" in capsys.readouterr().err
    assert not folder.exists()


def test_the_suggested_command_names_a_matching_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = run_of(2)
    (part,) = other.benchmarks
    with open_store("other.db") as store:
        store.add(run_of(1))
        store.add(replace(other, benchmarks=(replace(part, name="elsewhere"),)))
    asked = ("runs", "trend", "P@7", "--store", "other.db", "--benchmark")
    for name, run in ((part.name, "run-0001"), ("elsewhere", "run-0002")):
        assert berryeval(*asked, name) == 2
        line = f"berryeval runs rescore {run} -m P@7 --save --store other.db adds it"
        assert line in capsys.readouterr().err
