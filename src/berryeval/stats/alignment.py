"""Select the systems, metrics and queries that can be compared."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from berryeval._internal.text import pluralize
from berryeval._internal.validate import suggest
from berryeval.errors import ConfigurationError, DataError
from berryeval.scoring import Scores

_SHOWN: Final = 5  # examples in a message


@dataclass(frozen=True, eq=False)
class Alignment:
    """Two systems, restricted to the queries that both have, ordered by id."""

    baseline: str
    system: str
    queries: tuple[str, ...]
    scores: tuple[Scores, Scores]
    notes: tuple[str, ...]  # remarks on excluded queries


def name_systems(systems: Any) -> dict[str, Scores]:
    """Return two or more score tables by name; tables in a list are named after their runs."""
    if isinstance(systems, Mapping):
        found = {str(name): scores for name, scores in systems.items()}
        if len(found) < len(systems):
            raise DataError(f"two systems have the same name: {', '.join(map(repr, systems))}")
    elif isinstance(systems, Iterable) and not isinstance(systems, str | bytes):
        found = {}
        for place, scores in enumerate(systems):
            name = scores.run_name if isinstance(scores, Scores) else f"systems[{place}]"
            if name in found:
                raise DataError(f"two systems are named {name!r}: pass a dict with distinct names")
            found[name] = scores
    else:
        raise TypeError(f"systems must be a dict of scores by name, found {type(systems).__name__}")
    for name, scores in found.items():
        if not isinstance(scores, Scores):
            raise TypeError(
                f"{name} must be Scores, as returned by `evaluate`, found {type(scores).__name__}"
            )
    if len(found) < 2:  # noqa: PLR2004 - two systems
        raise DataError(
            f"a comparison needs two or more systems, found {', '.join(found) or 'none'}"
        )
    for name, scores in found.items():
        _check_finite(name, scores)
    return found


def _check_finite(name: str, scores: Scores) -> None:
    for row, column in np.argwhere(~np.isfinite(scores.values)):
        raise DataError(
            f"{name}: {scores.metrics[row]} of query {scores.queries[column]!r} is "
            f"{scores.values[row, column]}: every query needs a finite number"
        )


def pair_systems(systems: Mapping[str, Scores], baseline: str | None) -> list[tuple[str, str]]:
    """Pair the baseline with every other system; without a baseline, return all pairs."""
    names = list(systems)
    if baseline is None:
        return list(itertools.combinations(names, 2))
    if baseline not in systems:
        raise ConfigurationError(f"unknown baseline {baseline!r}; {suggest(str(baseline), names)}")
    return [(baseline, name) for name in names if name != baseline]


def select_metrics(
    systems: Mapping[str, Scores], wanted: Sequence[str] | str | None
) -> tuple[list[str], list[str]]:
    """Return the canonical names of the metrics to compare, and notes on excluded ones.

    Requested metrics must be in every table; by default all shared metrics are compared.
    """
    first, *others = systems.values()
    notes: list[str] = []
    if wanted is not None:
        wanted = [wanted] if isinstance(wanted, str) else list(wanted)
        if not wanted:
            raise ConfigurationError(
                "metrics is empty: name one or more, or omit it to compare all shared metrics"
            )
        names = [first.metrics[first.row_of(metric)] for metric in wanted]
        for scores in others:
            for name in names:
                scores.row_of(name)
    else:
        names = [name for name in first.metrics if all(name in s.metrics for s in others)]
        every = {name for scores in systems.values() for name in scores.metrics}
        missing = sorted(every - set(names))
        if missing:
            notes.append(f"excluded metrics that not every system has: {_list_some(missing)}")
    if not names:
        known = "; ".join(
            f"{n} has {_list_some(list(s.metrics)) or 'none'}" for n, s in systems.items()
        )
        raise DataError(f"the systems have no metric in common: {known}")
    names = list(dict.fromkeys(names))
    for metric in names:
        used = {name: one.aggregates[one.row_of(metric)] for name, one in systems.items()}
        if len(set(used.values())) > 1:
            known = ", ".join(f"{name} by {how}" for name, how in used.items())
            raise DataError(f"the systems aggregate {metric} differently: {known}")
    return names, notes


def align(systems: Mapping[str, Scores], baseline: str, system: str) -> Alignment:
    """Restrict two systems to the queries that both have, possibly none."""
    first, second = systems[baseline], systems[system]
    both = set(first.queries) & set(second.queries)
    notes = []
    for name, scores, other in ((baseline, first, system), (system, second, baseline)):
        alone = [query for query in scores.queries if query not in both]
        if alone:
            excluded = pluralize(len(alone), "query")
            notes.append(
                f"excluded {excluded} of {name} that {other} does not have: {_list_some(alone)}"
            )
    tables = (first.select(both), second.select(both))
    return Alignment(baseline, system, tables[0].queries, tables, tuple(notes))


def describe_unanswered(name: str, scores: Scores, reported: Iterable[str] = ()) -> str:
    """Describe the queries that a system did not answer, except those already reported."""
    known = set(reported)
    missing = [query for query in scores.with_outcome("missing") if query not in known]
    if not missing:
        return ""
    queries = pluralize(scores.count, "query")
    zero = "it scores" if len(missing) == 1 else "these score"
    return (
        f"{name} has no answers to {len(missing)} of {queries} ({_list_some(missing)}); {zero} 0, "
        "so a difference may come from missing answers, not from the rankings"
    )


def check_shared(alignment: Alignment, systems: Mapping[str, Scores]) -> None:
    """Raise an error if two systems have no query in common."""
    if alignment.queries:
        return
    known = " and ".join(
        f"{name} has {_list_some(list(systems[name].queries)) or 'none'}"
        for name in (alignment.baseline, alignment.system)
    )
    raise DataError(
        f"{alignment.baseline} and {alignment.system} share no queries: {known}. "
        "Score both on the same benchmark"
    )


def common_queries(systems: Mapping[str, Scores]) -> list[str]:
    """Return the queries that all systems have, ordered by id."""
    first, *others = systems.values()
    shared = set(first.queries).intersection(*(scores.queries for scores in others))
    return [query for query in first.queries if query in shared]


def _list_some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
