"""What the lines of a text file hold: told by its first lines, or not at all.

Three columns are taken for judgments or for a run only where a first line names them, with one
exception: MS MARCO's runs, "query document rank" without a header, are known by ranks that rise
from 1 in every query, line by line. A run with scores lists them falling.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval.data.table import VALUE_OF, Kind
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval.data.table import QueryTable


# What the columns of other people's tables are called.

# The first name that is there wins. Case, "-" and "_" make no difference.
QUERY = ("query", "query_id", "qid", "q_id", "topic", "topic_id")
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
    """The names of the query, document and number columns among those found.

    Args:
        found: the names that the table has.
        kind: what the table holds.
        given: names by role ("query", "document", "score" or "grade"), where the caller knows.
        source: where the table came from, for messages.
    """
    roles = {"query": QUERY, "document": DOCUMENT, VALUE_OF[kind]: VALUE[kind]}
    for role in given:
        if role not in roles:
            msg = f"unexpected keyword argument {role!r}; there are {', '.join(roles)}"
            raise TypeError(msg)
    plain = {_plain(name): name for name in reversed(found)}
    chosen = []
    for role, aliases in roles.items():
        wanted = given.get(role)
        if wanted is None:
            matches = [plain[alias] for alias in aliases if alias in plain]
        else:
            matches = [name for name in found if name == wanted]
        if not matches:
            looked_for = repr(wanted) if wanted is not None else f"any of {', '.join(aliases)}"
            start = f"{source}: " if source else ""
            msg = (
                f"{start}no column with the {role} ({looked_for}); found "
                f"{', '.join(map(repr, found)) or 'no columns'}"
            )
            raise DataError(msg)
        chosen.append(matches[0])
    query, document, value = chosen
    return query, document, value


def is_header(columns: Sequence[str], kind: Kind) -> bool:
    """Whether these are the names of a query, a document and a number column, in this order."""
    return _are_named(columns, (QUERY, DOCUMENT, VALUE[kind]))


def is_rank_header(columns: Sequence[str]) -> bool:
    """Whether these are the names of a query, a document and a rank column, in this order."""
    return _are_named(columns, (QUERY, DOCUMENT, RANK))


def _are_named(columns: Sequence[str], groups: tuple[tuple[str, ...], ...]) -> bool:
    return len(columns) == len(groups) and all(
        _plain(name) in aliases for name, aliases in zip(columns, groups, strict=True)
    )


def _plain(name: str) -> str:
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
    """How the lines look, the text without its header, and whether a header said so.

    Of a header only the line end stays in the text, and is counted.
    """

    lines: Layout
    text: npt.NDArray[np.uint8]
    named: bool = True


def layout_of(text: npt.NDArray[np.uint8], kind: Kind) -> TextLayout:
    """The layout that the first lines show; what they do not show is a TREC file."""
    first = text[:_LONGEST_HEADER].tobytes().split(b"\n")[0]
    names = first.decode(errors="replace").split("\t")
    if is_header(names, kind):
        return TextLayout("run tsv" if kind == "run" else "qrels tsv", text[len(first) :])
    if kind == "run" and is_rank_header(names):
        return TextLayout("run ranks tsv", text[len(first) :])
    if kind == "run" and _has_three_columns(text):
        return TextLayout("run tsv", text, named=False)
    return TextLayout(kind, text)


def _has_three_columns(text: npt.NDArray[np.uint8]) -> bool:
    """Whether the first two lines with content (or the only one) are three columns with tabs."""
    beginning = text[:_LOOKED_AT].tobytes().split(b"\n")
    lines = [line for line in beginning if line.strip()][:2]
    return bool(lines) and all(
        len(split_line(line, "run tsv")) == _THREE
        and len(line.split()) < 6  # noqa: PLR2004 - the columns of a TREC run
        and not line.lstrip().startswith(b"#")
        for line in lines
    )


def split_line(line: bytes, layout: Layout) -> list[bytes]:
    """The columns of a line."""
    return line.removesuffix(b"\r").split(b"\t") if "tsv" in layout else line.split()


def expected_columns(layout: Layout, found: bytes, line: int, *, named: bool) -> str:
    """What a line should hold; if the first has three columns, also how a file can have three."""
    if not named:
        return f"{COLUMNS['run']}, or {COLUMNS['run ranks tsv']}"
    kind: Kind = "run" if layout == "run" else "qrels"
    if line == 1 and layout == kind and len(found.split()) == _THREE:
        return f"{COLUMNS[layout]}, or 3 with tabs that a first line names, {_NAMES[kind]}"
    return COLUMNS[layout]


def with_ranks(table: QueryTable) -> QueryTable:
    """The run whose numbers, which nobody named, are ranks: those rise from 1 in every query."""
    starts = table.offsets[:-1]
    numbers = table.values
    wrong = (numbers < 1) | (numbers != np.floor(numbers))
    wrong[1:] |= numbers[1:] <= numbers[:-1]
    wrong[starts] = numbers[starts] != 1
    if wrong.any():
        _raise_no_ranks(table, int(np.argmax(wrong)))
    return replace(table, values=-numbers)


def _raise_no_ranks(table: QueryTable, row: int) -> NoReturn:
    query = int(np.searchsorted(table.offsets, row, side="right")) - 1
    where = f"query {table.queries[query]!r}"
    found = f"{table.values[row]:g}"
    if row == table.offsets[query]:
        why = f"{where} begins with {found}, where ranks begin with 1"
    elif table.values[row] <= table.values[row - 1]:
        why = f"{found} follows {table.values[row - 1]:g} in {where}, where ranks rise"
    else:
        why = f"{found} is no rank"
    raise_unnamed(table.source, int(table.labels["line"][row]), why)


def raise_unnamed(source: str, line: int, why: str) -> NoReturn:
    """Say that nobody can tell what three columns are, and what to do about it."""
    msg = (
        f"{source}:{line}: cannot tell whether the third column holds ranks or scores: {why}; "
        f"name the columns in a first line, {_NAMES['run']}"
    )
    raise DataError(msg)
