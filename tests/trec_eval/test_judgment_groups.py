"""Judgment groups scored separately and averaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.data import judge_documents
from berryeval.data.qrels import Qrels
from berryeval.data.run import RankingRule, Run
from berryeval.metrics.grammar import parse_metric
from berryeval.trec_eval.scoring import average_over_groups, split_groups

if TYPE_CHECKING:
    from pathlib import Path


def test_groups_are_split_and_averaged(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("q2 z d1 1\nq1 b d1 1\nq1 a d1 0\nq1 b d2 1\nq1 a d2 1\n")
    qrels = Qrels.from_trec(path).table
    table, places = split_groups(qrels)
    assert list(qrels.queries) == ["q2", "q1"]
    assert places == [[0], [1, 2]]
    assert list(table.queries) == ["q2", "q1", "q1"]
    assert list(table.documents) == ["d1", "d1", "d2", "d1", "d2"]
    assert table.values.tolist() == [1, 0, 1, 1, 1]
    assert table.labels["line"].tolist() == [1, 3, 5, 2, 4]
    run = Run.from_dict({"q1": {"d1": 2.0, "d2": 1.0}}).table
    rankings = [judge_documents(table, place, run, 0, RankingRule()) for place in places[1]]
    assert average_over_groups(parse_metric("AP"), rankings) == (1 / 2 + 1) / 2
    assert average_over_groups(parse_metric("P@1"), rankings) == (0 + 1) / 2
    assert average_over_groups(parse_metric("AP"), []) == 0
