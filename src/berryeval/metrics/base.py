"""Metrics: named, parameterized, pure functions of one judged ranking.

A family module declares each metric with the decorator `metric` on its reference function, whose
keyword-only arguments are the parameters. Parser, documentation and tests read that declaration.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from berryeval.errors import MetricError
from berryeval.metrics.ranges import WITHIN_ONE

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking, SpanRanking, SubtopicRanking
    from berryeval.metrics.ranges import Better, Range, Within


REQUIRED: Final = inspect.Parameter.empty

Count: TypeAlias = int
Positive: TypeAlias = float
Share: TypeAlias = float
Shares: TypeAlias = tuple[float, ...]
Gains: TypeAlias = tuple[tuple[float, float], ...]
Discounting: TypeAlias = Literal["log2", "exp-log2"]
Rounding: TypeAlias = Literal["lround", "ceil0.9"]
RbpGain: TypeAlias = Literal["binary", "scaled", "minmax", "raw"]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a metric; required unless it has a default."""

    name: str
    kind: str
    default: Any = REQUIRED

    @property
    def required(self) -> bool:
        """Whether the parameter has no default."""
        return self.default is REQUIRED

    @property
    def base_kind(self) -> str:
        """The kind without `| None`."""
        return self.kind.removesuffix(" | None")

    def check(self, owner: str, value: Any) -> Any:
        """Return `value` in its normal form; raise `MetricError` if it is not accepted."""
        if value is None and self.default is None:
            return None
        try:
            checked = CHECKS[self.base_kind](value)
        except (TypeError, ValueError, KeyError, OverflowError):
            checked = None
        if checked is None:
            wanted = WANTED.get(self.base_kind, self.base_kind)
            raise MetricError(f"{self.name} of {owner} must be {wanted}, found {value!r}")
        return checked


def format_value(value: Any) -> str:
    """Format a value as the grammar reads it."""
    if isinstance(value, tuple):
        if value and not isinstance(value[0], tuple):
            return "[" + ",".join(map(format_value, value)) + "]"
        return "{" + ",".join(f"{format_value(k)}:{format_value(v)}" for k, v in value) + "}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004 - exact below
        return str(int(value))
    return repr(value)


# Some metrics visit every rank up to their cutoff; a typo must not cost hours.
_DEEPEST: Final = 10_000_000


def _count(value: Any) -> int | None:
    number = operator.index(value)
    return number if 0 <= number < 2**53 and not isinstance(value, bool) else None


def _integer(value: Any) -> int | None:
    number = _count(value)
    return number if number and number <= _DEEPEST else None


def _number(value: Any) -> float | None:
    number = float(value)
    return None if isinstance(value, bool | str) or not math.isfinite(number) else number


def _positive(value: Any) -> float | None:
    number = _number(value)
    return number if number is not None and number > 0 else None


def _share(value: Any) -> float | None:
    number = _number(value)
    return number if number is not None and 0 <= number <= 1 else None


def _shares(value: Any) -> tuple[float, ...] | None:
    shares = [_share(item) for item in value]
    known = tuple(sorted(share for share in shares if share is not None))
    return known if known and len(known) == len(shares) else None


_UNJUDGED_LEVELS: Final = (-1.0, -2.0)


def _gains(value: Any) -> tuple[tuple[float, float], ...] | None:
    pairs = value.items() if isinstance(value, Mapping) else value
    gains: dict[float, float] = {}
    for level, gain in pairs:
        grade, number = _number(level), _number(gain)
        if grade is None or number is None or (grade < 0 and grade not in _UNJUDGED_LEVELS):
            return None
        gains[grade] = number
    return tuple(sorted(gains.items())) or None


# Accepted words by kind; the native core accepts the same words.
CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "Discounting": ("log2", "exp-log2"),
    "Rounding": ("lround", "ceil0.9"),
    "RbpGain": ("binary", "scaled", "minmax", "raw"),
}
# A check returns the value in its normal form; None or an exception rejects it.
CHECKS: Final[dict[str, Callable[[Any], Any]]] = {
    "int": _integer,
    "Count": _count,
    "float": _number,
    "Positive": _positive,
    "Share": _share,
    "Shares": _shares,
    "bool": lambda value: value if isinstance(value, bool) else None,
    "Gains": _gains,
    **{kind: {word: word for word in words}.get for kind, words in CHOICES.items()},
}
WANTED: Final[dict[str, str]] = {
    "int": f"an integer from 1 to {_DEEPEST}",
    "Count": "an integer from 0 up",
    "float": "a number",
    "Positive": "a number above 0",
    "Share": "a number from 0 to 1",
    "Shares": "a list of numbers from 0 to 1, as in [0,0.5,1]",
    "bool": "True or False",
    "Gains": (
        "a mapping of grade to gain, as in gains={1:1,2:3}; the only negative levels are -1 for "
        "documents without a judgment and -2 for documents in the pool that were not judged"
    ),
    **{kind: " or ".join(map(repr, words)) for kind, words in CHOICES.items()},
}


Aggregate: TypeAlias = Literal["mean", "sum", "geometric mean"]
# The argument of a formula: a `JudgedRanking`, or (in Python only) a `SubtopicRanking` or a
# `SpanRanking`.
Kind: TypeAlias = Literal["ranking", "subtopics", "spans"]
Formula: TypeAlias = Callable[..., float]
Suffix: TypeAlias = Callable[[str], Sequence[Mapping[str, Any]]]
F = TypeVar("F", bound=Formula)


@dataclass(frozen=True, eq=False)
class Definition:
    """A metric without parameter values.

    Attributes:
        name: Canonical name, as the literature writes it.
        formula: Reference implementation, called with a judged ranking and the parameters.
        parameters: Parameters with their kinds and defaults.
        aliases: Other names, each with the parameters it implies.
        text: Formula in one line.
        peers: Names of the metric in other tools.
        aggregate: Aggregation of the values of the queries.
        native: Whether the native core implements the metric under the same name.
        within: Range of the aggregated value, or a function from the parameters to it.
        kind: Argument of the formula: grades, grades per subtopic, or the texts of passages.
        suffix: Parser of the text behind a name that is not a cutoff: `rbp.95`.
        better: Which values are better: higher, lower or neither.
    """

    name: str
    formula: Formula
    parameters: tuple[Parameter, ...]
    aliases: Mapping[str, Mapping[str, Any]]
    text: str
    peers: Mapping[str, str]
    aggregate: Aggregate
    native: bool
    within: Within
    kind: Kind = "ranking"
    suffix: Suffix | None = None
    better: Better = "higher"

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return (inspect.getdoc(self.formula) or "").partition("\n")[0]

    def __call__(self, **chosen: Any) -> Metric:
        """Return the metric with these parameters; the others keep their defaults."""
        known = {parameter.name for parameter in self.parameters}
        for name in chosen:
            if name not in known:
                listed = ", ".join(sorted(known)) or "none"
                raise MetricError(f"{self.name} has no parameter {name!r}; it has {listed}")
        values = {}
        for parameter in self.parameters:
            value = chosen.get(parameter.name, parameter.default)
            if value is REQUIRED:
                name = parameter.name
                example = {"cutoff": "@10", "recall": "@0.1"}.get(name, f"({name}=...)")
                kind = "a cutoff" if name == "cutoff" else f"the parameter {name!r}"
                raise MetricError(f"{self.name} needs {kind}, as in {self.name}{example}")
            values[parameter.name] = parameter.check(self.name, value)
        _check_scale(self.name, values)
        return Metric(self, tuple(values.items()), frozenset(chosen))


@dataclass(frozen=True)
class Metric:
    """A metric with its parameters; `str(metric)` is its canonical spelling.

    Attributes:
        definition: Definition of the metric.
        values: Value of every parameter.
        given: Parameters given by the caller, which a profile's defaults do not replace. Metrics
            with the same values are equal, whichever were given.
    """

    definition: Definition
    values: tuple[tuple[str, Any], ...]
    given: frozenset[str] = field(default=frozenset(), compare=False)

    @cached_property
    def params(self) -> dict[str, Any]:
        """Value of every parameter by name."""
        return dict(self.values)

    @property
    def aggregate(self) -> Aggregate:
        """Aggregation of the values of the queries."""
        return self.definition.aggregate

    @property
    def range(self) -> Range:
        """Range of the aggregated value, both ends included."""
        within = self.definition.within
        return within(self.params) if callable(within) else within

    def __call__(self, judged: JudgedRanking | SubtopicRanking | SpanRanking) -> float:
        """Compute the value of one ranking with the reference implementation."""
        params = dict(self.params)
        if params.pop("judged_only", False):
            judged = judged.condensed()
        value = self.definition.formula(judged, **params)
        if not isinstance(value, Real):
            raise TypeError(
                f"a metric must return a number, found {type(value).__name__} {value!r:.80}"
            )
        return float(value)

    def __str__(self) -> str:
        chosen = []
        for parameter in self.definition.parameters:
            value = self.params[parameter.name]
            if parameter.name not in AT_PARAMETERS and value != parameter.default:
                chosen.append(f"{parameter.name}={format_value(value)}")
        text = self.definition.name + (f"({','.join(chosen)})" if chosen else "")
        for name in AT_PARAMETERS:
            if self.params.get(name) is not None:
                text += f"@{format_value(self.params[name])}"
        return text

    def __repr__(self) -> str:
        return str(self)


# name, numbers, words and lists by parameter, gains by level
NativeSpec: TypeAlias = tuple[
    str, dict[str, float], dict[str, str], dict[str, list[float]], list[tuple[float, float]]
]


def native_spec(metric: Metric) -> NativeSpec:
    """Describe a metric for native code: numbers, words and lists by parameter, and the gains.

    A missing number is NaN; a missing cutoff is left out.
    """
    numbers: dict[str, float] = {}
    words: dict[str, str] = {}
    lists: dict[str, list[float]] = {}
    for parameter, (name, value) in zip(metric.definition.parameters, metric.values, strict=True):
        if isinstance(value, str):
            words[name] = value
        elif isinstance(value, bool | int | float):
            numbers[name] = float(value)
        elif parameter.base_kind == "Shares":
            lists[name] = list(value)
        elif value is None and parameter.base_kind in {"float", "Positive", "Share"}:
            numbers[name] = math.nan
    return metric.definition.name, numbers, words, lists, list(metric.params.get("gains") or ())


# Written after an @ instead of in parentheses: P@5, IPrec@0.1.
AT_PARAMETERS: Final = ("cutoff", "recall")


def metric(  # noqa: PLR0913 - the fields of a definition
    name: str,
    *,
    text: str,
    within: Within = WITHIN_ONE,
    aliases: Sequence[str] | Mapping[str, Mapping[str, Any]] = (),
    peers: Mapping[str, str] | None = None,
    aggregate: Aggregate = "mean",
    native: bool = True,
    condensable: bool = True,
    kind: Kind = "ranking",
    suffix: Suffix | None = None,
    better: Better = "higher",
) -> Callable[[F], F]:
    """Declare a reference function as the metric `name`, in its attribute `definition`.

    The arguments are attributes of `Definition`. `native` matters for rankings only. `condensable`
    is whether the metric takes `judged_only`; `suffix` parses the text behind a name, with its
    separator, into the parameters of each metric it names, and raises a ValueError to reject it.
    """
    named = aliases if isinstance(aliases, Mapping) else {alias: {} for alias in aliases}

    def declare(formula: F) -> F:
        parameters = [
            Parameter(parameter.name, _kind_of(name, parameter), parameter.default)
            for parameter in inspect.signature(formula).parameters.values()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        ]
        if condensable:
            parameters.append(Parameter("judged_only", "bool", False))
        formula.definition = Definition(  # type: ignore[attr-defined]
            name, formula, tuple(parameters), named, text, peers or {}, aggregate,
            native and kind == "ranking", within, kind, suffix, better,
        )  # fmt: skip
        return formula

    return declare


def _kind_of(name: str, argument: inspect.Parameter) -> str:
    """Return the annotation as text; without one, the type of the default."""
    given = argument.annotation
    if given is inspect.Parameter.empty:
        kind = type(argument.default).__name__
    else:
        kind = given if isinstance(given, str) else inspect.formatannotation(given)
    if kind.removesuffix(" | None") not in CHECKS:
        raise MetricError(
            f"the parameter {argument.name!r} of {name} must be annotated with "
            f"{', '.join(CHECKS)} or one of these | None"
        )
    return kind


def _check_scale(name: str, values: Mapping[str, Any]) -> None:
    """Require a scale of grades with min_rel below max_rel."""
    if {"min_rel", "max_rel"} <= values.keys() and values["min_rel"] >= values["max_rel"]:
        raise MetricError(
            f"min_rel of {name} must be less than max_rel, "
            f"found {format_value(values['min_rel'])} and {format_value(values['max_rel'])}"
        )
