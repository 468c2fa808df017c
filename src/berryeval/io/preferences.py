"""Preference files: "query group subgroup document level", a higher level preferred to a lower.

Preferences hold between the documents of one subgroup; subgroups of one group are combined. Blank
lines and lines that begin with `#` are passed over.
"""

from __future__ import annotations

import numpy as np

from berryeval.errors import DataError
from berryeval.io.files import PathLike, name_of, read_bytes
from berryeval.tables import QueryTable, StringColumn

__all__ = ["read_preferences"]

_COLUMNS = 5


def read_preferences(path: PathLike) -> QueryTable:
    """Read a file; the labels `group`, `subgroup` and `line` go with each row."""
    source = name_of(path)
    rows: dict[bytes, list[tuple[bytes, bytes, bytes, float, int]]] = {}
    for number, line in enumerate(read_bytes(path).tobytes().split(b"\n"), start=1):
        columns = line.split()
        if not columns or columns[0].startswith(b"#"):
            continue
        if len(columns) != _COLUMNS:
            msg = (
                f"{source}:{number}: expected 5 columns (query group subgroup document level), "
                f"found {len(columns)}: {line.decode(errors='backslashreplace').strip()[:60]!r}"
            )
            raise DataError(msg)
        query, group, subgroup, document, level = columns
        value = _level(level, f"{source}:{number}")
        rows.setdefault(query, []).append((document, group, subgroup, value, number))
    flat = [row for group in rows.values() for row in group]
    return QueryTable(
        queries=StringColumn.from_bytes(list(rows)),
        offsets=np.cumsum([0, *(len(group) for group in rows.values())], dtype=np.int64),
        documents=StringColumn.from_bytes([row[0] for row in flat]),
        values=np.array([row[3] for row in flat], dtype=np.float64),
        labels={
            "group": StringColumn.from_bytes([row[1] for row in flat]),
            "subgroup": StringColumn.from_bytes([row[2] for row in flat]),
            "line": np.array([row[4] for row in flat], dtype=np.int64),
        },
        source=source,
    )


def _level(text: bytes, where: str) -> float:
    try:
        level = float(text)
    except ValueError:
        level = float("nan")
    if level != level:  # noqa: PLR0124 - NaN is the only number that differs from itself
        msg = f"{where}: the level must be a number, found {text.decode(errors='replace')!r}"
        raise DataError(msg)
    return level
