"""The trials themselves: the same seed gives the same trial, and what breaks is told."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from berryeval.errors import DataError
from tests.torture import __main__ as harness
from tests.torture import faults, fuzz
from tests.torture.trials import ODD, Tally, mutate

if TYPE_CHECKING:
    from collections.abc import Callable


def test_the_same_seed_gives_the_same_changes() -> None:
    one, two = random.Random("7"), random.Random("7")
    inputs = [mutate(one, fuzz.QRELS, ODD) for _ in range(50)]
    assert inputs == [mutate(two, fuzz.QRELS, ODD) for _ in range(50)]
    assert len(set(inputs)) > 40


def test_only_errors_with_a_message_pass() -> None:
    tally = Tally()
    for error in (DataError("line 3: no id"), DataError(""), KeyError("x"), RecursionError()):
        with tally.expect_only_our_errors("reader"):
            raise error
    assert tally.counts["refused"] == 2
    assert [one.split(":")[1] for one in tally.broken] == [
        " DataError without a message", " KeyError", " RecursionError",
    ]  # fmt: skip


def crash(chance: random.Random, folder: Path, shared: Path) -> Tally:
    del chance, folder, shared
    os.kill(os.getpid(), signal.SIGKILL)
    return Tally()


def hang(chance: random.Random, folder: Path, shared: Path) -> Tally:
    del chance, folder, shared
    while True:
        pass


def take_memory(chance: random.Random, folder: Path, shared: Path) -> Tally:
    del chance, folder, shared
    kept = b"x" * 700_000_000
    return Tally(Counter(bytes=len(kept)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")
@pytest.mark.parametrize(
    ("trial", "found"),
    [(crash, "ended with code -9"), (hang, "no end after 0.5 s"), (take_memory, "took ")],
)
def test_a_crash_a_hang_and_a_bomb_are_reported(
    trial: Callable[..., Tally], found: str, tmp_path: Path
) -> None:
    kind = harness.Kind("broken", trial, limit=0.5 if trial is hang else 60)
    running = harness.start(kind, 7, tmp_path, tmp_path)
    while not harness.finish(running):
        pass
    assert any(found in told for told in kind.broken)


def test_a_fault_is_the_outcome_of_its_query(tmp_path: Path) -> None:
    tally = faults.try_once(random.Random("2"), tmp_path, tmp_path)
    assert tally.broken == []
    assert sum(tally.counts.values()) > 0
