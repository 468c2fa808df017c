"""Which baseline a text means: a file of `berryeval baseline set`, or a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from berryeval.errors import ConfigurationError, DataError
from berryeval.gates import Baseline
from berryeval.pipeline.find_run import find_record
from berryeval.pipeline.folder import read_json_object

if TYPE_CHECKING:
    from berryeval.pipeline.folder import RunFolder
    from berryeval.results import RunRecord

__all__ = ["baseline_before", "baseline_for", "find_baseline"]


def find_baseline(text: str) -> Baseline:
    """The baseline that a text names."""
    return _found(text)[0]


def baseline_for(text: str, run: RunRecord) -> Baseline:
    """The baseline that a text names, for this run; it must not be the run itself."""
    return _other_than(text, run.id, run.created)


def baseline_before(text: str, folder: RunFolder) -> Baseline:
    """The baseline for the run that goes to this folder, or goes on in it."""
    if not folder.manifest_file.exists():
        return find_baseline(text)
    created = str(folder.read_manifest().get("created"))
    return _other_than(text, folder.path.resolve().name, created)


def _other_than(text: str, run: str, created: str) -> Baseline:
    baseline, is_run = _found(text)
    if is_run and (baseline.run, baseline.created) == (run, created):
        msg = (
            f"the baseline {text!r} is the run {run} itself, which never falls below itself; "
            "name an earlier run, or a file of berryeval baseline set"
        )
        raise ConfigurationError(msg)
    return baseline


def _found(text: str) -> tuple[Baseline, bool]:
    """The baseline, and whether it is a run."""
    path = Path(text)
    if path.is_file():
        data = read_json_object(path)
        if "parts" in data or "benchmarks" not in data:
            return Baseline.read(data, str(path)), False
    try:
        return Baseline.of(find_record(text)), True
    except DataError as error:
        msg = f"the baseline {text!r} is no file of `berryeval baseline set`, and no run: {error}"
        raise ConfigurationError(msg) from None
