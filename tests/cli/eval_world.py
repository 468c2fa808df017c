"""A small benchmark of drinks, and helpers that call `berryeval eval`."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from berryeval.benchmarks import Benchmark, write_benchmark
from berryeval.cli.app import build_app, run
from berryeval.data.records import Anchor, Document, Judgment, Query
from berryeval.runs import open_store
from tests.conftest import OURS

if TYPE_CHECKING:
    import pytest

    from berryeval.runs import RunRecord

STORE = Path(".berryeval") / "results.db"
GOLDEN = Path(__file__).parents[1] / "golden" / "eval"

TEA = "# Tea\n\nTea is steeped.\n\n## Green tea\n\nSteep green tea at 80 degrees.\n"
COFFEE = "# Coffee\n\nBeans are ground and brewed.\n\n## Espresso\n\nNine bar press the water.\n"
WATER = "# Water\n\nWater boils at 100 degrees, and less on a mountain.\n"

DRINKS = Benchmark(
    "drinks",
    (Document("tea", TEA), Document("coffee", COFFEE), Document("water", WATER)),
    (
        Query("q1", "How hot is green tea?", category="factual", difficulty="easy"),
        Query("q2", "What pressure has espresso?", category="factual", difficulty="hard"),
        Query("q3", "When does water boil?", category="conceptual", difficulty="easy"),
        Query("q4", "zymurgy", category="conceptual", difficulty="hard"),
    ),
    (
        Judgment("q1", Anchor(document="tea", section=("Tea", "Green tea")), 2),
        Judgment("q1", Anchor(document="water"), 1),
        Judgment("q2", Anchor(document="coffee", section=("Coffee", "Espresso")), 2),
        Judgment("q3", Anchor(document="water"), 2),
        Judgment("q4", Anchor(document="coffee"), 1),
    ),
    thresholds={"RR": 0.7},
)


def enter_folder(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Change to a folder, and remove settings from outside the tests."""
    patch.chdir(folder)
    for name in list(os.environ):
        if name.startswith("BERRYEVAL_") and name not in {"BERRYEVAL_BACKEND", *OURS}:
            patch.delenv(name)


def fill_store(*records: RunRecord) -> None:
    """Put runs into the store of the current folder."""
    with open_store(STORE) as store:
        for record in records:
            store.add(record)


def write_drinks(folder: Path) -> None:
    """Write the benchmark to the folder `drinks`."""
    write_benchmark(DRINKS, folder / "drinks")


def berryeval(*arguments: str) -> int:
    """Return the exit code of a command line."""
    return run(build_app(), list(arguments))


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the output without times and trailing white space."""
    return without_times(capsys.readouterr().out)


def without_times(text: str) -> str:
    """Replace times by marks and strip trailing white space."""
    text = re.sub(r"  +\d+\.\d(?= |$)", _masked, text, flags=re.MULTILINE)
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


def _masked(found: re.Match[str]) -> str:
    return "#.#".rjust(len(found[0]))


def data_of(capsys: pytest.CaptureFixture[str], command: str = "eval") -> dict[str, Any]:
    """Return the data in the JSON envelope of a command."""
    envelope = json.loads(capsys.readouterr().out)
    assert envelope["schema_version"] == 1
    assert envelope["command"] == command
    found: dict[str, Any] = envelope["data"]
    return found
