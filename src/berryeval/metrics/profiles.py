"""Profiles: named sets of the conventions in which evaluation tools differ.

`docs/conventions.md` explains the origin of each, and where a tool still differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from berryeval._internal.validate import suggest
from berryeval.data import DEFAULT_RULE, RankingRule
from berryeval.errors import ConfigurationError
from berryeval.metrics.base import Metric, NativeSpec, native_spec
from berryeval.metrics.grammar import parse_metrics


@dataclass(frozen=True)
class Conventions:
    """Conventions in which evaluation tools differ.

    Attributes:
        rule: Order of the rows of a ranking.
        every_judged_query: Whether a judged query missing from the run counts, as an empty ranking.
        defaults: Defaults of parameters, by metric name; a parameter that was given keeps its
            value.
        spellings: Metrics that a name means without parameters, or with a level (`P-l2`).
        text: Summary in one line.
    """

    rule: RankingRule = DEFAULT_RULE
    every_judged_query: bool = True
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    text: str = ""
    spellings: Mapping[str, str] = field(default_factory=dict)

    def respell(self, text: str | Metric) -> str | Metric:
        """Replace a name that means several metrics, or other parameters, in these conventions."""
        match = _BARE.fullmatch(text) if isinstance(text, str) else None
        meant = self.spellings.get(match[1]) if match else None
        return text if match is None or meant is None else meant + (match[2] or "")

    def apply_to(self, metric: Metric) -> Metric:
        """Return the metric with the defaults of these conventions."""
        others = self.defaults.get(metric.definition.name)
        if not others:
            return metric
        chosen = dict(metric.params)
        for parameter in metric.definition.parameters:
            is_default = chosen[parameter.name] == parameter.default
            if parameter.name in others and parameter.name not in metric.given and is_default:
                chosen[parameter.name] = others[parameter.name]
        return metric.definition(**chosen)


@dataclass(frozen=True)
class RequestedMetrics:
    """The metrics of one evaluation.

    Attributes:
        conventions: Conventions of the evaluation.
        metrics: Distinct metrics in the order of the request.
        names: Canonical names of the metrics.
        aggregates: Aggregations of the metrics.
        spellings: Canonical name of each text that requested a single metric.
        specs: Descriptions for native code; None for a metric that only Python computes.
    """

    conventions: Conventions
    metrics: list[Metric]
    names: tuple[str, ...]
    aggregates: tuple[str, ...]
    spellings: dict[str, str]
    specs: list[NativeSpec | None]


_BARE: Final = re.compile(r"\s*(\S+?)(-l[0-9.]+)?\s*")
_CUTOFFS: Final = "5,10,15,20,30,100,200,500,1000"
_TENTHS: Final = ",".join(str(number / 10) for number in range(11))
_MULTIPLES: Final = ",".join(str(number / 5) for number in range(1, 11))
# The names of trec_eval that mean several metrics, or other parameters than ours.
_TREC_SPELLINGS: Final = {
    **{name: f"{name}.{_CUTOFFS}" for name in ("P", "recall", "ndcg_cut", "map_cut", "relative_P")},
    "success": "success.1,5,10",
    "unj": "unj.5,10,20",
    "iprec_at_recall": f"iprec_at_recall.{_TENTHS}",
    "Rprec_mult": f"Rprec_mult.{_MULTIPLES}",
    "rbp": "rbp_p=0.9",
}
_TREC_9 = RankingRule(single_precision=True)
_TREC_9_DEFAULTS = {"IPrec": {"rounding": "ceil0.9"}, "AvgIPrec": {"rounding": "ceil0.9"}}

PROFILES: dict[str, Conventions] = {
    "berryeval": Conventions(
        text="every judged query counts; ties: higher document id (bytes) first",
    ),
    "trec_eval": Conventions(
        every_judged_query=False,
        text="trec_eval 10: only queries in both files count; ties: higher document id first",
        spellings=_TREC_SPELLINGS,
    ),
    "trec_eval-9": Conventions(
        _TREC_9,
        every_judged_query=False,
        defaults=_TREC_9_DEFAULTS,
        text="trec_eval 9 and pytrec_eval: as trec_eval, with scores compared as float32",
        spellings=_TREC_SPELLINGS,
    ),
    "ir_measures": Conventions(
        _TREC_9,
        defaults=_TREC_9_DEFAULTS,
        text="ir_measures on pytrec_eval: every judged query counts; scores compared as float32",
    ),
    "ranx": Conventions(
        RankingRule("given order"),
        defaults=_TREC_9_DEFAULTS,
        text="ranx with make_comparable: every judged query counts; ties stay in the given order",
        spellings={"recall": "SetR"},
    ),
    "gdeval": Conventions(
        every_judged_query=False,
        defaults={"nDCG": {"dcg": "exp-log2"}},
        text="gdeval: only queries in both files count; ties: higher id first; nDCG gains 2^g - 1",
    ),
    "msmarco": Conventions(
        RankingRule("document ascending"),
        defaults={"RR": {"cutoff": 10}},
        text="MS MARCO: every judged query counts; ties: lower id first; RR alone means RR@10",
    ),
}


def find_profile(profile: str | Conventions) -> Conventions:
    """Return the profile of that name; return `Conventions` unchanged."""
    if isinstance(profile, Conventions):
        return profile
    try:
        return PROFILES[profile]
    except KeyError:
        raise ConfigurationError(
            f"unknown profile {profile!r}; {suggest(str(profile), PROFILES)}"
        ) from None


def request_metrics(
    metrics: Iterable[str | Metric], profile: str | Conventions
) -> RequestedMetrics:
    """Parse the metrics of an evaluation and apply the defaults of its profile."""
    conventions = find_profile(profile)
    if isinstance(metrics, str | Metric):
        metrics = [metrics]
    found: dict[Metric, None] = {}
    named: dict[str, dict[Metric, None]] = {}
    for text in metrics:
        parsed = parse_metrics([conventions.respell(text)])
        for metric in parsed:
            spelling = str(text) if len(parsed) == 1 else str(metric)
            applied = conventions.apply_to(metric)
            found[applied] = None
            named.setdefault(spelling, {})[applied] = None
    return RequestedMetrics(
        conventions,
        list(found),
        tuple(map(str, found)),
        tuple([metric.aggregate for metric in found]),
        {text: str(*meant) for text, meant in named.items() if len(meant) == 1},
        [native_spec(metric) if metric.definition.native else None for metric in found],
    )
