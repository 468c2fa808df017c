"""Which systems, metrics and queries can be compared: only what both sides have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from berryeval._internal.text import counted
from berryeval._internal.validate import suggest
from berryeval.errors import ConfigurationError, DataError
from berryeval.scoring import Scores

if TYPE_CHECKING:
    from berryeval.stats.paired import Floats


_SHOWN: Final = 5  # examples of what is missing


@dataclass(frozen=True, eq=False)
class Alignment:
    """Two systems by the queries that both have.

    Attributes:
        baseline: the name of the first, with which the other is compared.
        system: the name of the other.
        queries: the queries that both have, in the order of their ids.
        scores: the tables of the two, of these queries alone.
        notes: what was left out.
    """

    baseline: str
    system: str
    queries: tuple[str, ...]
    scores: tuple[Scores, Scores]
    notes: tuple[str, ...]

    def values(self, metric: str) -> tuple[Floats, Floats]:
        """The values of both, query by query."""
        first, second = (scores.values[scores.row_of(metric)] for scores in self.scores)
        return first, second


def named_systems(systems: Any) -> dict[str, Scores]:
    """Two or more tables of scores by name; of a list, each has the name of its run."""
    if isinstance(systems, Mapping):
        found = {str(name): scores for name, scores in systems.items()}
        if len(found) < len(systems):
            msg = f"two systems have the same name: {', '.join(map(repr, systems))}"
            raise DataError(msg)
    elif isinstance(systems, Iterable) and not isinstance(systems, str | bytes):
        found = {}
        for place, scores in enumerate(systems):
            name = scores.run_name if isinstance(scores, Scores) else f"systems[{place}]"
            if name in found:
                msg = f"two systems are named {name!r}: give a dict with a name for each"
                raise DataError(msg)
            found[name] = scores
    else:
        msg = f"systems must be a dict of scores by name, found {type(systems).__name__}"
        raise TypeError(msg)
    for name, scores in found.items():
        if not isinstance(scores, Scores):
            msg = f"{name} must be Scores, as `evaluate` gives, found {type(scores).__name__}"
            raise TypeError(msg)
    if len(found) < 2:  # noqa: PLR2004 - it takes two
        msg = f"a comparison needs two or more systems, found {', '.join(found) or 'none'}"
        raise DataError(msg)
    for name, scores in found.items():
        _check_finite(name, scores)
    return found


def _check_finite(name: str, scores: Scores) -> None:
    faulty = np.argwhere(~np.isfinite(scores.values))
    if len(faulty):
        row, column = faulty[0]
        msg = (
            f"{name}: {scores.metrics[row]} of query {scores.queries[column]!r} is "
            f"{scores.values[row, column]}: every query needs a finite number"
        )
        raise DataError(msg)


def pairs_of(systems: Mapping[str, Scores], baseline: str | None) -> list[tuple[str, str]]:
    """The baseline with every other system; without one, every system with those behind it."""
    names = list(systems)
    if baseline is None:
        return [(first, second) for at, first in enumerate(names) for second in names[at + 1 :]]
    if baseline not in systems:
        msg = f"unknown baseline {baseline!r}; {suggest(str(baseline), names)}"
        raise ConfigurationError(msg)
    return [(baseline, name) for name in names if name != baseline]


def shared_metrics(
    systems: Mapping[str, Scores], wanted: Sequence[str] | str | None
) -> tuple[list[str], list[str]]:
    """The metrics to compare, by their canonical names, and notes on those left out.

    Those that are asked for must be in every table; without any, all that every table has.
    """
    first, *others = systems.values()
    notes: list[str] = []
    if wanted is not None:
        wanted = [wanted] if isinstance(wanted, str) else list(wanted)
        if not wanted:
            msg = "metrics is empty: name one or more, or omit it to compare all shared metrics"
            raise ConfigurationError(msg)
        names = [first.metrics[first.row_of(metric)] for metric in wanted]
        for scores in others:
            for name in names:
                scores.row_of(name)
    else:
        names = [name for name in first.metrics if all(name in s.metrics for s in others)]
        every = {name for scores in systems.values() for name in scores.metrics}
        missing = sorted(every - set(names))
        if missing:
            notes.append(f"excluded metrics that not every system has: {_listed(missing)}")
    if not names:
        told = "; ".join(
            f"{n} has {_listed(list(s.metrics)) or 'none'}" for n, s in systems.items()
        )
        msg = f"the systems have no metric in common: {told}"
        raise DataError(msg)
    names = list(dict.fromkeys(names))
    for name in names:
        _check_aggregates(name, systems)
    return names, notes


def _check_aggregates(metric: str, systems: Mapping[str, Scores]) -> None:
    found = {name: scores.aggregates[scores.row_of(metric)] for name, scores in systems.items()}
    if len(set(found.values())) > 1:
        told = ", ".join(f"{name} by {how}" for name, how in found.items())
        msg = f"the systems aggregate {metric} differently: {told}"
        raise DataError(msg)


def align(systems: Mapping[str, Scores], baseline: str, system: str) -> Alignment:
    """The two by the queries that both have; there may be none."""
    first, second = systems[baseline], systems[system]
    both = set(first.queries) & set(second.queries)
    notes = []
    for name, scores, other in ((baseline, first, system), (system, second, baseline)):
        alone = [query for query in scores.queries if query not in both]
        if alone:
            excluded = counted(len(alone), "query", "queries")
            notes.append(
                f"excluded {excluded} of {name} that {other} does not have: {_listed(alone)}"
            )
    tables = (first.select(both), second.select(both))
    return Alignment(baseline, system, tables[0].queries, tables, tuple(notes))


def unanswered(name: str, scores: Scores, told: Iterable[str] = ()) -> str:
    """That a system has no answers to some queries; empty if it has, or if they were told of."""
    known = set(told)
    missing = [query for query in scores.with_outcome("missing") if query not in known]
    if not missing:
        return ""
    return (
        f"{name} has no answers to {len(missing)} of {scores.count} queries ({_listed(missing)}); "
        "these score 0, so a difference may come from missing answers, not from the rankings"
    )


def check_shared(alignment: Alignment, systems: Mapping[str, Scores]) -> None:
    """Two systems without a query in common cannot be compared at all."""
    if alignment.queries:
        return
    told = " and ".join(
        f"{name} has {_listed(list(systems[name].queries)) or 'none'}"
        for name in (alignment.baseline, alignment.system)
    )
    msg = (
        f"{alignment.baseline} and {alignment.system} share no queries: {told}. "
        "Score both on the same benchmark"
    )
    raise DataError(msg)


def common_queries(systems: Mapping[str, Scores]) -> list[str]:
    """The queries that all systems have, in the order of their ids."""
    first, *others = systems.values()
    everywhere = set(first.queries).intersection(*(scores.queries for scores in others))
    return [query for query in first.queries if query in everywhere]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
