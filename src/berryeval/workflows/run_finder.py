"""Find a run by its folder, a file, its name or the beginning of it, or `latest`."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from berryeval._internal.files import plain_suffix, read_beginning
from berryeval._internal.json import read_json_object
from berryeval._internal.text import format_resume_command, parse_timestamp, pluralize
from berryeval._internal.validate import nearest
from berryeval.errors import BerryEvalError, DataError
from berryeval.workflows.history import choose_store, open_if_exists, open_place, resume_hint
from berryeval.workflows.run_folder import (
    LATEST,
    NAMES_OF_LATEST,
    RUNS,
    RunFolder,
    began_within_second,
)

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.reports import Report
    from berryeval.runs import RunRecord


_BEGINNING: Final = 4096  # bytes of a record that hold its time
_CREATED: Final = re.compile(rb'"created": ?"([0-9T:+.Z-]{1,40})"')
_JSON: Final = ".json"  # ending of the record of a run; other files are rankings
_NAMES: Final = 5  # names in a message
log = logging.getLogger("berryeval")


@dataclass(frozen=True)
class FoundRun:
    """A run, and its folder if that still exists."""

    record: RunRecord
    folder: Path | None = None


def find_record(text: str) -> RunRecord:
    """Find the record of a run; see `find_run`."""
    return find_run(text).record


def find_run(text: str, store: PathLike | None = None) -> FoundRun:
    """Find a run.

    Args:
        text: Folder; file with a record; name of a run below `.berryeval/runs` or in the store, or
            an unambiguous beginning of it; `latest`, or `latest~1` for the one before;
            a folder of that name is `./latest`.
        store: Store, if not the default.
    """
    path = Path(text)
    back = NAMES_OF_LATEST.fullmatch(text)  # also means this if a folder has the name
    if path.is_file() and not back:
        return FoundRun(_only_run(_read_report(path), text), _folder_of(path))
    if path.is_dir() and not back:
        return _read_folder(path)
    if text and path.name == text and not back and (RUNS / text / "run.json").is_file():
        with suppress(BerryEvalError):  # damaged: the store may have it
            return _read_folder(RUNS / text)
    known = _find_known(store)
    if back and int(back[1] or 0) < len(known.moments):
        return _find_latest(text, int(back[1] or 0), known)
    return _open_run(_resolve_name(text, known), known)


def is_ranking_file(text: str) -> bool:
    """Return whether the text names a file of rankings instead of a run."""
    return Path(text).is_file() and plain_suffix(text) != _JSON


def _open_run(name: str, known: _KnownRuns) -> FoundRun:
    """Read the folder of a run, else its copy in the store."""
    if name not in known.stored:
        return _read_folder(RUNS / name)
    if _stamp_folder(name) is not None:  # never for a name that is a path
        try:
            return _read_folder(RUNS / name)
        except BerryEvalError as error:
            log.warning("using the copy of %s in the store %s: %s", name, known.shown, error)
    with open_place(known.place) as opened:
        return FoundRun(opened.get(name))


def _find_latest(text: str, back: int, known: _KnownRuns) -> FoundRun:
    """Return the newest run, or an earlier one; damaged runs do not count."""
    readable = 0
    for name in known.newest_first():
        try:
            found = _open_run(name, known)
        except BerryEvalError as error:
            log.warning("%s is damaged and does not count as a run: %s", name, error)
            continue
        if readable == back:
            known.warn_of_unfinished(text, name)
            return found
        readable += 1
    raise DataError(
        f"no run {text!r}: {pluralize(readable, 'run')} can be read in {known.where}; "
        "berryeval runs list lists those of the store"
    )


@dataclass(frozen=True)
class LocatedRun:
    """A run that exists: its name, and a stamp that changes with its content."""

    name: str
    stamp: str
    place: str | None

    def read(self) -> RunRecord:
        """Read the record."""
        stored = (self.name,) if self.place is not None else ()
        known = _KnownRuns({}, {}, self.place, str(self.place), stored)
        return _open_run(self.name, known).record


def locate_run(text: str, store: PathLike | None = None) -> LocatedRun:
    """Find a run by its name, a beginning of it or `latest`, without reading it.

    In contrast to `find_run`, no path leads anywhere else than to `.berryeval/runs` and the store.
    """
    place = choose_store(store)
    with open_if_exists(place) as opened:
        digest = None if opened is None else opened.digest(text)
        if digest is None and _stamp_folder(text) is None:
            text = _resolve_known(text, store)
            digest = None if opened is None else opened.digest(text)
    stamp = _stamp_folder(text) or digest or ""
    return LocatedRun(text, stamp, None if digest is None else place)


def list_run_folders() -> list[str]:
    """Return the names of the finished runs below `.berryeval/runs`, the last name first."""
    return sorted((path.parent.name for path in RUNS.glob("*/run.json")), reverse=True)


def _stamp_folder(name: str) -> str | None:
    """Return when the record in a run folder was written, and its size; None without a record."""
    if name in {"", ".", ".."} or set(name) & set("/\\\0"):
        return None
    with suppress(OSError):
        found = (RUNS / name / "run.json").stat()
        return f"{found.st_mtime_ns}-{found.st_size}"
    return None


def _resolve_known(text: str, store: PathLike | None) -> str:
    known = _find_known(store)
    back = NAMES_OF_LATEST.fullmatch(text)
    names = known.newest_first()
    if back and int(back[1] or 0) < len(names):
        return names[int(back[1] or 0)]
    return _resolve_name(text, known)


def find_report(text: str) -> tuple[Report, Path | None]:
    """Find a report, or the run to report on, and the folder of that run."""
    from berryeval.reports import Report

    path = Path(text)
    if path.is_file() and not NAMES_OF_LATEST.fullmatch(text):
        return _read_report(path), _folder_of(path)
    run = find_run(text)
    return Report.of([run.record]), run.folder


def _read_report(path: Path) -> Report:
    from berryeval.reports import read_runs

    return read_runs(read_json_object(path), str(path))


def _only_run(report: Report, text: str) -> RunRecord:
    if len(report.runs) != 1:
        names = ", ".join(run.id for run in report.runs)
        raise DataError(f"{text}: holds {len(report.runs)} runs ({names}), expected one")
    return report.runs[0]


def _folder_of(path: Path) -> Path | None:
    return path.parent if path.name == "run.json" else None


def _read_folder(path: Path) -> FoundRun:
    folder = RunFolder(path)
    if not folder.record_file.exists():
        raise DataError(f"{path}: holds no finished run (it has no run.json){resume_hint(path)}")
    return FoundRun(folder.read_record(), path)


@dataclass(frozen=True)
class _KnownRuns:
    """The start times of finished and unfinished runs by name, and the store if it is readable."""

    moments: dict[str, float]
    unfinished: dict[str, float]
    place: str | None = None
    shown: str = ""
    stored: Collection[str] = ()

    @property
    def where(self) -> str:
        """Where runs were looked for, for messages."""
        return f"{RUNS} or the store {self.shown}" if self.shown else f"{RUNS}"

    def newest_first(self) -> list[str]:
        """Return the names of finished runs."""

        def start(name: str) -> tuple[float, int, str]:
            return self.moments[name], began_within_second(name), name

        return sorted(self.moments, key=start, reverse=True)

    def warn_of_unfinished(self, text: str, name: str) -> None:
        """Log that a run that has not finished is newer than the latest one."""
        newer = [one for one, when in self.unfinished.items() if when > self.moments[name]]
        if newer and text == LATEST:
            last = max(newer, key=self.unfinished.__getitem__)
            hint = f"to resume it: {format_resume_command(RUNS / last)}"
            log.warning("%s is %s: the newer %s is not finished; %s", text, name, last, hint)


def _find_known(store: PathLike | None = None) -> _KnownRuns:
    """Find all runs; an unreadable store is only logged, unless it was asked for by name."""
    finished = {path.parent for path in RUNS.glob("*/run.json")}
    begun = {path.parent for path in RUNS.glob("*/manifest.json")} - finished
    moments, unfinished = _read_moments(finished), _read_moments(begun)
    place = choose_store(store)
    try:
        with open_if_exists(place) as opened:
            if opened is None:
                return _KnownRuns(moments, unfinished)
            stored = dict(opened.times())
            shown = str(opened.shown)
            return _KnownRuns({**moments, **stored}, unfinished, place, shown, stored.keys())
    except BerryEvalError as error:
        if store is not None or not moments:
            raise
        log.warning("continuing without the store: %s", error)
        return _KnownRuns(moments, unfinished)


def _read_moments(folders: Iterable[Path]) -> dict[str, float]:
    moments = {}
    for folder in folders:
        try:
            moments[folder.name] = _read_moment(folder)
        except DataError:  # noqa: PERF203 - a damaged folder hides no other
            moments[folder.name] = 0.0  # it can be named, and is never the latest
    return moments


def _read_moment(folder: Path) -> float:
    """Return the start time of a run from its manifest, else from the start of its record."""
    try:
        created = str(RunFolder(folder).read_manifest().get("created", ""))
    except DataError:
        found = _CREATED.search(read_beginning(folder / "run.json", _BEGINNING))
        created = found[1].decode() if found else ""
    return parse_timestamp(created, folder.name)


def _resolve_name(text: str, known: _KnownRuns) -> str:
    names = known.newest_first()
    if text in known.moments or text in known.unfinished:
        return text
    both = dict.fromkeys([*names, *known.unfinished])
    longer = [name for name in both if text and name.startswith(text)]
    if len(longer) == 1:
        return longer[0]
    if longer:
        some = ", ".join(longer[:_NAMES]) + (", ..." if len(longer) > _NAMES else "")
        raise DataError(
            f"{text!r} is the beginning of {len(longer)} runs: {some}; give more of the name"
        )
    near = nearest(text, [*names, LATEST] if names else [])
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    one = "the only run" if len(names) == 1 else f"one of the {len(names):,} runs"
    runs = f"it is not {one} in {known.where}"
    runs = runs if names else f"there are no runs in {known.where} yet"
    raise DataError(f"no run {text!r}: no file or folder has this name, and {runs}{hint}")
