"""Fusion of one query in Python; the native twin is native/src/fusion.cpp."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import numpy as np

from berryeval.data import DEFAULT_RULE

if TYPE_CHECKING:
    from berryeval.fusion.recipe import Floats, Recipe

Id = TypeVar("Id", str, bytes)


class Ranking(NamedTuple):
    """The documents of one query in one run, best first, and the place of the run."""

    run: int
    documents: Sequence[bytes]
    scores: Sequence[float]


def reciprocal_ranks(count: int, k: float, weight: float = 1.0) -> Floats:
    """Return weight / (k + rank) for the ranks from 1 to `count`."""
    points: Floats = weight / (k + np.arange(1, count + 1, dtype=np.float64))
    return points


def scale_min_max(scores: Sequence[float], least: float = 0.0) -> list[float]:
    """Return scores as fractions of their range, and 1 if all are equal."""
    lowest = min(scores)
    range_ = max(max(scores) - lowest, least)
    return [(score - lowest) / range_ for score in scores] if range_ else [1.0] * len(scores)


def sum_points(rankings: Iterable[Iterable[tuple[Id, float]]]) -> dict[Id, float]:
    """Add the points of each document over rankings, in the order of their appearance."""
    total: dict[Id, float] = {}
    for ranking in rankings:
        for document, points in ranking:
            total[document] = total.get(document, 0.0) + points
    return total


def fuse_query(rankings: Sequence[Ranking], recipe: Recipe) -> tuple[list[bytes], list[float]]:
    """Return the documents of all rankings, best first, and their fused scores.

    Rankings without documents have no say.
    """
    rankings = [ranking for ranking in rankings if ranking.documents]
    candidates = list(dict.fromkeys(one for ranking in rankings for one in ranking.documents))
    if recipe.combine == "condorcet":
        ordered = _sort_by_majority(rankings, candidates, recipe.votes)
        return ordered, [float(len(ordered) - place) for place in range(len(ordered))]
    columns = [_give_points(ranking, candidates, recipe) for ranking in rankings]
    votes = [recipe.votes[ranking.run] for ranking in rankings]
    scores = [_combine(document, columns, votes, recipe) for document in candidates]
    return _order(candidates, scores)


def _order(documents: list[bytes], scores: list[float]) -> tuple[list[bytes], list[float]]:
    places = DEFAULT_RULE.order(documents, scores)
    return [documents[place] for place in places], [scores[place] for place in places]


def _give_points(
    ranking: Ranking, candidates: Sequence[bytes], recipe: Recipe
) -> Mapping[bytes, float]:
    """Return the points of a run by document; documents that do not count are left out."""
    count = len(ranking.documents)
    missing = recipe.missing
    points: Sequence[float]
    if recipe.points == "score":
        points = _normalize(ranking.scores, recipe, len(candidates))
        if recipe.norm == "borda":
            missing = 0.5 - (count - 1) / (2 * len(candidates))
    elif recipe.points == "borda":
        points, missing = _borda_points(count, len(candidates))
    elif recipe.points == "boosted":
        table = recipe.tables[ranking.run].tolist()
        scores = _normalize(ranking.scores, recipe, len(candidates))
        points = [table[place] * (score + 1) for place, score in enumerate(scores)]
    else:
        table = recipe.tables[ranking.run].tolist()
        points = _READERS[recipe.points](table, count, recipe.window)
    scale = recipe.scales[ranking.run]
    found = {
        document: scale * worth for document, worth in zip(ranking.documents, points, strict=True)
    }
    if not math.isnan(missing):
        for document in candidates:
            found.setdefault(document, scale * missing)
    return found


def _borda_points(count: int, candidates: int) -> tuple[list[float], float]:
    points = [float(candidates - place) for place in range(count)]
    return points, (candidates - count + 1) / 2


def _read_ranks(table: Sequence[float], count: int, _window: int) -> Sequence[float]:
    return table[:count]


def _read_segments(table: Sequence[float], count: int, _window: int) -> Sequence[float]:
    size = -(-count // len(table))
    return [table[place // size] for place in range(count)]


def _read_windows(table: Sequence[float], count: int, window: int) -> Sequence[float]:
    points = []
    for place in range(count):
        first, last = max(place - window, 0), min(place + window, count - 1)
        points.append(_add(table[first : last + 1]) / (last - first + 1))
    return points


_READERS: Final[dict[str, Callable[[Sequence[float], int, int], Sequence[float]]]] = {
    "rank": _read_ranks,
    "segment": _read_segments,
    "window": _read_windows,
}


def _add(numbers: Iterable[float]) -> float:
    """Add from left to right; `sum` rounds differently since Python 3.12."""
    return reduce(add, numbers, 0.0)


def _normalize(scores: Sequence[float], recipe: Recipe, candidates: int) -> Sequence[float]:
    """Normalize the scores of a ranking, which begin with the highest."""
    if recipe.norm == "none":
        return scores
    if recipe.norm in {"rank", "borda"}:
        size = len(scores) if recipe.norm == "rank" else candidates
        return [1 - place / size for place in range(len(scores))]
    return _SCALES[recipe.norm](scores, recipe.least)


def _scale_max(scores: Sequence[float], least: float) -> list[float]:
    peak = max(scores[0], least) if least else abs(scores[0]) or 1.0
    return [score / peak for score in scores]


def _scale_sum(scores: Sequence[float], least: float) -> list[float]:
    count, lowest = len(scores), scores[-1]
    total = max(_add(score - lowest for score in scores), least)
    return [(score - lowest) / total for score in scores] if total else [1 / count] * count


def _scale_zmuv(scores: Sequence[float], least: float) -> list[float]:
    count = len(scores)
    mean = _add(scores) / count
    spread = math.sqrt(_add((score - mean) * (score - mean) for score in scores) / count)
    if not least and (scores[0] == scores[-1] or not spread):
        return [0.0] * count
    return [(score - mean) / max(spread, least) for score in scores]


_SCALES: Final[dict[str, Callable[[Sequence[float], float], list[float]]]] = {
    "min-max": scale_min_max,
    "min-max-inverted": scale_min_max,  # of negated scores
    "max": _scale_max,
    "sum": _scale_sum,
    "zmuv": _scale_zmuv,
}


def _combine(
    document: bytes,
    columns: Sequence[Mapping[bytes, float]],
    votes: Sequence[float],
    recipe: Recipe,
) -> float:
    points = [column[document] for column in columns if document in column]
    if recipe.combine == "max":
        return max(points)
    if recipe.combine == "min":
        return min(points)
    if recipe.combine == "median":
        return median(points)
    total = _add(points)
    if recipe.combine == "mean":
        return total / len(points)
    if recipe.combine == "votes":
        given = zip(columns, votes, strict=True)
        return total * _add(vote for column, vote in given if document in column)
    return total * recipe.factors[len(points)]


def _sort_by_majority(
    rankings: Sequence[Ranking], candidates: list[bytes], votes: Sequence[float]
) -> list[bytes]:
    """Merge-sort documents by majority; pairs without a majority keep their order by Borda count.

    Majorities may form circles. A merge sort ends all the same, and no document in the result is
    beaten by the next one.
    """
    last = len(candidates)
    places = []
    points = dict.fromkeys(candidates, 0.0)
    for ranking in rankings:
        vote = votes[ranking.run]
        place_of = {document: place for place, document in enumerate(ranking.documents)}
        ranked, unranked = _borda_points(len(place_of), len(candidates))
        for document in candidates:
            place = place_of.get(document, last)
            points[document] += vote * (unranked if place == last else ranked[place])
        places.append((place_of, vote))

    def beats(one: bytes, other: bytes) -> bool:
        ahead = behind = 0.0
        for place_of, vote in places:
            first, second = place_of.get(one, last), place_of.get(other, last)
            if first < second:
                ahead += vote
            elif second < first:
                behind += vote
        return ahead > behind

    ordered, _ = _order(candidates, [points[document] for document in candidates])
    return _merge_sort(ordered, beats)


def _merge_sort(items: list[bytes], beats: Callable[[bytes, bytes], bool]) -> list[bytes]:
    """Sort in pairs, fours, eights, ...; a later item precedes only those that it beats."""
    size = 1
    while size < len(items):
        merged: list[bytes] = []
        for start in range(0, len(items), 2 * size):
            left, right = items[start : start + size], items[start + size : start + 2 * size]
            at = 0
            for item in right:
                while at < len(left) and not beats(item, left[at]):
                    merged.append(left[at])
                    at += 1
                merged.append(item)
            merged.extend(left[at:])
        items = merged
        size *= 2
    return items
