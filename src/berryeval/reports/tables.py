"""Neutral tables: built once per kind, rendered by Markdown, LaTeX, CSV, HTML and the terminal.

A cell carries the text for people and the value for programs. Renderers select columns by key,
escape texts and mark bold cells in their own way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from berryeval._internal import numbers
from berryeval.metrics import direction_of

if TYPE_CHECKING:
    from berryeval._internal.aggregates import Interval
    from berryeval.gates import Verdict
    from berryeval.reports.differences import ComparedBenchmark
    from berryeval.reports.sections import Section
    from berryeval.runs import ProviderRecord
    from berryeval.scoring import Scores
    from berryeval.stats import PairedDifference


@dataclass(frozen=True)
class Cell:
    """A table cell.

    Attributes:
        text: Text for people.
        value: Value for programs, in full precision; None if missing.
        detail: Secondary text, such as a confidence interval.
        bold: Whether the cell stands out: the best of a column, or a significant difference.
    """

    text: str
    value: float | str | None = None
    detail: str = ""
    bold: bool = False


@dataclass(frozen=True)
class Column:
    """A table column: its key, its title, and whether it holds numbers."""

    key: str
    title: str
    numeric: bool = False


@dataclass(frozen=True)
class Table:
    """Columns, and rows with a cell for each column."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def titles(self) -> list[str]:
        """Column titles."""
        return [column.title for column in self.columns]

    def cells(self, key: str) -> list[Cell]:
        """Return the cells of one column."""
        place = [column.key for column in self.columns].index(key)
        return [row[place] for row in self.rows]

    def select(self, keys: Iterable[str], titles: Mapping[str, str] | None = None) -> Table:
        """Return the table with these columns only, in this order, some with other titles."""
        known = {column.key: place for place, column in enumerate(self.columns)}
        places = [known[key] for key in keys]
        columns = [self.columns[place] for place in places]
        return Table(
            tuple(replace(one, title=(titles or {}).get(one.key, one.title)) for one in columns),
            tuple(tuple(row[place] for place in places) for row in self.rows),
        )


def _name(text: str) -> Cell:
    return Cell(text, text)


def number_cell(
    value: float | None, show: Callable[[float], str] = numbers.format_metric, *, bold: bool = False
) -> Cell:
    """Return the cell of a number, or of a dash for None."""
    return Cell(numbers.NOTHING if value is None else show(value), value, bold=bold)


# Scores of providers.


def value_of(scores: Scores | None, metric: str) -> float | None:
    """Return the value of a metric, or None if it was not computed."""
    return scores.mean[metric] if scores is not None and metric in scores.metrics else None


def best_of(values: Iterable[float | None], metric: str) -> float | None:
    """Return the best value, or None if all are equal or the metric has no better direction."""
    known = [value for value in values if value is not None]
    direction = direction_of(metric)
    if direction == "neither" or not known or numbers.is_close(min(known), max(known)):
        return None
    return min(known) if direction == "down" else max(known)


def is_best(value: float | None, best: float | None) -> bool:
    """Whether a value equals the best one, up to rounding."""
    return value is not None and best is not None and numbers.is_close(value, best)


@dataclass(frozen=True)
class Score:
    """A value, its 95 % confidence interval (None with too few queries), and whether it is best."""

    value: float
    interval: Interval | None
    best: bool


def rate(scores: Iterable[Scores | None], metric: str) -> list[Score | None]:
    """Return the value of a metric for each provider, None where it was not computed."""
    rows = list(scores)
    best = best_of((value_of(one, metric) for one in rows), metric)
    return [
        None
        if one is None or (value := value_of(one, metric)) is None
        else Score(value, _interval(one, metric), is_best(value, best))
        for one in rows
    ]


def _interval(scores: Scores, metric: str) -> Interval | None:
    return numbers.known_interval(*scores.ci(metric), scores.count)


def format_outcomes(record: ProviderRecord) -> str:
    """Count the queries by outcome, answered ones first: "3 ok, 1 empty"."""
    if record.scores is None:
        return "failed"
    ranked = sorted(record.outcomes.items(), key=lambda one: (one[0] != "ok", one[0]))
    return ", ".join(f"{count} {name}" for name, count in ranked)


def build_scores_table(
    scores: Mapping[str, Scores | None],
    metrics: Sequence[str],
    records: Sequence[ProviderRecord] = (),
    *,
    percentiles: Sequence[str] = ("p50", "p95"),
) -> Table:
    """Build the table of providers and metrics; the best value of each metric is bold.

    Args:
        scores: Scores by provider name; None for a provider that failed.
        metrics: Metrics, one column each, keyed by their names.
        records: Records of the same providers, in the same order; they add columns for the share of
            unjudged hits if there are any ("unjudged"), latency ("p50 ms"), cost ("usd/query") and
            outcomes.
        percentiles: Latency percentiles to show.
    """
    costs = list_costs(records)
    unjudged = [_unjudged_cell(one) for one in records]
    with_unjudged = any(cell.value for cell in unjudged)
    columns = [Column("provider", "provider"), *(Column(one, one, numeric=True) for one in metrics)]
    if records:
        titles = ["unjudged"] if with_unjudged else []
        titles += [*(f"{name} ms" for name in percentiles), *map(cost_title, costs)]
        columns += [Column(title, title, numeric=True) for title in titles]
        columns.append(Column("outcomes", "outcomes"))
    rows = []
    values = _score_rows(scores.values(), metrics)
    for place, (name, cells) in enumerate(zip(scores, values, strict=True)):
        row = [_name(name), *cells]
        if records:
            record = records[place]
            row += unjudged[place : place + 1] if with_unjudged else []
            row += [_latency_cell(record, percentile) for percentile in percentiles]
            row += [number_cell(record.cost.get(cost), numbers.format_amount) for cost in costs]
            row.append(_name(format_outcomes(record)))
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows))


def list_costs(records: Iterable[ProviderRecord]) -> list[str]:
    """Return the units of cost that providers report, such as "tokens" and "usd"."""
    return list(dict.fromkeys(name for one in records for name in one.cost))


def cost_title(unit: str) -> str:
    """Return the title of a column of costs."""
    return f"{unit}/query"


def unjudged_share(scores: Scores | None) -> float | None:
    """Return the share of hits without a judgment; None without hits."""
    return scores.unjudged / scores.retrieved if scores is not None and scores.retrieved else None


def _unjudged_cell(record: ProviderRecord) -> Cell:
    return number_cell(unjudged_share(record.scores), numbers.format_share)


def _latency_cell(record: ProviderRecord, percentile: str) -> Cell:
    seconds = None if record.latency is None else getattr(record.latency, percentile)
    return number_cell(seconds, numbers.format_milliseconds)


def _score_rows(scores: Iterable[Scores | None], metrics: Sequence[str]) -> list[list[Cell]]:
    tables = list(scores)
    rated = {metric: rate(tables, metric) for metric in metrics}
    return [
        [_score_cell(rated[metric][place], one) for metric in metrics]
        for place, one in enumerate(tables)
    ]


def _score_cell(score: Score | None, scores: Scores | None) -> Cell:
    if score is None or scores is None:
        return Cell(numbers.NOTHING)
    around = score.interval
    ends = numbers.format_interval_around(score.value, *around, scores.count) if around else ""
    return Cell(numbers.format_metric(score.value), score.value, ends, bold=score.best)


# Scores by group of queries.


def build_groups_table(section: Section) -> Table:
    """Build the table of categories and providers; the best value within each is bold."""
    columns = (
        Column("group", "category"),
        Column("queries", "queries", numeric=True),
        Column("provider", "provider"),
        *(Column(metric, metric, numeric=True) for metric in section.metrics),
    )
    systems = [(one.label, one.scores) for one in section.scored if one.scores is not None]
    groups = section.groups("category")
    parts = [(label, scores.by(groups)) for label, scores in systems] if groups else []
    rows = []
    for name in sorted({name for _, part in parts for name in part}):
        members = [(label, part[name]) for label, part in parts if name in part]
        values = _score_rows([scores for _, scores in members], section.metrics)
        for (label, scores), cells in zip(members, values, strict=True):
            count = Cell(str(scores.count), scores.count)
            rows.append((_name(name), count, _name(label), *cells))
    return Table(columns, tuple(rows))


# Differences between systems.

# Keys and titles; exports for programs have the keys as titles.
_DIFFERENCE_COLUMNS: Final = {
    "benchmark": "benchmark", "group": "group", "metric": "metric", "baseline": "against",
    "system": "system", "pair": "systems", "queries": "queries", "baseline_value": "baseline",
    "system_value": "value", "difference": "delta", "interval": "CI", "ci_low": "CI low",
    "ci_high": "CI high", "p": "p", "p_corrected": "corrected", "effect_size": "effect size",
    "effect": "effect", "wins": "wins", "ties": "ties", "losses": "losses",
    "wins_ties_losses": "W/T/L", "finding": "finding", "cannot": "reason",
}  # fmt: skip
_TEXT_COLUMNS: Final = {
    "benchmark", "group", "metric", "baseline", "system", "pair", "finding", "cannot",
}  # fmt: skip


def build_differences_table(
    rows: Iterable[tuple[str, PairedDifference]],
    *,
    level: float,
    benchmark: str = "",
    by: str = "group",
) -> Table:
    """Build the table of paired differences; significant ones are bold.

    It has more columns than any output shows: use `select`, with `result_keys` for the usual ones.

    Args:
        rows: Pairs of a group name (empty for all queries) and a difference.
        level: Confidence level of the intervals.
        benchmark: Benchmark name.
        by: Title of the group column.
    """
    titles = {**_DIFFERENCE_COLUMNS, "group": by, "interval": f"{100 * level:g} % CI"}
    columns = tuple(
        Column(key, title, numeric=key not in _TEXT_COLUMNS) for key, title in titles.items()
    )
    body = []
    for group, row in rows:
        cells = {"benchmark": _name(benchmark), "group": _name(group), **_difference_cells(row)}
        body.append(tuple(cells[key] for key in titles))
    return Table(columns, tuple(body))


def result_keys(one: ComparedBenchmark) -> list[str]:
    """Return the usual columns of a difference, with both p-values if they were corrected."""
    corrected = any(row.comparisons > 1 for row in one.comparison.rows)
    p = ["p", "p_corrected"] if corrected else ["p"]
    values = ["baseline_value", "system_value", "difference", "interval"]
    return [*values, *p, "effect", "wins_ties_losses"]


def _difference_cells(row: PairedDifference) -> dict[str, Cell]:
    from berryeval.reports.differences import format_interval

    low, high = row.interval or (None, None)
    values = (row.baseline_value, row.system_value, row.difference) if row.n else (None, None, None)
    effect = row.effect
    counts = f"{row.wins}/{row.ties}/{row.losses}" if row.n else numbers.NOTHING
    return {
        "metric": _name(row.metric),
        "baseline": _name(row.baseline),
        "system": _name(row.system),
        "pair": _name(f"{row.system} − {row.baseline}"),  # noqa: RUF001 - a minus
        "queries": Cell(str(row.n), row.n),
        "baseline_value": number_cell(values[0]),
        "system_value": number_cell(values[1]),
        "difference": number_cell(values[2], numbers.format_delta, bold=row.shown),
        "interval": Cell(format_interval(row)),
        "ci_low": number_cell(low, numbers.format_delta),
        "ci_high": number_cell(high, numbers.format_delta),
        "p": number_cell(row.p, numbers.format_p_value),
        "p_corrected": number_cell(row.p_corrected, numbers.format_p_value),
        "effect_size": number_cell(effect.g if effect else None),
        "effect": _name(effect.word) if effect else Cell(numbers.NOTHING),
        "wins": Cell(str(row.wins), row.wins),
        "ties": Cell(str(row.ties), row.ties),
        "losses": Cell(str(row.losses), row.losses),
        "wins_ties_losses": Cell(counts),
        "finding": _name(row.finding),
        "cannot": _name(row.cannot),
    }


# Verdicts of gates.


def build_verdicts_table(verdicts: Iterable[Verdict]) -> Table:
    """Build the table of verdicts: status, rule, provider and benchmark, sentence."""
    columns = ("verdict", "verdict"), ("rule", "rule"), ("of", "of"), ("found", "found")
    rows = []
    for one in verdicts:
        owner = " on ".join(name for name in (one.provider, one.benchmark) if name)
        group = f" ({one.group})" if one.group else ""
        rows.append(tuple(map(_name, (one.status, one.rule, f"{owner}{group}", one.sentence))))
    return Table(tuple(Column(*column) for column in columns), tuple(rows))
