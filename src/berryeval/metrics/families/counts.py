"""Counts, and metrics computed from counts alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from berryeval.metrics.base import metric
from berryeval.metrics.ranges import COUNT, UNBOUNDED

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking
    from berryeval.metrics.base import Count


@metric(
    "NumQ",
    within=COUNT,
    text="number of queries",
    aliases=("num_q",),
    peers={"trec_eval": "num_q", "ir_measures": "NumQ"},
    aggregate="sum",
    better="neither",
    condensable=False,
)
def number_of_queries(judged: JudgedRanking) -> float:  # noqa: ARG001 - 1 for any ranking
    """Number of queries in the averages."""
    return 1.0


@metric(
    "NumRet",
    within=COUNT,
    text="number of documents retrieved",
    aliases=("num_ret",),
    peers={"trec_eval": "num_ret", "ir_measures": "NumRet"},
    aggregate="sum",
    better="neither",
)
def number_retrieved(judged: JudgedRanking, *, rel: float | None = None) -> float:
    """Number of documents retrieved; with `rel`, as in ir_measures, of relevant ones."""
    return float(judged.retrieved if rel is None else len(judged.relevant_ranks(rel)))


@metric(
    "NumRel",
    within=COUNT,
    text="number of relevant documents in the judgments",
    aliases=("num_rel",),
    peers={"trec_eval": "num_rel", "ir_measures": "NumRel"},
    aggregate="sum",
    better="neither",
    condensable=False,
)
def number_relevant(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """Number of relevant documents in the judgments."""
    return float(judged.relevant_total(rel))


@metric(
    "NumRelRet",
    within=COUNT,
    text="number of relevant documents retrieved, in the top k",
    aliases=("num_rel_ret", "hits"),
    peers={"trec_eval": "num_rel_ret", "ir_measures": "NumRelRet", "ranx": "hits"},
    aggregate="sum",
)
def number_relevant_retrieved(
    judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1.0
) -> float:
    """Number of relevant documents found. ranx averages its `hits`; this is the sum."""
    return float(judged.relevant_found(rel, cutoff))


@metric(
    "NumNonrelJudgedRet",
    within=COUNT,
    text="number of documents retrieved that were judged not relevant",
    aliases=("num_nonrel_judged_ret",),
    peers={"trec_eval": "num_nonrel_judged_ret"},
    aggregate="sum",
    better="lower",
    condensable=False,
)
def number_nonrelevant_retrieved(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """Number of retrieved documents that were judged not relevant."""
    return float(sum(0 <= hit.grade < rel for hit in judged.hits))


@metric(
    "Unjudged",
    text="|not judged in the top k| / k",
    aliases=("unj",),
    peers={"trec_eval": "unj"},
    better="lower",
)
def unjudged(judged: JudgedRanking, *, cutoff: int) -> float:
    """Share of unjudged documents in the top k, including pooled documents with a negative grade.

    A ranking shorter than k is padded with judged documents.
    """
    known = sum(hit.grade >= 0 and hit.rank <= cutoff for hit in judged.hits)
    return (min(cutoff, judged.retrieved) - known) / cutoff


def parse_coefficients(tail: str) -> list[Mapping[str, float]]:
    """Parse trec_eval's `utility_1,-1,0,0`."""
    return [dict(zip("abcd", map(float, tail[1:].split(",")), strict=True))]


@metric(
    "Utility",
    within=UNBOUNDED,
    text="a |found| + b |wrongly retrieved| + c |missed| + d |rightly left out|",
    aliases=("utility",),
    peers={"trec_eval": "utility"},
    suffix=parse_coefficients,
)
def utility(
    judged: JudgedRanking,
    *,
    a: float = 1.0,
    b: float = -1.0,
    c: float = 0.0,
    d: float = 0.0,
    docs: Count = 0,
    rel: float = 1.0,
) -> float:
    """Linear utility of the retrieved set; `docs`, used with `d`, is the collection size."""
    found = judged.relevant_found(rel)
    relevant = judged.relevant_total(rel)
    wrong = judged.retrieved - len(judged.relevant_ranks(rel))
    missed = relevant - found
    left_out = docs - judged.retrieved - missed
    return a * found + b * wrong + c * missed + d * left_out
