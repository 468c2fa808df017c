"""How `berryeval eval --where-it-fails` prints the worst queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.benchmarks.checks.naming import shortened
from berryeval.cli.output import print_indented

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from berryeval.pipeline.worst import Returned, WorstQuery
    from berryeval.records import Hit

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
            f"{one.measure} {one.value:.3f}  query {one.query.id}{f' ({about})' if about else ''}"
        )
        print_indented(screen, title, 2, style="bold")
        print_indented(screen, one.query.text, 4)
        if one.error:
            print_indented(screen, f"{one.outcome}: {one.error}", 4, style="red")
        _print_returned(screen, one)
        _print_missed(screen, one)


def _print_returned(screen: Console, one: WorstQuery) -> None:
    if not one.returned:
        print_indented(screen, "returned nothing", 4)
        return
    print_indented(screen, f"returned {one.retrieved}, of these the first:", 4)
    for rank, returned in enumerate(one.returned, start=1):
        print_indented(screen, f"{rank}. {_grade(returned)}  {_name(returned.hit)}", 6)
        print_indented(screen, shortened(returned.hit.text, _TEXT), 9, style="dim")


def _grade(returned: Returned) -> str:
    return "not judged" if returned.grade is None else f"grade {returned.grade:g}"


def _name(hit: Hit) -> str:
    if not hit.doc_id:
        return hit.id
    return " > ".join([hit.doc_id, *hit.section])


def _print_missed(screen: Console, one: WorstQuery) -> None:
    if one.expected:
        print_indented(screen, f"expected: {shortened(one.expected, _TEXT)}", 4)
    if not one.missed:
        return
    print_indented(screen, f"wanted and not found ({len(one.missed)}):", 4)
    for missed in one.missed[:_MISSED]:
        print_indented(screen, f"grade {missed.grade:g}  {missed.name}", 6, style="yellow")
    if len(one.missed) > _MISSED:
        print_indented(screen, f"… and {len(one.missed) - _MISSED} more", 6)
