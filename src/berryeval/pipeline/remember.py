"""Where runs are remembered, and keeping one there: a store that fails never costs a run."""

from __future__ import annotations

import logging
import os
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.io.command_lines import command_line
from berryeval.json_record import found
from berryeval.pipeline.config_file import ConfigFile, config_path
from berryeval.pipeline.redaction import Secrets, masked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.io.files import PathLike
    from berryeval.results import RunRecord
    from berryeval.store import Store

__all__ = [
    "DEFAULT_STORE",
    "NO_STORE",
    "Remembered",
    "opened_if_there",
    "opened_store",
    "remember",
    "store_place",
]

DEFAULT_STORE: Final = Path(".berryeval") / "results.db"
NO_STORE: Final = "none"
VARIABLE: Final = "BERRYEVAL_STORE"
log = logging.getLogger("berryeval")


def store_place(given: PathLike | None = None, config: PathLike | None = None) -> str | None:
    """Where runs are remembered; None if nowhere.

    What is given wins over `BERRYEVAL_STORE`, this over `store` in the configuration file, this
    over `.berryeval/results.db`. A place that cannot be is refused.
    """
    from berryeval.store.place import Place

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
    from berryeval.store import open_store

    if place is None:
        msg = f"there is no store: it is turned off; give --store PATH, or unset {VARIABLE}"
        raise ConfigurationError(msg)
    with open_store(place, make=make) as store:
        yield store


@contextmanager
def opened_if_there(place: str | None) -> Iterator[Store | None]:
    """The store at a place; None if it is turned off, or was not made yet."""
    from berryeval.store import NoStoreError

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
    from berryeval.store.place import Place

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
        again = command_line("results", "import", folder, *_named(place)) if folder else ""
        advice = f"; when that is put right: {again}" if again else ""
        log.error("this run is not in the store: %s%s", error, advice)  # noqa: TRY400 - it is known
        return Remembered(problem=str(error))
    if added.id != record.id:
        log.warning(
            "the store has another run called %s; this one is %s there", record.id, added.id
        )
    return Remembered(added.id)
