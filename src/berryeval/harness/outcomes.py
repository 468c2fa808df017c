"""How a query ends, and which ends are no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FAILED", "NO_ANSWER", "Outcome", "failed_of"]

Outcome: TypeAlias = Literal["ok", "empty", "error", "timeout"]
FAILED: Final[tuple[Outcome, ...]] = ("error", "timeout")  # the query scores 0
NO_ANSWER: Final = (*FAILED, "missing")  # in records, which also know of queries never asked


def failed_of(outcomes: Mapping[str, Any]) -> int:
    """How many of the queries with these outcomes ended without an answer.

    >>> failed_of({"ok": 8, "error": 1, "timeout": 2})
    3
    """
    return sum(int(outcomes.get(name, 0)) for name in FAILED)
