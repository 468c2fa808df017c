"""Rank-biased precision (Moffat and Zobel, ACM TOIS 27(1), 2008)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from berryeval.metrics.base import metric
from berryeval.metrics.families.ndcg import GainOf, GainRule, best_gains, walk
from berryeval.metrics.ranges import UNBOUNDED, WITHIN_ONE, Range

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.data import JudgedRanking
    from berryeval.metrics.base import Gains, Positive, RbpGain, Share


def dialects(tail: str) -> list[Mapping[str, Any]]:
    """Of ranx' `rbp.95` and of trec_eval's `rbp_p=0.8,1=0.5`, each with its tool's gains."""
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
    """Raw gains may be anything."""
    return UNBOUNDED if params["gain"] == "raw" else WITHIN_ONE


@metric(
    "RBP",
    within=_range,
    text="(1 - p) times the sum of gain p^(rank - 1)",
    aliases=("rank_biased_precision",),
    peers={"trec_eval": "rbp", "ir_measures": "RBP", "ranx": "rbp"},
    native=True,
    suffix=dialects,
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
    """Rank-biased precision: the gain of a reader who goes on to the next document with chance p.

    A document gains, if its grade reaches `rel`, by the choice of `gain`:

    - 'binary': 1, as in ir_measures;
    - 'scaled': the grade over `max_rel` (the query's highest grade if not given), at most 1;
    - 'minmax': the grade, or what `gains` says; if one of the query's gains lies outside of 0 to 1
      then all are moved and scaled into it. trec_eval's `rbp` is RBP(p=0.9,rel=0,gain='minmax');
    - 'raw': the grade, or what `gains` says. ranx' `rbp.95` is RBP(p=0.95,gain='raw').

    'binary', and 'scaled' with `max_rel`, mean the same for every query and stay within 0 and 1.
    `normalize` divides by the best value that is possible.
    """
    gain_of = gain_function(judged, GainRule(gains, "log2", rel), gain, max_rel)
    total = 0.0
    for rank, number in walk(judged, gain_of, cutoff):
        total += number * p ** (rank - 1)
    if not normalize:
        return (1.0 - p) * total
    best = 0.0
    for place, number in enumerate(best_gains(judged, gain_of, cutoff)):
        best += number * p**place
    return total / best if best else 0.0


def gain_function(
    judged: JudgedRanking, rule: GainRule, gain: RbpGain, max_rel: float | None
) -> GainOf:
    """The gain of a level, by the choice of the parameter `gain`."""
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


def residual_dialect(tail: str) -> list[Mapping[str, Any]]:
    """Of trec_eval's `rbp_resid_p=0.8`."""
    name, value = tail[1:].split("=")
    if name != "p":
        raise ValueError(tail)
    return [{"p": float(value)}]


@metric(
    "RBPResidual",
    within=WITHIN_ONE,
    text="1 - (1 - p) times the sum over judged documents of p^(rank - 1)",
    aliases={"rbp_resid": {"complete_is_zero": True}},
    peers={"trec_eval": "rbp_resid"},
    native=True,
    suffix=residual_dialect,
)
def rbp_residual(judged: JudgedRanking, *, p: Share = 0.9, complete_is_zero: bool = False) -> float:
    """How much RBP could still grow: the weight of what was not judged or lies below the ranking.

    trec_eval leaves out the weight below the ranking, p^n, where all its n documents are judged;
    `complete_is_zero` does the same, and the name `rbp_resid` means that.
    """
    known = [hit.rank for hit in judged.hits if hit.grade >= 0]
    if complete_is_zero and len(known) == judged.retrieved:
        return 0.0
    total = 0.0
    for rank in known:
        total += p ** (rank - 1)
    return max(1.0 - (1.0 - p) * total, 0.0)
