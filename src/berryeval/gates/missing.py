"""What only the baseline or only the run holds: nothing of it was compared, and that is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.gates.verdict import Verdict

if TYPE_CHECKING:
    from berryeval.gates.baseline import Baseline, BaselinePart
    from berryeval.gates.rules import Rule
    from berryeval.results import RunRecord

__all__ = ["missing_parts", "missing_sentence", "missing_verdict", "new_sentence"]


def missing_parts(rule: Rule, run: RunRecord, baseline: Baseline) -> list[Verdict]:
    """A verdict for each provider on a benchmark that a rule about drops misses in the run."""
    there = {(part.name, one.name) for part in run.benchmarks for one in part.providers}
    return [
        missing_verdict(rule, part, f"{part.provider} on {part.benchmark}")
        for part in baseline.parts
        if (part.benchmark, part.provider) not in there
        and rule.covers(part.benchmark, part.provider)
        and rule.measure in part.values
    ]


def missing_verdict(rule: Rule, part: BaselinePart, what: str) -> Verdict:
    """That the run lacks something of a part of the baseline."""
    return Verdict(
        "inconclusive",
        str(rule),
        missing_sentence(what),
        benchmark=part.benchmark,
        provider=part.provider,
        group=rule.group,
        measure=rule.measure,
        limit=rule.max_drop,
        about=rule.about,
    )


def missing_sentence(what: str) -> str:
    """That the run lacks what the baseline has."""
    return f"the run has no {what}, which the baseline has: nothing was compared"


def new_sentence(provider: str, benchmark: str) -> str:
    """That the baseline lacks a provider on a benchmark."""
    return f"{provider} on {benchmark} is new, and not in the baseline: nothing was compared"
