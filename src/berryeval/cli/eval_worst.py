"""How `berryeval eval --where-it-fails` prints the worst queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.cli.output import print_indented
from berryeval.io.words import cut
from berryeval.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from berryeval.pipeline.worst import WorstQuery

__all__ = ["print_worst"]

_TEXT: Final = 160  # characters of a hit
_MISSED: Final = 8


def print_worst(screen: Console, provider: str, queries: Sequence[WorstQuery]) -> None:
    """The worst queries of one provider."""
    screen.print()
    screen.print(f"where {provider} fails", style="bold")
    for one in queries:
        screen.print()
        about = ", ".join(word for word in (one.query.category, one.query.difficulty) if word)
        title = (
            f"{one.measure} {numbers.measure(one.value)}  query {one.query.id}"
            f"{f' ({about})' if about else ''}"
        )
        print_indented(screen, title, 2, style="bold")
        print_indented(screen, one.query.text, 4)
        if one.answer.error:
            print_indented(screen, f"{one.answer.outcome}: {one.answer.error}", 4, style="red")
        _print_returned(screen, one)
        _print_missed(screen, one)


def _print_returned(screen: Console, one: WorstQuery) -> None:
    if not one.returned:
        print_indented(screen, "returned nothing", 4)
        return
    print_indented(screen, f"returned {len(one.answer.hits)}, of these the first:", 4)
    for rank, returned in enumerate(one.returned, start=1):
        print_indented(screen, f"{rank}. {returned.grade}  {returned.name}", 6)
        print_indented(screen, cut(returned.text, _TEXT), 9, style="dim")


def _print_missed(screen: Console, one: WorstQuery) -> None:
    expected, missed_targets = one.answer.expected, one.answer.missed
    if expected:
        print_indented(screen, f"expected: {cut(expected, _TEXT)}", 4)
    if not missed_targets:
        return
    print_indented(screen, f"wanted and not found ({len(missed_targets)}):", 4)
    for missed in missed_targets[:_MISSED]:
        print_indented(screen, f"grade {missed.grade:g}  {missed.name}", 6, style="yellow")
    if len(missed_targets) > _MISSED:
        print_indented(screen, f"… and {len(missed_targets) - _MISSED} more", 6)
