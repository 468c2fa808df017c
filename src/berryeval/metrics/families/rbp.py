"""Rank-biased precision (Moffat and Zobel, ACM TOIS 27(1), 2008)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from berryeval.metrics.base import metric
from berryeval.metrics.families.ndcg import GainOf, GainRule, best_gains, walk
from berryeval.metrics.ranges import UNBOUNDED, WITHIN_ONE, Range, has_negative

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking
    from berryeval.metrics.base import Gains, Positive, RbpGain, Share


def parse_dialects(tail: str) -> list[Mapping[str, Any]]:
    """Parse ranx's `rbp.95` and trec_eval's `rbp_p=0.8,1=0.5`, each with its tool's gains."""
    if "=" not in tail:
        if tail.startswith("."):
            return [{"p": float(f"0{tail}"), "gain": "raw"}]
        return [{"cutoff": int(tail[1:])}]
    pairs = [pair.split("=") for pair in tail[1:].split(",")]
    chosen: dict[str, Any] = {"p": 0.9, "gain": "minmax", "rel": 0.0}
    chosen |= {name: float(value) for name, value in pairs if name == "p"}
    gains = {float(level): float(gain) for level, gain in pairs if level != "p"}
    return [chosen | {"gains": gains} if gains else chosen]


def _range(params: Mapping[str, Any]) -> Range:
    beats_ideal = params["normalize"] and has_negative(params["gains"])
    return UNBOUNDED if params["gain"] == "raw" or beats_ideal else WITHIN_ONE


@metric(
    "RBP",
    within=_range,
    text="(1 - p) times the sum of gain p^(rank - 1)",
    aliases=("rank_biased_precision",),
    peers={"trec_eval": "rbp", "ir_measures": "RBP", "ranx": "rbp"},
    suffix=parse_dialects,
)
def rank_biased_precision(
    judged: JudgedRanking,
    *,
    p: Share = 0.8,
    cutoff: int | None = None,
    rel: float = 1.0,
    gain: RbpGain = "binary",
    max_rel: Positive | None = None,
    gains: Gains | None = None,
    normalize: bool = False,
) -> float:
    """Rank-biased precision: the gain of a reader who continues with probability p.

    A document of grade `rel` or more gains, depending on `gain`:

    - 'binary': 1, as in ir_measures;
    - 'scaled': the grade over `max_rel` (by default the query's highest grade), at most 1;
    - 'minmax': the grade, or its number in `gains`; if a gain of the query is outside of 0 to 1,
      all are rescaled to that range. trec_eval's `rbp` is RBP(p=0.9,rel=0,gain='minmax');
    - 'raw': the grade, or its number in `gains`. ranx's `rbp.95` is RBP(p=0.95,gain='raw').

    'binary', and 'scaled' with `max_rel`, are comparable between queries. `normalize` divides by
    the value of the ideal ranking.
    """
    gain_of = choose_gain(judged, GainRule(gains, "log2", rel), gain, max_rel)
    total = 0.0
    for rank, number in walk(judged, gain_of, cutoff):
        total += number * p ** (rank - 1)
    value = (1.0 - p) * total
    if normalize:
        best = 0.0
        for place, number in enumerate(best_gains(judged, gain_of, cutoff)):
            best += number * p**place
        value = total / best if best else 0.0
    unbounded = gain == "raw" or (normalize and has_negative(gains))
    return value if unbounded else min(value, 1.0)


def choose_gain(
    judged: JudgedRanking, rule: GainRule, gain: RbpGain, max_rel: float | None
) -> GainOf:
    """Return the gain of a level for the parameter `gain`."""
    least = max(rule.rel, 0.0)
    if gain == "binary":
        return lambda level: 1.0 if level >= least else 0.0
    if gain == "scaled":
        top = max_rel if max_rel is not None else max(judged.grades, default=0.0)
        return lambda level: min(level / top, 1.0) if level >= least and top > 0 else 0.0
    if gain == "raw":
        return rule
    known = [rule(0.0), *(rule(grade) for grade in judged.grades if grade >= 0)]
    known += [number for _, number in rule.gains or ()]
    low, high = min(known), max(known)
    if low >= 0 and high <= 1:
        return rule
    named = {level for level, _ in rule.gains or ()}

    def moved(level: float) -> float:
        gains_something = level >= rule.rel if level >= 0 else level in named
        return (rule(level) - low) / (high - low) if gains_something and high > low else 0.0

    return moved


def parse_residual(tail: str) -> list[Mapping[str, Any]]:
    """Parse trec_eval's `rbp_resid_p=0.8`."""
    name, value = tail[1:].split("=")
    if name != "p":
        raise ValueError(tail)
    return [{"p": float(value)}]


@metric(
    "RBPResidual",
    text="1 - (1 - p) times the sum over judged documents of p^(rank - 1)",
    aliases={"rbp_resid": {"complete_is_zero": True}},
    peers={"trec_eval": "rbp_resid"},
    suffix=parse_residual,
    better="lower",
)
def rbp_residual(judged: JudgedRanking, *, p: Share = 0.9, complete_is_zero: bool = False) -> float:
    """Possible increase of RBP: the weight of unjudged documents and of ranks below the ranking.

    If all n documents are judged, trec_eval omits the weight below the ranking, p^n;
    `complete_is_zero` does the same, and the name `rbp_resid` implies it.
    """
    known = [hit.rank for hit in judged.hits if hit.grade >= 0]
    if complete_is_zero and len(known) == judged.retrieved:
        return 0.0
    total = 0.0
    for rank in known:
        total += p ** (rank - 1)
    return max(1.0 - (1.0 - p) * total, 0.0)
