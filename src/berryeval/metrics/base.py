"""What a metric is: a named, parametrised, pure function of one judged ranking.

A family file declares each of its metrics with the decorator `metric` on the reference function;
the keyword-only arguments of the function are the metric's parameters, with their defaults.
Nothing else is needed: parsing, printing, the reference documentation and the tests read it there.
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

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking, SpanRanking, SubtopicRanking
    from berryeval.metrics.ranges import Range, Within


# The parameters of metrics: what each kind accepts, and how a value is written.

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
    """A parameter of a metric; without a default it must be given."""

    name: str
    kind: str
    default: Any = REQUIRED

    @property
    def required(self) -> bool:
        """Whether the metric makes no sense without it."""
        return self.default is REQUIRED

    @property
    def base_kind(self) -> str:
        """The kind without what says that it may be left out."""
        return self.kind.removesuffix(" | None")

    def checked(self, owner: str, value: Any) -> Any:
        """`value` as the parameter wants it, or a `MetricError` that says what it wants."""
        if value is None and self.default is None:
            return None
        try:
            checked = CHECKS[self.base_kind](value)
        except (TypeError, ValueError, KeyError, OverflowError):
            checked = None
        if checked is None:
            wanted = WANTED.get(self.base_kind, self.base_kind)
            msg = f"{self.name} of {owner} must be {wanted}, found {value!r}"
            raise MetricError(msg)
        return checked


def shown(value: Any) -> str:
    """A value as the grammar reads it."""
    if isinstance(value, tuple):
        if value and not isinstance(value[0], tuple):
            return "[" + ",".join(shown(item) for item in value) + "]"
        return "{" + ",".join(f"{shown(k)}:{shown(v)}" for k, v in value) + "}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004 - exact below
        return str(int(value))
    return repr(value)


# Some metrics look at every rank up to their cutoff; a typing error must not take hours.
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


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


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


def _one_of(words: tuple[str, ...]) -> Callable[[Any], str | None]:
    return lambda value: value if value in words else None


# Choices among words; native code knows the words by the name of the parameter.
CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "Discounting": ("log2", "exp-log2"),
    "Rounding": ("lround", "ceil0.9"),
    "RbpGain": ("binary", "scaled", "minmax", "raw"),
}
# How a parameter is checked: the value as it is kept, or None, or one of the usual errors.
CHECKS: Final[dict[str, Callable[[Any], Any]]] = {
    "int": _integer,
    "Count": _count,
    "float": _number,
    "Positive": _positive,
    "Share": _share,
    "Shares": _shares,
    "bool": _flag,
    "Gains": _gains,
    **{kind: _one_of(words) for kind, words in CHOICES.items()},
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
        "a mapping of grade to gain, as in gains={1:1,2:3}; of the levels below 0 there are -1, "
        "documents without a judgment, and -2, documents in the pool that were not judged"
    ),
    **{kind: " or ".join(map(repr, words)) for kind, words in CHOICES.items()},
}


Aggregate: TypeAlias = Literal["mean", "sum", "geometric mean"]
# What a formula looks at: a `JudgedRanking`, or (in Python only) a `SubtopicRanking` or a
# `SpanRanking`.
Kind: TypeAlias = Literal["ranking", "subtopics", "spans"]
Formula: TypeAlias = Callable[..., float]
Suffix: TypeAlias = Callable[[str], Sequence[Mapping[str, Any]]]
F = TypeVar("F", bound=Formula)


@dataclass(frozen=True, eq=False)
class Definition:
    """A metric before its parameters are chosen.

    Attributes:
        name: the canonical name, as the literature writes it.
        formula: the reference implementation, called with a judged ranking and the parameters.
        parameters: what may be chosen.
        aliases: other names of this metric, with the parameters that the name implies.
        text: the formula in a line, for people.
        peers: the tools that compute it too, with their own name for it.
        aggregate: how the values of the queries become one.
        native: whether the native core has a twin of this name.
        within: between which ends the value of a run lies; by the parameters, if a function.
        kind: what the formula looks at: one grade per document, one per document and subtopic, or
            the passages as text.
        suffix: what the text behind a name means, if not a cutoff: `rbp.95`, `utility_1,-1,0,0`.
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

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return (inspect.getdoc(self.formula) or "").partition("\n")[0]

    def __call__(self, **chosen: Any) -> Metric:
        """The metric with these parameters; the others keep their defaults."""
        known = {parameter.name for parameter in self.parameters}
        for name in chosen:
            if name not in known:
                msg = (
                    f"{self.name} takes no parameter {name!r}; "
                    f"it takes {', '.join(sorted(known)) or 'none'}"
                )
                raise MetricError(msg)
        values = {}
        for parameter in self.parameters:
            value = chosen.get(parameter.name, parameter.default)
            if value is REQUIRED:
                msg = f"{self.name} needs {_how_to_give(self.name, parameter.name)}"
                raise MetricError(msg)
            values[parameter.name] = parameter.checked(self.name, value)
        _check_scale(self.name, values)
        return Metric(self, tuple(values.items()), frozenset(chosen))


@dataclass(frozen=True)
class Metric:
    """A metric with its parameters, ready to be computed. Its text is its canonical spelling.

    Attributes:
        definition: which metric it is.
        values: the value of every parameter.
        given: the parameters that were chosen, be it as our default has them; a profile's defaults
            leave them alone. Metrics that compute the same are equal, whatever was given.
    """

    definition: Definition
    values: tuple[tuple[str, Any], ...]
    given: frozenset[str] = field(default=frozenset(), compare=False)

    @cached_property
    def params(self) -> dict[str, Any]:
        """The value of every parameter."""
        return dict(self.values)

    @property
    def aggregate(self) -> Aggregate:
        """How the values of the queries become one."""
        return self.definition.aggregate

    @property
    def range(self) -> Range:
        """Between which ends the value of a run lies, both included."""
        within = self.definition.within
        return within(self.params) if callable(within) else within

    def __call__(self, judged: JudgedRanking | SubtopicRanking | SpanRanking) -> float:
        """The value for one ranking of the metric's kind, by the reference implementation."""
        params = dict(self.params)
        if params.pop("judged_only", False):
            judged = judged.condensed()
        value = self.definition.formula(judged, **params)
        if not isinstance(value, Real):
            msg = f"a metric must return a number, found {type(value).__name__} {value!r:.80}"
            raise TypeError(msg)
        return float(value)

    def __str__(self) -> str:
        chosen = []
        for parameter in self.definition.parameters:
            value = self.params[parameter.name]
            if parameter.name not in AT_PARAMETERS and value != parameter.default:
                chosen.append(f"{parameter.name}={shown(value)}")
        text = self.definition.name + (f"({','.join(chosen)})" if chosen else "")
        for name in AT_PARAMETERS:
            if self.params.get(name) is not None:
                text += f"@{shown(self.params[name])}"
        return text

    def __repr__(self) -> str:
        return str(self)


# Written after an @ instead of in parentheses: P@5, IPrec@0.1.
AT_PARAMETERS: Final = ("cutoff", "recall")


def metric(
    name: str,
    *,
    text: str,
    within: Within,
    aliases: Sequence[str] | Mapping[str, Mapping[str, Any]] = (),
    peers: Mapping[str, str] | None = None,
    aggregate: Aggregate = "mean",
    native: bool = False,
    condensable: bool = True,
    kind: Kind = "ranking",
    suffix: Suffix | None = None,
) -> Callable[[F], F]:
    """Declare a reference function as the metric `name`; the definition becomes its attribute.

    Args:
        name: the canonical name.
        text: the formula in a line, for people.
        within: between which ends the value of a run lies, or what tells them by the parameters.
        aliases: other names for it; a mapping gives each the parameters it implies.
        peers: who else computes it, and under which name.
        aggregate: how the values of the queries become one.
        native: whether the native core has a twin.
        condensable: whether `judged_only=True` makes sense.
        kind: what the function looks at.
        suffix: reads what stands behind a name, with the separator, if it is not just a cutoff:
            a choice of parameters for each metric that is meant; a ValueError refuses it.
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
            name,
            formula,
            tuple(parameters),
            named,
            text,
            peers or {},
            aggregate,
            native,
            within,
            kind,
            suffix,
        )
        return formula

    return declare


def _kind_of(name: str, argument: inspect.Parameter) -> str:
    """The annotation as text; an argument without one is of the kind of its default."""
    given = argument.annotation
    if given is inspect.Parameter.empty:
        kind = type(argument.default).__name__
    else:
        kind = given if isinstance(given, str) else inspect.formatannotation(given)
    if kind.removesuffix(" | None") not in CHECKS:
        msg = (
            f"the parameter {argument.name!r} of {name} must be annotated with "
            f"{', '.join(CHECKS)} or one of these | None"
        )
        raise MetricError(msg)
    return kind


def _how_to_give(name: str, parameter: str) -> str:
    example = f"{name}@10" if parameter in AT_PARAMETERS else f"{name}({parameter}=...)"
    kind = "a cutoff" if parameter == "cutoff" else f"the parameter {parameter!r}"
    return f"{kind}, as in {example}"


def _check_scale(name: str, values: Mapping[str, Any]) -> None:
    """A scale of grades must rise."""
    if {"min_rel", "max_rel"} <= values.keys() and values["min_rel"] >= values["max_rel"]:
        msg = (
            f"min_rel of {name} must be less than max_rel, "
            f"found {shown(values['min_rel'])} and {shown(values['max_rel'])}"
        )
        raise MetricError(msg)
