"""Where runs are remembered, and keeping one there: a store that fails never costs a run."""

from __future__ import annotations

import hashlib
import logging
import os
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from berryeval._internal.records import found
from berryeval._internal.text import command_line, safe_name, to_go_on
from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.reports import holds_report, read_runs
from berryeval.runs import Secrets, masked
from berryeval.workflows.config import ConfigFile, config_path
from berryeval.workflows.run_folder import read_json_object, write_text_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from berryeval._internal.files import PathLike
    from berryeval.runs import Filters, RunRecord, Store


DEFAULT_STORE: Final = Path(".berryeval") / "results.db"
NO_STORE: Final = "none"
VARIABLE: Final = "BERRYEVAL_STORE"
log = logging.getLogger("berryeval")


def store_place(given: PathLike | None = None, config: PathLike | None = None) -> str | None:
    """Where runs are remembered; None if nowhere.

    What is given wins over `BERRYEVAL_STORE`, this over `store` in the configuration file, this
    over `.berryeval/results.db`. A place that cannot be is refused.
    """
    from berryeval.runs import Place

    place = str(given or os.environ.get(VARIABLE, "").strip() or _configured(config) or "")
    place = str(Secrets().filled_in(place or str(DEFAULT_STORE)))
    if place.lower() == NO_STORE:
        return None
    Place.of(place)
    return place


def _configured(config: PathLike | None) -> str:
    """What the configuration file says; a path in it begins where the file lies."""
    path = config_path(config)
    if path is None:
        return ""
    file = ConfigFile(path)
    value: Any = file.data.get("store") or ""
    if not isinstance(value, str):
        where = file.where(("store",))
        msg = f"{where}: store: expected a path, a URL or none, found {found(masked(value))}"
        raise ConfigurationError(msg)
    free = "://" in value or "${" in value or value.lower() == NO_STORE
    return value if free or not value else str(path.parent / value)


@contextmanager
def opened_store(place: str | None, *, make: bool = False) -> Iterator[Store]:
    """The store at a place, which must be one."""
    from berryeval.runs import open_store

    if place is None:
        msg = f"there is no store: it is turned off; give --store PATH, or unset {VARIABLE}"
        raise ConfigurationError(msg)
    with open_store(place, make=make) as store:
        yield store


@contextmanager
def opened_if_there(place: str | None) -> Iterator[Store | None]:
    """The store at a place; None if it is turned off, or was not made yet."""
    from berryeval.runs import NoStoreError

    with ExitStack() as stack:
        store = None
        with suppress(NoStoreError):
            store = None if place is None else stack.enter_context(opened_store(place))
        yield store


class Remembered(NamedTuple):
    """The name that a run has in the store, None if it is not there; and what went wrong."""

    run: str | None = None
    problem: str = ""


def _named(place: str) -> tuple[str, ...]:
    """The option that names a store, where it is not found without; never with its password."""
    from berryeval.runs import Place

    usual: str | None = None
    with suppress(BerryEvalError):
        usual = store_place()
    return () if place == usual else ("--store", Place.of(place).shown)


def remember(record: RunRecord, place: str | None, folder: PathLike | None = None) -> Remembered:
    """Keep a run.

    A store that cannot be written fails nothing: everything is in the folder of the run. It is said
    as an error all the same, for whoever sees errors only will look for the run there.
    """
    if place is None:
        return Remembered()
    try:
        with opened_store(place, make=True) as store:
            added = store.add(record, replace_content=True)
    except BerryEvalError as error:
        again = command_line("runs", "import", folder, *_named(place)) if folder else ""
        advice = f"; when that is put right: {again}" if again else ""
        log.error("this run is not in the store: %s%s", error, advice)  # noqa: TRY400 - it is known
        return Remembered(problem=str(error))
    if added.id != record.id:
        log.warning(
            "the store has another run called %s; this one is %s there", record.id, added.id
        )
    return Remembered(added.id)


# Runs into the store and out of it, as files; and which of them are old enough to be forgotten.

_EXPORTED: Final = (".json", ".json.gz")
_SAID: Final = 10  # problems in a message


@dataclass(frozen=True)
class Imported:
    """What became of a file: the name of its run and how it was taken, or what is wrong with it."""

    file: Path
    id: str = ""
    how: str = ""
    problem: str = ""


def record_files(paths: Iterable[str]) -> tuple[list[Path], list[Imported]]:
    """The records below these folders, and these files; and what is wrong with a path."""
    found: dict[Path, None] = {}
    wrong: list[Imported] = []
    for path in map(Path, paths):
        if path.is_dir():
            below = list(_below(path))
            found.update(dict.fromkeys(below))
            if not below:
                wrong.append(Imported(path, problem=_nothing_in(path)))
        elif path.exists():
            found[path] = None
        else:
            wrong.append(Imported(path, problem=f"{path}: no such file or folder"))
    return list(found), wrong


def _below(folder: Path) -> Iterator[Path]:
    """The records of runs below a folder: those of their folders, and files that were exported."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        if "run.json" in names or "manifest.json" in names:
            folders.clear()  # what is below is of this run
            names = ["run.json"] if "run.json" in names else []  # noqa: PLW2901 - the others are its parts
        yield from (
            path
            for path in (Path(place, name) for name in sorted(names))
            if path.name == "run.json" or (path.name.endswith(_EXPORTED) and _may_be_record(path))
        )


def _may_be_record(path: Path) -> bool:
    """Whether a JSON file is of runs; one that is damaged may have been, and is not passed over."""
    try:
        data = read_json_object(path)
    except DataError:
        return True
    return holds_report(data) or {"id", "benchmarks", "schema_version"} <= data.keys()


def _nothing_in(folder: Path) -> str:
    unfinished = (folder / "manifest.json").exists()
    hint = f"; go on with it: {to_go_on(folder)}" if unfinished else ""
    return f"{folder}: there is no finished run in it (no run.json, no exported record){hint}"


def import_runs(store: Store, files: Iterable[Path], *, replace: bool) -> Iterator[Imported]:
    """Keep the runs of each file; what is wrong with one does not keep the others out."""
    for file in files:
        yield from _imported(store, file, replace=replace)


def _imported(store: Store, file: Path, *, replace: bool) -> Iterator[Imported]:
    try:
        for record in read_runs(read_json_object(file), str(file)).runs:
            added = store.add(record, replace_content=replace)
            yield Imported(file, added.id, added.how)
    except DataError as error:
        yield Imported(file, problem=str(error))


def export_all(store: Store, folder: Path, filters: Filters) -> Iterator[tuple[str, Path]]:
    """Write the record of every run to a file of its own; the names of runs, and their files."""
    if folder.exists() and not folder.is_dir():
        msg = f"{folder}: expected a folder, found a file"
        raise ConfigurationError(msg)
    for name in store.names(filters):
        path = folder / f"{_safe(name)}.json"
        write_text_file(path, store.get(name).dumps())
        yield name, path


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


def problems_of(found: Iterable[Imported]) -> DataError:
    """One error for all files that could not be taken."""
    wrong = [one for one in found if one.problem]
    said = "; ".join(one.problem for one in wrong[:_SAID])
    more = f" (and {len(wrong) - _SAID} more)" if len(wrong) > _SAID else ""
    return DataError(f"{said}{more}")
