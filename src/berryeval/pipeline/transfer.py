"""Runs into the store and out of it, as files; and which of them are old enough to be forgotten."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.io.file_names import safe_name
from berryeval.pipeline.folder import read_json_object, write_text_file
from berryeval.results import RunRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from berryeval.store import Store
    from berryeval.store.queries import Filters

__all__ = ["Imported", "export_all", "import_runs", "problems_of", "record_files", "to_prune"]


@dataclass(frozen=True)
class Imported:
    """What became of a file: the name of its run and how it was taken, or what is wrong with it."""

    file: Path
    id: str = ""
    how: str = ""
    problem: str = ""


def record_files(paths: Iterable[str]) -> list[Path]:
    """The records below these folders, and these files."""
    found: dict[Path, None] = {}
    for text in paths:
        path = Path(text)
        if path.is_dir():
            below = sorted(path.rglob("run.json"))
            if not below:
                msg = f"{path}: there is no finished run in it (no run.json)"
                raise DataError(msg)
            found.update(dict.fromkeys(below))
        elif path.exists():
            found[path] = None
        else:
            msg = f"{path}: no such file or folder"
            raise DataError(msg)
    return list(found)


def import_runs(store: Store, files: Iterable[Path], *, replace: bool) -> Iterator[Imported]:
    """Keep the run of each file; what is wrong with one does not keep the others out."""
    for file in files:
        yield _imported(store, file, replace=replace)


def _imported(store: Store, file: Path, *, replace: bool) -> Imported:
    try:
        record = RunRecord.from_json(read_json_object(file), str(file))
        added = store.add(record, replace_content=replace)
    except DataError as error:
        return Imported(file, problem=str(error))
    return Imported(file, added.id, added.how)


def export_all(store: Store, folder: Path, filters: Filters) -> Iterator[Path]:
    """Write the record of every run to a file of its own."""
    if folder.exists() and not folder.is_dir():
        msg = f"{folder}: expected a folder, found a file"
        raise ConfigurationError(msg)
    for name in store.names(filters):
        path = folder / f"{_safe(name)}.json"
        write_text_file(path, store.get(name).dumps())
        yield path


def _safe(name: str) -> str:
    """The name of a run as that of a file, its own also where several would be alike."""
    safe = safe_name(name)
    return safe if safe == name else f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def to_prune(
    store: Store, filters: Filters, *, keep: int | None, older_than: timedelta | None
) -> list[str]:
    """The runs to forget: beyond the newest that are kept, and older than said; both if both."""
    if keep is None and older_than is None:
        msg = "say which runs go: --keep 20 (all but the newest), --older-than 90d, or both"
        raise ConfigurationError(msg)
    if keep is not None and keep < 0:
        msg = f"--keep must be 0 or more, found {keep}"
        raise ConfigurationError(msg)
    runs = store.times(filters)[keep or 0 :]
    if older_than is None:
        return [name for name, _ in runs]
    now = datetime.now().astimezone().timestamp()
    return [name for name, moment in runs if now - moment > older_than.total_seconds()]


def problems_of(found: Iterable[Imported]) -> BerryEvalError | None:
    """One error for all files that could not be taken."""
    wrong = [one for one in found if one.problem]
    if not wrong:
        return None
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    return DataError(f"{wrong[0].problem}{more}")
