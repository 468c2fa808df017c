"""What makes a rule impossible to judge, said in words; most of it can be said before a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval._internal.intervals import aggregate
from berryeval._internal.validate import nearest
from berryeval.errors import ConfigurationError
from berryeval.gates.rules import ROUNDING
from berryeval.gates.verdict import fall_of
from berryeval.metrics import direction_of, range_of
from berryeval.runs import property_of, with_property

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from berryeval.data import Query
    from berryeval.gates.baseline import Baseline, BaselinePart
    from berryeval.gates.rules import Gate, Rule


ADVICE: Final = "with --baseline FILE, or as `baseline` of the gate in berryeval.yaml"


def needs_baseline(gate: Gate, advice: str = ADVICE) -> bool:
    """Whether a rule is about a drop; one without a baseline to fall from is refused.

    Args:
        gate: the rules, and the baseline.
        advice: how whoever made the gate gives it a baseline.
    """
    rule = next((rule for rule in gate.rules if rule.max_drop is not None), None)
    if rule is not None and not gate.baseline:
        msg = (
            f"the rule {str(rule)!r} needs a baseline; make one with berryeval baseline set RUN, "
            f"and name it {advice}"
        )
        raise ConfigurationError(msg)
    return rule is not None


def check_names(wanted: Sequence[str], there: Sequence[str], kind: str, rule: Rule) -> None:
    """Refuse a rule about something that is not there: it would never fail."""
    for name in wanted:
        if name not in there:
            near = nearest(name, list(there), 1)
            known = ", ".join(dict.fromkeys(there))
            hint = f"did you mean {near[0]!r}?" if near else f"it has {known or 'none'}"
            msg = f"the rule {str(rule)!r} names the {kind} {name!r}, which the run has not; {hint}"
            raise ConfigurationError(msg)


def chosen_queries(rule: Rule, benchmark: str, queries: Sequence[Query]) -> Sequence[Query]:
    """The queries that the rule is about; one about none is refused."""
    for name, wanted in rule.where.items():
        known = sorted({property_of(query, name) for query in queries} - {""})
        queries = with_property(queries, name, wanted)
        if not queries:
            msg = (
                f"the rule {str(rule)!r} is about no query of {benchmark}; of {name} there "
                f"{'are ' + ', '.join(known) if known else 'is nothing'}. A rule names the "
                "benchmarks it is for as `benchmarks`"
            )
            raise ConfigurationError(msg)
    return queries


def comparable_part(
    rule: Rule, baseline: Baseline, benchmark: tuple[str, str, int], provider: str
) -> BaselinePart:
    """The part of the baseline that the rule compares with; `benchmark`: its name, hash and k."""
    name, content_hash, k = benchmark
    part = baseline.part(name, content_hash, provider)
    if part.k != k:
        msg = (
            f"the baseline {baseline.run} asked {provider} for {part.k} hits a query, this "
            f"run for {k}: they cannot be compared"
        )
        raise ConfigurationError(msg)
    if rule.metric not in part.values:
        there = ", ".join(part.values) or "none"
        msg = (
            f"the baseline {baseline.run} has no {rule.metric} of {provider}; it has {there} "
            "(berryeval baseline set makes a new one, of a run with that metric)"
        )
        raise ConfigurationError(msg)
    return part


def check_held(rule: Rule, baseline: Baseline, owners: Sequence[tuple[str, str]]) -> None:
    """Refuse a rule about a drop where the baseline has none of these providers on benchmarks."""
    if not owners or any(baseline.holds(*owner) for owner in owners):
        return
    asked = ", ".join(f"{provider} on {benchmark}" for benchmark, provider in owners)
    there = ", ".join(f"{one.provider} on {one.benchmark}" for one in baseline.parts)
    msg = (
        f"the rule {str(rule)!r} compares nothing: the baseline {baseline.run} holds no {asked}; "
        f"it holds {there or 'nothing'} (berryeval baseline set RUN makes a new one)"
    )
    raise ConfigurationError(msg)


def check_aggregate(rule: Rule, baseline: Baseline, part: BaselinePart, how: str) -> None:
    """Refuse a drop between values that were put together in another way."""
    before = part.aggregate_of(rule.metric)
    if before != how:
        msg = (
            f"{rule.metric} of {part.provider} is the {before} of its queries in the baseline "
            f"{baseline.run}, and the {how} in the run: they cannot be compared (berryeval "
            "baseline set RUN makes a new one)"
        )
        raise ConfigurationError(msg)


def check_shared(
    rule: Rule, baseline: Baseline, part: BaselinePart, queries: Iterable[str]
) -> None:
    """Refuse a rule about a drop where the baseline has none of the queries."""
    if set(queries).isdisjoint(part.queries):
        of_group = f" of {rule.group}" if rule.group else ""
        msg = (
            f"the rule {str(rule)!r} compares nothing: the baseline {baseline.run} has none of the "
            f"queries{of_group} that {part.provider} was asked on {part.benchmark} (berryeval "
            "baseline set RUN makes a new one)"
        )
        raise ConfigurationError(msg)


# How far a metric can fall at all: a rule that allows more than that would never fail.


def can_break(rule: Rule, before: float) -> bool:
    """Whether a metric with this value can become worse by more than the rule allows.

    A rule that allows no drop is no slip: of a value at the worst end it is kept, and passes.
    """
    if not rule.max_drop:
        return True
    low, high = range_of(rule.metric)
    room = high - before if direction_of(rule.metric) == "down" else before - low
    return rule.max_drop < room - ROUNDING


def value_among(rule: Rule, part: BaselinePart, queries: Iterable[str]) -> float:
    """The value of the rule's metric in the baseline, of these queries alone."""
    wanted = set(queries)
    row = zip(part.queries, part.values[rule.metric], strict=True)
    kept = np.array([value for query, value in row if query in wanted], dtype=np.float64)
    return aggregate(part.aggregate_of(rule.metric), kept)


def check_room(rule: Rule, baseline: Baseline, values: Mapping[tuple[str, str], float]) -> None:
    """Refuse a rule that none of these values of the baseline can break.

    Args:
        rule: about a drop.
        baseline: where the values are from.
        values: by the names of benchmark and provider.
    """
    if not values or any(can_break(rule, value) for value in values.values()):
        return
    end = range_of(rule.metric)[1 if direction_of(rule.metric) == "down" else 0]
    found = ", ".join(
        f"{value:.10g} of {provider} on {benchmark}"
        for (benchmark, provider), value in values.items()
    )
    bound = "above" if fall_of(rule) == "rise" else "below"
    msg = (
        f"the rule {str(rule)!r} would never fail: in the baseline {baseline.run}, {rule.metric} "
        f"is {found}, and it is never {bound} {end:.10g}; give a max_drop below "
        f"{max(abs(value - end) for value in values.values()):.3g}"
    )
    raise ConfigurationError(msg)
