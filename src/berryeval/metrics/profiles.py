"""Conventions: what tools do differently, as values; a profile is a named set of them.

`docs/conventions.md` says where each comes from and where a peer still differs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from berryeval.data import RankingRule
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.metrics.base import Metric


@dataclass(frozen=True)
class Conventions:
    """What tools do differently, and we on request.

    Attributes:
        rule: how rows become a ranking.
        every_judged_query: whether a judged query that the run lacks counts (as an empty ranking).
        defaults: by the name of a metric, parameters that have another default than ours. They
            apply where the parameter was not given; one that was, stays as it is.
        text: all of it in a line, for people.
    """

    rule: RankingRule = field(default_factory=RankingRule)
    every_judged_query: bool = True
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    text: str = ""

    def applied_to(self, metric: Metric) -> Metric:
        """The metric with these defaults in place of our own."""
        others = self.defaults.get(metric.definition.name)
        if not others:
            return metric
        chosen = dict(metric.params)
        for parameter in metric.definition.parameters:
            open_to_others = chosen[parameter.name] == parameter.default
            if parameter.name in others and parameter.name not in metric.given and open_to_others:
                chosen[parameter.name] = others[parameter.name]
        return metric.definition(**chosen)


_TREC_9 = RankingRule(single_precision=True)
_TREC_9_DEFAULTS = {"IPrec": {"rounding": "ceil0.9"}, "AvgIPrec": {"rounding": "ceil0.9"}}

PROFILES: dict[str, Conventions] = {
    "berryeval": Conventions(
        text="every judged query counts; ties: higher document id (bytes) first",
    ),
    "trec_eval": Conventions(
        every_judged_query=False,
        text="trec_eval 10: only queries in both files count; ties: higher document id first",
    ),
    "trec_eval-9": Conventions(
        _TREC_9,
        every_judged_query=False,
        defaults=_TREC_9_DEFAULTS,
        text="trec_eval 9 and pytrec_eval: as trec_eval, with scores compared as float32",
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
    """The conventions of that name; conventions of the caller's own are taken as they are."""
    if isinstance(profile, Conventions):
        return profile
    try:
        return PROFILES[profile]
    except KeyError:
        msg = f"unknown profile {profile!r}; there are {', '.join(PROFILES)}"
        raise ConfigurationError(msg) from None
