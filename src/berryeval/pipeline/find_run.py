"""Which run a text means: a folder, a file (also a report), the name of a run, or `latest`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from berryeval.errors import DataError
from berryeval.pipeline.folder import RunFolder, read_json_object
from berryeval.pipeline.resume import RUNS
from berryeval.registry import nearest
from berryeval.reports import Report
from berryeval.reports.json_file import holds_report, read_report
from berryeval.results import RunRecord

__all__ = ["LATEST", "find_record", "find_report", "find_run"]

LATEST: Final = "latest"


def find_record(text: str) -> RunRecord:
    """The record of the run that `text` names."""
    return find_run(text)[0]


def find_run(text: str) -> tuple[RunRecord, Path]:
    """The record of the run that `text` names, and the folder it lies in."""
    found, folder = find_report(text)
    if len(found.runs) > 1:
        names = ", ".join(run.id for run in found.runs)
        msg = f"{text}: holds {len(found.runs)} runs ({names}), expected one"
        raise DataError(msg)
    return found.runs[0], folder


def find_report(text: str) -> tuple[Report, Path]:
    """The report that `text` names, or that of the run it names; and the folder it lies in."""
    path = Path(text)
    if path.is_file():
        data = read_json_object(path)
        if holds_report(data):
            return read_report(data, str(path)), path.parent
        return Report.of([RunRecord.from_json(data, str(path))]), path.parent
    folder = path if path.is_dir() else RUNS / _run_name(text)
    return Report.of([_of_folder(folder)]), folder


def _run_name(text: str) -> str:
    names = sorted(one.parent.name for one in RUNS.glob("*/run.json"))
    if text == LATEST and names:
        return max(names)
    if text in names:
        return text
    near = nearest(text, [*names, *([LATEST] if names else [])])
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    there = f"the {len(names)} in {RUNS}" if names else f"those in {RUNS}, where there is none yet"
    msg = f"no run {text!r}: it is no file or folder, and not among {there}{hint}"
    raise DataError(msg)


def _of_folder(path: Path) -> RunRecord:
    folder = RunFolder(path)
    if not folder.record_file.exists():
        unfinished = folder.manifest_file.exists()
        hint = f"; go on with it: berryeval eval --resume {path}" if unfinished else ""
        msg = f"{path}: holds no finished run (there is no run.json in it){hint}"
        raise DataError(msg)
    return folder.read_record()
