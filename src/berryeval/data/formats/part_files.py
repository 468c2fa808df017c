"""Tables in several files: the Parquet or CSV files of a folder, or those that match a pattern."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Final

from berryeval._internal.files import PathLike, plain_suffix
from berryeval.errors import DataError

PARQUET: Final = (".parquet", ".pq")
_LISTED: Final = 3  # names in a message


def is_pattern(path: PathLike) -> bool:
    """Whether a path is a pattern such as "run/part-*.parquet", and not the name of a file."""
    text = os.fspath(path)
    return glob.has_magic(text) and not os.path.lexists(text)


def list_part_files(path: PathLike) -> list[Path]:
    """Return the Parquet or CSV files of a folder or pattern, sorted; a file is its only part.

    Of folders, also of those that match a pattern, names that begin with a dot or underscore are
    left out, as Spark and Hive do.
    """
    if is_pattern(path):
        matches = glob.iglob(os.fspath(path), recursive=True)  # noqa: PTH207 - any path
        found = list({file for one in map(Path, matches) for file in _list_matched(one)})
        if not found:
            raise DataError(f"{os.fspath(path)}: no file matches this pattern")
    elif Path(path).is_dir():
        found = _list_tables(Path(path))
    elif os.path.lexists(path):
        return [Path(path)]
    else:
        raise DataError(f"{os.fspath(path)}: no such file")
    forms = {form_of(one) for one in found}
    if forms in ({"Parquet"}, {"CSV"}):
        return sorted(found)
    several = " and ".join(sorted(forms - {""}))
    what = f"both {several} files" if len(forms - {""}) > 1 else f"{_list_names(path, found)}"
    raise DataError(
        f"{os.fspath(path)}: expected a folder or pattern of Parquet files, or of CSV files; "
        f"found {what}"
    )


def _list_matched(path: Path) -> list[Path]:
    """Return a file that matches a pattern, or the tables in a folder that does."""
    if path.is_dir():
        return _list_tables(path) if _is_visible(Path(path.name)) else []
    return [path] if path.is_file() else []


def _list_tables(folder: Path) -> list[Path]:
    found = [one for one in folder.rglob("*") if _is_visible(one.relative_to(folder))]
    return [one for one in found if one.is_file() and form_of(one)]


def holds_tables(folder: Path) -> bool:
    """Whether there is a Parquet or CSV file in a folder."""
    return any(form_of(one) and _is_visible(one.relative_to(folder)) for one in folder.rglob("*"))


def _list_names(path: PathLike, found: list[Path]) -> str:
    there = found if is_pattern(path) else sorted(Path(path).iterdir())
    names = [one.name for one in there if is_pattern(path) is False or not form_of(one)]
    more = ", ..." if len(names) > _LISTED else ""
    return ", ".join(map(repr, names[:_LISTED])) + more or "nothing in it"


def _is_visible(path: Path) -> bool:
    return not any(part.startswith((".", "_")) for part in path.parts)


def form_of(path: PathLike) -> str:
    """Return "Parquet" or "CSV" for a file of rows in columns, by its name; empty for others."""
    if Path(path).suffix.lower() in PARQUET:
        return "Parquet"
    return "CSV" if plain_suffix(path) == ".csv" else ""
