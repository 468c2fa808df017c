"""Gates: rules that a run must satisfy, and the verdict on each."""

from berryeval.gates.baseline import Baseline, BaselinePart
from berryeval.gates.judging import judge
from berryeval.gates.rules import Gate, Rule
from berryeval.gates.verdict import Status, Verdict

__all__ = ["Baseline", "BaselinePart", "Gate", "Rule", "Status", "Verdict", "judge"]
