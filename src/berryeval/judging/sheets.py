"""Sheets: pairs to judge as CSV or JSON lines, and what comes back, checked row by row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from berryeval._internal.files import display_name, plain_suffix
from berryeval._internal.json import encode_json_line, read_json_lines
from berryeval._internal.text import defuse, escape_commands, escape_controls, pluralize
from berryeval._internal.validate import is_number, require_choice
from berryeval.data import read_header, read_rows
from berryeval.errors import DataError
from berryeval.judging.decisions import check_grade

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike

FORMATS: Final = ("csv", "jsonl")
CANNOT_TELL: Final = "?"
_JSON_LINES: Final = (".jsonl", ".ndjson", ".json")
_FAULTS: Final = 10  # in a message
_TEXTS: Final = ("query", "wanted", "passage")  # spreadsheets turn ids into dates and numbers
_START: Final = "p"  # of the ids of pairs, which could be numbers such as 12e4


@dataclass(frozen=True)
class SheetRow:
    """A pair to judge: blind, without the system that found it, its rank, and other votes."""

    pair: str
    query_id: str
    query: str
    wanted: str
    passage: str


class Mark(NamedTuple):
    """The grade that a judge wrote into a row, None for "?", and the note."""

    pair: str
    grade: float | None
    note: str


@dataclass(frozen=True)
class CheckedSheet:
    """A sheet without faults: its marks, the pairs in it that have none yet, and lost notes.

    A note without a grade is lost; `unkept` has the lines of these.
    """

    marks: tuple[Mark, ...]
    empty: tuple[str, ...]
    unkept: tuple[str, ...] = ()


def format_sheet(rows: Iterable[SheetRow], kind: str = "csv") -> str:
    """Format rows with an empty grade and note each; no cell runs as a formula."""
    require_choice("format", kind, FORMATS)
    if kind == "jsonl":
        lines = (encode_json_line({**asdict(row), "grade": None, "note": ""}) for row in rows)
        return "".join(f"{line.decode()}\n" for line in lines)
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow([*SheetRow.__dataclass_fields__, "grade", "note"])
    for row in rows:
        pair, *cells = asdict(row).values()
        writer.writerow([f"{_START}{pair}", *map(defuse, cells), "", ""])
    return stream.getvalue()


def read_sheet(
    path: PathLike,
    known: Mapping[str, SheetRow],
    scale: Sequence[float],
    encoding: str = "utf-8",
) -> CheckedSheet:
    """Read a sheet and compare it with the rows that were given out, by pair.

    Every fault is an error, and the message lists the first ten with their lines. Missing rows and
    empty grades are no faults.
    """
    source = display_name(path)
    faults: list[str] = []
    found: dict[str, tuple[str, Mark | None]] = {}
    strangers = 0
    unkept: list[str] = []
    for where, cells in _read_cells(path, encoding):
        row = known.get(_text(cells["pair"]).strip().removeprefix(_START))
        if row is None:
            strangers += 1
            faults.append(f"{where}: the pair {_text(cells['pair'])!r:.40} is not in the pool")
            continue
        try:
            mark = _read_mark(row, cells, scale)
        except DataError as error:
            faults.append(f"{where}: {error}")
            continue
        if mark is None and _text(cells.get("note")).strip():
            unkept.append(where)
        before, first = found.setdefault(row.pair, (where, mark))
        if first is None:
            found[row.pair] = (where, mark)
        elif mark is not None and mark != first:
            faults.append(f"{where}: the pair {row.pair} has another grade or note in {before}")
    if strangers and not found:
        raise DataError(
            f"{source}: none of {pluralize(strangers, 'row')} is in the pool; this is a sheet of "
            "another benchmark or pool: name its own with --benchmark"
        )
    if faults:
        more = len(faults) - _FAULTS
        listed = "; ".join(faults[:_FAULTS]) + (f"; and {more} more" if more > 0 else "")
        raise DataError(f"{source}: {pluralize(len(faults), 'fault')}: {listed}")
    if not found:
        raise DataError(f"{source}: has no rows")
    return CheckedSheet(
        tuple(mark for _, mark in found.values() if mark is not None),
        tuple(pair for pair, (_, mark) in found.items() if mark is None),
        tuple(unkept),
    )


def _read_cells(path: PathLike, encoding: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the line of each row and its cells."""
    needed = (*SheetRow.__dataclass_fields__, "grade")
    if plain_suffix(path) in _JSON_LINES:
        for line, node in read_json_lines(path):
            cells = node.object()
            _require_columns(f"{node.where}: ", needed, cells)
            yield f"line {line}", cells
        return
    try:
        _require_columns(f"{display_name(path)}: ", needed, read_header(path, encoding))
        for row in read_rows(path, short_rows=True, encoding=encoding):
            yield f"line {row.line}", row.cells
    except DataError as error:
        raise DataError(str(error).replace("--options encoding=", "--encoding ")) from None


def _require_columns(where: str, needed: Sequence[str], there: Iterable[str]) -> None:
    names = list(there)
    missing = [name for name in needed if name not in names]
    if missing:
        raise DataError(
            f"{where}has no {missing[0]!r}, which every sheet of `judge export` has; found "
            f"{', '.join(map(repr, names)):.200}"
        )


def _read_mark(row: SheetRow, cells: Mapping[str, Any], scale: Sequence[float]) -> Mark | None:
    for name in _TEXTS:
        text, cell = getattr(row, name), _text(cells[name])
        if _plain(cell) not in {_plain(text), _plain(defuse(text))}:
            raise DataError(
                f"the {name} of the pair {row.pair} was changed: expected {_plain(text)!r:.60}, "
                f"found {_plain(cell)!r:.60}"
            )
    given, note = cells["grade"], _text(cells.get("note")).strip()
    text = _text(given).strip()
    if not text:
        return None
    if text == CANNOT_TELL:
        return Mark(row.pair, None, note)
    grade = _read_number(text)
    if not is_number(grade):
        raise DataError(f"expected a grade, ? or nothing, found {text!r:.40}")
    check_grade(grade, scale)
    return Mark(row.pair, int(grade) if grade == int(grade) else grade, note)


def _read_number(text: str) -> float | None:
    """Return a number, also with the decimal comma of some spreadsheets."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _plain(text: str) -> str:
    """Return a text without what editors, spreadsheets and terminals change: white space."""
    known = text.encode(errors="backslashreplace").decode()
    return " ".join(escape_commands(escape_controls(known)).split())
