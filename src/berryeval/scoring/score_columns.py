"""Validation of a table of scores read from JSON."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from berryeval._internal.serial import READERS, read_strings, type_mismatch
from berryeval._internal.validate import is_number
from berryeval.data import STRATEGIES, TOKEN_THRESHOLD
from berryeval.errors import DataError
from berryeval.scoring.scores import OUTCOMES

_AGGREGATES: Final = ("mean", "sum", "geometric mean")
_COUNTS: Final = 4  # per query: retrieved, judged, relevant, in the run
_MOST: Final = 2**63 - 1


def read_columns(data: Any, where: str) -> dict[str, Any]:
    """Return the arguments of `Scores`; raise a `DataError` that names the faulty field."""
    at = f"{where}." if where else ""
    if not isinstance(data, Mapping):
        raise type_mismatch(where, "an object with scores", data)
    metrics = _names(data, "metrics", at)
    queries = _names(data, "queries", at)
    _check_order(queries, f"{at}queries")
    return {
        "metrics": metrics,
        "queries": queries,
        "values": _values(_there(data, "values", at), metrics, queries, f"{at}values"),
        "aggregates": _words(data, "aggregates", at, len(metrics), _AGGREGATES),
        "outcomes": _words(data, "outcomes", at, len(queries), OUTCOMES),
        "counts": _counts(_there(data, "counts", at), queries, f"{at}counts"),
        "extra_queries": _texts(data, "extra_queries", at),
        "run_name": _one(data, "run", at, "str"),
        "spellings": _spellings(_there(data, "spellings", at), f"{at}spellings"),
        "dropped": _one(data, "dropped_rows", at, "int"),
        "left_out": _texts(data, "left_out_queries", at),
        "strategies": _strategies(data, at, len(queries)),
        "token_threshold": READERS["float"](
            data.get("token_threshold", TOKEN_THRESHOLD), f"{at}token_threshold"
        ),
        "pack": READERS["str"](data.get("pack", ""), f"{at}pack"),
        "notes": read_strings(data.get("notes", ()), f"{at}notes"),
    }


def _there(data: Mapping[str, Any], name: str, at: str) -> Any:
    if name not in data:
        place = f"{at.removesuffix('.')}: " if at else ""
        raise DataError(
            f"{place}these scores have no {name!r}; found {', '.join(map(repr, data)) or 'nothing'}"
        )
    return data[name]


def _one(data: Mapping[str, Any], name: str, at: str, kind: str) -> Any:
    return READERS[kind](_there(data, name, at), f"{at}{name}")


def _texts(data: Mapping[str, Any], name: str, at: str) -> tuple[str, ...]:
    return read_strings(_there(data, name, at), f"{at}{name}")


def _names(data: Mapping[str, Any], name: str, at: str) -> tuple[str, ...]:
    """Read distinct texts."""
    found = _texts(data, name, at)
    if len(set(found)) < len(found):
        twice = next(one for place, one in enumerate(found) if one in found[:place])
        raise DataError(f"{at}{name}: found {twice!r} twice; names must be distinct")
    return found


def _check_order(queries: tuple[str, ...], where: str) -> None:
    """Require sorted queries: tables are paired by position."""
    for place, (before, after) in enumerate(pairwise(queries), 1):
        if before > after:
            raise DataError(
                f"{where}[{place}]: found {after!r} after {before!r}; "
                "expected the queries sorted by bytes"
            )


def _words(
    data: Mapping[str, Any], name: str, at: str, count: int, known: tuple[str, ...]
) -> tuple[str, ...]:
    """Read `count` texts that are all in `known`."""
    found = _texts(data, name, at)
    _check_length(found, count, f"{at}{name}")
    for place, one in enumerate(found):
        if one not in known:
            here = f"{at}{name}[{place}]"
            raise type_mismatch(here, " or ".join(map(repr, known)), one)
    return found


def _strategies(data: Mapping[str, Any], at: str, count: int) -> tuple[str, ...]:
    if not data.get("strategies"):
        return read_strings(data.get("strategies", ()), f"{at}strategies")
    return _words(data, "strategies", at, count, STRATEGIES)


def _check_length(found: Any, count: int, where: str) -> None:
    if len(found) != count:
        raise DataError(f"{where}: expected an array of length {count}, found length {len(found)}")


def _values(
    rows: Any, metrics: tuple[str, ...], queries: tuple[str, ...], where: str
) -> npt.NDArray[np.float64]:
    if not isinstance(rows, Mapping):
        raise type_mismatch(where, "an object with an array per metric", rows)
    table = np.empty((len(metrics), len(queries)))
    for place, metric in enumerate(metrics):
        row, here = rows.get(metric), f"{where}.{metric}"
        if not isinstance(row, list | tuple):
            raise type_mismatch(here, "an array of numbers", row)
        _check_length(row, len(queries), here)
        for query, value in zip(queries, row, strict=True):
            if not is_number(value):
                here = f"{where}: {metric} of query {query!r}"
                raise type_mismatch(here, "a finite number", value)
        table[place] = row
    return table


def _counts(rows: Any, queries: tuple[str, ...], where: str) -> npt.NDArray[np.int64]:
    if not isinstance(rows, list | tuple):
        raise type_mismatch(where, "an array of four whole numbers per query", rows)
    _check_length(rows, len(queries), where)
    for query, row in zip(queries, rows, strict=True):
        if (
            not isinstance(row, list | tuple)
            or len(row) != _COUNTS
            or not all(type(one) is int and 0 <= one <= _MOST for one in row)
        ):
            here = f"{where} of query {query!r}"
            raise type_mismatch(here, "four whole numbers of 0 or more", row)
    return np.array(rows, dtype=np.int64).reshape(-1, _COUNTS)


def _spellings(names: Any, where: str) -> dict[str, str]:
    if not isinstance(names, Mapping):
        raise type_mismatch(where, "an object", names)
    return {str(text): READERS["str"](name, f"{where}.{text}") for text, name in names.items()}
