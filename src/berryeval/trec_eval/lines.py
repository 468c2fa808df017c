"""The output lines of trec_eval, and its files of z-scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from berryeval._internal.files import PathLike, display_name, read_bytes
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval.trec_eval.names import Column


Values: TypeAlias = "list[float] | list[str]"


@dataclass(frozen=True)
class Report:
    """The values of all columns and topics, ready for printing.

    Attributes:
        columns: The columns.
        topics: The topics.
        values: For each column a value per topic; logarithms for geometric means.
        run_name: Name of the run.
        totals: Values of the line `all` by column, where they are not computed from the topics.
        standardised: Whether the values are z-scores.
    """

    columns: Sequence[Column]
    topics: Sequence[str]
    values: Sequence[Values]
    run_name: str
    totals: Mapping[str, float] = field(default_factory=dict)
    standardised: bool = False

    def topic_lines(self) -> Iterator[str]:
        """Yield the lines of the topics (-q)."""
        for place, topic in enumerate(self.topics):
            for column, values in zip(self.columns, self.values, strict=True):
                if column.row.per_query:
                    yield self._format_line(column, topic, values[place])

    def summary_lines(self) -> Iterator[str]:
        """Yield the lines for all topics together."""
        for column, values in zip(self.columns, self.values, strict=True):
            if column.row.summary == "text":
                yield f"{column.name:<22}\tall\t{self.run_name}\n"
            elif column.row.summary != "none":
                total = self.totals.get(column.name)
                if total is None:
                    total = _summarize(column.row.summary, [float(value) for value in values])
                yield self._format_line(column, "all", total)

    def _format_line(self, column: Column, topic: str, value: float | str) -> str:
        if isinstance(value, str):
            return f"{column.name:<22}\t{topic}\t'{value}'\n"
        if self.standardised:
            return f"Z{column.name:<22}\t{topic}\t{value:6.4f}\n"
        shown = str(int(value)) if column.row.whole else f"{value:6.4f}"
        return f"{column.name:<22}\t{topic}\t{shown}\n"


def _summarize(how: str, values: list[float]) -> float:
    """Aggregate values in topic order; geometric means get logarithms."""
    total = 0.0
    for value in values:
        total += value
    if how == "count":
        return float(len(values))
    if how == "sum":
        return total
    return math.exp(total / len(values)) if how == "geometric mean" else total / len(values)


_COLUMNS = 4

ZScores = dict[str, dict[str, tuple[float, float]]]


def read_zscores(path: PathLike) -> ZScores:
    """Read mean and standard deviation by query and metric, from lines of four columns."""
    source = display_name(path)
    found: ZScores = {}
    for number, line in enumerate(read_bytes(path).tobytes().split(b"\n"), start=1):
        columns = line.decode(errors="replace").split()
        if not columns:
            continue
        if len(columns) != _COLUMNS:
            raise DataError(
                f"{source}:{number}: expected 4 columns (query metric mean deviation), "
                f"found {len(columns)}"
            )
        try:
            mean, deviation = float(columns[2]), float(columns[3])
        except ValueError:
            texts = f"{columns[2]!r} and {columns[3]!r}"
            raise DataError(
                f"{source}:{number}: mean and deviation must be numbers, found {texts}"
            ) from None
        found.setdefault(columns[0], {}).setdefault(columns[1], (mean, deviation))
    return found
