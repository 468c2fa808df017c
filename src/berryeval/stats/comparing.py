"""`compare`: do these systems differ, by how much, and how sure is that?"""

from __future__ import annotations

from dataclasses import replace
from operator import index
from typing import TYPE_CHECKING

from berryeval.errors import ConfigurationError
from berryeval.stats.alignment import (
    Alignment,
    align,
    check_shared,
    named_systems,
    pairs_of,
    shared_measures,
    unanswered,
)
from berryeval.stats.comparison import Comparison, PairedDifference
from berryeval.stats.corrections import CORRECTIONS, corrected
from berryeval.stats.interval import (
    DEFAULT_METHOD,
    IntervalMethod,
    check_level,
    check_method,
)
from berryeval.stats.rows import Options, row_of
from berryeval.stats.tests import SAMPLES, TESTS, check_count
from berryeval.stats.tukey_rows import rows_by_tukey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval.scores import Scores

__all__ = ["compare"]


def compare(
    systems: Mapping[str, Scores] | Sequence[Scores],
    *,
    baseline: str | None = None,
    measures: Sequence[str] | str | None = None,
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
        measures: which; without any, all that every system has.
        test: "randomization", "t", "wilcoxon", "sign" or "bootstrap".
        correction: "holm", "bonferroni", "benjamini-hochberg", "none", or "tukey" (which needs the
            randomisation test). The family are the comparisons of one measure in one table: two
            measures of the same rankings are no independent tries.
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
    names, notes = shared_measures(named, measures)
    aligned = [align(named, *pair) for pair in pairs]
    for one in aligned:
        check_shared(one, named)
    notes += filter(None, (unanswered(name, scores) for name, scores in named.items()))
    whole = _comparison(named, aligned, names, options, baseline)
    parts = {} if groups is None else _by_group(named, pairs, names, options, baseline, groups)
    if parts:
        notes.append(
            f"each of the {len(parts)} groups is corrected for its own comparisons, "
            "not for there being several groups"
        )
    return replace(whole, groups=parts, notes=(*whole.notes, *notes))


def _checked(options: Options) -> Options:
    TESTS.get(options.test)
    test = TESTS.canonical(options.test)
    CORRECTIONS.get(options.correction)
    correction = CORRECTIONS.canonical(options.correction)
    if correction == "tukey" and test != "randomization":
        msg = f"the correction 'tukey' goes with the test 'randomization', not {options.test!r}"
        raise ConfigurationError(msg)
    check_method(options.interval)
    check_level(options.level)
    check_count("samples", options.samples)
    seed, samples = index(options.seed), index(options.samples)
    return replace(options, test=test, correction=correction, seed=seed, samples=samples)


def _by_group(
    systems: Mapping[str, Scores],
    pairs: list[tuple[str, str]],
    measures: list[str],
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
        found[label] = _comparison(part, aligned, measures, options, baseline)
    return found


def _comparison(
    systems: Mapping[str, Scores],
    aligned: list[Alignment],
    measures: list[str],
    options: Options,
    baseline: str | None,
) -> Comparison:
    rows: list[PairedDifference] = []
    for measure in measures:
        family = [row_of(one, measure, options) for one in aligned]
        rows += _corrected(family, systems, measure, options)
    return Comparison(
        systems=tuple(systems),
        baseline=baseline,
        measures=tuple(measures),
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
    measure: str,
    options: Options,
) -> list[PairedDifference]:
    """The rows of one measure, with p-values corrected for how many have one."""
    if options.correction == "tukey":
        return rows_by_tukey(family, systems, measure, options)
    found = corrected([row.p for row in family], options.correction)
    comparisons = sum(row.p is not None for row in family)
    return [
        replace(row, p_corrected=p, comparisons=comparisons)
        for row, p in zip(family, found, strict=True)
    ]
