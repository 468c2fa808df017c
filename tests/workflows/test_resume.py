"""Runs that are killed, resumed and repeated: the same results, and no query asked twice."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
import tests.workflows.scripted  # noqa: F401 - registers the provider
from berryeval.errors import ConfigurationError, DataError
from tests.workflows.worlds import (
    LATE,
    asked,
    benchmark,
    plan_of,
    program,
    results_of,
    started,
)

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.workflows.plan import Plan

KILLS = 10
CONCURRENCY = 4
SPEC = {"type": "scripted", "name": "s"}


# Forks the run again and again, and kills it when so many more queries have been asked.
KILLING = f"""
import os, random, signal, time
from pathlib import Path
chance = random.Random(7)
log = Path(plan.providers[0].options["log"])
asked = lambda: log.read_bytes().count(b"\\n") if log.exists() else 0
kills = 0
while kills < {KILLS}:
    child = os.fork()
    if not child:
        evaluate(plan, RunFolder(sys.argv[2]))
        os._exit(0)
    target = asked() + chance.randrange(1, 10)
    while asked() < target:
        time.sleep(0.001)
    time.sleep(chance.random() * 0.01)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
        sys.exit(f"the run has ended after {{kills}} kills")
    kills += 1
evaluate(plan, RunFolder(sys.argv[2]))
print(kills, "kills")
"""


def scores(folder: Path) -> bytes:
    """Read the only scores below a folder."""
    (file,) = folder.rglob("scores.json")
    return file.read_bytes()


def lines(folder: Path) -> int:
    """Count the queries in the journal."""
    return sum(file.read_bytes().count(b"\n") - 1 for file in folder.rglob("results.jsonl"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")
def test_a_run_killed_often_ends_like_an_uninterrupted_one(tmp_path: Path) -> None:
    """Only queries in flight at a kill are asked again."""
    source = benchmark(tmp_path, 400)
    log = tmp_path / "asked.txt"
    faults = {f"q{n}": ("twice", "raise", "empty", "many")[n % 4] for n in range(0, 400, 7)}

    def plan(delay: float, log: str) -> Plan:
        options = {"faults": faults, "delay": delay, "log": log}
        return plan_of(source, {"type": "scripted", "name": "s", "options": options})

    whole = plan(0.0, str(log))
    results_of(whole, tmp_path / "whole")
    assert sorted(asked(log)) == sorted(f"q{n}" for n in range(400))
    log.unlink()
    process = started(program(plan(0.005, str(log)), tmp_path / "killed", instead=KILLING))
    said, wrong = process.communicate(timeout=300)
    assert process.returncode == 0, wrong
    assert said == f"{KILLS} kills\n"
    assert scores(tmp_path / "killed") == scores(tmp_path / "whole")
    repeated = {name: count for name, count in Counter(asked(log)).items() if count > 1}
    assert sum(repeated.values()) - len(repeated) <= KILLS * CONCURRENCY
    assert set(asked(log)) == {f"q{n}" for n in range(400)}


@pytest.mark.parametrize(
    ("name", "value"),
    [("k", 7), ("limit", 2), ("metrics", ["P@3"]), ("filter", {"id": "q1"}), ("seed", 3)],
)
def test_the_folder_of_another_run_is_rejected(tmp_path: Path, name: str, value: Any) -> None:
    source = benchmark(tmp_path, 3)
    results_of(plan_of(source, SPEC), tmp_path / "run")
    before = {file: file.read_bytes() for file in (tmp_path / "run").rglob("*.json*")}
    with pytest.raises(ConfigurationError, match=rf"holds another run \({name} differ\)"):
        results_of(plan_of(source, SPEC, **{name: value}), tmp_path / "run")
    assert {file: file.read_bytes() for file in before} == before


def test_the_folder_of_another_provider_is_rejected(tmp_path: Path) -> None:
    source = benchmark(tmp_path, 3)
    results_of(plan_of(source, SPEC), tmp_path / "run")
    other = {**SPEC, "options": {"delay": 0.1}}
    with pytest.raises(ConfigurationError, match=r"holds another run \(providers differ\)"):
        results_of(plan_of(source, other), tmp_path / "run")


def test_a_changed_benchmark_is_rejected(tmp_path: Path) -> None:
    source = benchmark(tmp_path, 3)
    plan = plan_of(source, {"type": "scripted"})
    results_of(plan, tmp_path / "run")
    benchmark(tmp_path, 3, words="quince")
    with pytest.raises(ConfigurationError, match=r"\(benchmark_hash differ\)"):
        results_of(plan, tmp_path / "run")


@pytest.mark.parametrize("what", ["documents", "queries", "judgments"])
def test_any_change_of_a_benchmark_is_rejected(tmp_path: Path, what: str) -> None:
    """Texts, queries and judgments count, even of queries that were not asked yet."""
    source = benchmark(tmp_path, 3)
    plan = plan_of(source, {"type": "scripted", "options": {"index_fault": "raise"}}, SPEC)
    results_of(plan, tmp_path / "run")
    made = be.load_benchmark(source)
    first, *others = getattr(made, what)
    change = {"grade": 2} if what == "judgments" else {"text": "something else"}
    shutil.rmtree(source)
    changed: dict[str, Any] = {what: (replace(first, **change), *others)}
    be.write_benchmark(replace(made, **changed), source)
    with pytest.raises(ConfigurationError, match=r"\(benchmark_hash differ\)"):
        results_of(plan, tmp_path / "run")


@pytest.mark.parametrize("change", [{"chunker": "fixed-5"}, {"options": {"delay": 0.001}}])
def test_another_chunker_or_option_of_a_failed_provider_is_rejected(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    source = benchmark(tmp_path, 3)
    failing = {"type": "scripted", "name": "f", "options": {"index_fault": "raise"}}
    results_of(plan_of(source, SPEC, failing), tmp_path / "run")
    with pytest.raises(ConfigurationError, match=r"holds another run \(providers differ\)"):
        results_of(plan_of(source, SPEC, {**failing, **change}), tmp_path / "run")


def suggesting(source: str, chunker: str) -> None:
    """Let the benchmark suggest a chunker."""
    made = be.load_benchmark(source)
    shutil.rmtree(source)
    be.write_benchmark(replace(made, metadata={"chunker": chunker}), source)


def test_another_suggested_chunker_is_rejected(tmp_path: Path) -> None:
    """A provider with its own chunker is not affected."""
    source = benchmark(tmp_path, 3)
    suggesting(source, "whole")
    follows, minds_not = {**SPEC, "chunker": ""}, {**SPEC, "chunker": "whole"}
    results_of(plan_of(source, follows), tmp_path / "follows")
    results_of(plan_of(source, minds_not), tmp_path / "own")
    suggesting(source, "fixed-5")
    with pytest.raises(ConfigurationError, match="fruit was chunked by whole in this run and now"):
        results_of(plan_of(source, follows), tmp_path / "follows")
    assert results_of(plan_of(source, minds_not), tmp_path / "own")["s"].outcomes == {"ok": 3}


def test_a_folder_without_chunkers_can_be_resumed(tmp_path: Path) -> None:
    """Earlier versions did not write them."""
    source = benchmark(tmp_path, 3)
    results_of(plan_of(source, SPEC), tmp_path / "run")
    manifest = tmp_path / "run" / "manifest.json"
    data = json.loads(manifest.read_text())
    del data["chunkers"]
    manifest.write_text(json.dumps(data))
    assert results_of(plan_of(source, SPEC), tmp_path / "run")["s"].outcomes == {"ok": 3}


def test_settings_of_the_run_may_change(tmp_path: Path) -> None:
    source = benchmark(tmp_path, 3)
    log = tmp_path / "asked.txt"
    ready = tmp_path / "ready"
    spec = {"type": "scripted", "options": {"log": str(log), "until": str(ready)}}
    quick = plan_of(source, spec, run={"timeout": 0.05, "attempts": 1})
    assert results_of(quick, tmp_path / "run")["scripted:whole"].outcomes == {"timeout": 3}
    ready.touch()
    slow = plan_of(source, spec)
    assert results_of(slow, tmp_path / "run")["scripted:whole"].outcomes == {"timeout": 3}
    again = results_of(slow, tmp_path / "run", retry_errors=True)["scripted:whole"]
    assert again.outcomes == {"ok": 3}
    assert len(asked(log)) == 6


def test_only_failed_queries_are_asked_again(tmp_path: Path) -> None:
    source = benchmark(tmp_path, 8)
    log = tmp_path / "asked.txt"
    marker = {"q2": "raise", "q5": "hang", "q6": "empty"}
    options = {"log": str(log), "faults": marker}
    run = {"timeout": LATE, "attempts": 1}
    plan = plan_of(source, {"type": "scripted", "options": options}, run=run)
    for retry, expected in ((False, 8), (False, 8), (True, 10)):
        result = results_of(plan, tmp_path / "run", retry_errors=retry)["scripted:whole"]
        assert len(asked(log)) == expected
        assert result.outcomes == {"ok": 5, "error": 1, "timeout": 1, "empty": 1}
    assert sorted(asked(log)[8:]) == ["q2", "q5"]


def test_damaged_lines_of_the_journal_are_asked_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = benchmark(tmp_path, 6)
    log = tmp_path / "asked.txt"
    in_order = {"concurrency": 1}
    plan = plan_of(source, {**SPEC, "options": {"log": str(log)}}, run=in_order)
    results_of(plan, tmp_path / "run")
    (file,) = (tmp_path / "run").rglob("results.jsonl")
    header, *entries = file.read_text(encoding="utf-8").splitlines(keepends=True)
    damaged = [line.replace("d2", "d3").replace("d4", "d5") for line in entries]
    file.write_text(header + "".join(damaged), encoding="utf-8")
    wrong = sum(one != other for one, other in zip(entries, damaged, strict=True))
    log.unlink()
    assert results_of(plan, tmp_path / "run")["s"].outcomes == {"ok": 6}
    said = f"s on fruit: skipped {wrong} damaged lines of the journal; a query with no other line"
    assert said in caplog.text
    assert len(asked(log)) == wrong > 1
    caplog.clear()
    results_of(plan, tmp_path / "run")
    assert len(asked(log)) == wrong
    assert "damaged" not in caplog.text


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    """A killed process leaves no lock."""
    source = benchmark(tmp_path, 60)
    log = tmp_path / "asked.txt"
    ready = tmp_path / "ready"
    options = {"log": str(log), "until": str(ready)}
    plan = plan_of(source, {"type": "scripted", "options": options})
    first = started(program(plan, tmp_path / "run"))
    while not asked(log):
        assert first.poll() is None, first.communicate()
        time.sleep(0.01)
    with pytest.raises(DataError, match="another process is working in this folder"):
        results_of(plan, tmp_path / "run")
    assert first.poll() is None
    first.kill()
    first.communicate()
    ready.touch()
    result = results_of(plan, tmp_path / "run")["scripted:whole"]
    assert result.outcomes == {"ok": 60}
    assert len(asked(log)) <= 60 + CONCURRENCY


def test_names_that_would_share_a_folder_are_rejected(tmp_path: Path) -> None:
    names = ({"type": "scripted", "name": "a/b"}, {"type": "scripted", "name": "A:b"})
    with pytest.raises(ValueError, match="'a/b' and 'A:b' would have the same folder"):
        plan_of(benchmark(tmp_path, 2), *names)


@pytest.mark.parametrize("notebook", [False, True])
def test_one_interrupt_ends_a_run_at_once(tmp_path: Path, notebook: bool) -> None:
    """Even during a hanging search; the run can be resumed."""
    source = benchmark(tmp_path, 50)
    log = tmp_path / "asked.txt"
    options = {"log": str(log), "faults": {"q20": "hang", "q21": "hang"}, "delay": 0.01}
    plan = plan_of(source, {"type": "scripted", "options": options}, run={"timeout": 60})
    command = program(plan, tmp_path / "run")
    if notebook:
        text = command[2].replace("results = ", "import asyncio\nasync def cell(): return ")
        command[2] = f"{text}\nasyncio.run(cell())"
    process = started(command)
    while lines(tmp_path / "run") < 48:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    try:
        _, said = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert "KeyboardInterrupt" in said.splitlines()[-1]
    assert lines(tmp_path / "run") == 48
    calm = plan_of(
        source, {"type": "scripted", "options": options}, run={"timeout": 0.1, "attempts": 1}
    )
    result = results_of(calm, tmp_path / "run")["scripted:whole"]
    assert result.outcomes == {"ok": 48, "timeout": 2}
    assert Counter(asked(log))["q0"] == 1


def test_an_interrupt_during_indexing_ends_at_once(tmp_path: Path) -> None:
    plan = plan_of(benchmark(tmp_path, 2), {"type": "scripted", "options": {"index_fault": "hang"}})
    process = started(program(plan, tmp_path / "run"))
    while not list((tmp_path / "run").rglob("results.jsonl")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    try:
        _, said = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert "KeyboardInterrupt" in said
