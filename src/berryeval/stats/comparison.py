"""The results of a comparison: `Comparison`, its rows, and their sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from berryeval._internal.aggregates import Interval
from berryeval._internal.notebook import SHOWN, build_frame
from berryeval._internal.numbers import format_p_equation, format_precise_delta
from berryeval._internal.text import pluralize, truncate
from berryeval.errors import DataError
from berryeval.metrics import Direction, direction_of, scored_name
from berryeval.stats.effects import EffectSizes, needed_for
from berryeval.stats.paired import sign_of

if TYPE_CHECKING:
    from berryeval._internal.charts import Charts
    from berryeval._internal.notebook import FrameLibrary

Finding: TypeAlias = Literal[
    "better", "worse", "higher", "lower", "mixed", "not significant", "not tested"
]
_NAMES: Final = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "benjamini-hochberg": "Benjamini-Hochberg",
    "tukey": "Tukey",
    "none": "not corrected",
}
_GAINS: Final = {"up": 1, "down": -1, "neither": 0}
_DIRECTIONS: Final = {1: "higher", 0: "the same", -1: "lower"}
_INTERVALS: Final = ("interval", "baseline_interval", "system_interval")
_MEAN_TESTS: Final = ("randomization test", "paired t test", "bootstrap test")  # of equal power
_MANY: Final = 1_000_000  # queries; larger numbers are not printed


@dataclass(frozen=True, repr=False)
class PairedDifference:
    """One metric of two systems, over the queries that both have.

    Attributes:
        metric: Canonical name of the metric.
        baseline: System that the other is compared with.
        system: The other system; differences are its value minus that of the baseline.
        n: Number of queries that both have.
        baseline_value: Mean (or `aggregate`) of the baseline over these queries.
        system_value: Mean (or `aggregate`) of the other system.
        difference: `system_value - baseline_value`.
        interval: Confidence interval of the difference; None for one query, if all differences
            are equal (a width of 0 would claim certainty), and by the bootstrap for fewer than 20
            queries.
        baseline_interval: Bootstrap interval of the baseline's value.
        system_interval: Bootstrap interval of the other system's value.
        p: Uncorrected p-value; None if the test is not possible.
        p_corrected: p-value corrected for `comparisons` comparisons.
        test: Name of the test and the method used.
        exact: Whether p is exact, neither simulated nor approximated.
        statistic: Test statistic.
        effect: Effect sizes; None for fewer than three queries.
        wins: Number of queries with a higher value.
        ties: Number of queries with an equal value, up to rounding.
        losses: Number of queries with a lower value.
        raised: Queries with the largest increases, largest first.
        lowered: Queries with the largest decreases, largest first.
        detectable: Difference that a test of the mean detects with 80 % power; None if fewer than
            ten queries differ.
        aggregate: How the values of the queries are aggregated.
        level: Confidence level; a difference is significant if `p_corrected <= 1 - level`.
        correction: Name of the correction.
        comparisons: Number of comparisons corrected for.
        cannot: Reason why there is no p-value or no corrected one.
        notes: Remarks, one line each.
        test_sign: Direction of the test: 1 if the system is higher, -1 if lower, 0 if neither.
            Tests of signs and ranks may disagree with the difference. None: same as the difference.
    """

    metric: str
    baseline: str
    system: str
    n: int
    baseline_value: float
    system_value: float
    difference: float
    interval: Interval | None
    baseline_interval: Interval | None
    system_interval: Interval | None
    p: float | None
    p_corrected: float | None
    test: str
    exact: bool
    statistic: float | None
    effect: EffectSizes | None
    wins: int
    ties: int
    losses: int
    raised: tuple[tuple[str, float], ...]
    lowered: tuple[tuple[str, float], ...]
    detectable: float | None
    aggregate: str
    level: float
    correction: str
    comparisons: int
    cannot: str = ""
    notes: tuple[str, ...] = ()
    test_sign: int | None = None

    @property
    def significant(self) -> bool:
        """Whether the corrected test is significant; the row may still be `mixed`."""
        return self.p_corrected is not None and self.p_corrected <= round(1 - self.level, 12)

    @property
    def direction(self) -> Direction:
        """Direction in which the metric improves."""
        return direction_of(self.metric)

    @property
    def mixed(self) -> bool:
        """Whether the test and the difference point in different directions.

        A system that wins most queries by little and loses a few by much is not better.
        """
        sign = self.test_sign
        return self.significant and sign is not None and sign != sign_of(self.difference)

    @property
    def shown(self) -> bool:
        """Whether the difference is significant and the test has the same direction."""
        return self.significant and not self.mixed

    @property
    def better(self) -> bool:
        """Whether the system is significantly better than the baseline."""
        return self.shown and _GAINS[self.direction] * self.difference > 0

    @property
    def worse(self) -> bool:
        """Whether the system is significantly worse than the baseline."""
        return self.shown and _GAINS[self.direction] * self.difference < 0

    @property
    def finding(self) -> Finding:
        """The result in a word or two."""
        if self.p_corrected is None:
            return "not tested"
        if not self.significant:
            return "not significant"
        if self.mixed:
            return "mixed"
        if self.better or self.worse:
            return "better" if self.better else "worse"
        return "higher" if self.difference > 0 else "lower"

    @property
    def needed(self) -> int | None:
        """Number of queries with 80 % power for this difference.

        None if the difference is significant, zero, or of unknown variance.
        """
        if self.significant or not self.difference or self.detectable is None:
            return None
        return needed_for(self.difference, self.detectable, self.n, self.level)

    @property
    def sentence(self) -> str:
        """The result as a sentence."""
        return format_finding(self)

    def __repr__(self) -> str:
        return f"PairedDifference({self.sentence})"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields and the sentence for JSON, in full precision."""
        data = dict(vars(self))
        for name in _INTERVALS:
            data[name] = None if data[name] is None else list(data[name])
        data["effect"] = None if self.effect is None else dict(vars(self.effect))
        for name in ("raised", "lowered"):
            data[name] = [list(change) for change in data[name]]
        data["notes"] = list(self.notes)
        names = ("significant", "mixed", "better", "worse", "needed", "sentence")
        return data | {name: getattr(self, name) for name in names}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PairedDifference:
        """Create a row from the output of `to_dict`."""
        values = {one.name: data[one.name] for one in fields(cls) if one.name != "test_sign"}
        values["test_sign"] = data.get("test_sign")
        for name in _INTERVALS:
            values[name] = None if values[name] is None else Interval(*values[name])
        if values["effect"] is not None:
            values["effect"] = EffectSizes(**values["effect"])
        for name in ("raised", "lowered"):
            values[name] = tuple((query, change) for query, change in values[name])
        values["notes"] = tuple(values["notes"])
        return cls(**values)


@dataclass(frozen=True, repr=False)
class Comparison:
    """A comparison of two or more systems.

    Attributes:
        systems: Names of the systems.
        baseline: System that all others are compared with; None if all pairs are compared.
        metrics: Metrics in the order of the rows.
        rows: Pairs of systems for each metric.
        test: Name of the test.
        correction: Name of the correction, applied to the pairs of one metric.
        interval: Method of the intervals of differences.
        level: Confidence level.
        seed: Random seed.
        samples: Number of random samples per test.
        groups: Comparison of each group of queries, if groups were given.
        notes: Remarks, one line each.
    """

    systems: tuple[str, ...]
    baseline: str | None
    metrics: tuple[str, ...]
    rows: tuple[PairedDifference, ...]
    test: str
    correction: str
    interval: str
    level: float
    seed: int
    samples: int
    groups: Mapping[str, Comparison] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def row(
        self, metric: str, system: str | None = None, baseline: str | None = None
    ) -> PairedDifference:
        """Return the row of a metric (in any spelling), a system and a baseline.

        The names of the systems are optional if only one row matches.
        """
        name = metric if metric in self.metrics else scored_name(metric, self.metrics, {})
        found = [
            row
            for row in self.rows
            if row.metric == name
            and system in {None, row.system}
            and baseline in {None, row.baseline}
        ]
        if len(found) == 1:
            return found[0]
        known = ", ".join(f"{row.metric} {row.system} against {row.baseline}" for row in self.rows)
        raise KeyError(f"expected one row of {metric!r}, found {len(found)}; there are {known}")

    @property
    def better(self) -> tuple[PairedDifference, ...]:
        """Rows in which the system is significantly better."""
        return tuple(row for row in self.rows if row.better)

    @property
    def worse(self) -> tuple[PairedDifference, ...]:
        """Rows in which the system is significantly worse."""
        return tuple(row for row in self.rows if row.worse)

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence per row."""
        return tuple(row.sentence for row in self.rows)

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return a data frame with a row per metric and pair, for all queries and each group.

        `library` is "pandas" or "polars"; by default pandas, or polars without pandas.
        """
        from berryeval.stats.comparison_table import tabulate

        return build_frame(tabulate(self), library)

    def plot(self, *names: str) -> Charts:
        """Draw the differences of each pair with their intervals, as in the HTML report.

        The charts show themselves in a notebook and have `save(path)`; they need the extra
        `report`. Each has the name of its pair, such as "new against old"; `names` chooses some.
        """
        from berryeval._internal.charts import draw

        return draw("comparison", self).select(names)

    def __repr__(self) -> str:
        pairs = f"against {self.baseline!r}" if self.baseline else "all pairs"
        counts = Counter(row.finding for row in self.rows)
        found = [f"{counts[name]} {name}" for name in get_args(Finding) if counts[name]]
        systems = [repr(truncate(name)) for name in self.systems[:SHOWN]]
        if len(self.systems) > SHOWN:
            systems.append(f"and {len(self.systems) - SHOWN} more")
        parts = [", ".join(systems), pairs, pluralize(len(self.metrics), "metric")]
        groups = [pluralize(len(self.groups), "group")] * bool(self.groups)
        return f"Comparison({'; '.join([*parts, ', '.join(found) or 'no rows', *groups])})"

    def _repr_html_(self) -> str:
        from berryeval.stats.comparison_table import preview

        return preview(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison for JSON, in full precision; `from_dict` reads it."""
        data = dict(vars(self))
        for name in ("systems", "metrics", "notes"):
            data[name] = list(data[name])
        data["rows"] = [row.to_dict() for row in self.rows]
        data["groups"] = {label: group.to_dict() for label, group in self.groups.items()}
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Comparison:
        """Create a comparison from the output of `to_dict`."""
        try:
            values = {one.name: data[one.name] for one in fields(cls)}
            for name in ("systems", "metrics", "notes"):
                values[name] = tuple(values[name])
            values["rows"] = tuple(PairedDifference.from_dict(row) for row in data["rows"])
            values["groups"] = {
                label: cls.from_dict(group) for label, group in data["groups"].items()
            }
            return cls(**values)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"expected a comparison as written by `to_dict`: {error!r:.200}"
            ) from error


def format_finding(row: PairedDifference) -> str:
    """Format a row as a sentence.

    "hybrid is better than bm25: nDCG@10 +0.041, 95 % CI [+0.012, +0.070], p = 0.004 (Holm,
    3 comparisons), small effect, 50 queries".
    """
    if row.p_corrected is None:
        return f"{row.system} cannot be compared with {row.baseline} by {row.metric}: {row.cannot}"
    parts = [f"{row.metric} {format_precise_delta(row.difference)}"]
    if row.interval is not None:
        low, high = (format_precise_delta(end) for end in row.interval)
        parts.append(f"{100 * row.level:g} % CI [{low}, {high}]")
    if row.ties == row.n > 1:
        parts.append("no query differs")
    if not row.mixed:
        family = f" ({_family(row)})" if row.comparisons > 1 else ""
        parts.append(format_p_equation(row.p_corrected) + family)
    if row.effect is not None:
        parts.append(f"{row.effect.word} effect")
    parts.append(pluralize(row.n, "query"))
    return f"{_verdict(row)}: {', '.join(parts)}{_power_clause(row)}"


def _verdict(row: PairedDifference) -> str:
    if not row.significant:
        return f"no significant difference between {row.system} and {row.baseline}"
    if row.mixed:
        return _mixed_verdict(row)
    if row.better:
        return f"{row.system} is better than {row.baseline}"
    if row.worse:
        return f"{row.system} is worse than {row.baseline}"
    return f"{row.system} is {'higher' if row.difference > 0 else 'lower'} than {row.baseline}"


def _mixed_verdict(row: PairedDifference) -> str:
    """Format a finding where the test and the mean point in different directions."""
    name = row.test.partition(",")[0]
    direction = _DIRECTIONS[row.test_sign or 0]
    family = f", {_family(row)}" if row.comparisons > 1 else ""
    evidence = f"{format_p_equation(row.p_corrected)}{family}"
    if name != "sign test":
        test = "Tukey's test" if row.correction == "tukey" else f"the {name}"
        found = f"is {direction} than {row.baseline} by {test} ({evidence})"
    elif row.direction == "up":
        found = f"wins {'more' if direction == 'higher' else 'fewer'} queries than {row.baseline} "
        found += f"({row.wins} of {row.n}, {name} {evidence})"
    else:
        found = f"is {direction} than {row.baseline} in {max(row.wins, row.losses)} of {row.n} "
        found += f"queries ({name} {evidence})"
    end = "" if row.direction == "neither" else ", so neither is significantly better"
    mean = f"its {row.aggregate} is {_DIRECTIONS[sign_of(row.difference)]}"
    return f"{row.system} {found}, but {mean}{end}"


def _family(row: PairedDifference) -> str:
    return f"{_NAMES.get(row.correction, row.correction)}, {row.comparisons} comparisons"


def _power_clause(row: PairedDifference) -> str:
    if row.significant or row.detectable is None:
        return ""
    least = format_precise_delta(row.detectable).lstrip("+")
    test = "this test" if row.test.startswith(_MEAN_TESTS) else "the t test"
    text = f"; with {row.n} queries {test} has 80 % power for a difference of {least}"
    if row.needed is None or row.needed <= row.n:  # the t test needs no more, but this test does
        return text
    seen = format_precise_delta(abs(row.difference)).lstrip("+")
    needed = f"{row.needed:,}" if row.needed <= _MANY else f"more than {_MANY:,}"
    return f"{text}, and {needed} queries would detect {seen}"
