"""Which run a text means: a folder, a file, the name of a run, or `latest`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from berryeval.errors import DataError
from berryeval.pipeline.folder import RunFolder, read_json_object
from berryeval.pipeline.resume import RUNS
from berryeval.registry import nearest
from berryeval.results import RunRecord

__all__ = ["LATEST", "find_record"]

LATEST: Final = "latest"


def find_record(text: str) -> RunRecord:
    """The record of the run that `text` names."""
    path = Path(text)
    if path.is_file():
        return RunRecord.from_json(read_json_object(path), str(path))
    if path.is_dir():
        return _of_folder(path)
    names = sorted(one.parent.name for one in RUNS.glob("*/run.json"))
    if text == LATEST and names:
        return _of_folder(RUNS / max(names))
    if text in names:
        return _of_folder(RUNS / text)
    near = nearest(text, names)
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
