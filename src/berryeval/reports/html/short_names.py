"""Names that fit into a chart and still differ: many begin alike, as those of several runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["short_names"]

ROOM: Final = 17  # letters that every chart shows
_HEAD: Final = 6


def short_names(labels: Sequence[str], room: int = ROOM) -> dict[str, str]:
    """A shorter name for each of those that could not be told apart by their beginnings.

    >>> short_names(["bm25 (2026-11-15T15-16-02-x)", "bm25 (2026-11-15T15-16-09-x)", "dense"])
    {'bm25 (2026-11-15T15-16-02-x)': 'bm25 (…02-x)', 'bm25 (2026-11-15T15-16-09-x)': 'bm25 (…09-x)'}
    """
    alike: dict[str, list[str]] = {}
    for label in labels:
        alike.setdefault(label[:room], []).append(label)
    found: dict[str, str] = {}
    taken = {label for label in labels if len(label) <= room}
    for group in (group for group in alike.values() if len(group) > 1):
        start = len(os.path.commonprefix(group))  # noqa: RUF071 - letter by letter is what we want
        while start > _HEAD and group[0][start - 1].isalnum():
            start -= 1  # whole words and numbers
        for label in group:
            found[label] = _free(_middle_cut(label, start, room), taken, room)
            taken.add(found[label])
    return found


def _middle_cut(label: str, start: int, room: int) -> str:
    rest = label[start:]
    room -= _HEAD + 1
    return f"{label[:_HEAD]}…{rest if len(rest) <= room else f'{rest[: room - 1]}…'}"


def _free(name: str, taken: set[str], room: int) -> str:
    """The name, with a number if another has it."""
    shown, number = name, 1
    while shown in taken:
        number += 1
        ending = f" #{number}"
        shown = f"{name[: room - len(ending)]}{ending}"
    return shown
