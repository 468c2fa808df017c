"""The sign test: wins against losses, whatever their size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.optional import imported
from berryeval.stats.paired import sign_of
from berryeval.stats.result import TestResult, note_on_few

if TYPE_CHECKING:
    from berryeval.stats.paired import Pair

__all__ = ["sign"]


def sign(pair: Pair, _seed: int, _samples: int) -> TestResult:
    """Two-sided and exact; queries that do not differ are left out."""
    method = "sign test, exact"
    wins, _, losses = pair.wins_ties_losses
    if not wins + losses:
        return TestResult(1.0, 0.0, method, exact=True, note=note_on_few(0), sign=0)
    stats = imported("scipy.stats", "the sign test", extra="stats")
    p = float(stats.binomtest(wins, wins + losses).pvalue)
    note = note_on_few(wins + losses)
    towards = sign_of(wins - losses)
    return TestResult(min(1.0, p), float(wins), method, exact=True, note=note, sign=towards)
