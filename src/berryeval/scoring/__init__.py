"""Scores of rankings against judgments, and audits of both."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.scoring.auditing import AuditReport, audit
    from berryeval.scoring.blocks import BlockScorer, Follower, UngroupedError
    from berryeval.scoring.dict_scoring import DictPlan, DictScorer, TupleRows, group_tuples
    from berryeval.scoring.engine import (
        RawScores,
        as_qrels,
        as_run,
        build_scores,
        evaluate,
        explain_levels,
        explain_scores,
        find_level_note,
        reject_spans,
        score_request,
        score_tables,
        value_of,
    )
    from berryeval.scoring.hit_scoring import evaluate_hits, judge_and_score, note_lost
    from berryeval.scoring.score_preview import show_value
    from berryeval.scoring.scores import UNSPECIFIED, ByMetric, Coverage, Scores, Statistics
    from berryeval.scoring.ties import TieEffect, TieGroup
    from berryeval.scoring.unjudged import Bound, Bounds, bounds

    __all__ = [
        "UNSPECIFIED",
        "AuditReport",
        "BlockScorer",
        "Bound",
        "Bounds",
        "ByMetric",
        "Coverage",
        "DictPlan",
        "DictScorer",
        "Follower",
        "RawScores",
        "Scores",
        "Statistics",
        "TieEffect",
        "TieGroup",
        "TupleRows",
        "UngroupedError",
        "as_qrels",
        "as_run",
        "audit",
        "bounds",
        "build_scores",
        "evaluate",
        "evaluate_hits",
        "explain_levels",
        "explain_scores",
        "find_level_note",
        "group_tuples",
        "judge_and_score",
        "note_lost",
        "reject_spans",
        "score_request",
        "score_tables",
        "show_value",
        "value_of",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)
