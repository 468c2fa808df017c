"""Runs that are killed at any moment, resumed, and compared with one that was left alone."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

from berryeval.runner.journal import JournalReader
from tests.torture.trials import BUG, Tally, call
from tests.workflows.worlds import ROOT, benchmark

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

QUERIES = 60
KILLS = 10  # of one run
CONCURRENCY = 4
SEARCH = f"""
import os, time
def search(query, k):
    number = int(query.split()[-1])
    line = os.open("asked.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(line, f"q{{number}}\\n".encode())
    os.close(line)
    time.sleep(0.02)
    return [f"d{{(number + step) % {QUERIES}}}" for step in (1, 0, 2)][: k - number % 3]
"""
SETTINGS = f"""
benchmarks: [fruit]
providers:
  - {{type: callable, name: function, options: {{function: "searching:search"}}}}
  - {{type: bm25, chunker: whole}}
metrics: [nDCG@10, R@10, RR]
k: 10
run: {{concurrency: {CONCURRENCY}, warm_up: 0}}
store: runs.db
export: [html, csv, json, junit, markdown]
"""
BERRYEVAL = (sys.executable, "-c", "from berryeval.cli.app import main; main()")


def prepare(shared: Path) -> None:
    """Run once without a kill; its scores and its time are what others are compared with."""
    _write(shared / "whole")
    began = time.monotonic()
    code, said = _finish(shared / "whole")
    if code:
        raise RuntimeError(said)
    (shared / "seconds").write_text(str(time.monotonic() - began))


def try_once(chance: Random, folder: Path, shared: Path) -> Tally:
    """Kill one run several times, at moments spread over its whole length, and finish it.

    Later kills come later, so that what is killed is seldom over already.
    """
    tally = Tally()
    _write(folder)
    seconds = float((shared / "seconds").read_text())
    kills = 0
    for moment in sorted(chance.uniform(0.0, 1.05 * seconds) for _ in range(KILLS)):
        process = subprocess.Popen(
            _command(folder), cwd=folder, env=_environment(), stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            _, error = process.communicate(timeout=moment)
            tally.check(process.returncode == 0, f"exit {process.returncode}: {error.decode()}")
            break  # the run has ended before it was killed
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
            tally.counts["kills"] += 1
            tally.counts[f"killed while {_phase(folder)}"] += 1
    code, said = _finish(folder)
    tally.check(code == 0, f"the killed run could not be finished: exit {code}: {said}")
    tally.check(BUG not in said and "Traceback" not in said, said)
    if not tally.broken:
        _compare(tally, folder, shared / "whole", kills)
    return tally


def _write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    benchmark(folder, QUERIES)
    (folder / "searching.py").write_text(SEARCH)
    (folder / "berryeval.yaml").write_text(SETTINGS)


def _command(folder: Path) -> list[str]:
    """Return the command that starts the run, or goes on with it."""
    begun = (folder / "out" / "manifest.json").exists()
    where = ("--resume", "out") if begun else ("--config", "berryeval.yaml", "--output", "out")
    return [*BERRYEVAL, "eval", *where, "--quiet"]


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}:."}


def _finish(folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        _command(folder),
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def _phase(folder: Path) -> str:
    """Return what the run was doing when it was killed."""
    out = folder / "out"
    journals = list(out.rglob("results.jsonl"))
    if not journals:
        return "starting"
    if sum(file.read_bytes().count(b"\n") - 1 for file in journals) < 2 * QUERIES:
        return "asking"
    if len(list(out.rglob("scores.json"))) < 2 or not (out / "run.json").exists():
        return "scoring"
    return "writing reports and the store"


def _compare(tally: Tally, folder: Path, whole: Path, kills: int) -> None:
    for expected in sorted(whole.rglob("scores.json")):
        place = expected.relative_to(whole)
        same = (folder / place).read_bytes() == expected.read_bytes()
        tally.check(same, f"{place}: other scores than without kills")
        with JournalReader(folder / place.with_name("results.jsonl")) as journal:
            tally.check(len(journal.outcomes) == QUERIES, f"{place}: queries lost")
            tally.check(set(journal.outcomes.values()) == {"ok"}, f"{place}: failed queries")
        tally.counts["scores compared"] += 1
    asked = Counter((folder / "asked.txt").read_text().split())
    again = sum(asked.values()) - len(asked)
    tally.check(len(asked) == QUERIES, "queries that were never asked")
    tally.check(again <= kills * CONCURRENCY, f"{again} queries asked again after {kills} kills")
    code, said = call("runs", "list", "--json", "--store", str(folder / "runs.db"))
    tally.check(code == 0, said)
    if code == 0:
        found = len(json.loads(said)["data"]["runs"])
        tally.check(found == 1, f"the store has {found} runs instead of 1")
    json.loads((folder / "out" / "run.json").read_text())
    left = [path.name for path in folder.rglob("*") if ".tmp" in path.name]
    tally.check(not left, f"temporary files stayed: {left}")
