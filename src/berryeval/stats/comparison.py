"""`Comparison` and its rows: what a comparison of systems found, ready for JSON."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from berryeval._internal.intervals import Interval
from berryeval.errors import DataError
from berryeval.metrics import Direction, direction_of
from berryeval.stats.effects import EffectSizes, needed_for
from berryeval.stats.paired import sign_of
from berryeval.stats.wording import sentence_of

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class PairedDifference:
    """One metric of two systems, by the queries that both have.

    Attributes:
        metric: the canonical name.
        baseline: the system that the other is compared with.
        system: the other; differences are its value less that of the baseline.
        n: how many queries both have.
        baseline_value: the mean (or `aggregate`) of the baseline over these.
        system_value: that of the other.
        difference: `system_value - baseline_value`.
        interval: the confidence interval of the difference; None if there is none: of one query, of
            fewer than ten that differ by the same, or by the bootstrap of fewer than 20.
        baseline_interval: that of the baseline's value, by the bootstrap.
        system_interval: that of the other's.
        p: of the test, for this comparison alone; None if it cannot be said.
        p_corrected: for there being `comparisons` of them.
        test: the test and how it was carried out.
        exact: whether p is exact, not simulated nor approximated.
        statistic: what was tested.
        effect: how large the difference is, whatever the metric; None of fewer than three queries.
        wins: in how many queries the value of the system is higher.
        ties: equal, up to rounding.
        losses: lower.
        raised: the queries with the largest rise, and by how much, the largest first.
        lowered: those with the largest fall.
        detectable: the difference that so many queries would show four times in five, by the t test
            and its like; None where fewer than ten differ.
        aggregate: how the values of the queries become one.
        level: of confidence; a finding has a corrected p of at most 1 - level.
        correction: the name of the correction.
        comparisons: how many the correction is for.
        cannot: why there is no p, or none that is corrected.
        notes: what to know besides, a line each.
        test_sign: where the test points: 1 if the system is higher by it, -1 if lower, 0 if
            neither. Signs and ranks may point elsewhere than the difference. None: as it does.
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
        """Whether the test found something, after the correction; `mixed` may be what."""
        return self.p_corrected is not None and self.p_corrected <= round(1 - self.level, 12)

    @property
    def direction(self) -> Direction:
        """Which way the metric gets better."""
        return direction_of(self.metric)

    @property
    def mixed(self) -> bool:
        """Whether the test found one thing and the difference says another.

        As where a system wins most queries by little and loses a few by much: neither is better.
        """
        points = self.test_sign
        return self.significant and points is not None and points != sign_of(self.difference)

    @property
    def shown(self) -> bool:
        """Whether the difference is a finding: the test found it, and found it this way."""
        return self.significant and not self.mixed

    @property
    def better(self) -> bool:
        """Whether the system is shown to be better than the baseline."""
        return self.shown and self._gain > 0

    @property
    def worse(self) -> bool:
        """Whether the system is shown to be worse than the baseline."""
        return self.shown and self._gain < 0

    @property
    def needed(self) -> int | None:
        """How many queries would show a difference of this size four times in five.

        None where a difference is shown already, or where nothing is known of the spread.
        """
        if self.significant or not self.difference or self.detectable is None:
            return None
        return needed_for(self.difference, self.detectable, self.n, self.level)

    @property
    def _gain(self) -> float:
        return {"up": 1, "down": -1, "neither": 0}[self.direction] * self.difference

    @property
    def sentence(self) -> str:
        """The finding in a sentence, with its numbers."""
        return sentence_of(self)

    def to_dict(self) -> dict[str, Any]:
        """All fields and the sentence, ready for JSON, in full precision."""
        data = {one.name: getattr(self, one.name) for one in fields(self)}
        for name in ("interval", "baseline_interval", "system_interval"):
            data[name] = None if data[name] is None else list(data[name])
        if self.effect is not None:
            data["effect"] = {
                one.name: getattr(self.effect, one.name) for one in fields(self.effect)
            }
        for name in ("raised", "lowered"):
            data[name] = [list(change) for change in data[name]]
        data["notes"] = list(self.notes)
        names = ("significant", "mixed", "better", "worse", "needed")
        derived = {name: getattr(self, name) for name in names}
        return {**data, **derived, "sentence": self.sentence}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PairedDifference:
        """What `to_dict` gave, as a row again."""
        values = {one.name: data[one.name] for one in fields(cls) if one.name != "test_sign"}
        values["test_sign"] = data.get("test_sign")
        for name in ("interval", "baseline_interval", "system_interval"):
            values[name] = None if values[name] is None else Interval(*values[name])
        if values["effect"] is not None:
            values["effect"] = EffectSizes(**values["effect"])
        for name in ("raised", "lowered"):
            values[name] = tuple((query, change) for query, change in values[name])
        values["notes"] = tuple(values["notes"])
        return cls(**values)


@dataclass(frozen=True)
class Comparison:
    """Two or more systems, metric by metric and pair by pair.

    Attributes:
        systems: their names.
        baseline: the one all others are compared with; None if all pairs are.
        metrics: the metrics, in the order of the rows.
        rows: metric by metric, and for each the pairs.
        test: the name of the test.
        correction: the name of the correction; its family are the pairs of one metric.
        interval: how the intervals of differences were made.
        level: of confidence.
        seed: of the random samples.
        samples: how many the tests drew, where they draw.
        groups: the same for the queries of each group, if groups were given.
        notes: what to know besides, a line each.
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
        """The row of a metric (by any spelling), a system and a baseline.

        The names of the two may be left out where only one row can be meant.
        """
        from berryeval.metrics import scored_name

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
        there = ", ".join(f"{row.metric} {row.system} against {row.baseline}" for row in self.rows)
        msg = f"{len(found)} rows of {metric!r} are meant, and should be one; there are {there}"
        raise KeyError(msg)

    @property
    def better(self) -> tuple[PairedDifference, ...]:
        """The rows in which the system is shown to be better."""
        return tuple(row for row in self.rows if row.better)

    @property
    def worse(self) -> tuple[PairedDifference, ...]:
        """The rows in which the system is shown to be worse: what regressed."""
        return tuple(row for row in self.rows if row.worse)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Every row in a sentence."""
        return tuple(row.sentence for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """The whole comparison, ready for JSON, in full precision; `from_dict` reads it back."""
        data = {one.name: getattr(self, one.name) for one in fields(self)}
        for name in ("systems", "metrics", "notes"):
            data[name] = list(data[name])
        data["rows"] = [row.to_dict() for row in self.rows]
        data["groups"] = {label: group.to_dict() for label, group in self.groups.items()}
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Comparison:
        """What `to_dict` gave, as a comparison again."""
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
            msg = f"this is no comparison as `to_dict` writes it: {error!r:.200}"
            raise DataError(msg) from error
