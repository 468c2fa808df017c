"""Scores of rankings against judgments, and audits of both."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.scoring.auditing import AuditReport, audit
    from berryeval.scoring.engine import (
        as_qrels,
        as_run,
        evaluate,
        find_level_note,
        judge,
        score_request,
        value_of,
    )
    from berryeval.scoring.hit_scoring import evaluate_hits, judge_and_score, note_lost
    from berryeval.scoring.scores import UNSPECIFIED, Coverage, Scores, Statistics
    from berryeval.scoring.ties import TieEffect, TieGroup
    from berryeval.scoring.unjudged import Bound, Bounds, bounds
else:
    __getattr__, __dir__ = open_door(__name__)
