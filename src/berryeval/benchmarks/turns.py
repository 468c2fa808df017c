"""Turns of a conversation as one text, with the place of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["joined"]


def joined(turns: Iterable[str]) -> tuple[str, list[dict[str, int]]]:
    r"""The turns as lines of one text, and where each starts and ends in it.

    >>> joined(["Ann: Tea?", "Ben: Yes."])
    ('Ann: Tea?\nBen: Yes.', [{'start': 0, 'end': 9}, {'start': 10, 'end': 19}])
    """
    lines = list(turns)
    places, start = [], 0
    for line in lines:
        places.append({"start": start, "end": start + len(line)})
        start += len(line) + 1
    return "\n".join(lines), places
