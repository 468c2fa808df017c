"""Rank correlation: how alike two rankings of the same systems are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final

from berryeval.errors import DataError
from berryeval.stats.paired import RESOLUTION, sign_of

_FEWEST: Final = 2  # systems of a ranking


def kendall_tau(one: Mapping[str, float], other: Mapping[str, float]) -> float | None:
    """Return Kendall's tau-b of the scores of the same systems.

    Pairs of systems that are tied in one of the rankings count as neither concordant nor
    discordant, and the coefficient is divided by the pairs that are not tied. None if all systems
    of a ranking are tied. Scores that differ by no more than rounding are tied.

        >>> kendall_tau({"a": 0.5, "b": 0.4, "c": 0.3}, {"a": 0.5, "b": 0.3, "c": 0.4})
        0.3333333333333333
    """
    signs = [
        (_compare(one[a], one[b]), _compare(other[a], other[b]))
        for a, b in combinations(_check(one, other), 2)
    ]
    untied = math.prod(sum(pair[place] != 0 for pair in signs) for place in (0, 1))
    return sum(a * b for a, b in signs) / math.sqrt(untied) if untied else None


def ap_correlation(reference: Mapping[str, float], other: Mapping[str, float]) -> float | None:
    """Return tau_AP (Yilmaz, Aslam and Robertson 2008), by which errors at the top weigh more.

    The mean, over the systems of `other` from the second on, of the share of systems above it that
    the reference also ranks above it, scaled to [-1, 1]. It is not symmetric. Ties of `other` are
    broken at random, and this is the expected value; a tie in the reference counts as half. None if
    all systems of the reference are tied.

        >>> scores = {"a": 0.5, "b": 0.4, "c": 0.3}
        >>> ap_correlation(scores, {"a": 0.4, "b": 0.5, "c": 0.3})
        0.0
        >>> ap_correlation(scores, {"a": 0.5, "b": 0.3, "c": 0.4})
        0.5
    """
    systems = sorted(_check(reference, other), key=lambda name: -other[name])
    if not any(_compare(reference[a], reference[b]) for a, b in combinations(systems, 2)):
        return None

    def count_above(names: Sequence[str], system: str) -> float:
        return sum((1 + _compare(reference[name], reference[system])) / 2 for name in names)

    above: list[str] = []
    total = 0.0
    for group in _split_ties(systems, other):
        for system in group:
            fixed = count_above(above, system)
            inside = count_above([name for name in group if name != system], system)
            each = inside / max(len(group) - 1, 1)
            places = [(fixed + more * each, len(above) + more) for more in range(len(group))]
            total += sum(agreed / rank for agreed, rank in places if rank) / len(group)
        above += group
    return 2 * total / (len(systems) - 1) - 1


def _split_ties(systems: Sequence[str], scores: Mapping[str, float]) -> list[list[str]]:
    """Split systems, best first, into groups of equal scores."""
    groups: list[list[str]] = []
    for name in systems:
        if groups and not _compare(scores[groups[-1][0]], scores[name]):
            groups[-1].append(name)
        else:
            groups.append([name])
    return groups


def _compare(one: float, other: float) -> int:
    """Return 1, 0 or -1; values that differ by rounding are equal."""
    difference = one - other
    return sign_of(difference) if abs(difference) > RESOLUTION * max(abs(one), abs(other)) else 0


def _check(one: Mapping[str, float], other: Mapping[str, float]) -> list[str]:
    if one.keys() != other.keys():
        raise DataError("expected the same systems in both rankings")
    if len(one) < _FEWEST:
        raise DataError(f"a rank correlation needs two systems, found {len(one)}")
    return list(one)
