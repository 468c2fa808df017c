"""Counts, and what is made of counts alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.metrics.base import metric
from berryeval.metrics.ranges import COUNT, UNBOUNDED, WITHIN_ONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.data import JudgedRanking
    from berryeval.metrics.base import Count


@metric(
    "NumQ",
    within=COUNT,
    text="number of queries",
    aliases=("num_q",),
    peers={"trec_eval": "num_q", "ir_measures": "NumQ"},
    aggregate="sum",
    native=True,
    condensable=False,
)
def number_of_queries(judged: JudgedRanking) -> float:  # noqa: ARG001 - whatever it holds
    """How many queries the averages are over."""
    return 1.0


@metric(
    "NumRet",
    within=COUNT,
    text="number of documents retrieved",
    aliases=("num_ret",),
    peers={"trec_eval": "num_ret", "ir_measures": "NumRet"},
    aggregate="sum",
    native=True,
)
def number_retrieved(judged: JudgedRanking, *, rel: float | None = None) -> float:
    """How many documents were retrieved; with `rel`, as ir_measures has it, relevant ones."""
    return float(judged.retrieved if rel is None else len(judged.relevant_ranks(rel)))


@metric(
    "NumRel",
    within=COUNT,
    text="number of relevant documents in the judgments",
    aliases=("num_rel",),
    peers={"trec_eval": "num_rel", "ir_measures": "NumRel"},
    aggregate="sum",
    native=True,
    condensable=False,
)
def number_relevant(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """How many relevant documents there are to be found."""
    return float(judged.relevant_total(rel))


@metric(
    "NumRelRet",
    within=COUNT,
    text="number of relevant documents retrieved, in the top k",
    aliases=("num_rel_ret", "hits"),
    peers={"trec_eval": "num_rel_ret", "ir_measures": "NumRelRet", "ranx": "hits"},
    aggregate="sum",
    native=True,
)
def number_relevant_retrieved(
    judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1.0
) -> float:
    """How many relevant documents were found. ranx averages its `hits`, this adds up."""
    return float(judged.relevant_found(rel, cutoff))


@metric(
    "NumNonrelJudgedRet",
    within=COUNT,
    text="number of documents retrieved that were judged not relevant",
    aliases=("num_nonrel_judged_ret",),
    peers={"trec_eval": "num_nonrel_judged_ret"},
    aggregate="sum",
    native=True,
    condensable=False,
)
def number_nonrelevant_retrieved(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """How many of the documents that were found had been judged and are not relevant."""
    return float(sum(0 <= hit.grade < rel for hit in judged.hits))


@metric(
    "Unjudged",
    within=WITHIN_ONE,
    text="|not judged in the top k| / k",
    aliases=("unj",),
    peers={"trec_eval": "unj"},
    native=True,
)
def unjudged(judged: JudgedRanking, *, cutoff: int) -> float:
    """The share of the top k that nobody judged, among them pooled documents with a grade below 0.

    A ranking shorter than k is filled up with judged documents.
    """
    known = sum(hit.grade >= 0 and hit.rank <= cutoff for hit in judged.hits)
    return (min(cutoff, judged.retrieved) - known) / cutoff


def coefficients(tail: str) -> list[Mapping[str, float]]:
    """Of trec_eval's `utility_1,-1,0,0`."""
    return [dict(zip("abcd", map(float, tail[1:].split(",")), strict=True))]


@metric(
    "Utility",
    within=UNBOUNDED,
    text="a |found| + b |wrongly retrieved| + c |missed| + d |rightly left out|",
    aliases=("utility",),
    peers={"trec_eval": "utility"},
    native=True,
    suffix=coefficients,
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
    """A linear utility of the retrieved set; `docs` is the size of the collection, for d."""
    found = judged.relevant_found(rel)
    relevant = judged.relevant_total(rel)
    wrong = judged.retrieved - len(judged.relevant_ranks(rel))
    missed = relevant - found
    left_out = docs - judged.retrieved - missed
    return a * found + b * wrong + c * missed + d * left_out
