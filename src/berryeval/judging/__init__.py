"""Judging: votes and the grades they decide, pools of pairs, and the reliability of judges."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.judging.calibration import TRUST, Bias, Calibration, calibrate, read_both
    from berryeval.judging.chat_jobs import ChatJob, ChatQuestion, JobEstimate, JobResult
    from berryeval.judging.coefficients import MEASURES
    from berryeval.judging.contest import Contest, Outlook, build_contests
    from berryeval.judging.corrected import (
        FEWEST_HUMAN,
        Corrected,
        correct_difference,
        correct_mean,
        rectify,
    )
    from berryeval.judging.decisions import (
        Decision,
        DecisionRule,
        apply_decisions,
        check_grade,
        decide,
        grade_scale,
    )
    from berryeval.judging.decisive import (
        PairChooser,
        choose_pairs,
        find_grades,
        forecast,
        next_pair,
    )
    from berryeval.judging.drafts import Draft, Drafts, Rejected, build_benchmark
    from berryeval.judging.known_items import KnownItems, draw_known_items
    from berryeval.judging.ledger import (
        ENDING,
        HUMAN,
        OWN,
        JudgeKind,
        Ledger,
        PairKey,
        Question,
        Vote,
        check_judge,
        current_votes,
        hash_query,
        key_of,
        name_place,
        read_votes,
    )
    from berryeval.judging.model_judge import (
        JudgeTask,
        ModelJudge,
        ModelVotes,
        build_answer_task,
        build_pair_tasks,
    )
    from berryeval.judging.pool import (
        POOL,
        Pair,
        Pool,
        Stop,
        has_changed,
        make_pair_id,
        shuffle_pairs,
    )
    from berryeval.judging.prompts import find_scale
    from berryeval.judging.questions import QuestionWriter
    from berryeval.judging.rank_sums import RankSum, read_rank_sum
    from berryeval.judging.reliability import Agreement, Coefficient, Dispute, agreement
    from berryeval.judging.sampling import Estimate, draw_pairs, estimate, find_probabilities
    from berryeval.judging.session import (
        Ballots,
        Marked,
        Session,
        mark_words,
        name_grades,
        order_disputed,
    )
    from berryeval.judging.sheets import CheckedSheet, Mark, SheetRow, format_sheet, read_sheet
    from berryeval.judging.vote_store import StoreLedger, open_ledger

    __all__ = [
        "ENDING",
        "FEWEST_HUMAN",
        "HUMAN",
        "MEASURES",
        "OWN",
        "POOL",
        "TRUST",
        "Agreement",
        "Ballots",
        "Bias",
        "Calibration",
        "ChatJob",
        "ChatQuestion",
        "CheckedSheet",
        "Coefficient",
        "Contest",
        "Corrected",
        "Decision",
        "DecisionRule",
        "Dispute",
        "Draft",
        "Drafts",
        "Estimate",
        "JobEstimate",
        "JobResult",
        "JudgeKind",
        "JudgeTask",
        "KnownItems",
        "Ledger",
        "Mark",
        "Marked",
        "ModelJudge",
        "ModelVotes",
        "Outlook",
        "Pair",
        "PairChooser",
        "PairKey",
        "Pool",
        "Question",
        "QuestionWriter",
        "RankSum",
        "Rejected",
        "Session",
        "SheetRow",
        "Stop",
        "StoreLedger",
        "Vote",
        "agreement",
        "apply_decisions",
        "build_answer_task",
        "build_benchmark",
        "build_contests",
        "build_pair_tasks",
        "calibrate",
        "check_grade",
        "check_judge",
        "choose_pairs",
        "correct_difference",
        "correct_mean",
        "current_votes",
        "decide",
        "draw_known_items",
        "draw_pairs",
        "estimate",
        "find_grades",
        "find_probabilities",
        "find_scale",
        "forecast",
        "format_sheet",
        "grade_scale",
        "has_changed",
        "hash_query",
        "key_of",
        "make_pair_id",
        "mark_words",
        "name_grades",
        "name_place",
        "next_pair",
        "open_ledger",
        "order_disputed",
        "read_both",
        "read_rank_sum",
        "read_sheet",
        "read_votes",
        "rectify",
        "shuffle_pairs",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)
