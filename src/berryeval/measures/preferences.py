"""Preference measures: how many of the assessors' "this rather than that" a ranking fulfils.

They are trec_eval's and exist in Python only; `berryeval trec-eval -R prefs` (or `-R qrels_prefs`)
computes them. `berryeval.measures.preference_groups` says what `ret`, `imp` and `notoccur` mean.
Undefined cases are decided as trec_eval decides them; each formula says how.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from berryeval.measures.preference_groups import Group, JudgedPreferences, Pair, Tally

__all__ = ["PREFERENCE_MEASURES"]

Part: TypeAlias = Callable[[Group], Tally]
Formula: TypeAlias = Callable[[JudgedPreferences], float]


def _all(group: Group) -> Tally:
    ret, imp, notoccur = group.counts
    return Tally(ret.fulfilled + imp.fulfilled, ret.possible + imp.possible + notoccur)


def _ret(group: Group) -> Tally:
    return group.counts[0]


def _imp(group: Group) -> Tally:
    ret, imp, _ = group.counts
    return Tally(ret.fulfilled + imp.fulfilled, ret.possible + imp.possible)


def _sum(part: Part, field: int) -> Formula:
    return lambda judged: float(sum(part(group)[field] for group in judged.groups))


def _share(part: Part) -> Formula:
    """Fulfilled over possible preferences of all groups together; 0.0 where none is possible."""

    def share(judged: JudgedPreferences) -> float:
        possible = sum(part(group).possible for group in judged.groups)
        fulfilled = sum(part(group).fulfilled for group in judged.groups)
        return fulfilled / possible if possible else 0.0

    return share


def _group_mean(part: Part) -> Formula:
    """The mean over the groups of fulfilled over possible; a group without any counts as 0."""

    def mean(judged: JudgedPreferences) -> float:
        total = 0.0
        for group in judged.groups:
            fulfilled, possible = part(group)
            if possible:
                total += fulfilled / possible
        return total / len(judged.groups) if judged.groups else 0.0

    return mean


def _pair_mean(*, implied: bool, notoccur: bool) -> Formula:
    """The mean over pairs of documents of the share of groups that agree with the ranking.

    A pair that no group says anything about is left out; 0.0 without pairs.
    """

    def mean(judged: JudgedPreferences) -> float:
        shares = judged.agreement
        ret = [share for pair, share in shares.items() if pair[1] < judged.retrieved]
        imp = [share for (a, b), share in shares.items() if a < judged.retrieved <= b]
        counted = len(ret) + implied * len(imp)
        counted += notoccur * (len(shares) - len(ret) - len(imp))
        total = 0.0
        for share in ret + (imp if implied else []):
            total += share
        return total / counted if counted else 0.0

    return mean


def _balanced_mean(balance: Part) -> Formula:
    """As `_group_mean`, with as many nonrelevant as relevant documents in every group.

    trec_eval's decision on undefined cases, kept: one group without any possible preference makes
    the value of the query 0.0.
    """

    def mean(judged: JudgedPreferences) -> float:
        total = 0.0
        for group in judged.groups:
            fulfilled, possible = balance(group)
            if not possible:
                return 0.0
            total += fulfilled / possible
        return total / len(judged.groups) if judged.groups else 0.0

    return mean


def _balanced(group: Group) -> Tally:
    """With the R best ranked nonrelevant documents, or filled up to R that no ranking has."""
    relevant, nonrelevant = group.relevant(), group.nonrelevant()
    if relevant < nonrelevant:
        return _trimmed(group, relevant, relevant, math.inf)
    fulfilled, possible = _all(group)
    more = relevant - nonrelevant
    return Tally(fulfilled + group.relevant(group.retrieved) * more, possible + relevant * more)


def _balanced_ret(group: Group) -> Tally:
    """As `_balanced`, of retrieved documents only."""
    relevant, nonrelevant = group.relevant(group.retrieved), group.nonrelevant(group.retrieved)
    if relevant < nonrelevant:
        return _trimmed(group, relevant, group.relevant(), group.retrieved)
    fulfilled, possible = _ret(group)
    more = relevant - nonrelevant
    return Tally(fulfilled + relevant * more, possible + group.relevant() * more)


def _trimmed(group: Group, kept: int, kept_combined: int, below: float) -> Tally:
    """Count again with fewer nonrelevant documents, of documents numbered lower than `below`.

    As trec_eval counts: in a group of one subgroup, the `kept` best of the lowest level are
    compared with every document, themselves and the rest of their level included.
    """
    pairs: list[Pair]
    if group.levels:
        levels = [[number for number in level if number < below] for level in group.levels]
        lowest = [number for number in group.levels[-1][:kept] if number < below]
        pairs = [
            (preferred, other)
            for place, level in enumerate(levels)
            for lower in [*levels[place + 1 : -1], lowest]
            for preferred in level
            for other in lower
        ]
    else:
        nonrelevant = [number for number, level in group.grades if level == 0]
        dropped = set(nonrelevant[kept_combined:])
        pairs = [pair for pair in group.pairs if max(pair) < below and dropped.isdisjoint(pair)]
    fulfilled = sum(preferred < min(other, group.retrieved) for preferred, other in pairs)
    return Tally(fulfilled, len(pairs))


PREFERENCE_MEASURES: Final[Mapping[str, Formula]] = {
    "prefs_num_prefs_poss": _sum(_all, 1),
    "prefs_num_prefs_ful": _sum(_all, 0),
    "prefs_num_prefs_ful_ret": _sum(_ret, 0),
    "prefs_simp": _share(_all),
    "prefs_pair": _pair_mean(implied=True, notoccur=True),
    "prefs_avgjg": _group_mean(_all),
    "prefs_avgjg_Rnonrel": _balanced_mean(_balanced),
    "prefs_simp_ret": _share(_ret),
    "prefs_pair_ret": _pair_mean(implied=False, notoccur=False),
    "prefs_avgjg_ret": _group_mean(_ret),
    "prefs_avgjg_Rnonrel_ret": _balanced_mean(_balanced_ret),
    "prefs_simp_imp": _share(_imp),
    "prefs_pair_imp": _pair_mean(implied=True, notoccur=False),
    "prefs_avgjg_imp": _group_mean(_imp),
}
