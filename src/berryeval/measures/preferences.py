"""Preference measures: how many of the assessors' "this rather than that" a ranking fulfils.

They are trec_eval's and exist in Python only; `berryeval trec-eval -R prefs` (or `-R qrels_prefs`)
computes them. `berryeval.measures.preference_groups` says what `ret`, `imp` and `notoccur` mean.
Undefined cases are decided as trec_eval decides them; each formula says how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np

from berryeval.measures.preference_groups import Group, JudgedPreferences, Tally

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
        first, second, shares = judged.agreement
        ret = shares[second < judged.retrieved]
        imp = shares[(first < judged.retrieved) & (second >= judged.retrieved)]
        counted = len(ret) + implied * len(imp)
        counted += notoccur * (len(shares) - len(ret) - len(imp))
        taken = np.concatenate([ret, imp]) if implied else ret
        # One after the other, in this order: another order may give another last bit.
        total = float(np.add.accumulate(taken)[-1]) if len(taken) else 0.0
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
        return _trimmed(group, relevant, relevant, None)
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


def _trimmed(group: Group, kept: int, kept_combined: int, below: int | None) -> Tally:
    """Count again with fewer nonrelevant documents, of documents numbered lower than `below`.

    As trec_eval counts: in a group of one subgroup, the `kept` best of the lowest level are
    compared with every document, themselves and the rest of their level included.
    """
    if group.levels:
        return _trimmed_levels(group, kept, below)
    nonrelevant = group.documents[group.grades == 0]
    dropped = nonrelevant[kept_combined:]
    stays = ~(np.isin(group.preferred, dropped) | np.isin(group.other, dropped))
    if below is not None:
        stays &= np.maximum(group.preferred, group.other) < below
    preferred, other = group.preferred[stays], group.other[stays]
    fulfilled = np.count_nonzero(preferred < np.minimum(other, group.retrieved))
    return Tally(int(fulfilled), len(preferred))


def _trimmed_levels(group: Group, kept: int, below: int | None) -> Tally:
    levels = list(group.levels)
    lowest = levels[-1][:kept]
    if below is not None:
        levels = [level[level < below] for level in levels]
        lowest = lowest[lowest < below]
    fulfilled = possible = 0
    for place, level in enumerate(levels):
        others = np.concatenate([*levels[place + 1 : -1], lowest])
        possible += len(level) * len(others)
        # Numbers rise inside of a level.
        reached = np.searchsorted(level, np.minimum(others, group.retrieved))
        fulfilled += int(reached.sum())
    return Tally(fulfilled, possible)


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
