"""Gates: rules that a run must satisfy, and the verdict on each."""

from berryeval.gates.verdict import Status, Verdict

__all__ = ["Status", "Verdict"]
