"""Fusion of tables: queries matched by id, then fused one by one, natively if possible."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval._internal import backend as _backend
from berryeval.data import DEFAULT_RULE, QueryTable, StringColumn
from berryeval.errors import DataError
from berryeval.fusion.query_fusion import Ranking, fuse_query

if TYPE_CHECKING:
    from berryeval.fusion.recipe import Recipe

Places: TypeAlias = npt.NDArray[np.int64]
ABSENT = -1


def align_queries(tables: Sequence[QueryTable]) -> tuple[StringColumn, Places]:
    """Return the queries of all tables in order of appearance, and their place in each.

    The places are a matrix of tables by queries, with -1 for a query that a table lacks.
    """
    first = tables[0].queries
    if all(_is_same(table.queries, first) for table in tables):
        return first, np.tile(np.arange(len(first), dtype=np.int64), (len(tables), 1))
    ids = [table.queries.to_bytes_list() for table in tables]
    queries = list(dict.fromkeys(query for some in ids for query in some))
    return StringColumn.from_bytes(queries), find_queries(queries, tables)


def find_queries(queries: Sequence[bytes], tables: Sequence[QueryTable]) -> Places:
    """Return the place of each query in each table, as a matrix of tables by queries."""
    places = np.full((len(tables), len(queries)), ABSENT, dtype=np.int64)
    for row, table in enumerate(tables):
        place_of = {query: place for place, query in enumerate(table.queries.to_bytes_list())}
        places[row] = [place_of.get(query, ABSENT) for query in queries]
    return places


def _is_same(one: StringColumn, other: StringColumn) -> bool:
    return np.array_equal(one.offsets, other.offsets) and np.array_equal(one.data, other.data)


def fuse_tables(
    tables: Sequence[QueryTable],
    queries: StringColumn,
    places: Places,
    recipe: Recipe,
    *,
    depth: int | None = None,
) -> QueryTable:
    """Fuse the rankings of each query; a table that lacks the query has no say.

    Documents are ordered by fused score, then by id, both descending; `depth` limits their number.
    """
    if _backend.native is None:
        documents, offsets, values = _fuse_in_python(tables, places, recipe, depth)
    else:
        found = _backend.native.fuse(
            [table.arrays for table in tables], places, recipe.arrays, min(depth or 0, sys.maxsize),
            _backend.thread_count(),
        )  # fmt: skip
        if len(found) == 2:  # noqa: PLR2004 - the run and the row of a repeated document
            run, row = found
            raise tables[run].repeated_error(row)
        text, offsets, values = found
        documents = StringColumn(*text)
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        query = queries[int(np.searchsorted(offsets, row, side="right")) - 1]
        raise DataError(
            f"the fused score of document {documents[row]!r} for query {query!r} is not a finite "
            f"number, found {values[row]}; the scores or weights of the runs are too large"
        )
    return QueryTable(queries, offsets, documents, values, distinct=True)


def _fuse_in_python(
    tables: Sequence[QueryTable], places: Places, recipe: Recipe, depth: int | None
) -> tuple[StringColumn, npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    documents: list[bytes] = []
    values: list[float] = []
    offsets = [0]
    for column in places.T.tolist():
        rankings = [
            rank_query(table, place, run, inverted=recipe.inverted)
            for run, (table, place) in enumerate(zip(tables, column, strict=True))
            if place != ABSENT
        ]
        names, scores = fuse_query(rankings, recipe)
        documents.extend(names[:depth])
        values.extend(scores[:depth])
        offsets.append(len(documents))
    return (
        StringColumn.from_bytes(documents),
        np.array(offsets, dtype=np.int64),
        np.array(values, dtype=np.float64),
    )


def rank_query(table: QueryTable, place: int, run: int = 0, *, inverted: bool = False) -> Ranking:
    """Return one query of a table as a ranking; `inverted` negates the scores."""
    start, end = int(table.offsets[place]), int(table.offsets[place + 1])
    documents = table.documents.to_bytes_list(start, end)
    seen: set[bytes] = set()
    for row, document in enumerate(documents, start=start):
        if document in seen:
            raise table.repeated_error(row)
        seen.add(document)
    sign = -1.0 if inverted else 1.0
    scores = [sign * score + 0.0 for score in table.values[start:end].tolist()]  # -0 becomes 0
    order = DEFAULT_RULE.order(documents, scores)
    return Ranking(run, [documents[at] for at in order], [scores[at] for at in order])
