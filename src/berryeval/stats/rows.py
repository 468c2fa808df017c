"""`compare`: do these systems differ, by how much, and how sure is that?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from operator import index
from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval._internal.intervals import aggregate, bootstrap_interval, spread_known
from berryeval.errors import ConfigurationError
from berryeval.stats.alignment import (
    Alignment,
    align,
    check_shared,
    common_queries,
    named_systems,
    pairs_of,
    shared_metrics,
    unanswered,
)
from berryeval.stats.comparison import Comparison, PairedDifference
from berryeval.stats.corrections import CORRECTIONS, corrected, tukey_hsd
from berryeval.stats.effects import effect_sizes, minimum_detectable_difference
from berryeval.stats.intervals import (
    DEFAULT_METHOD,
    IntervalMethod,
    change_beyond_rounding,
    check_level,
    check_method,
    enough_for,
    interval_of_change,
)
from berryeval.stats.paired import FEWEST_RESAMPLED, Pair, sign_of, spread_of
from berryeval.stats.tests import SAMPLES, TESTS, TestResult, check_count, paired_test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval._internal.intervals import Interval
    from berryeval.scoring import Scores
    from berryeval.stats.paired import Floats


# One row of a comparison: one metric of two systems.

_CHANGES: Final = 5  # queries with the largest changes


@dataclass(frozen=True)
class Options:
    """How to compare; `compare` says what each means."""

    test: str
    correction: str
    interval: IntervalMethod
    level: float
    seed: int
    samples: int


def row_of(alignment: Alignment, metric: str, options: Options) -> PairedDifference:
    """The row, with its p not corrected yet."""
    a, b = alignment.values(metric)
    how = alignment.scores[0].aggregates[alignment.scores[0].row_of(metric)]
    values = aggregate(how, a), aggregate(how, b)
    pair = _pair(a, b, how)
    result = _tested(pair, len(a), options)
    plain = Pair.of(a, b) if len(a) else None
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
        interval=_interval(pair, how, options) if pair else None,
        baseline_interval=_of_one(how, a, options.level),
        system_interval=_of_one(how, b, options.level),
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
        detectable=_detectable(pair, how, options.level) if pair else None,
        aggregate=how,
        level=options.level,
        correction=options.correction,
        comparisons=1,
        cannot=result.cannot,
        notes=_notes(alignment, result, how, _too_few(pair, options)),
        test_sign=sign_of(pair.mean) if pair and result.sign is None else result.sign,
    )


def tested(values: Floats, how: str) -> Floats:
    """The values on the scale on which they are averaged, and so tested."""
    return np.log(values) if how == "geometric mean" else values


def testable(values: Floats, how: str) -> bool:
    """Whether there are values on that scale."""
    return len(values) > 0 and not (how == "geometric mean" and float(values.min()) <= 0)


def _pair(a: Floats, b: Floats, how: str) -> Pair | None:
    if testable(a, how) and testable(b, how):
        return Pair.of(tested(a, how), tested(b, how))
    return None


def _tested(pair: Pair | None, count: int, options: Options) -> TestResult:
    if pair is not None:
        return paired_test(options.test, pair.a, pair.b, seed=options.seed, samples=options.samples)
    if count:
        cannot = "a geometric mean with a value of 0 has no logarithms to test"
    else:
        cannot = "the two share no query"
    return TestResult(None, None, options.test, cannot=cannot)


def _of_one(how: str, values: Floats, level: float) -> Interval | None:
    """The interval of one system, as `Scores.ci` has it, where so many values tell."""
    if not testable(values, how) or not spread_known(len(values), spread_of(values)):
        return None
    return _resampled(how, values.tobytes(), level)


@lru_cache(maxsize=512)
def _resampled(how: str, values: bytes, level: float) -> Interval:
    """Asked for again with every other system."""
    return bootstrap_interval(how, np.frombuffer(values), level)


def _interval(pair: Pair, how: str, options: Options) -> Interval | None:
    """Of the difference of the two values, whatever they are put together by."""
    return interval_of_change(pair, how, options.level, options.interval, options.seed)


def _too_few(pair: Pair | None, options: Options) -> str:
    """Why there is no interval of so few queries."""
    if pair is None or enough_for(options.interval, pair.size, pair.deviation):
        return ""
    return (
        f"no interval: bootstrap intervals of fewer than {FEWEST_RESAMPLED} queries are too "
        "narrow; use the t interval"
    )


def _detectable(pair: Pair, how: str, level: float) -> float | None:
    if how == "geometric mean":
        return None
    found = minimum_detectable_difference(pair.differences, level=level)
    return None if found is None else found * (pair.size if how == "sum" else 1)


def _changes(
    queries: Sequence[str], differences: Floats, sign: int
) -> tuple[tuple[str, float], ...]:
    """The queries that changed most in one direction, the largest change first."""
    order = np.argsort(sign * differences, kind="stable")[:_CHANGES]
    return tuple(
        (queries[place], float(differences[place]))
        for place in order.tolist()
        if sign * differences[place] < 0
    )


def _notes(alignment: Alignment, result: TestResult, how: str, too_few: str) -> tuple[str, ...]:
    notes = [*alignment.notes]
    if result.note:
        notes.append(result.note)
    if how == "geometric mean":
        notes.append("a geometric mean is tested on the logarithms of its values")
    if too_few:
        notes.append(too_few)
    return tuple(notes)


# The rows of a comparison by Tukey's test, which looks at all systems at once.


def rows_by_tukey(
    family: list[PairedDifference],
    systems: Mapping[str, Scores],
    metric: str,
    options: Options,
) -> list[PairedDifference]:
    """The rows, by one shuffle of all systems, by the queries that all of them have."""
    comparisons = sum(row.p is not None for row in family)
    if not comparisons:
        return family  # each row says itself why it has no p
    common = common_queries(systems)
    rows = [replace(row, comparisons=comparisons) for row in family]
    if len(common) < 2:  # noqa: PLR2004 - nothing to shuffle
        return [replace(row, cannot=row.cannot or _tukey_rows_too_few(len(common))) for row in rows]
    columns = _columns(systems, common, metric, family[0].aggregate)
    square = tukey_hsd(list(columns.values()), seed=options.seed, samples=options.samples)
    at = {name: place for place, name in enumerate(columns)}
    note = f"Tukey's test uses the {len(common)} queries that all systems have"
    found = []
    for row in rows:
        if row.p is None:
            found.append(row)
            continue
        found.append(
            replace(
                row,
                p_corrected=float(square[at[row.baseline], at[row.system]]),
                notes=(*row.notes, note) if len(common) < row.n else row.notes,
                test_sign=sign_of(Pair.of(columns[row.baseline], columns[row.system]).mean),
            )
        )
    return found


def _columns(
    systems: Mapping[str, Scores], queries: Sequence[str], metric: str, how: str
) -> dict[str, Floats]:
    """The values of each system that can be tested; a pair that has a p is always among them."""
    found = {}
    for name, scores in systems.items():
        table = scores.select(queries)
        values = table.values[table.row_of(metric)]
        if testable(values, how):
            found[name] = tested(values, how)
    return found


def _tukey_rows_too_few(shared: int) -> str:
    """Why there is no corrected p."""
    found = "only one" if shared else "none"
    return (
        f"Tukey's test needs two or more queries that all systems have, found {found}; "
        "use the Holm correction"
    )


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

    Only queries that both tables of a pair have count; what is left out is said in the notes. A
    query to which a system has no answers is in its table, with the value of an empty ranking, and
    counts; the notes say how many there are. A geometric mean is tested by the logarithms of its
    values.

    Args:
        systems: tables of scores by name.
        baseline: the system to compare all others with; without one, all pairs are compared.
        metrics: which; without any, all that every system has.
        test: "randomization", "t", "wilcoxon", "sign" or "bootstrap".
        correction: "holm", "bonferroni", "benjamini-hochberg", "none", or "tukey" (which needs the
            randomisation test). The family are the comparisons of one metric in one table: two
            metrics of the same rankings are no independent tries.
        interval: of differences: "t", "bca" or "percentile".
        level: of confidence.
        seed: of all random samples; the same seed gives the same numbers on any machine.
        samples: how many the tests draw, where they draw.
        groups: the group of each query, as its category: a comparison of each is made too, with a
            family of its own.
    """
    named = named_systems(systems)
    options = _checked(Options(test, correction, interval, level, seed, samples))
    pairs = pairs_of(named, baseline)
    names, notes = shared_metrics(named, metrics)
    aligned = [align(named, *pair) for pair in pairs]
    for one in aligned:
        check_shared(one, named)
    notes += filter(None, (unanswered(name, scores) for name, scores in named.items()))
    whole = _comparison(named, aligned, names, options, baseline)
    parts = {} if groups is None else _by_group(named, pairs, names, options, baseline, groups)
    if parts:
        notes.append(
            f"p-values are corrected within each of the {len(parts)} groups, not across groups"
        )
    return replace(whole, groups=parts, notes=(*whole.notes, *notes))


def _checked(options: Options) -> Options:
    TESTS.get(options.test)
    test = TESTS.canonical(options.test)
    CORRECTIONS.get(options.correction)
    correction = CORRECTIONS.canonical(options.correction)
    if correction == "tukey" and test != "randomization":
        msg = f"the correction 'tukey' needs the test 'randomization', found {options.test!r}"
        raise ConfigurationError(msg)
    check_method(options.interval)
    check_level(options.level)
    check_count("samples", options.samples)
    seed, samples = index(options.seed), index(options.samples)
    return replace(options, test=test, correction=correction, seed=seed, samples=samples)


def _by_group(
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
        found[label] = _comparison(part, aligned, metrics, options, baseline)
    return found


def _comparison(
    systems: Mapping[str, Scores],
    aligned: list[Alignment],
    metrics: list[str],
    options: Options,
    baseline: str | None,
) -> Comparison:
    rows: list[PairedDifference] = []
    for metric in metrics:
        family = [row_of(one, metric, options) for one in aligned]
        rows += _corrected(family, systems, metric, options)
    return Comparison(
        systems=tuple(systems),
        baseline=baseline,
        metrics=tuple(metrics),
        rows=tuple(rows),
        test=options.test,
        correction=options.correction,
        interval=options.interval,
        level=options.level,
        seed=options.seed,
        samples=options.samples,
        notes=tuple(dict.fromkeys(note for one in aligned for note in one.notes)),
    )


def _corrected(
    family: list[PairedDifference],
    systems: Mapping[str, Scores],
    metric: str,
    options: Options,
) -> list[PairedDifference]:
    """The rows of one metric, with p-values corrected for how many have one."""
    if options.correction == "tukey":
        return rows_by_tukey(family, systems, metric, options)
    found = corrected([row.p for row in family], options.correction)
    comparisons = sum(row.p is not None for row in family)
    return [
        replace(row, p_corrected=p, comparisons=comparisons)
        for row, p in zip(family, found, strict=True)
    ]
