"""Checks that a gate can be judged; most of them are possible before the run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NoReturn

import numpy as np

from berryeval._internal.aggregates import aggregate
from berryeval._internal.text import pluralize
from berryeval._internal.validate import suggest
from berryeval.errors import ConfigurationError
from berryeval.gates.rules import ROUNDING
from berryeval.metrics import range_of
from berryeval.runs import filter_queries, get_property

if TYPE_CHECKING:
    from berryeval.data import Query
    from berryeval.gates.baseline_scores import Baseline, BaselinePart
    from berryeval.gates.rules import Gate, Rule
    from berryeval.runs import DataChange


ADVICE: Final = "with --baseline FILE, or as `baseline` of the gate in berryeval.yaml"
_NEW_BASELINE: Final = "berryeval baseline set RUN writes a new one"


def needs_baseline(gate: Gate, advice: str = ADVICE) -> bool:
    """Whether a rule is about a drop; raise an error with the advice if its baseline is missing."""
    rule = next((rule for rule in gate.rules if rule.max_drop is not None), None)
    if rule is not None and not gate.baseline:
        _reject(
            rule,
            f"needs a baseline; write one with berryeval baseline set RUN, and name it {advice}",
        )
    return rule is not None


def check_names(wanted: Sequence[str], known: Sequence[str], kind: str, rule: Rule) -> None:
    """Reject a rule that names something the run does not have."""
    for name in wanted:
        if name not in known:
            hint = suggest(name, list(dict.fromkeys(known)), listed="it has")
            _reject(rule, f"names the {kind} {name!r}, but the run has no such {kind}; {hint}")


def check_unit(rule: Rule, costs: Iterable[Mapping[str, float]]) -> None:
    """Reject a unit of cost that none of the covered providers reports, though they report some."""
    known = sorted({unit for cost in costs for unit in cost})
    if rule.cost and known and rule.cost not in known:
        close = suggest(rule.cost, known, listed="")
        hint = f"; {close}" if close.endswith("?") else ""
        units = ", ".join(known)
        _reject(rule, f"names a unit that no provider reports; they report {units}{hint}")


def select_queries(rule: Rule, benchmark: str, queries: Sequence[Query]) -> Sequence[Query]:
    """Return the queries that the rule covers; reject a rule that covers none."""
    for name, wanted in rule.where.items():
        known = sorted({get_property(query, name) for query in queries} - {""})
        queries = filter_queries(queries, name, wanted)
        if not queries:
            _reject(
                rule,
                f"covers no query of {benchmark}; values of {name} there: "
                f"{', '.join(known) or 'none'}. To apply a rule to some benchmarks only, list them "
                "as `benchmarks`",
            )
    return queries


def find_comparable_part(
    rule: Rule, baseline: Baseline, benchmark: tuple[str, int], provider: str, judging: str = ""
) -> BaselinePart:
    """Return the part of the baseline to compare with; `benchmark` is its name and k.

    `judging` says how the run judged relevance, if that is known.
    """
    name, k = benchmark
    part = baseline.part(name, provider)
    if part.k != k:
        raise ConfigurationError(
            f"the baseline {baseline.run} asked {provider} for {part.k} hits per query, this run "
            f"for {k}; they cannot be compared"
        )
    if part.judging and judging and part.judging != judging:
        raise ConfigurationError(
            f"the baseline {baseline.run} judged the hits of {provider} by other rules "
            f"({part.judging}) than this run ({judging}); they cannot be compared"
        )
    if rule.metric not in part.values:
        raise ConfigurationError(
            f"the baseline {baseline.run} has no {rule.metric} of {provider}; it has "
            f"{', '.join(part.values) or 'none'} ({_NEW_BASELINE}, from a run with that metric)"
        )
    return part


def check_held(rule: Rule, baseline: Baseline, owners: Sequence[tuple[str, str]]) -> None:
    """Reject a rule about a drop if the baseline has none of these (benchmark, provider) pairs."""
    if not owners or any(baseline.holds(*owner) for owner in owners):
        return
    asked = ", ".join(f"{provider} on {benchmark}" for benchmark, provider in owners)
    _reject(
        rule,
        f"compares nothing: the baseline {baseline.run} has no {asked}; it has "
        f"{baseline.contents} ({_NEW_BASELINE}; --config none leaves out the rules of "
        "berryeval.yaml)",
    )


def check_aggregate(rule: Rule, baseline: Baseline, part: BaselinePart, how: str) -> None:
    """Reject a drop between values that were aggregated differently."""
    before = part.aggregate_of(rule.metric)
    if before != how:
        raise ConfigurationError(
            f"{rule.metric} of {part.provider} is the {before} of its queries in the baseline "
            f"{baseline.run} and the {how} in the run; they cannot be compared ({_NEW_BASELINE})"
        )


def check_shared(
    rule: Rule,
    baseline: Baseline,
    part: BaselinePart,
    queries: Collection[str],
    change: DataChange,
) -> None:
    """Reject a rule about a drop if no query can be compared with the baseline.

    A group whose queries all changed is inconclusive, as long as others compare.
    """
    if change.changed and not change.compared:
        known = pluralize(len(change.changed), "query")
        _reject(
            rule,
            f"compares nothing: none of {known} of {part.benchmark} is as it was in the baseline "
            f"{baseline.run}: {change.describe_changed()} ({_NEW_BASELINE})",
        )
    if set(queries).isdisjoint(part.queries):
        of_group = f" of {rule.group}" if rule.group else ""
        _reject(
            rule,
            f"compares nothing: the baseline {baseline.run} has none of the queries{of_group} that "
            f"{part.provider} was asked on {part.benchmark} ({_NEW_BASELINE})",
        )


def check_same_data(baseline: Baseline, part: BaselinePart, change: DataChange) -> None:
    """Reject any difference between the data of the baseline and of the run."""
    if change.is_worth_a_word:
        raise ConfigurationError(
            f"the baseline {baseline.run} was measured on a different version of "
            f"{part.benchmark}, which --strict-data (strict_data of the gate) does not accept: "
            f"{change.describe(word='the same')}. {_NEW_BASELINE}"
        )


def can_break(rule: Rule, before: float) -> bool:
    """Whether a metric with this value can worsen by more than the rule allows.

    A rule that allows no drop is accepted even for a value at the worst end, where it passes.
    """
    if not rule.max_drop:
        return True
    worst = _worst_value(rule)
    room = worst - before if rule.less_is_better else before - worst
    return rule.max_drop < room - ROUNDING


def baseline_value(rule: Rule, part: BaselinePart, queries: Iterable[str]) -> float:
    """Return the baseline's value of the rule's metric over these queries."""
    wanted = set(queries)
    row = zip(part.queries, part.values[rule.metric], strict=True)
    kept = np.array([value for query, value in row if query in wanted], dtype=np.float64)
    return aggregate(part.aggregate_of(rule.metric), kept)


def check_room(rule: Rule, baseline: Baseline, values: Mapping[tuple[str, str], float]) -> None:
    """Reject a rule that allows a larger drop than any of the baseline's values can make."""
    if not values or any(can_break(rule, value) for value in values.values()):
        return
    end = _worst_value(rule)
    found = ", ".join(
        f"{value:.10g} for {provider} on {benchmark}"
        for (benchmark, provider), value in values.items()
    )
    bound = "above" if rule.less_is_better else "below"
    _reject(
        rule,
        f"would never fail: in the baseline {baseline.run}, {rule.metric} is {found}, and it is "
        f"never {bound} {end:.10g}; choose a max_drop below "
        f"{max(abs(value - end) for value in values.values()):.3g}",
    )


def _worst_value(rule: Rule) -> float:
    low, high = range_of(rule.metric)
    return high if rule.less_is_better else low


def _reject(rule: Rule, problem: str) -> NoReturn:
    raise ConfigurationError(f"the rule {str(rule)!r} {problem}")
