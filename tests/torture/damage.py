"""Files of runs, stores, baselines and benchmarks that are damaged, and every command on them."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from tests.torture.trials import BUG, ODD, Tally, call, list_files, mutate

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("eval", "--resume", "out", "--quiet"),
    ("eval", "--config", "berryeval.yaml", "--output", "out", "--quiet"),
    ("eval", "--resume", "out", "--quiet", "--baseline", "baseline.json"),
    ("report", "out", "--format", "html", "json", "csv", "junit", "--output", "new"),
    ("report", "out", "other", "--format", "markdown"),
    ("gate", "out", "--baseline", "baseline.json"),
    ("compare", "out", "other"),
    ("compare", "other", "out", "--json"),
    ("baseline", "set", "out", "--output", "new.json"),
    ("baseline", "show", "baseline.json"),
    ("baseline", "diff", "out", "--baseline", "baseline.json"),
    ("runs", "list", "--store", "runs.db"),
    ("runs", "show", "latest", "--store", "runs.db"),
    ("runs", "show", "out"),
    ("runs", "trend", "nDCG@10", "--store", "runs.db"),
    ("runs", "import", "out", "other", "--store", "new.db"),
    ("runs", "export", "--all", "new", "--store", "runs.db"),
    ("runs", "rescore", "out", "--metrics", "P@3"),
    ("validate", "fruit"),
    ("inspect", "fruit"),
    ("score", "out/fruit/function/qrels.trec", "out/fruit/function/run.trec"),
)


def prepare(shared: Path) -> None:
    """Make a folder with two runs, a store and a baseline."""
    place = shared / "intact"
    shutil.copytree(shared / "whole", place)
    shutil.copytree(place / "out", place / "other")
    here = os.getcwd()  # noqa: PTH109 - to return to
    os.chdir(place)
    try:
        code, said = call("baseline", "set", "out", "--output", "baseline.json")
    finally:
        os.chdir(here)
    if code:
        raise RuntimeError(said)


def try_once(chance: Random, folder: Path, shared: Path) -> Tally:
    """Damage one file, then run a few commands."""
    tally = Tally()
    place = folder / "place"
    shutil.copytree(shared / "intact", place)
    os.chdir(place)
    files = [path for path in list_files(place) if path.suffix != ".py"]
    target = chance.choice(files)
    how = _damage(chance, target)
    tally.counts["files damaged"] += 1
    for arguments in chance.sample(COMMANDS, 6):
        code, said = call(*arguments)
        what = f"{target.relative_to(place)} {how}; berryeval {' '.join(arguments)}: exit {code}"
        tally.counts["commands"] += 1
        tally.check(code in {0, 1, 2, 3}, what)
        tally.check(BUG not in said and "Traceback" not in said, f"{what}: {said[-600:]}")
        tally.check(code == 0 or said.strip(), f"{what} without a word")
        if code == 0 and arguments[0] == "eval" and target.parts[-3:-1] != ("fruit", "corpus"):
            _check_scores(tally, place, shared, f"{what}")
    return tally


def _damage(chance: Random, target: Path) -> str:
    content = target.read_bytes()
    kind = chance.randrange(8)
    if kind == 0:
        target.unlink()
        return "deleted"
    if kind == 1:
        target.write_bytes(b"")
        return "emptied"
    if kind == 2:
        target.unlink()
        target.mkdir()
        return "made a folder"
    if kind == 3:
        target.unlink()
        target.symlink_to(target.name)
        return "made a link to itself"
    if kind == 4:
        target.write_bytes(content[: chance.randrange(len(content) + 1)])
        return "cut off"
    target.write_bytes(mutate(chance, content, ODD))
    return "changed"


def _check_scores(tally: Tally, place: Path, shared: Path, what: str) -> None:
    """The answers of a resumed run come from its journal or are asked again: same scores.

    A journal line is protected by its checksum; queries, judgments and settings are protected by
    the hash of the benchmark and the plan.
    """
    for expected in sorted((shared / "whole" / "out").rglob("scores.json")):
        found = place / "out" / expected.relative_to(shared / "whole" / "out")
        if found.is_file():
            same = found.read_bytes() == expected.read_bytes()
            tally.check(same, f"{what}: other scores in {found.relative_to(place)}")
