"""Novelty and diversity: how many subtopics of a query a ranking covers, and how early.

The second column of a TREC qrels file names the subtopic of a judgment. All subtopics with a
relevant document have the same weight; a subtopic covered n times before is worth (1 - alpha)^n.

The ideal ranking is greedy, as in ndeval: at each rank the document that adds most, of equal ones
the one with the highest id. Another ranking may gain more, so the normalized metrics can exceed 1.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from berryeval.data import SubtopicRanking, select_answered
from berryeval.metrics.base import metric
from berryeval.metrics.ranges import COUNT

if TYPE_CHECKING:
    from berryeval.metrics.base import Share


# The alpha of ERR-IA in ndeval and ir_measures.
ERR_ALPHA: Final = 0.5


def compute_gains(
    answers: Iterable[tuple[int, list[str]]], alpha: float
) -> list[tuple[int, float]]:
    """Return the rank and the gain of each document, the worth of the subtopics it covers."""
    worth: dict[str, float] = {}
    found = []
    for rank, subtopics in answers:
        found.append((rank, worth_of(subtopics, worth)))
        for subtopic in subtopics:
            worth[subtopic] = worth.get(subtopic, 1.0) * (1.0 - alpha)
    return found


def ideal_gains(
    ranking: SubtopicRanking, rel: float, alpha: float, cutoff: int | None
) -> list[tuple[int, float]]:
    """Return the gains of the greedy ideal ranking up to `cutoff`.

    Documents that cover the same subtopics are interchangeable, so only the first of each queue is
    a candidate.
    """
    queues: dict[tuple[str, ...], deque[int]] = {}
    for place, grades in enumerate(ranking.documents):
        if subtopics := select_answered(grades, rel):
            queues.setdefault(tuple(subtopics), deque()).append(place)
    worth: dict[str, float] = {}
    found: list[tuple[int, float]] = []
    while queues and (cutoff is None or len(found) < cutoff):
        best = max(queues, key=lambda queue: (worth_of(queue, worth), -queues[queue][0]))
        found.append((len(found) + 1, worth_of(best, worth)))
        queues[best].popleft()
        if not queues[best]:
            del queues[best]
        for subtopic in best:
            worth[subtopic] = worth.get(subtopic, 1.0) * (1.0 - alpha)
    return found


def worth_of(subtopics: Iterable[str], worth: Mapping[str, float]) -> float:
    """Return the total worth of subtopics, added in their order; a new one is worth 1.0."""
    total = 0.0
    for subtopic in subtopics:
        total += worth.get(subtopic, 1.0)
    return total


def sum_discounted(gains: Iterable[tuple[int, float]], discount: Callable[[int], float]) -> float:
    """Return the sum of gain / discount, from rank 1 down."""
    total = 0.0
    for rank, gain in gains:
        total += gain / discount(rank)
    return total


def scale_gain(
    ranking: SubtopicRanking,
    rel: float,
    alpha: float,
    cutoff: int | None,
    discount: Callable[[int], float],
) -> float:
    """Return the discounted gain relative to documents that each cover every subtopic."""
    subtopics = len(ranking.relevant_totals(rel))
    depth = ranking.retrieved if cutoff is None else cutoff
    if not subtopics or not depth:
        return 0.0
    most = 0.0
    gain = float(subtopics)
    for rank in range(1, depth + 1):
        most += gain / discount(rank)
        gain *= 1.0 - alpha
    found = sum_discounted(compute_gains(ranking.answers(rel, cutoff), alpha), discount)
    return min(found / most, 1.0)


def normalize_gain(
    ranking: SubtopicRanking,
    rel: float,
    alpha: float,
    cutoff: int | None,
    discount: Callable[[int], float],
) -> float:
    """Return the discounted gain relative to the greedy ideal ranking."""
    best = sum_discounted(ideal_gains(ranking, rel, alpha, cutoff), discount)
    if not best:
        return 0.0
    return sum_discounted(compute_gains(ranking.answers(rel, cutoff), alpha), discount) / best


@metric(
    "ERR_IA",
    text="sum over the top k of gain / rank, over the same of documents that cover every subtopic",
    aliases=("ERR-IA",),
    peers={"ir_measures": "ERR_IA", "ndeval": "ERR-IA"},
    kind="subtopics",
)
def err_ia(ranking: SubtopicRanking, *, cutoff: int | None = None, rel: float = 1.0) -> float:
    """Intent-aware expected reciprocal rank, scaled as in ndeval; alpha is 0.5.

    Without a cutoff, the depth is the length of the ranking. ndeval does not scale at k = 1.
    """
    return scale_gain(ranking, rel, ERR_ALPHA, cutoff, float)


@metric(
    "nERR_IA",
    within=COUNT,
    text="sum over the top k of gain / rank, over the same of the greedy ideal ranking",
    aliases=("nERR-IA",),
    peers={"ir_measures": "nERR_IA", "ndeval": "nERR-IA"},
    kind="subtopics",
)
def nerr_ia(ranking: SubtopicRanking, *, cutoff: int | None = None, rel: float = 1.0) -> float:
    """Intent-aware expected reciprocal rank relative to the greedy ideal ranking."""
    return normalize_gain(ranking, rel, ERR_ALPHA, cutoff, float)


@metric(
    "alpha_DCG",
    text="sum over the top k of gain / log2(rank + 1), over that of documents that cover all",
    aliases=("\N{GREEK SMALL LETTER ALPHA}_DCG", "alpha-DCG"),
    peers={"ir_measures": "alpha_DCG", "ndeval": "alpha-DCG"},
    kind="subtopics",
)
def alpha_dcg(
    ranking: SubtopicRanking, *, cutoff: int | None = None, rel: float = 1.0, alpha: Share = 0.5
) -> float:
    """Discounted gain of novelty (Clarke et al., SIGIR 2008), scaled as in ndeval.

    Without a cutoff, the depth is the length of the ranking. ndeval does not scale at k = 1.
    """
    return scale_gain(ranking, rel, alpha, cutoff, lambda rank: math.log2(rank + 1))


@metric(
    "alpha_nDCG",
    within=COUNT,
    text="sum over the top k of gain / log2(rank + 1), over the same of the greedy ideal ranking",
    aliases=("\N{GREEK SMALL LETTER ALPHA}_nDCG", "alpha-nDCG"),
    peers={"ir_measures": "alpha_nDCG", "ndeval": "alpha-nDCG"},
    kind="subtopics",
)
def alpha_ndcg(
    ranking: SubtopicRanking, *, cutoff: int | None = None, rel: float = 1.0, alpha: Share = 0.5
) -> float:
    """Discounted gain of novelty (Clarke et al., SIGIR 2008) relative to the greedy ideal."""
    return normalize_gain(ranking, rel, alpha, cutoff, lambda rank: math.log2(rank + 1))


@metric(
    "NRBP",
    text="(1 - (1 - alpha) * beta) / |subtopics| * sum of gain * beta^(rank - 1)",
    peers={"ir_measures": "NRBP", "ndeval": "NRBP"},
    kind="subtopics",
)
def nrbp(
    ranking: SubtopicRanking, *, rel: float = 1.0, alpha: Share = 0.5, beta: Share = 0.5
) -> float:
    """Novelty- and rank-biased precision (Clarke, Kolla and Vechtomova, ICTIR 2009)."""
    subtopics = len(ranking.relevant_totals(rel))
    if not subtopics:
        return 0.0
    total = sum_rank_biased(compute_gains(ranking.answers(rel), alpha), beta)
    return min(total * (1.0 - (1.0 - alpha) * beta) / subtopics, 1.0)


@metric(
    "nNRBP",
    within=COUNT,
    text="sum of gain * beta^(rank - 1), over the same of the greedy ideal ranking",
    peers={"ir_measures": "nNRBP", "ndeval": "nNRBP"},
    kind="subtopics",
)
def nnrbp(
    ranking: SubtopicRanking, *, rel: float = 1.0, alpha: Share = 0.5, beta: Share = 0.5
) -> float:
    """Novelty- and rank-biased precision relative to the greedy ideal ranking."""
    best = sum_rank_biased(ideal_gains(ranking, rel, alpha, None), beta)
    found = sum_rank_biased(compute_gains(ranking.answers(rel), alpha), beta)
    return found / best if best else 0.0


def sum_rank_biased(gains: Iterable[tuple[int, float]], beta: float) -> float:
    """Return the sum of gain * beta^(rank - 1), from rank 1 down."""
    total = 0.0
    for rank, gain in gains:
        total += gain * math.pow(beta, rank - 1)
    return total


@metric(
    "AP_IA",
    text="mean over the subtopics of their average precision",
    aliases=("MAP_IA", "MAP-IA"),
    peers={"ir_measures": "AP_IA", "ndeval": "MAP-IA"},
    kind="subtopics",
)
def ap_ia(ranking: SubtopicRanking, *, rel: float = 1.0) -> float:
    """Intent-aware average precision (Agrawal et al., WSDM 2009)."""
    relevant = ranking.relevant_totals(rel)
    found = dict.fromkeys(relevant, 0)
    sums = dict.fromkeys(relevant, 0.0)
    for rank, subtopics in ranking.answers(rel):
        for subtopic in subtopics:
            found[subtopic] += 1
            sums[subtopic] += found[subtopic] / rank
    total = 0.0
    for subtopic, count in relevant.items():
        total += sums[subtopic] / count
    return total / len(relevant) if relevant else 0.0


@metric(
    "P_IA",
    text="mean over the subtopics of |relevant in the top k| / k",
    aliases=("P-IA",),
    peers={"ir_measures": "P_IA", "ndeval": "P-IA"},
    kind="subtopics",
)
def p_ia(ranking: SubtopicRanking, *, cutoff: int | None = None, rel: float = 1.0) -> float:
    """Intent-aware precision; without a cutoff, of the whole ranking."""
    relevant = ranking.relevant_totals(rel)
    depth = ranking.retrieved if cutoff is None else cutoff
    if not relevant or not depth:
        return 0.0
    found = sum(len(subtopics) for _, subtopics in ranking.answers(rel, cutoff))
    return found / (depth * len(relevant))


@metric(
    "StRecall",
    text="|subtopics covered in the top k| / |subtopics|",
    aliases=("subtopic_recall", "strec"),
    peers={"ir_measures": "StRecall", "ndeval": "strec"},
    kind="subtopics",
)
def subtopic_recall(
    ranking: SubtopicRanking, *, cutoff: int | None = None, rel: float = 1.0
) -> float:
    """Subtopic recall (Zhai, Cohen and Lafferty, SIGIR 2003): the share of subtopics covered."""
    relevant = ranking.relevant_totals(rel)
    found = {name for _, subtopics in ranking.answers(rel, cutoff) for name in subtopics}
    return len(found) / len(relevant) if relevant else 0.0
