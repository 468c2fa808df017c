"""Run trials for as long as told, two at a time: python -m tests.torture --seconds 60 --seed 7."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.torture.faults import list_pairs
from tests.torture.trials import MEMORY_LIMIT, Tally

if TYPE_CHECKING:
    from collections.abc import Callable

SHARES = {"kills": 35, "faults": 8, "damage": 3, "fuzz": 24, "native": 27, "bombs": 3}
PREPARED = ("kills", "damage")
ALLOWED = 3 << 30  # bytes of data, so that a bomb does not take the machine with it


@dataclass
class Kind:
    """A kind of trial, its share of the time, when one hangs, and what came of them so far."""

    name: str
    try_once: Callable[[random.Random, Path, Path], Tally]
    share: int = 1
    limit: float = 180.0  # seconds after which a trial hangs
    spent: float = 0.0
    trials: int = 0
    peak: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)


@dataclass
class Trial:
    """A trial that runs in a process of its own."""

    kind: Kind
    number: int
    process: int
    folder: Path
    began: float


def load_kind(name: str) -> Kind:
    """Return a kind of trial by its name, which is that of its module."""
    return Kind(name, importlib.import_module(f"tests.torture.{name}").try_once, SHARES[name])


def prepare(shared: Path) -> None:
    """Make what the trials share: a run that nobody disturbed."""
    shared.mkdir()
    for name in PREPARED:
        importlib.import_module(f"tests.torture.{name}").prepare(shared)


def start(kind: Kind, seed: int, work: Path, shared: Path) -> Trial:
    """Start the next trial of a kind."""
    number, kind.trials = kind.trials, kind.trials + 1
    folder = work / f"{kind.name}-{number}"
    folder.mkdir()
    sys.stdout.flush()
    process = os.fork()
    if process:
        return Trial(kind, number, process, folder, time.monotonic())
    os.setpgid(0, 0)
    if kind.name != "native":  # a sanitizer reserves terabytes
        resource.setrlimit(resource.RLIMIT_DATA, (ALLOWED, ALLOWED))
    with open(os.devnull, "w", encoding="utf-8") as silence:  # noqa: PTH123 - a device
        os.dup2(silence.fileno(), 2)
        try:
            chance = random.Random(f"{seed}:{kind.name}:{number}")
            tally = kind.try_once(chance, folder, shared)
        except BaseException as error:  # noqa: BLE001 - the trial itself failed: told as broken
            tally = Tally(broken=[f"the trial ended with {type(error).__name__}: {error}"])
    answer_of(folder).write_text(json.dumps([tally.counts, tally.broken]))
    os._exit(0)


def answer_of(folder: Path) -> Path:
    """Return the file in which a trial says what it found."""
    return folder.with_name(f"{folder.name}.json")


def finish(trial: Trial) -> bool:
    """Collect a trial if it has ended or hangs; return whether it did."""
    kind, before = trial.kind, len(trial.kind.broken)
    done, status, usage = os.wait4(trial.process, os.WNOHANG)
    seconds = time.monotonic() - trial.began
    hangs = not done and seconds > kind.limit
    if not done and not hangs:
        return False
    if hangs:
        kind.broken.append(f"trial {trial.number}: no end after {kind.limit:g} s")
        os.killpg(trial.process, signal.SIGKILL)
        _, status, usage = os.wait4(trial.process, 0)
    with contextlib.suppress(OSError):
        os.killpg(trial.process, signal.SIGKILL)  # what it left running
    answer = answer_of(trial.folder)
    if answer.exists():
        counts, broken = json.loads(answer.read_text())
        kind.counts.update(counts)
        kind.broken.extend(f"trial {trial.number}: {one}" for one in broken)
    elif not hangs:
        code = os.waitstatus_to_exitcode(status)
        kind.broken.append(f"trial {trial.number}: ended with code {code} and no answer")
    megabytes = usage.ru_maxrss // 1024
    kind.peak = max(kind.peak, megabytes)
    if megabytes > MEMORY_LIMIT:
        kind.broken.append(f"trial {trial.number}: took {megabytes} MB")
    for one in kind.broken[before:]:
        print(f"{kind.name} {one}"[:500], file=sys.stderr, flush=True)
    kind.spent += seconds
    shutil.rmtree(trial.folder, ignore_errors=True)
    return True


def torture(seconds: float, seed: int, names: list[str], jobs: int) -> list[Kind]:
    """Run trials until the time is over; the kind that is most behind its share comes next."""
    kinds = [load_kind(name) for name in names]
    with tempfile.TemporaryDirectory(prefix="torture-") as made:
        work, shared = Path(made), Path(made) / "shared"
        prepare(shared)
        end = time.monotonic() + seconds
        running: list[Trial] = []
        while running or time.monotonic() < end:
            running = [one for one in running if not finish(one)]
            if len(running) < jobs and time.monotonic() < end:
                now = Counter({one.kind.name: time.monotonic() - one.began for one in running})
                behind = min(kinds, key=lambda one: (one.spent + now[one.name]) / one.share)
                running.append(start(behind, seed, work, shared))
            else:
                time.sleep(0.02)
    return kinds


def describe(kinds: list[Kind], seed: int, seconds: float) -> str:
    """Return what was tried and what broke, with the command that repeats it."""
    lines = [f"{seconds:g} s with seed {seed}"]
    for kind in kinds:
        lines.append(
            f"{kind.name}: {kind.trials} trials, {len(kind.broken)} broken, peak {kind.peak} MB"
        )
        pairs = {name for name in kind.counts if " with " in name}
        lines += [f"  {kind.counts[name]:,} {name}" for name in sorted({*kind.counts} - pairs)]
        if pairs:
            missing = sorted(list_pairs() - pairs)
            lines.append(f"  {len(pairs)} pairs of provider and fault; not tried: {missing}")
        first = {one.split(":", 1)[1][:60]: one for one in reversed(kind.broken)}
        for one in first.values():
            number = one.split(":")[0].removeprefix("trial ")
            lines.append(f"  BROKEN {one}")
            lines.append(
                f"    repeat: python -m tests.torture --repeat {seed}:{kind.name}:{number}"
            )
    return "\n".join(lines)


def repeat(seed: str) -> int:
    """Run one trial again, in this process."""
    with tempfile.TemporaryDirectory(prefix="torture-") as made:
        shared, folder = Path(made) / "shared", Path(made) / "trial"
        folder.mkdir()
        prepare(shared)
        tally = load_kind(seed.split(":")[1]).try_once(random.Random(seed), folder, shared)
    print(*(tally.broken or ["nothing broke"]), sep="\n")
    return bool(tally.broken)


def main() -> int:
    """Read the command line, run the trials and say what broke."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", nargs="+", choices=list(SHARES), default=list(SHARES))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--repeat", metavar="SEED", help="a trial, as printed")
    given = parser.parse_args()
    if given.repeat:
        return repeat(given.repeat)
    kinds = torture(given.seconds, given.seed, given.only, given.jobs)
    print(describe(kinds, given.seed, given.seconds))
    return int(any(kind.broken for kind in kinds))


if __name__ == "__main__":
    sys.exit(main())
