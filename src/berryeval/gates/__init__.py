"""Gates: rules that a run must satisfy, and the verdict on each.

>>> from berryeval.gates import Gate, Rule
>>> Gate(rules=(Rule(metric="nDCG@10", at_least=0.6),)).rules[0].at_least
0.6
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.gates.baseline_scores import Baseline, BaselinePart
    from berryeval.gates.power import Power
    from berryeval.gates.regression import Drop, Sample, SelfCheck, correct_together, self_check
    from berryeval.gates.rules import Gate, Limit, Rule
    from berryeval.gates.ruling import SHOWN, collect_samples, judge
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

    __all__ = [
        "SHOWN",
        "About",
        "Baseline",
        "BaselinePart",
        "Drop",
        "Gate",
        "Limit",
        "Power",
        "Rule",
        "Sample",
        "SelfCheck",
        "Status",
        "Verdict",
        "baseline_value",
        "check_held",
        "check_names",
        "check_room",
        "check_same_data",
        "check_shared",
        "collect_samples",
        "correct_together",
        "find_comparable_part",
        "judge",
        "judge_drop",
        "judge_estimate",
        "missing_sentence",
        "missing_verdict",
        "needs_baseline",
        "new_sentence",
        "select_queries",
        "self_check",
        "unmeasured_sentence",
        "within_budget",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)
