"""The catalogue of metrics. A new family is one module and one line in `FAMILIES`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from inspect import getdoc
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args

from berryeval._internal.validate import require
from berryeval.errors import MetricError
from berryeval.metrics.base import Aggregate, Definition, Formula, Kind, metric
from berryeval.metrics.ranges import UNBOUNDED, Better, Range

if TYPE_CHECKING:
    from berryeval.metrics.base import Parameter

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


# The page docs/metrics.md: `python -m berryeval.metrics.catalogue` prints it.

_INTRODUCTION: Final = """\
# Metrics

All metrics of BerryEval, generated from the catalogue by `make docs`. A metric is a pure function
of one *judged ranking*: the ranks and grades of the judged documents, the number of retrieved
documents, and the grades of all judged documents of the query. Passage metrics read the texts of
the hits instead and are available in `evaluate_hits` only ([relevance.md](relevance.md)). `rel` is
the least grade of a relevant document; `judged_only=True` removes unjudged documents from the
ranking. Every spelling below works, in upper or lower case, with a cutoff written as `name@10`,
`name_10`, `name_at_10` or `name.10`.
"""

# Where metrics come from whose docstring does not say it.
_SOURCES: Final[dict[str, tuple[str, ...]]] = {
    "Cleverdon, Mills and Keen, Factors Determining the Performance of Indexing Systems, 1966": (
        "P", "R", "SetP", "SetR",
    ),
    "van Rijsbergen, Information Retrieval, 2nd edition, 1979": ("F1",),
    "Craswell and Hawking, Overview of the TREC 2004 Web Track": ("Success",),
    "Wu et al., LongMemEval, ICLR 2025": ("AllFound",),
    "Thakur et al., BEIR, NeurIPS Datasets and Benchmarks 2021, as capped recall": ("RelP",),
    "Voorhees, The TREC-8 Question Answering Track Report, 1999": ("RR",),
    "Buckley and Voorhees, Evaluating Evaluation Measure Stability, SIGIR 2000": ("AP", "Rprec"),
    "Robertson, On GMAP: and Other Transformations, CIKM 2006": ("Yaap",),
    "Buckley and Voorhees, Retrieval System Evaluation, in TREC, MIT Press, 2005": (
        "IPrec", "AvgIPrec",
    ),
    "Järvelin and Kekäläinen, ACM TOIS 20(4), 2002": ("DCG", "IDCG"),
    "Chapelle et al., Information Retrieval 14(6), 2011": ("ERR_IA", "nERR_IA"),
    "Agrawal et al., WSDM 2009": ("P_IA",),
    "Clarke, Kolla and Vechtomova, ICTIR 2009": ("nNRBP",),
    "Moffat, Bailey, Scholer and Thomas, ACM TOIS 35(3), 2017": ("SDCG",),
    "Azzopardi, Mackenzie and Moffat, ICTIR 2021": ("NERR9", "NERR10", "NERR11"),
    "Moffat and Zobel, ACM TOIS 27(1), 2008": ("RBP", "RBPResidual"),
    "Smith and Troynikov, Evaluating Chunking Strategies for Retrieval, Chroma, 2024": (
        "TokenR", "TokenP",
    ),
    "trec_eval": (
        "RprecMult", "SetRelP", "SetAP", "GMBpref", "nDCGrel", "RnDCG", "binG", "G", "NumQ",
        "NumRet", "NumRel", "NumRelRet", "NumNonrelJudgedRet", "Unjudged", "Utility",
    ),
    "ir_measures": ("Judged", "Accuracy"),
    "this project": ("TokensToHit", "FileR", "FileRR"),
}  # fmt: skip


def _find_source(definition: Definition) -> str:
    """Return where a metric comes from; "" if its documentation cites it."""
    return next((text for text, names in _SOURCES.items() if definition.name in names), "")


def markdown() -> str:
    """Return the whole page."""
    return _INTRODUCTION + "".join(_section(definition) for definition in definitions().values())


def _section(definition: Definition) -> str:
    aliases = [alias for alias in definition.aliases if alias != definition.name]
    rows = [
        ("formula", definition.text),
        ("parameters", ", ".join(map(_parameter, definition.parameters)) or "none"),
        ("also called", ", ".join(f"`{alias}`" for alias in aliases) or "none"),
        ("source", _find_source(definition)),
        ("elsewhere", ", ".join(f"{tool}: `{name}`" for tool, name in definition.peers.items())),
        ("over queries", definition.aggregate),
        ("better", definition.better),
        ("computed by", _computed_by(definition)),
    ]
    table = "\n".join(f"| {name} | {_cell(text)} |" for name, text in rows if text)
    documentation = getdoc(definition.formula) or ""
    return f"\n## {definition.name}\n\n{documentation}\n\n| | |\n| --- | --- |\n{table}\n"


def _computed_by(definition: Definition) -> str:
    if definition.kind == "spans":
        return "Python, in `evaluate_hits`: it reads texts, not grades"
    return "native code and Python" if definition.native else "Python"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _parameter(parameter: Parameter) -> str:
    if parameter.required:
        return f"`{parameter.name}` (required)"
    return f"`{parameter.name}={parameter.default!r}`"


if __name__ == "__main__":
    import sys

    sys.stdout.write(markdown())
