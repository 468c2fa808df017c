"""The catalogue: which metrics there are. A new family is one line in `FAMILIES`."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args

from berryeval.errors import MetricError
from berryeval.metrics.base import Aggregate, Definition, Formula, Kind, metric
from berryeval.metrics.ranges import UNBOUNDED, Range

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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
_NAME: Final = re.compile(r"[^\W\d_][\w-]*[^\W\d_]|[^\W\d_]")  # ends in a letter: no cutoff
_RESERVED: Final = {"query", "outcome"}  # columns beside the metrics in a frame of scores


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
    """Every metric by its canonical name, in the order of the families; users' own come last."""
    return {**_built_in(), **_registered}


def names() -> dict[str, tuple[Definition, dict[str, Any]]]:
    """Every name in lower case, with the definition it means and the parameters it implies."""
    found: dict[str, tuple[Definition, dict[str, Any]]] = {}
    for definition in definitions().values():
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
) -> Callable[[F], F]:
    """Make a Python function of a judged ranking a metric like any other.

        >>> from berryeval.metrics import parse_metric, register
        >>> @register("FirstRank", text="rank of the first relevant document, 0 if none")
        ... def first_rank(judged, *, rel: float = 1.0) -> float:
        ...     return min(judged.relevant_ranks(rel), default=0)
        >>> parse_metric("FirstRank(rel=2)")
        FirstRank(rel=2)

    Keyword-only arguments are parameters of the metric, checked by their annotation (`int`,
    `float`, `bool`, ...); one called `cutoff` is written after an @. A name that exists already is
    refused. With `kind="subtopics"` the function gets a
    `SubtopicRanking`, which knows a grade per document and subtopic, with `kind="spans"` a
    `SpanRanking`, which knows the passages themselves. `within` says between which ends the value
    of a run lies, as (0, 1), if that is so: gates refuse limits that nothing can break.
    """
    if aggregate not in get_args(Aggregate):
        msg = f"aggregate must be one of {', '.join(get_args(Aggregate))}; found {aggregate!r}"
        raise MetricError(msg)
    known = names()
    for taken in (name, *aliases):
        if not _NAME.fullmatch(taken) or taken.lower() in _RESERVED:
            msg = f"{taken!r} cannot be the name of a metric: letters, digits, _ and - can"
            raise MetricError(msg)
        if taken.lower() in known:
            msg = f"there is a metric {taken!r} already ({known[taken.lower()][0].name})"
            raise MetricError(msg)

    def declare(formula: F) -> F:
        declared = metric(
            name,
            text=text or name,
            within=within,
            aliases=tuple(aliases),
            aggregate=aggregate,
            kind=kind,
        )(formula)
        _registered[name] = declared.definition  # type: ignore[attr-defined]
        return declared

    return declare
