"""Which run a text means: a folder, a file, the name of a run or its beginning, or `latest`."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval._internal.text import to_go_on
from berryeval._internal.validate import nearest
from berryeval.errors import BerryEvalError, DataError
from berryeval.reports import Report, read_runs
from berryeval.workflows.history import opened_if_there, opened_store, store_place
from berryeval.workflows.run_folder import RUNS, RunFolder, read_json_object

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.runs import RunRecord


# Which runs there are: those with a folder, finished or not, and those in the store.


class KnownRuns(NamedTuple):
    """When each run was started, by its name.

    Attributes:
        moments: of those that are finished, with a folder or in the store.
        unfinished: of those that have a folder, and no record of an end.
        place: where the store is; None if there is none that could be read.
        shown: the store, as messages call it.
    """

    moments: dict[str, float]
    unfinished: dict[str, float]
    place: str | None
    shown: str = ""


def known_runs(store: PathLike | None = None) -> KnownRuns:
    """The runs there are.

    A store that cannot be read hides no run that has a folder: it is said, unless it is the one
    that was asked for by name.
    """
    folders = [path.parent for path in RUNS.glob("*/run.json")]
    begun = [path.parent for path in RUNS.glob("*/manifest.json") if path.parent not in folders]
    of_folders, unfinished = _started(folders), _started(begun)
    place = store_place(store)
    try:
        with opened_if_there(place) as opened:
            if opened is None:
                return KnownRuns(of_folders, unfinished, None)
            stored = dict(opened.times())
            return KnownRuns({**of_folders, **stored}, unfinished, place, str(opened.shown))
    except BerryEvalError as error:
        if store is not None or not of_folders:
            raise
        log.warning("going on without the store: %s", error)
        return KnownRuns(of_folders, unfinished, None)


def _started(folders: list[Path]) -> dict[str, float]:
    from berryeval._internal.text import moment_of

    found = {}
    for folder in folders:
        try:
            created = str(RunFolder(folder).read_manifest().get("created", ""))
            found[folder.name] = moment_of(created, folder.name)
        except DataError:  # noqa: PERF203 - one that is damaged hides no other
            found[folder.name] = 0.0  # it can be named, and is nobody's latest
    return found


log = logging.getLogger("berryeval")
LATEST: Final = "latest"
_LATEST: Final = re.compile(rf"{LATEST}(?:~(\d+))?")
_SHOWN: Final = 5  # names in a message


@dataclass(frozen=True)
class FoundRun:
    """A run, and its folder if that is still there."""

    record: RunRecord
    folder: Path | None = None


def find_record(text: str, store: PathLike | None = None) -> RunRecord:
    """The record of the run that `text` names."""
    return find_run(text, store).record


def find_run(text: str, store: PathLike | None = None) -> FoundRun:
    """The run that `text` names.

    Args:
        text: a folder; a file with a record; the name of a run below `.berryeval/runs` or in the
            store, or the beginning of one name alone; `latest`, or `latest~1` for the one before.
        store: where runs are remembered, if not where settings say.
    """
    path = Path(text)
    if path.is_file():
        return FoundRun(_only_run(_report_in(path), text), _folder_of(path))
    if path.is_dir():
        return _of_folder(path)
    if text and Path(text).name == text and (RUNS / text / "run.json").is_file():
        return _of_folder(RUNS / text)
    known = known_runs(store)
    name = _meant(text, known)
    if (RUNS / name / "run.json").is_file() or name not in known.moments:
        return _of_folder(RUNS / name)
    with opened_store(known.place) as opened:
        return FoundRun(opened.get(name))


def find_report(text: str, store: PathLike | None = None) -> tuple[Report, Path | None]:
    """The report that `text` names, or that of the run it names; and the folder of that run."""
    path = Path(text)
    if path.is_file():
        return _report_in(path), _folder_of(path)
    found = find_run(text, store)
    return Report.of([found.record]), found.folder


def _report_in(path: Path) -> Report:
    return read_runs(read_json_object(path), str(path))


def _only_run(report: Report, text: str) -> RunRecord:
    if len(report.runs) != 1:
        names = ", ".join(run.id for run in report.runs)
        msg = f"{text}: holds {len(report.runs)} runs ({names}), expected one"
        raise DataError(msg)
    return report.runs[0]


def _folder_of(path: Path) -> Path | None:
    """The folder of a run, if this file is its record."""
    return path.parent if path.name == "run.json" else None


def _meant(text: str, known: KnownRuns) -> str:
    """The name of the one run that a text means."""
    moments = known.moments
    names = sorted(moments, key=lambda name: (moments[name], name), reverse=True)
    back = _LATEST.fullmatch(text)
    if text in moments or text in known.unfinished:
        return text
    if back and int(back[1] or 0) < len(names):
        name = names[int(back[1] or 0)]
        _say_newer(text, name, known)
        return name
    both = dict.fromkeys([*names, *known.unfinished])
    longer = [name for name in both if text and name.startswith(text)]
    if len(longer) == 1:
        return longer[0]
    if longer:
        some = ", ".join(longer[:_SHOWN]) + (", ..." if len(longer) > _SHOWN else "")
        msg = f"{text!r} is the beginning of {len(longer)} runs: {some}; give more of the name"
        raise DataError(msg)
    raise DataError(_no_run(text, names, known))


def _say_newer(text: str, name: str, known: KnownRuns) -> None:
    """Say so if a run was started after the latest, and has not come to its end."""
    newer = [one for one, when in known.unfinished.items() if when > known.moments[name]]
    if newer and text == LATEST:
        last = max(newer, key=known.unfinished.__getitem__)
        hint = f"to go on with it: {to_go_on(RUNS / last)}"
        log.warning("%s is %s: the newer %s is not finished; %s", text, name, last, hint)


def _no_run(text: str, names: list[str], known: KnownRuns) -> str:
    where = f"{RUNS} or the store {known.shown}" if known.shown else f"{RUNS}"
    near = nearest(text, [*names, LATEST] if names else [])
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    there = (
        f"the {len(names)} in {where}" if names else f"those in {where}, where there is none yet"
    )
    return f"no run {text!r}: it is no file or folder, and not among {there}{hint}"


def _of_folder(path: Path) -> FoundRun:
    folder = RunFolder(path)
    if not folder.record_file.exists():
        unfinished = folder.manifest_file.exists()
        hint = f"; go on with it: {to_go_on(path)}" if unfinished else ""
        msg = f"{path}: holds no finished run (there is no run.json in it){hint}"
        raise DataError(msg)
    return FoundRun(folder.read_record(), path)
