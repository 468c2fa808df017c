"""Layouts of text files, detected from their first lines.

A file with three columns needs a header line, with one exception: runs of MS MARCO ("query document
rank" without a header) are recognized by ranks that rise from 1 in every query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval._internal.text import prefix_place
from berryeval.data.table import VALUE_OF, Kind
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval.data.table import QueryTable


# Common column names, in order of preference; case, "-" and "_" are ignored.
QUERY = ("query", "query_id", "qid", "q_id", "topic", "topic_id")
QUESTION = ("query_text", "question")
DOCUMENT = (
    "document", "document_id", "doc_id", "docid", "doc", "docno",
    "corpus_id", "passage_id", "pid", "chunk_id",
)  # fmt: skip
RANK = ("rank",)
VALUE: dict[Kind, tuple[str, ...]] = {
    "run": ("score", "sim", "similarity"),
    "qrels": ("grade", "rel", "relevance", "relevance_label", "label", "score"),
}


def choose_columns(
    found: Sequence[str], kind: Kind, given: Mapping[str, str], source: str = ""
) -> tuple[str, str, str]:
    """Return the names of the query, document and number columns.

    `given` holds names chosen by the caller, by role: "query", "document", "score" or "grade".
    """
    roles = {"query": QUERY, "document": DOCUMENT, VALUE_OF[kind]: VALUE[kind]}
    for role in given:
        if role not in roles:
            raise TypeError(f"unexpected keyword argument {role!r}; there are {', '.join(roles)}")
    query, document, value = (
        choose_column(found, role, aliases, given.get(role), source)
        for role, aliases in roles.items()
    )
    return query, document, value


def find_column(found: Sequence[str], aliases: Sequence[str]) -> str | None:
    """Return the column with the first of these names, in any case."""
    plain = {_normalize_name(name): name for name in reversed(found)}
    return next((plain[alias] for alias in aliases if alias in plain), None)


def choose_column(
    found: Sequence[str], role: str, aliases: Sequence[str], wanted: str | None, source: str = ""
) -> str:
    """Return the column of a role: the wanted one, or one with a usual name."""
    name = find_column(found, aliases) if wanted is None else wanted
    start = prefix_place(source)
    if name is None or name not in found:
        looked_for = repr(wanted) if wanted is not None else f"any of {', '.join(aliases)}"
        raise DataError(
            f"{start}no column with the {role} ({looked_for}); found "
            f"{', '.join(map(repr, found)) or 'no columns'}"
        )
    if found.count(name) > 1:
        raise DataError(f"{start}the column {name!r} appears twice; rename or remove one of them")
    return name


def _is_header(columns: Sequence[str], numbers: tuple[str, ...]) -> bool:
    """Whether these are the names of query, document and number columns, in this order."""
    groups = (QUERY, DOCUMENT, numbers)
    return len(columns) == len(groups) and all(
        _normalize_name(name) in aliases for name, aliases in zip(columns, groups, strict=True)
    )


def _normalize_name(name: str) -> str:
    return name.strip().casefold().replace("-", "_").replace(" ", "_")


Layout: TypeAlias = Literal["run", "qrels", "run tsv", "qrels tsv", "run ranks tsv"]

COLUMNS: dict[Layout, str] = {
    "run": "6 columns (query Q0 document rank score tag)",
    "qrels": "4 columns (query group document grade)",
    "run tsv": "3 columns separated by tabs (query document score)",
    "qrels tsv": "3 columns separated by tabs (query document grade)",
    "run ranks tsv": "3 columns separated by tabs (query document rank)",
}
_NAMES: dict[Kind, str] = {
    "run": "query<TAB>document<TAB>score (or rank)",
    "qrels": "query<TAB>document<TAB>grade",
}
_LONGEST_HEADER = 200
_LOOKED_AT = 4096
_THREE = 3


class TextLayout(NamedTuple):
    """The layout of the lines, the text without its header, and whether it had one.

    The line feed of the header stays in the text to keep line numbers right.
    """

    lines: Layout
    text: npt.NDArray[np.uint8]
    named: bool = True


def detect_layout(text: npt.NDArray[np.uint8], kind: Kind) -> TextLayout:
    """Detect the layout from the first lines; the default is TREC."""
    first = text[:_LONGEST_HEADER].tobytes().split(b"\n")[0]
    names = first.decode(errors="replace").split("\t")
    if _is_header(names, VALUE[kind]):
        return TextLayout("run tsv" if kind == "run" else "qrels tsv", text[len(first) :])
    if kind == "run" and _is_header(names, RANK):
        return TextLayout("run ranks tsv", text[len(first) :])
    if kind == "run" and _has_three_columns(text):
        return TextLayout("run tsv", text, named=False)
    return TextLayout(kind, text)


def _has_three_columns(text: npt.NDArray[np.uint8]) -> bool:
    """Whether the first two nonblank lines (or the only one) have three tab-separated columns."""
    beginning = text[:_LOOKED_AT].tobytes().split(b"\n")
    lines = [line for line in beginning if line.strip()][:2]
    return bool(lines) and all(
        len(split_line(line, "run tsv")) == _THREE
        and len(line.split()) < 6  # noqa: PLR2004 - the columns of a TREC run
        and not line.lstrip().startswith(b"#")
        for line in lines
    )


def split_line(line: bytes, layout: Layout) -> list[bytes]:
    """Split a line into columns."""
    return line.removesuffix(b"\r").split(b"\t") if "tsv" in layout else line.split()


def expected_columns(layout: Layout, found: bytes, line: int, *, named: bool) -> str:
    """Describe the expected columns; for a first line with three, also the form of a header."""
    if not named:
        return f"{COLUMNS['run']}, or {COLUMNS['run ranks tsv']}"
    kind: Kind = "run" if layout == "run" else "qrels"
    if line == 1 and layout == kind and len(found.split()) == _THREE:
        return f"{COLUMNS[layout]}, or 3 separated by tabs with a header line, {_NAMES[kind]}"
    return COLUMNS[layout]


def convert_ranks(table: QueryTable) -> QueryTable:
    """Convert ranks of a file without a header to scores; they must rise from 1 in each query."""
    starts = table.offsets[:-1]
    numbers = table.values
    wrong = (numbers < 1) | (numbers != np.floor(numbers))
    wrong[1:] |= numbers[1:] <= numbers[:-1]
    wrong[starts] = numbers[starts] != 1
    if wrong.any():
        _raise_bad_rank(table, int(np.argmax(wrong)))
    return replace(table, values=-numbers)


def _raise_bad_rank(table: QueryTable, row: int) -> NoReturn:
    query = int(np.searchsorted(table.offsets, row, side="right")) - 1
    where = f"query {table.queries[query]!r}"
    found = f"{table.values[row]:g}"
    if row == table.offsets[query]:
        why = f"{where} starts with {found}, but ranks start with 1"
    elif table.values[row] <= table.values[row - 1]:
        why = f"{found} follows {table.values[row - 1]:g} in {where}, but ranks rise"
    else:
        why = f"{found} is not a rank"
    raise_ambiguous(table.source, int(table.labels["line"][row]), why)


def raise_ambiguous(source: str, line: int, why: str) -> NoReturn:
    """Raise the error for three columns of unknown meaning."""
    raise DataError(
        f"{source}:{line}: cannot tell whether the third column holds ranks or scores: {why}; "
        f"add a header line: {_NAMES['run']}"
    )
