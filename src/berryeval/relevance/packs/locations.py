"""Lines of files, as ground truth and hits name them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from berryeval.json_record import refused
from berryeval.relevance.packs.turns import texts_of

if TYPE_CHECKING:
    from berryeval.records import Hit, Query

__all__ = [
    "Location",
    "file_of",
    "lines_named",
    "location_named",
    "locations_of",
    "path_parts",
    "same_file",
]

LABEL_FIELDS: Final = ("locations", "ground_truth", "files", "modified_files")
PATH_FIELDS: Final = ("path", "file", "filepath", "file_path", "source")
_LINES: Final = re.compile(r"(?<=[^:#])(?::|#L)(\d{1,9})(?:-L?(\d{1,9}))?\Z")
_FIRST: Final = ("start_line", "startLine")
_LAST: Final = ("end_line", "endLine")


class Location(NamedTuple):
    """Lines of a file, the last included; None for the whole file."""

    path: str
    lines: tuple[int, int] | None

    @property
    def label(self) -> str:
        """How it is written: `src/app.py:10-25`."""
        return self.path if self.lines is None else f"{self.path}:{self.lines[0]}-{self.lines[1]}"


def file_of(hit: Hit) -> str:
    """The file a hit comes from: a path in its metadata, or its document, or what its id says."""
    for name in PATH_FIELDS:
        for path in texts_of(hit.metadata.get(name)):
            return path
    return hit.doc_id or location_named(hit.id).path


def location_named(identity: str) -> Location:
    """The file and lines that an id names, as `src/app.py:10-25` or `src/app.py#L10-L25`.

    >>> location_named("src/app.py#L10"), location_named("src/app.py")
    (Location(path='src/app.py', lines=(10, 10)), Location(path='src/app.py', lines=None))
    """
    found = _LINES.search(identity)
    if found is None:
        return Location(identity, None)
    first, last = int(found[1]), int(found[2] or found[1])
    lines = (first, last) if 1 <= first <= last else None
    return Location(identity[: found.start()], lines)


def same_file(one: str, other: str) -> bool:
    """Whether two paths name one file: equal, or one is the other with more in front.

    >>> same_file("repo/src/auth.py", "src/auth.py"), same_file("src/oauth.py", "auth.py")
    (True, False)
    """
    longer, shorter = sorted((path_parts(one), path_parts(other)), key=len, reverse=True)
    return bool(shorter) and longer[len(longer) - len(shorter) :] == shorter


def path_parts(path: str) -> list[str]:
    """The folders and the name."""
    return [part for part in path.replace("\\", "/").split("/") if part not in {"", "."}]


def locations_of(query: Query) -> list[Location]:
    """The files and lines that a query's metadata names, each once."""
    for name in LABEL_FIELDS:
        value = query.metadata.get(name)
        if value is None or (name == "ground_truth" and isinstance(value, str)):
            continue  # a ground truth in words is an expected answer
        where = f"metadata.{name} of query {query.id!r}"
        if not isinstance(value, list | tuple | Mapping):
            raise refused(where, "an array of paths or locations", value)
        items = [value] if isinstance(value, Mapping) else value
        found = [_location(item, f"{where}, place {place}") for place, item in enumerate(items)]
        return list(dict.fromkeys(found))
    return []


def _location(value: Any, where: str) -> Location:
    if isinstance(value, str) and value:
        return Location(value, None)
    if isinstance(value, Mapping):
        path = next((value[name] for name in PATH_FIELDS if name in value), None)
        if isinstance(path, str) and path:
            return Location(path, lines_named(value, where))
    raise refused(where, "a path, or an object with path, start_line and end_line", value)


def lines_named(data: Mapping[str, Any], where: str) -> tuple[int, int] | None:
    """The lines that a location or a hit names."""
    first = next((data[name] for name in _FIRST if data.get(name) is not None), None)
    last = next((data[name] for name in _LAST if data.get(name) is not None), first)
    if first is None and last is None:
        return None
    if type(first) is not int or type(last) is not int or not 1 <= first <= last:
        raise refused(where, "lines with 1 <= start_line <= end_line", dict(data))
    return first, last
