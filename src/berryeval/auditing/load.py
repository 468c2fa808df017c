"""Tables for an audit: whatever is wrong with a source is noted, and the rest can be scored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from berryeval.auditing.report import Fault
from berryeval.io.files import PathLike, name_of
from berryeval.io.load import load_table, raw_rows
from berryeval.io.trec_rows import FaultyLine, RawRow
from berryeval.qrels import Qrels
from berryeval.run import Run
from berryeval.tables import QueryTable, StringColumn

if TYPE_CHECKING:
    from berryeval.io.trec import Kind

__all__ = ["Loaded", "load"]


@dataclass
class Loaded:
    """What could be read, and what could not.

    Attributes:
        table: the sound rows; of a repeated document, the first; of one in several groups of
            judgments, the highest grade.
        name: the name of the source.
        faults: the lines and rows that are not in the table.
        given: the rows of each query that give a rank: rank, score, document.
    """

    table: QueryTable
    name: str
    faults: list[Fault] = field(default_factory=list)
    given: dict[str, list[tuple[int, float, str]]] = field(default_factory=dict)


def load(source: Run | Qrels | Mapping[str, Mapping[str, float]] | PathLike, kind: Kind) -> Loaded:
    """Read a source of judgments or of a run without stopping at what is wrong with it."""
    if isinstance(source, Run | Qrels):
        name = source.name if isinstance(source, Run) else source.table.source or kind
        return _sorted_out(_table_rows(source.table), kind, name, list(source.table.queries))
    if isinstance(source, Mapping):
        return _sorted_out(_dict_rows(source), kind, kind, list(source))
    rows = raw_rows(source, kind)
    if rows is not None:
        return _sorted_out(rows, kind, name_of(source), [])
    table = load_table(source, kind, {}, lenient=True)
    found = _sorted_out(_table_rows(table), kind, name_of(source), list(table.queries))
    if table.dropped:
        left_out = f"{table.dropped} rows, repeated or without a number"
        found.faults.insert(0, Fault("faulty line", kind, 0, text=left_out))
    return found


def _table_rows(table: QueryTable) -> Iterator[RawRow]:
    lines: Any = table.labels.get("line", [0] * len(table.values))
    groups = table.labels.get("group")
    for place, query in enumerate(table.queries):
        start, end = int(table.offsets[place]), int(table.offsets[place + 1])
        for row in range(start, end):
            value = float(table.values[row])
            group = groups[row] if isinstance(groups, StringColumn) else ""
            yield RawRow(query, table.documents[row], value, int(lines[row]), group=group)


def _dict_rows(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[RawRow]:
    for query, row in rows.items():
        if isinstance(row, Mapping):
            for document, value in row.items():
                yield RawRow(query, document, value)


def _sorted_out(
    rows: Iterable[RawRow | FaultyLine], kind: Kind, name: str, queries: list[str]
) -> Loaded:
    sound: dict[str, dict[str, float]] = {query: {} for query in queries}
    faults: list[Fault] = []
    seen: set[tuple[str, str, str]] = set()
    given: dict[str, list[tuple[int, float, str]]] = {}
    for row in rows:
        if isinstance(row, FaultyLine):
            faults.append(Fault("faulty line", kind, row.line, text=row.text))
            continue
        documents = sound.setdefault(row.query, {})
        key = (row.query, row.document, row.group)
        if key in seen:
            faults.append(Fault("repeated document", kind, row.line, row.query, row.document))
        elif isinstance(row.value, float) and math.isnan(row.value):
            faults.append(Fault("NaN", kind, row.line, row.query, row.document))
        elif kind == "qrels" and math.isinf(row.value):
            faults.append(Fault("faulty line", kind, row.line, row.query, row.document))
        else:
            seen.add(key)
            highest = max(row.value, documents.get(row.document, row.value))
            documents[row.document] = highest
            if row.rank is not None:
                given.setdefault(row.query, []).append((row.rank, row.value, row.document))
    return Loaded(QueryTable.from_dict(sound, kind=kind, source=name), name, faults, given)
