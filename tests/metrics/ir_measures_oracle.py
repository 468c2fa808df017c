"""Small rankings and judgments for tests, and what ir_measures says of them.

Scores are distinct and positive: peers break ties in several ways, and ir_measures takes 0.0 for
the score of a document that was not retrieved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import ir_measures
from hypothesis import strategies as st

from berryeval.data import judge_documents
from berryeval.data.qrels import Qrels
from berryeval.data.run import RankingRule, Run
from berryeval.metrics.grammar import parse_metric
from berryeval.scoring.engine import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval.data.judged import JudgedRanking

Grades: TypeAlias = "dict[str, float]"
QUERY = "1"  # gdeval takes numbers only

_DOCUMENTS = [f"d{number}" for number in range(16)]
rankings = st.lists(st.sampled_from(_DOCUMENTS), max_size=14, unique=True)
found_rankings = st.lists(st.sampled_from(_DOCUMENTS), min_size=1, max_size=14, unique=True)


def judgments(
    grades: st.SearchStrategy[Any], *, min_size: int = 1
) -> st.SearchStrategy[dict[str, Any]]:
    """Draw grades for some of the documents."""
    return st.dictionaries(st.sampled_from(_DOCUMENTS), grades, min_size=min_size, max_size=14)


whole_grades = judgments(st.integers(0, 3))
any_grades = judgments(st.one_of(st.integers(-1, 4), st.floats(-2.0, 6.0)), min_size=0)


def scored(ranking: Sequence[str]) -> dict[str, float]:
    """Return a run of one query with the documents in this order."""
    return {document: float(len(ranking) - place) for place, document in enumerate(ranking)}


def ours(metric: str, ranking: Sequence[str], grades: Mapping[str, float] | Qrels) -> float:
    """Score one query with `evaluate`."""
    qrels = grades if isinstance(grades, Qrels) else Qrels.from_dict({QUERY: grades})
    return evaluate(qrels, {QUERY: scored(ranking)}, [metric]).per_query(metric)[QUERY]


def reference(metric: str, ranking: Sequence[str], grades: Mapping[str, float]) -> float:
    """Score one query with the reference function."""
    return parse_metric(metric)(judged(ranking, grades))


def judged(ranking: Sequence[str], grades: Mapping[str, float]) -> JudgedRanking:
    """Join one query."""
    qrels = Qrels.from_dict({QUERY: grades}).table
    return judge_documents(
        qrels, 0, Run.from_dict({QUERY: scored(ranking)}).table, 0, RankingRule()
    )


def theirs(metric: Any, ranking: Sequence[str], qrels: Any) -> float:
    """Score one query with ir_measures; judgments are grades or a list of `Qrel`."""
    judged = {QUERY: qrels} if isinstance(qrels, dict) else qrels
    (metric,) = ir_measures.iter_calc([metric], judged, {QUERY: scored(ranking)})
    return float(metric.value)
