"""Queries that failed, and rules about errors that allow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.gates.verdict import Verdict

__all__ = ["within_budget"]


def within_budget(verdicts: Iterable[Verdict]) -> set[tuple[str, str]]:
    """The benchmark and provider of whom a rule about errors allows what failed."""
    judged = [one for one in verdicts if one.about == "errors"]
    owners = {(one.benchmark, one.provider) for one in judged}
    return owners - {(one.benchmark, one.provider) for one in judged if one.status != "pass"}
