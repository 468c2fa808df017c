"""`compare`: paired comparison of systems, one row per metric and pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import index
from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval._internal.aggregates import aggregate, bootstrap_interval, is_spread_known
from berryeval.errors import ConfigurationError
from berryeval.stats.alignment import (
    Alignment,
    align,
    check_shared,
    common_queries,
    describe_unanswered,
    name_systems,
    pair_systems,
    select_metrics,
)
from berryeval.stats.comparison import Comparison, PairedDifference
from berryeval.stats.corrections import CORRECTIONS, correct_p_values, tukey_hsd
from berryeval.stats.effects import effect_sizes, minimum_detectable_difference
from berryeval.stats.intervals import (
    DEFAULT_METHOD,
    IntervalMethod,
    change_beyond_rounding,
    check_level,
    check_method,
    has_enough,
    interval_of_change,
)
from berryeval.stats.paired import FEWEST_RESAMPLED, Pair, sign_of, spread_of
from berryeval.stats.tests import SAMPLES, TESTS, TestResult, check_samples, paired_test

if TYPE_CHECKING:
    from berryeval._internal.aggregates import Interval
    from berryeval.scoring import Scores
    from berryeval.stats.paired import Floats

_CHANGES: Final = 5  # queries with the largest changes per row


@dataclass(frozen=True)
class Options:
    """Options of `compare`."""

    test: str
    correction: str
    interval: IntervalMethod
    level: float
    seed: int
    samples: int


def _compare_pair(alignment: Alignment, metric: str, options: Options) -> PairedDifference:
    first = alignment.scores[0]
    a, b = (scores.values[scores.row_of(metric)] for scores in alignment.scores)
    how = first.aggregates[first.row_of(metric)]
    values = aggregate(how, a), aggregate(how, b)
    testable = is_testable(a, how) and is_testable(b, how)
    pair = Pair.of(to_test_scale(a, how), to_test_scale(b, how)) if testable else None
    result = _run_test(pair, len(a), options)
    plain = Pair.of(a, b) if len(a) else None
    level = options.level
    wins, ties, losses = plain.wins_ties_losses if plain else (0, 0, 0)
    changes = plain.differences if plain else a
    return PairedDifference(
        metric=metric,
        baseline=alignment.baseline,
        system=alignment.system,
        n=len(a),
        baseline_value=values[0],
        system_value=values[1],
        difference=change_beyond_rounding(*values),
        interval=interval_of_change(pair, how, level, options.interval, options.seed)
        if pair and pair.deviation
        else None,
        baseline_interval=_bootstrap_value(how, a, level),
        system_interval=_bootstrap_value(how, b, level),
        p=result.p,
        p_corrected=None,
        test=result.method,
        exact=result.exact,
        statistic=result.statistic,
        effect=effect_sizes(pair.a, pair.b) if pair else None,
        wins=wins,
        ties=ties,
        losses=losses,
        raised=_changes(alignment.queries, changes, -1),
        lowered=_changes(alignment.queries, changes, 1),
        detectable=_detectable(pair, how, level) if pair else None,
        aggregate=how,
        level=level,
        correction=options.correction,
        comparisons=1,
        cannot=result.cannot,
        notes=(*alignment.notes, *_notes(pair, result, how, options)),
        test_sign=sign_of(pair.mean) if pair and result.sign is None else result.sign,
    )


def to_test_scale(values: Floats, how: str) -> Floats:
    """Return the values on the scale on which they are averaged and tested."""
    return np.log(values) if how == "geometric mean" else values


def is_testable(values: Floats, how: str) -> bool:
    """Return whether the values exist on the scale on which they are tested."""
    return len(values) > 0 and not (how == "geometric mean" and float(values.min()) <= 0)


def _run_test(pair: Pair | None, count: int, options: Options) -> TestResult:
    if pair is not None:
        return paired_test(options.test, pair.a, pair.b, seed=options.seed, samples=options.samples)
    zero = "a geometric mean with a value of 0 has no logarithms to test"
    return TestResult(None, None, options.test, cannot=zero if count else "the two share no query")


def _bootstrap_value(how: str, values: Floats, level: float) -> Interval | None:
    """Return the interval of one system's value, as in `Scores.ci`."""
    if not is_testable(values, how) or not is_spread_known(len(values), spread_of(values)):
        return None
    return bootstrap_interval(how, values, level)


def _detectable(pair: Pair, how: str, level: float) -> float | None:
    if how == "geometric mean":
        return None
    found = minimum_detectable_difference(pair.differences, level=level)
    return None if found is None else found * (pair.size if how == "sum" else 1)


def _changes(
    queries: Sequence[str], differences: Floats, sign: int
) -> tuple[tuple[str, float], ...]:
    order = np.argsort(sign * differences, kind="stable")[:_CHANGES]
    return tuple(
        (queries[place], float(differences[place]))
        for place in order.tolist()
        if sign * differences[place] < 0
    )


def _notes(pair: Pair | None, result: TestResult, how: str, options: Options) -> Iterator[str]:
    if result.note:
        yield result.note
    if how == "geometric mean":
        yield "a geometric mean is tested on the logarithms of its values"
    if pair and pair.mean and not pair.deviation and pair.size > 1:
        unit = "factor" if how == "geometric mean" else "amount"
        yield f"no interval: all {pair.size:,} queries differ by the same {unit}"
    if pair and not has_enough(options.interval, pair.size, pair.deviation):
        yield (
            f"no interval: bootstrap intervals of fewer than {FEWEST_RESAMPLED} queries are too "
            "narrow; use the t interval"
        )


def _correct_by_tukey(
    family: list[PairedDifference], systems: Mapping[str, Scores], metric: str, options: Options
) -> list[PairedDifference]:
    comparisons = sum(row.p is not None for row in family)
    if not comparisons:
        return family  # each row has its own reason in `cannot`
    common = common_queries(systems)
    rows = [replace(row, comparisons=comparisons) for row in family]
    if len(common) < 2:  # noqa: PLR2004 - too few to shuffle
        cannot = (
            "Tukey's test needs two or more queries that all systems have, found "
            f"{'only one' if common else 'none'}; use the Holm correction"
        )
        return [replace(row, cannot=row.cannot or cannot) for row in rows]
    columns = _columns(systems, common, metric, family[0].aggregate)
    square = tukey_hsd(list(columns.values()), seed=options.seed, samples=options.samples)
    at = {name: place for place, name in enumerate(columns)}
    note = f"Tukey's test uses the {len(common)} queries that all systems have"
    return [
        row
        if row.p is None
        else replace(
            row,
            p_corrected=float(square[at[row.baseline], at[row.system]]),
            notes=(*row.notes, note) if len(common) < row.n else row.notes,
            test_sign=sign_of(Pair.of(columns[row.baseline], columns[row.system]).mean),
        )
        for row in rows
    ]


def _columns(
    systems: Mapping[str, Scores], queries: Sequence[str], metric: str, how: str
) -> dict[str, Floats]:
    """Return the values of each system that can be tested, which includes all pairs with a p."""
    found = {}
    for name, scores in systems.items():
        table = scores.select(queries)
        values = table.values[table.row_of(metric)]
        if is_testable(values, how):
            found[name] = to_test_scale(values, how)
    return found


def compare(
    systems: Mapping[str, Scores] | Sequence[Scores],
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | str | None = None,
    test: str = "randomization",
    correction: str = "holm",
    interval: IntervalMethod = DEFAULT_METHOD,
    level: float = 0.95,
    seed: int = 0,
    samples: int = SAMPLES,
    groups: Mapping[str, str | None] | None = None,
) -> Comparison:
    """Compare systems by their scores, paired by query.

        >>> import berryeval as be
        >>> qrels = {f"q{i}": {"d": 1} for i in range(8)}
        >>> one = be.evaluate(qrels, {q: {"x": 2.0, "d": 1.0} for q in qrels}, ["RR"])
        >>> two = be.evaluate(qrels, {q: {"d": 2.0, "x": 1.0} for q in qrels}, ["RR"])
        >>> found = be.compare({"old": one, "new": two}, baseline="old")
        >>> found.row("RR").p, found.row("RR").better
        (0.0078125, True)

    Each pair is compared over the queries in both tables; the notes list excluded queries. A query
    that a system did not answer is in its table with the value of an empty ranking; the notes count
    such queries. A geometric mean is tested on the logarithms of its values.

    Args:
        systems: Score tables by name.
        baseline: System to compare all others with; by default all pairs are compared.
        metrics: Metrics to compare; by default all that every system has.
        test: "randomization", "t", "wilcoxon", "sign" or "bootstrap".
        correction: "holm", "bonferroni", "benjamini-hochberg", "none", or "tukey" (which needs the
            randomization test). It covers the comparisons of one metric in one table, because
            metrics of the same rankings are not independent.
        interval: Interval of differences: "t", "bca" or "percentile".
        level: Confidence level.
        seed: Random seed; the same seed gives the same numbers on any machine.
        samples: Number of random samples, for tests that draw them.
        groups: Group of each query, such as its category. Each group gets a comparison of its own,
            corrected by itself.
    """
    named = name_systems(systems)
    options = _check_options(Options(test, correction, interval, level, seed, samples))
    pairs = pair_systems(named, baseline)
    names, notes = select_metrics(named, metrics)
    aligned = [align(named, *pair) for pair in pairs]
    for one in aligned:
        check_shared(one, named)
    notes += filter(None, (describe_unanswered(name, scores) for name, scores in named.items()))
    whole = _compare_aligned(named, aligned, names, options, baseline)
    parts = (
        {} if groups is None else _compare_groups(named, pairs, names, options, baseline, groups)
    )
    if parts:
        notes.append(
            f"p-values are corrected within each of the {len(parts)} groups, not across groups"
        )
    return replace(whole, groups=parts, notes=(*whole.notes, *notes))


def _check_options(options: Options) -> Options:
    TESTS.get(options.test)
    test = TESTS.canonical(options.test)
    CORRECTIONS.get(options.correction)
    correction = CORRECTIONS.canonical(options.correction)
    if correction == "tukey" and test != "randomization":
        raise ConfigurationError(
            f"the correction 'tukey' needs the test 'randomization', found {options.test!r}"
        )
    check_method(options.interval)
    check_level(options.level)
    check_samples(options.samples)
    seed, samples = index(options.seed), index(options.samples)
    return replace(options, test=test, correction=correction, seed=seed, samples=samples)


def _compare_groups(
    systems: Mapping[str, Scores],
    pairs: list[tuple[str, str]],
    metrics: list[str],
    options: Options,
    baseline: str | None,
    groups: Mapping[str, str | None],
) -> dict[str, Comparison]:
    tables = {name: scores.by(groups) for name, scores in systems.items()}
    labels = sorted({label for parts in tables.values() for label in parts})
    found = {}
    for label in labels:
        part = {
            name: tables[name][label] if label in tables[name] else scores.select(())
            for name, scores in systems.items()
        }
        aligned = [align(part, *pair) for pair in pairs]
        found[label] = _compare_aligned(part, aligned, metrics, options, baseline)
    return found


def _compare_aligned(
    systems: Mapping[str, Scores],
    aligned: list[Alignment],
    metrics: list[str],
    options: Options,
    baseline: str | None,
) -> Comparison:
    rows: list[PairedDifference] = []
    for metric in metrics:
        family = [_compare_pair(one, metric, options) for one in aligned]
        if options.correction == "tukey":
            rows += _correct_by_tukey(family, systems, metric, options)
            continue
        found = correct_p_values([row.p for row in family], options.correction)
        comparisons = sum(row.p is not None for row in family)
        rows += [
            replace(row, p_corrected=p, comparisons=comparisons)
            for row, p in zip(family, found, strict=True)
        ]
    return Comparison(
        systems=tuple(systems),
        baseline=baseline,
        metrics=tuple(metrics),
        rows=tuple(rows),
        notes=tuple(dict.fromkeys(note for one in aligned for note in one.notes)),
        **vars(options),
    )
