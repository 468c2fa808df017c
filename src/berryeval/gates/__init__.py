"""Gates: rules that a run must satisfy, and the verdict on each."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.gates.baseline_scores import Baseline, BaselinePart
    from berryeval.gates.fallen import SHOWN
    from berryeval.gates.power import Power
    from berryeval.gates.regression import Drop, Sample, SelfCheck, correct_together, self_check
    from berryeval.gates.rules import Gate, Limit, Rule
    from berryeval.gates.ruling import collect_samples, judge
    from berryeval.gates.validation import (
        baseline_value,
        check_held,
        check_names,
        check_room,
        check_same_data,
        check_shared,
        find_comparable_part,
        needs_baseline,
        select_queries,
    )
    from berryeval.gates.verdict import (
        About,
        Status,
        Verdict,
        judge_drop,
        judge_estimate,
        missing_sentence,
        missing_verdict,
        new_sentence,
        unmeasured_sentence,
        within_budget,
    )
else:
    __getattr__, __dir__ = open_door(__name__)
