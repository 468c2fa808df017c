"""Scores of a run that arrives in blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.data import Qrels, Run, open_rows
from berryeval.metrics import request_metrics
from berryeval.scoring import BlockScorer, UngroupedError, score_request
from berryeval.scoring.blocks import score_source

METRICS = request_metrics(["nDCG@3", "AP", "RR", "Judged@2", "alpha_nDCG@3"], "berryeval")
NAMES = ["q1", "q10", "q2", "é", "zz"]
DOCUMENTS = ["a", "b", "c", "d"]

scored = st.dictionaries(
    st.sampled_from(NAMES),
    st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([0.5, 1.0, 2.0])),
    max_size=5,
)
profiles = st.sampled_from(["berryeval", "trec_eval"])
records = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(DOCUMENTS), st.integers(-1, 3), st.just("1")),
    unique_by=lambda record: record[:2],
)


@given(
    records,
    scored,
    st.lists(st.integers(0, 3), max_size=5),
    st.sampled_from(["berryeval", "trec_eval"]),
)
def test_any_division_into_blocks_gives_the_scores_of_the_whole(
    judged: list[tuple[str, str, float, str]],
    rows: dict[str, dict[str, float]],
    sizes: list[int],
    profile: str,
) -> None:
    qrels, run = Qrels.from_records(judged), Run.from_dict(rows)
    requested = request_metrics(METRICS.names, profile)
    scorer = BlockScorer(qrels, requested)
    queries, start = np.arange(len(rows), dtype=np.int64), 0
    for size in [*sizes, len(rows)]:
        scorer.add(run.table.take(queries[start : start + size]))
        start += size
    assert scorer.rows == len(run.table.values)
    assert scorer.finish() == score_request(qrels, run, requested)


@pytest.mark.parametrize("query", ["q1", "not judged"])
def test_a_query_in_two_blocks_is_an_error_that_names_it(query: str) -> None:
    scorer = BlockScorer(Qrels.from_dict({"q1": {"a": 1}}), METRICS)
    block = Run.from_dict({query: {"a": 1}}).table
    scorer.add(block)
    with pytest.raises(UngroupedError, match=f"the rows of query '{query}' are not together"):
        scorer.add(block)


def test_ranks_of_a_query_that_comes_back_are_sorted_and_not_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A run of MS MARCO without a header, best documents of all queries first."""
    path = tmp_path / "run.tsv"
    rows = ((query, rank) for rank in range(1, 40) for query in range(3_000))
    path.write_text("".join(f"query{query}\tdocument{rank}\t{rank}\n" for query, rank in rows))
    qrels = Qrels.from_dict({"query7": {"document39": 1}})
    requested = request_metrics(["RR"], "berryeval")
    monkeypatch.setenv("BERRYEVAL_MAX_WHOLE_MB", "1")
    source = open_rows(path)
    assert source is not None
    assert score_source(qrels, source, requested, least=1).mean["RR"] == 1 / 39
    assert "are not together, so the run is sorted" in caplog.text
