"""What `-m` asks for: `P.5,10`, `ndcg.1=3,2=9`, `official`, and the lines that come of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from berryeval.errors import MeasureError
from berryeval.trec_eval.names import NICKNAMES, TREC_MEASURES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval.trec_eval.names import TrecMeasure

__all__ = ["Column", "choose", "columns"]


@dataclass(frozen=True)
class Column:
    """One line of trec_eval's output: the name it prints, and the parameters it stands for."""

    name: str
    row: TrecMeasure
    values: tuple[Any, ...] = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the catalogue's measure."""
        return self.row.translate(self.values)


def choose(texts: Iterable[str]) -> dict[str, str]:
    """What `-m` asks for: the names of the measures, with what stood behind the first dot.

    Of a measure that is named twice with parameters the first counts, as in trec_eval.
    """
    chosen: dict[str, str] = {}
    for text in texts:
        name, dot, parameters = text.partition(".")
        if (dot and not parameters) or (name not in TREC_MEASURES and name not in NICKNAMES):
            msg = f"illegal measure {text!r}; berryeval trec-eval -h lists them all"
            raise MeasureError(msg)
        if name in TREC_MEASURES:
            chosen[name] = chosen.get(name) or parameters
        else:
            chosen = {**dict.fromkeys(NICKNAMES[name], ""), **chosen}
    return chosen


def columns(chosen: Mapping[str, str]) -> list[Column]:
    """The lines to print, in trec_eval's order."""
    found: list[Column] = []
    for row in TREC_MEASURES.values():
        if row.name in chosen:
            found.extend(_columns(row, chosen[row.name]))
    return found


def _columns(row: TrecMeasure, text: str) -> list[Column]:
    if row.kind == "plain":
        return [Column(row.name, row)]
    if row.kind == "cutoffs":
        cutoffs = _distinct(row, [_integer(row, part) for part in text.split(",")] if text else [])
        return [Column(f"{row.name}_{cutoff}", row, (cutoff,)) for cutoff in cutoffs]
    if row.kind == "levels":
        levels = _distinct(row, [_number(row, part) for part in text.split(",")] if text else [])
        return [Column(f"{row.name}_{level:3.2f}", row, (level,)) for level in levels]
    if not text:
        return [Column(row.name, row, row.default)]
    values: list[Any]
    if row.kind == "numbers":
        values = [_number(row, part) for part in text.split(",")]
    else:
        values = [_pair(row, part) for part in text.split(",")]
    return [Column(f"{row.name}_{text}", row, tuple(values))]


def _distinct(row: TrecMeasure, numbers: list[Any]) -> list[Any]:
    if not numbers:
        return list(row.default)
    numbers.sort()
    if len(set(numbers)) < len(numbers):
        msg = f"{row.name} names a cutoff twice: {', '.join(map(str, numbers))}"
        raise MeasureError(msg)
    return numbers


def _integer(row: TrecMeasure, text: str) -> int:
    """As C reads it: digits up to whatever follows them."""
    match = re.match(r"\s*[+-]?[0-9]+", text)
    if match is None or int(match[0]) < 1:
        msg = f"a cutoff of {row.name} must be an integer from 1 up, found {text!r}"
        raise MeasureError(msg)
    return int(match[0])


def _number(row: TrecMeasure, text: str) -> float:
    match = re.match(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", text)
    if match is None:
        msg = f"a parameter of {row.name} must be a number, found {text!r}"
        raise MeasureError(msg)
    return float(match[0])


def _pair(row: TrecMeasure, text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    if not equals:
        msg = f"parameters of {row.name} must be pairs like 1=3,2=9, found {text!r}"
        raise MeasureError(msg)
    return name, _number(row, value)
