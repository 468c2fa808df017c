"""The store of past runs: add, import, export and prune them."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from berryeval._internal.json import read_json_object
from berryeval._internal.optional import is_missing
from berryeval._internal.serial import describe_json
from berryeval._internal.text import (
    file_key,
    format_command,
    format_resume_command,
    make_file_name,
)
from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.runs import Secrets, mask_secrets
from berryeval.workflows.config import ConfigFile, config_path
from berryeval.workflows.run_folder import NAMES_OF_LATEST, RUNS, write_text_file

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.runs import Filters, RunRecord, Store


DEFAULT_STORE: Final = Path(".berryeval") / "results.db"
NO_STORE: Final = "none"
VARIABLE: Final = "BERRYEVAL_STORE"
_EXPORTED: Final = (".json", ".json.gz")
_PROBLEMS: Final = 10  # problems in a message
log = logging.getLogger("berryeval")


def choose_store(given: PathLike | None = None, config: PathLike | None = None) -> str | None:
    """Return the path or URL of the store, or None if it is turned off.

    The given value wins over `BERRYEVAL_STORE`, the variable over `store` in the configuration
    file, the file over `.berryeval/results.db`. An impossible place is rejected. Where the package
    of the store is not installed, runs are kept in their folders only, unless a store is wanted.
    """
    place = str(given or os.environ.get(VARIABLE, "").strip() or _read_store(config) or "")
    if place.lower() == NO_STORE or (not place and is_missing("sqlalchemy")):
        return None
    place = str(Secrets().fill_in(place or str(DEFAULT_STORE)))
    if place.lower() == NO_STORE:
        return None
    from berryeval.runs import Place

    Place.of(place)
    return place


def _read_store(config: PathLike | None) -> str:
    """Read `store` from the configuration file; its path starts at the folder of the file."""
    path = config_path(config)
    if path is None:
        return ""
    file = ConfigFile(path)
    value: Any = file.data.get("store") or ""
    if not isinstance(value, str):
        where = file.where(("store",))
        found = describe_json(mask_secrets(value))
        raise ConfigurationError(f"{where}: store: expected a path, a URL or none, found {found}")
    is_free = "://" in value or "${" in value or value.lower() == NO_STORE
    return value if is_free or not value else str(path.parent / value)


@contextmanager
def open_history(given: PathLike | None = None, *, make: bool = False) -> Iterator[Store]:
    """Open the store of past runs at the given place, else where the settings say."""
    with open_place(choose_store(given), make=make) as store:
        yield store


@contextmanager
def open_place(place: str | None, *, make: bool = False) -> Iterator[Store]:
    """Open the store at a place that `choose_store` returned."""
    from berryeval.runs import open_store

    if place is None:
        raise ConfigurationError(f"the store is turned off; give --store PATH, or unset {VARIABLE}")
    with open_store(place, make=make) as store:
        yield store


@contextmanager
def open_if_exists(place: str | None) -> Iterator[Store | None]:
    """Open the store at a place; None if it is turned off or does not exist."""
    if place is None:
        yield None
        return
    from berryeval.runs import NoStoreError

    with ExitStack() as stack:
        store = None
        with suppress(NoStoreError):
            store = stack.enter_context(open_place(place))
        yield store


class Remembered(NamedTuple):
    """The name of a run in the store, None if it is not there, and the problem if any."""

    run: str | None = None
    problem: str = ""


def remember(record: RunRecord, place: str | None, folder: PathLike | None = None) -> Remembered:
    """Add a run to the store.

    A store that cannot be written does not fail the run, whose folder has everything. The problem
    is logged as an error, because later commands will not find the run.
    """
    if place is None:
        return Remembered()
    try:
        with open_place(place, make=True) as store:
            added = store.add(record, replace_content=True)
    except BerryEvalError as error:
        again = format_command("runs", "import", folder, *_store_option(place)) if folder else ""
        advice = f"; after fixing that: {again}" if again else ""
        log.error("this run is not in the store: %s%s", error, advice)  # noqa: TRY400 - known cause
        return Remembered(problem=str(error))
    if added.id != record.id:
        log.warning(
            "the store has another run called %s; this one is %s there", record.id, added.id
        )
    return Remembered(added.id)


def _store_option(place: str) -> tuple[str, ...]:
    """Return the option for a store that is not the default, without its password."""
    from berryeval.runs import Place

    usual: str | None = None
    with suppress(BerryEvalError):
        usual = choose_store()
    return () if place == usual else ("--store", Place.of(place).shown)


# Runs into the store and out of it.


@dataclass(frozen=True)
class Imported:
    """The import of a file: the name of its run and how it was added, or the problem."""

    file: Path
    id: str = ""
    how: str = ""
    problem: str = ""


def import_runs(
    paths: Iterable[str],
    store: PathLike | None = None,
    *,
    replace: bool = False,
    notify: Callable[[Imported], None] | None = None,
) -> list[Imported]:
    """Import run folders, everything below a folder, or exported files into the store.

    Without paths, `.berryeval/runs` is imported. A file with a problem does not stop the others;
    `replace` replaces the content of a run that differs; `notify` is called after each import.
    """
    files, done = _find_records(list(paths) or [str(RUNS)])
    if not files:
        raise _join_problems(done)
    with open_history(store, make=True) as opened:
        for file in files:
            for one in _import_file(opened, file, replace=replace):
                done.append(one)
                if notify is not None:
                    notify(one)
    return done


def check_problems(done: Iterable[Imported | ExportedRun]) -> None:
    """Raise one error for all that could not be imported or exported."""
    wrong = [one for one in done if one.problem]
    if wrong:
        raise _join_problems(wrong)


def _join_problems(wrong: Sequence[Imported | ExportedRun]) -> DataError:
    text = "; ".join(one.problem for one in wrong[:_PROBLEMS])
    more = f" (and {len(wrong) - _PROBLEMS} more)" if len(wrong) > _PROBLEMS else ""
    return DataError(f"{text}{more}")


def _find_records(paths: Iterable[str]) -> tuple[list[Path], list[Imported]]:
    """Return the records at or below these paths, and the problems of paths without one."""
    files: dict[Path, None] = {}
    wrong: list[Imported] = []
    for path in map(Path, paths):
        if path.is_dir():
            below = list(_find_below(path))
            files.update(dict.fromkeys(below))
            if not below:
                hint = resume_hint(path)
                problem = f"{path}: holds no finished run (no run.json, no exported record){hint}"
                wrong.append(Imported(path, problem=problem))
        elif path.exists():
            files[path] = None
        else:
            wrong.append(Imported(path, problem=f"{path}: no such file or folder"))
    return list(files), wrong


def _find_below(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        if "run.json" in names or "manifest.json" in names:
            folders.clear()  # everything below belongs to this run
            names = ["run.json"] if "run.json" in names else []  # noqa: PLW2901 - the rest is its parts
        yield from (
            path
            for path in (Path(place, name) for name in sorted(names))
            if path.name == "run.json" or (path.name.endswith(_EXPORTED) and _may_be_record(path))
        )


def _may_be_record(path: Path) -> bool:
    """Whether a JSON file holds runs; a damaged file counts, so that it is reported."""
    from berryeval.reports import is_report

    try:
        data = read_json_object(path)
    except DataError:
        return True
    return is_report(data) or {"id", "benchmarks", "schema_version"} <= data.keys()


def resume_hint(folder: Path) -> str:
    """Return the command that resumes the unfinished run of a folder, for messages."""
    is_unfinished = (folder / "manifest.json").exists()
    return f"; to resume it: {format_resume_command(folder)}" if is_unfinished else ""


def _import_file(store: Store, file: Path, *, replace: bool) -> Iterator[Imported]:
    from berryeval.reports import read_runs

    try:
        for record in read_runs(read_json_object(file), str(file)).runs:
            check_run_name(record.id, file)
            added = store.add(record, replace_content=replace)
            yield Imported(file, added.id, added.how)
    except BerryEvalError as error:
        yield Imported(file, problem=str(error))


@dataclass(frozen=True)
class ExportedRun:
    """The export of a run of the store: its file, or the problem."""

    run: str
    path: Path
    problem: str = ""


def check_run_name(name: str, file: PathLike) -> None:
    """Reject a name that means a run by its age."""
    if NAMES_OF_LATEST.fullmatch(name):
        raise DataError(
            f"{file}: the id {name!r} always means a run by its age; give it another id"
        )


def export_runs(
    folder: PathLike, filters: Filters, store: PathLike | None = None
) -> list[ExportedRun]:
    """Write the record of every run of the store to its own file; a damaged run stops no other."""
    folder, done = Path(folder), []
    taken: set[str] = set()
    with open_history(store) as opened:
        if folder.exists() and not folder.is_dir():
            raise ConfigurationError(f"{folder}: expected a folder, found a file")
        for name in opened.names(filters):
            safe = make_file_name(name)
            if safe != name or file_key(safe) in taken:  # unique among similar names
                safe = f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
            path, problem = folder / f"{safe}.json", ""
            taken.add(file_key(safe))
            try:
                record = opened.get(name)
            except BerryEvalError as error:
                problem = str(error)
            else:
                write_text_file(path, record.pieces(), inside=folder)
            done.append(ExportedRun(name, path, problem))
    return done


class Pruned(NamedTuple):
    """The runs that were selected for deletion, and how many were deleted."""

    store: str
    runs: list[str]
    deleted: int


def prune_runs(
    filters: Filters,
    store: PathLike | None = None,
    *,
    keep: int | None = None,
    older_than: timedelta | None = None,
    confirm: Callable[[str, list[str]], bool],
) -> Pruned:
    """Delete old runs from the store, unless `confirm` returns False; run folders stay.

    The `keep` newest runs and those that are not `older_than` an age are kept.
    """
    with open_history(store) as opened:
        names = _select_old(opened, filters, keep, older_than)
        agreed = confirm(opened.shown, names)
        deleted = opened.delete(names) if names and agreed else 0
        return Pruned(opened.shown, names, deleted)


def _select_old(
    store: Store, filters: Filters, keep: int | None, older_than: timedelta | None
) -> list[str]:
    if keep is None and older_than is None:
        raise ConfigurationError(
            "say which runs to delete: --keep 20 (all but the newest), --older-than 90d, or both"
        )
    if keep is not None and keep < 0:
        raise ConfigurationError(f"--keep must be 0 or more, found {keep}")
    runs = store.times(filters)[keep or 0 :]
    if older_than is None:
        return [name for name, _ in runs]
    now = datetime.now().astimezone().timestamp()
    return [name for name, moment in runs if now - moment > older_than.total_seconds()]
