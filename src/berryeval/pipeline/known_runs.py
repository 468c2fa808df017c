"""Which runs there are: those with a folder, finished or not, and those in the store."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from berryeval.errors import BerryEvalError, DataError
from berryeval.pipeline.folder import RUNS, RunFolder
from berryeval.pipeline.remember import opened_if_there, store_place

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.io.files import PathLike

__all__ = ["KnownRuns", "known_runs"]

log = logging.getLogger("berryeval")


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
    from berryeval.store.times import moment_of

    found = {}
    for folder in folders:
        try:
            created = str(RunFolder(folder).read_manifest().get("created", ""))
            found[folder.name] = moment_of(created, folder.name)
        except DataError:  # noqa: PERF203 - one that is damaged hides no other
            found[folder.name] = 0.0  # it can be named, and is nobody's latest
    return found
