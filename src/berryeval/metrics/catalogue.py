"""The catalogue of metrics. A new family is one module and one line in `FAMILIES`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Final, TypeVar, get_args

from berryeval._internal.validate import require
from berryeval.errors import MetricError
from berryeval.metrics.base import Aggregate, Definition, Formula, Kind, metric
from berryeval.metrics.ranges import UNBOUNDED, Better, Range

FAMILIES = (
    "precision",
    "recall",
    "sets",
    "rr",
    "ap",
    "bpref",
    "ndcg",
    "err",
    "judged",
    "compat",
    "cwl",
    "diversity",
    "gain_ratio",
    "rbp",
    "counts",
    "spans",
)

F = TypeVar("F", bound=Formula)
_registered: dict[str, Definition] = {}
_NAME: Final = re.compile(r"[^\W\d_][\w-]*[^\W\d_]|[^\W\d_]")  # no digit at the end: cutoffs
_RESERVED: Final = {"query", "outcome"}  # other columns of a frame of scores


@cache
def _built_in() -> dict[str, Definition]:
    found: dict[str, Definition] = {}
    for family in FAMILIES:
        module = import_module(f"berryeval.metrics.families.{family}")
        for member in vars(module).values():
            definition = getattr(member, "definition", None)
            if isinstance(definition, Definition) and member.__module__ == module.__name__:
                found[definition.name] = definition
    return found


def definitions() -> dict[str, Definition]:
    """Return every metric by its canonical name: built-in families first, then registered ones."""
    return {**_built_in(), **_registered}


def names() -> dict[str, tuple[Definition, dict[str, Any]]]:
    """Return every name in lower case with its definition and the parameters it implies."""
    return {**_built_in_names(), **_spell(_registered.values())}  # `register` lets none be taken


@cache
def _built_in_names() -> dict[str, tuple[Definition, dict[str, Any]]]:
    return _spell(_built_in().values())


def _spell(known: Iterable[Definition]) -> dict[str, tuple[Definition, dict[str, Any]]]:
    found: dict[str, tuple[Definition, dict[str, Any]]] = {}
    for definition in known:
        found[definition.name.lower()] = (definition, {})
        for alias, implied in definition.aliases.items():
            found.setdefault(alias.lower(), (definition, dict(implied)))
    return found


def register(
    name: str,
    *,
    text: str = "",
    aliases: Sequence[str] = (),
    aggregate: Aggregate = "mean",
    kind: Kind = "ranking",
    within: Range = UNBOUNDED,
    better: Better = "higher",
) -> Callable[[F], F]:
    """Register a Python function of a judged ranking as a metric.

        >>> from berryeval.metrics import parse_metric, register
        >>> @register("FirstRank", text="rank of the first relevant document, 0 if none")
        ... def first_rank(judged, *, rel: float = 1.0) -> float:
        ...     return min(judged.relevant_ranks(rel), default=0)
        >>> parse_metric("FirstRank(rel=2)")
        FirstRank(rel=2)

    Keyword-only arguments are parameters of the metric, checked by their annotation (`int`,
    `float`, `bool`, ...); `cutoff` is written after an @.

    Args:
        name: Canonical name; must be new.
        text: Formula in one line.
        aliases: Other names.
        aggregate: Aggregation of the values of the queries.
        kind: Argument of the function: "ranking" for a `JudgedRanking`, "subtopics" for a
            `SubtopicRanking` (a grade per document and subtopic), "spans" for a `SpanRanking`
            (the passages themselves).
        within: Range of the aggregated value, such as (0, 1). Gates reject limits outside of it.
        better: Which values are better: "higher", "lower" or "neither".
    """
    for option, value, choices in (
        ("aggregate", aggregate, get_args(Aggregate)),
        ("better", better, get_args(Better)),
    ):
        require(value in choices, option, f"one of {', '.join(choices)}", value, error=MetricError)
    known = names()
    for taken in (name, *aliases):
        if not _NAME.fullmatch(taken) or taken.lower() in _RESERVED:
            raise MetricError(
                f"{taken!r} cannot be the name of a metric; use letters, digits, _ and -, "
                "and a letter at both ends"
            )
        if taken.lower() in known:
            raise MetricError(f"a metric {taken!r} already exists ({known[taken.lower()][0].name})")

    def declare(formula: F) -> F:
        declared = metric(
            name,
            text=text or name,
            within=within,
            aliases=tuple(aliases),
            aggregate=aggregate,
            native=False,
            kind=kind,
            better=better,
        )(formula)
        _registered[name] = declared.definition  # type: ignore[attr-defined]
        return declared

    return declare
