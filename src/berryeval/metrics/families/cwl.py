"""The C/W/L family: a user at rank i continues with probability C(i) and gains what is read.

Every value is the expected gain per document read,

    sum of V(i) * gain(i) / sum of V(i),   V(1) = 1,   V(i + 1) = V(i) * C(i)

(Moffat, Bailey, Scholer and Thomas, ACM TOIS 35(3), 2017; Azzopardi, Thomas and Moffat, SIGIR
2019). The gain of a document is its grade on the scale from `min_rel` (0.0) to `max_rel` (1.0),
clipped to that scale; a document without a judgment gains 0.0. Models without an end stop after
1000 ranks, as in cwl_eval; a shorter ranking continues with documents that gain nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from berryeval.metrics.base import metric

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking
    from berryeval.metrics.base import Positive, Share


DEPTH: Final = 1000


def iterate_gains(
    judged: JudgedRanking, min_rel: float, max_rel: float, depth: int
) -> Iterator[tuple[int, float]]:
    """Yield the ranks up to `depth` with a positive gain, and the gain."""
    for rank, grade in judged.hits:
        if rank > depth:
            return
        if grade > min_rel:
            yield rank, (min(grade, max_rel) - min_rel) / (max_rel - min_rel)


def expected_gain(
    gains: Iterator[tuple[int, float]], depth: int, reads_on: Callable[[int, float, float], float]
) -> float:
    """Return the gain per document of a user with C(i) = `reads_on(rank, gain, gain so far)`."""
    at, gain = next(gains, (0, 0.0))
    reached = 1.0
    total = weight = so_far = 0.0
    for rank in range(1, depth + 1):
        here = 0.0
        if rank == at:
            here = gain
            total += reached * here
            so_far += here
            at, gain = next(gains, (0, 0.0))
        weight += reached
        reached *= reads_on(rank, here, so_far)
    return total / weight


def ratio_squared(place: float) -> float:
    """Return ((place - 1) / place)^2, the C(i) of INSQ and related models; 0.0 up to place 1."""
    if place <= 1.0:
        return 0.0
    ratio = (place - 1.0) / place
    return ratio * ratio


@metric(
    "SDCG",
    text="sum over the top k of gain / log2(rank + 1), over the same of k documents of full gain",
    peers={"ir_measures": "SDCG", "cwl_eval": "NDCG-k"},
)
def scaled_dcg(
    judged: JudgedRanking, *, cutoff: int, min_rel: float = 0.0, max_rel: float
) -> float:
    """Scaled discounted cumulative gain: nDCG where the ideal is k documents of the top grade."""
    total = 0.0
    for rank, gain in iterate_gains(judged, min_rel, max_rel, cutoff):
        total += gain / math.log2(rank + 1)
    ideal = 0.0
    for rank in range(1, cutoff + 1):
        ideal += 1.0 / math.log2(rank + 1)
    return total / ideal


@metric(
    "BPM",
    text="gain per document up to rank k, or up to where the gains reach T",
    peers={"ir_measures": "BPM", "cwl_eval": "BPM-Static"},
)
def bejeweled_player(
    judged: JudgedRanking,
    *,
    cutoff: int,
    T: Positive = 1.0,  # noqa: N803 - the name the field gives it
    min_rel: float = 0.0,
    max_rel: float,
) -> float:
    """Bejeweled player model (Zhang et al., SIGIR 2017), static: stop at rank k, or gain T."""
    total = 0.0
    for rank, gain in iterate_gains(judged, min_rel, max_rel, cutoff):
        total += gain
        if total >= T:
            return total / rank
    return total / cutoff


@metric(
    "INSQ",
    text="expected gain with C(i) = ((i + 2T - 1) / (i + 2T))^2",
    peers={"ir_measures": "INSQ", "cwl_eval": "INSQ"},
)
def insq(
    judged: JudgedRanking,
    *,
    T: Positive = 1.0,  # noqa: N803 - the name the field gives it
    min_rel: float = 0.0,
    max_rel: float,
) -> float:
    """INSQ (Moffat, Scholer and Thomas, ADCS 2012): patience grows with rank and target T."""
    gains = iterate_gains(judged, min_rel, max_rel, DEPTH)
    return expected_gain(gains, DEPTH, lambda rank, _, __: ratio_squared(rank + 2.0 * T))


@metric(
    "INST",
    text="expected gain with C(i) = ((i + T + T(i) - 1) / (i + T + T(i)))^2, T(i) = T - gain to i",
    peers={"ir_measures": "INST", "cwl_eval": "INST"},
)
def inst(
    judged: JudgedRanking,
    *,
    T: Positive = 1.0,  # noqa: N803 - the name the field gives it
    min_rel: float = 0.0,
    max_rel: float,
) -> float:
    """INST (Bailey et al., SIGIR 2015): INSQ with a target that shrinks by the gain so far.

    With a target T below 0.5, C(i) of cwl_eval may exceed 1; here the user then stops.
    """
    gains = iterate_gains(judged, min_rel, max_rel, DEPTH)
    return expected_gain(
        gains, DEPTH, lambda rank, _, so_far: ratio_squared(rank + T + (T - so_far))
    )


@metric(
    "NERR8",
    text="expected gain with C(i) = 1 - gain(i), up to rank k",
    peers={"ir_measures": "NERR8", "cwl_eval": "NERR-EQ8"},
)
def nerr8(judged: JudgedRanking, *, cutoff: int, min_rel: float = 0.0, max_rel: float) -> float:
    """Nearly ERR (Azzopardi, Mackenzie and Moffat, ICTIR 2021), equation 8: gain stops the user."""
    reached = 1.0
    total = weight = 0.0
    before = 0
    for rank, gain in iterate_gains(judged, min_rel, max_rel, cutoff):
        weight += reached * (rank - before)
        total += reached * gain
        reached *= 1.0 - gain
        before = rank
    return total / (weight + reached * (cutoff - before))


@metric(
    "NERR9",
    text="expected gain with C(i) = i / (i + 1) * (1 - gain(i)), up to rank k",
    peers={"ir_measures": "NERR9", "cwl_eval": "NERR-EQ9"},
)
def nerr9(judged: JudgedRanking, *, cutoff: int, min_rel: float = 0.0, max_rel: float) -> float:
    """Nearly ERR, equation 9: gain stops the user, and so does the discount 1 / rank."""
    gains = iterate_gains(judged, min_rel, max_rel, cutoff)
    return expected_gain(gains, cutoff, lambda rank, gain, _: rank / (rank + 1.0) * (1.0 - gain))


@metric(
    "NERR10",
    text="expected gain with C(i) = p * (1 - gain(i))",
    peers={"ir_measures": "NERR10", "cwl_eval": "NERR-EQ10"},
)
def nerr10(judged: JudgedRanking, *, p: Share = 0.9, min_rel: float = 0.0, max_rel: float) -> float:
    """Nearly ERR, equation 10: gain stops the user, and persistence p decays as in RBP."""
    gains = iterate_gains(judged, min_rel, max_rel, DEPTH)
    return expected_gain(gains, DEPTH, lambda _, gain, __: p * (1.0 - gain))


@metric(
    "NERR11",
    text="expected gain with C(i) = ((i + 2T - 1) / (i + 2T))^2 * (1 - gain(i))",
    peers={"ir_measures": "NERR11", "cwl_eval": "NERR-EQ11"},
)
def nerr11(
    judged: JudgedRanking,
    *,
    T: Positive = 1.0,  # noqa: N803 - the name the field gives it
    min_rel: float = 0.0,
    max_rel: float,
) -> float:
    """Nearly ERR, equation 11: gain stops the user, who otherwise continues as in INSQ."""
    gains = iterate_gains(judged, min_rel, max_rel, DEPTH)
    return expected_gain(
        gains, DEPTH, lambda rank, gain, _: ratio_squared(rank + 2.0 * T) * (1.0 - gain)
    )
