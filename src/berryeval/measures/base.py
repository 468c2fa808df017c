"""What a measure is: a named, parametrised, pure function of one judged ranking.

A family file declares each of its measures with the decorator `measure` on the reference function;
the keyword-only arguments of the function are the measure's parameters, with their defaults.
Nothing else is needed: parsing, printing, the reference documentation and the tests read it there.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, TypeVar

from berryeval.errors import MeasureError

if TYPE_CHECKING:
    from berryeval.measures.subtopics import SubtopicRanking

__all__ = ["Definition", "Hit", "JudgedRanking", "Measure", "Parameter", "measure"]

REQUIRED: Final = inspect.Parameter.empty

Aggregate: TypeAlias = Literal["mean", "sum", "geometric mean"]
# What a formula looks at: a `JudgedRanking`, or a `SubtopicRanking` (in Python only).
Kind: TypeAlias = Literal["ranking", "subtopics"]
Formula: TypeAlias = Callable[..., float]
F = TypeVar("F", bound=Formula)


class Hit(NamedTuple):
    """A document of the ranking that has a line in the judgments."""

    rank: int
    grade: float


@dataclass(frozen=True)
class JudgedRanking:
    """One ranking after the join with its judgments; the only thing a measure sees.

    Attributes:
        hits: the documents of the ranking that the judgments know, best rank first. A negative
            grade means: in the pool, but not judged.
        retrieved: how many documents the ranking holds.
        grades: the grades of all documents in the query's judgments, found or not, highest first.
    """

    hits: Sequence[Hit]
    retrieved: int
    grades: Sequence[float]

    def relevant_ranks(self, rel: float, cutoff: int | None = None) -> list[int]:
        """The ranks, up to `cutoff`, of the documents whose grade reaches `rel`."""
        return [
            hit.rank
            for hit in self.hits
            if hit.grade >= rel and (cutoff is None or hit.rank <= cutoff)
        ]

    def relevant_total(self, rel: float) -> int:
        """How many relevant documents the judgments know."""
        return sum(grade >= rel for grade in self.grades)

    def cut(self, depth: int) -> JudgedRanking:
        """The ranking without what stands below `depth`."""
        hits = [hit for hit in self.hits if hit.rank <= depth]
        return JudgedRanking(hits, min(self.retrieved, depth), self.grades)

    def condensed(self) -> JudgedRanking:
        """The ranking without its unjudged documents, the others moved up."""
        judged = [hit for hit in self.hits if hit.grade >= 0]
        hits = [Hit(rank, hit.grade) for rank, hit in enumerate(judged, start=1)]
        return JudgedRanking(hits, len(hits), self.grades)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a measure; without a default it must be given."""

    name: str
    kind: str
    default: Any = REQUIRED

    @property
    def required(self) -> bool:
        """Whether the measure makes no sense without it."""
        return self.default is REQUIRED


@dataclass(frozen=True, eq=False)
class Definition:
    """A measure before its parameters are chosen.

    Attributes:
        name: the canonical name, as the literature writes it.
        formula: the reference implementation, called with a judged ranking and the parameters.
        parameters: what may be chosen.
        aliases: other names of this measure, with the parameters that the name implies.
        text: the formula in a line, for people.
        peers: the tools that compute it too, with their own name for it.
        aggregate: how the values of the queries become one.
        native: whether the native core has a twin of this name.
        kind: what the formula looks at: one grade per document, or one per document and subtopic.
    """

    name: str
    formula: Formula
    parameters: tuple[Parameter, ...]
    aliases: Mapping[str, Mapping[str, Any]]
    text: str
    peers: Mapping[str, str]
    aggregate: Aggregate
    native: bool
    kind: Kind = "ranking"

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return (inspect.getdoc(self.formula) or "").partition("\n")[0]

    def __call__(self, **chosen: Any) -> Measure:
        """The measure with these parameters; the others keep their defaults."""
        known = {parameter.name for parameter in self.parameters}
        for name in chosen:
            if name not in known:
                msg = (
                    f"{self.name} takes no parameter {name!r}; "
                    f"it takes {', '.join(sorted(known)) or 'none'}"
                )
                raise MeasureError(msg)
        values = {}
        for parameter in self.parameters:
            value = chosen.get(parameter.name, parameter.default)
            if value is REQUIRED:
                msg = f"{self.name} needs {_how_to_give(self.name, parameter.name)}"
                raise MeasureError(msg)
            values[parameter.name] = _checked(self.name, parameter, value)
        _check_scale(self.name, values)
        return Measure(self, tuple(values.items()))


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters, ready to be computed. Its text is its canonical spelling."""

    definition: Definition
    values: tuple[tuple[str, Any], ...]

    @cached_property
    def params(self) -> dict[str, Any]:
        """The value of every parameter."""
        return dict(self.values)

    @property
    def aggregate(self) -> Aggregate:
        """How the values of the queries become one."""
        return self.definition.aggregate

    def __call__(self, judged: JudgedRanking | SubtopicRanking) -> float:
        """The value for one ranking of the measure's kind, by the reference implementation."""
        params = dict(self.params)
        if params.pop("judged_only", False):
            judged = judged.condensed()
        value = self.definition.formula(judged, **params)
        if not isinstance(value, Real):
            msg = f"a measure must return a number, found {type(value).__name__} {value!r:.80}"
            raise TypeError(msg)
        return float(value)

    def __str__(self) -> str:
        shown = []
        for parameter in self.definition.parameters:
            value = self.params[parameter.name]
            if parameter.name not in AT_PARAMETERS and value != parameter.default:
                shown.append(f"{parameter.name}={_shown(value)}")
        text = self.definition.name + (f"({','.join(shown)})" if shown else "")
        for name in AT_PARAMETERS:
            if self.params.get(name) is not None:
                text += f"@{_shown(self.params[name])}"
        return text

    def __repr__(self) -> str:
        return str(self)


# Written after an @ instead of in parentheses: P@5, IPrec@0.1.
AT_PARAMETERS: Final = ("cutoff", "recall")


def measure(
    name: str,
    *,
    text: str,
    aliases: Sequence[str] | Mapping[str, Mapping[str, Any]] = (),
    peers: Mapping[str, str] | None = None,
    aggregate: Aggregate = "mean",
    native: bool = False,
    condensable: bool = True,
    kind: Kind = "ranking",
) -> Callable[[F], F]:
    """Declare a reference function as the measure `name`; the definition becomes its attribute.

    Args:
        name: the canonical name.
        text: the formula in a line, for people.
        aliases: other names for it; a mapping gives each the parameters it implies.
        peers: who else computes it, and under which name.
        aggregate: how the values of the queries become one.
        native: whether the native core has a twin.
        condensable: whether `judged_only=True` makes sense.
        kind: what the function looks at.
    """
    named = aliases if isinstance(aliases, Mapping) else {alias: {} for alias in aliases}

    def declare(formula: F) -> F:
        parameters = [
            Parameter(parameter.name, _kind(name, parameter), parameter.default)
            for parameter in inspect.signature(formula).parameters.values()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        ]
        if condensable:
            parameters.append(Parameter("judged_only", "bool", False))
        formula.definition = Definition(  # type: ignore[attr-defined]
            name, formula, tuple(parameters), named, text, peers or {}, aggregate, native, kind
        )
        return formula

    return declare


def _kind(name: str, parameter: inspect.Parameter) -> str:
    """The annotation of a reference function's argument, as it is written."""
    given = parameter.annotation
    kind = given.__name__ if isinstance(given, type) else str(given)
    if kind.removesuffix(" | None") not in CHECKS:
        msg = (
            f"the parameter {parameter.name!r} of {name} must be annotated with "
            f"{', '.join(CHECKS)} or one of these | None"
        )
        raise MeasureError(msg)
    return kind


def _how_to_give(name: str, parameter: str) -> str:
    example = f"{name}@10" if parameter in AT_PARAMETERS else f"{name}({parameter}=...)"
    kind = "a cutoff" if parameter == "cutoff" else f"the parameter {parameter!r}"
    return f"{kind}, as in {example}"


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return "{" + ",".join(f"{_shown(k)}:{_shown(v)}" for k, v in value) + "}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004
        return str(int(value))
    return repr(value)


def _checked(name: str, parameter: Parameter, value: Any) -> Any:
    """`value` as the parameter wants it, or a `MeasureError` that says what it wants."""
    optional = parameter.default is None
    if value is None and optional:
        return None
    kind = parameter.kind.removesuffix(" | None")
    try:
        checked = CHECKS[kind](value)
    except (TypeError, ValueError, KeyError):
        checked = None
    if checked is None:
        wanted = WANTED.get(kind, kind)
        msg = f"{parameter.name} of {name} must be {wanted}, found {value!r}"
        raise MeasureError(msg)
    return checked


def _check_scale(name: str, values: Mapping[str, Any]) -> None:
    """A scale of grades must rise."""
    if {"min_rel", "max_rel"} <= values.keys() and values["min_rel"] >= values["max_rel"]:
        msg = (
            f"min_rel of {name} must be less than max_rel, "
            f"found {_shown(values['min_rel'])} and {_shown(values['max_rel'])}"
        )
        raise MeasureError(msg)


def _integer(value: Any) -> int | None:
    number = operator.index(value)
    return number if number >= 1 and not isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    number = float(value)
    return None if isinstance(value, bool | str) or not math.isfinite(number) else number


def _share(value: Any) -> float | None:
    number = _number(value)
    return number if number is not None and 0 <= number <= 1 else None


def _positive(value: Any) -> float | None:
    number = _number(value)
    return number if number is not None and number > 0 else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _gains(value: Any) -> tuple[tuple[float, float], ...]:
    pairs = value.items() if isinstance(value, Mapping) else value
    return tuple(sorted((float(level), float(gain)) for level, gain in pairs))


def _one_of(*words: str) -> Callable[[Any], str | None]:
    return lambda value: value if value in words else None


# How a parameter is checked, by the annotation of the reference function's argument.
CHECKS: Final[dict[str, Callable[[Any], Any]]] = {
    "int": _integer,
    "float": _number,
    "Share": _share,
    "Positive": _positive,
    "bool": _flag,
    "Gains": _gains,
    "Discounting": _one_of("log2", "exp-log2"),
}
WANTED: Final = {
    "int": "an integer from 1 up",
    "float": "a number",
    "Share": "a number from 0 to 1",
    "Positive": "a number above 0",
    "bool": "True or False",
    "Gains": "a mapping of grade to gain, as in gains={1:1,2:3}",
    "Discounting": "'log2' or 'exp-log2'",
}
Share: TypeAlias = float
Positive: TypeAlias = float
Gains: TypeAlias = tuple[tuple[float, float], ...]
Discounting: TypeAlias = Literal["log2", "exp-log2"]
