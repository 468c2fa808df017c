"""Gates: rules that a run must satisfy, and the verdict on each."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.gates.baseline import Baseline, BaselinePart
    from berryeval.gates.judging import (
        judge,
        missing_sentence,
        missing_verdict,
        new_sentence,
        samples_of,
        within_budget,
    )
    from berryeval.gates.rules import Gate, Limit, Rule
    from berryeval.gates.simulation import SelfCheck, self_check
    from berryeval.gates.validation import (
        check_held,
        check_names,
        check_room,
        check_shared,
        chosen_queries,
        comparable_part,
        needs_baseline,
        value_among,
    )
    from berryeval.gates.verdict import About, Status, Verdict, told_apart
else:
    __getattr__, __dir__ = open_door(__name__)
