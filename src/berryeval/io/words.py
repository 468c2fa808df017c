"""Numbers in words, and texts that are not too long."""

from __future__ import annotations

from typing import Final

__all__ = ["LONGEST", "counted", "cut", "shortened"]

LONGEST: Final = 200  # characters of a message in a table or a list


def counted(number: int, one: str, many: str = "") -> str:
    """A number and what it counts: "1 error", "2 queries"."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def cut(text: str, longest: int = 80) -> str:
    """A text on one line; of a long one the beginning.

    >>> cut("no answer from the server", 10)
    'no answer…'
    """
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def shortened(text: str, longest: int = LONGEST) -> str:
    """A text on one line; of a long one the beginning, and how much more there is.

    >>> shortened("no answer from the server", 9)
    'no answer… (16 more characters)'
    """
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    return f"{line[:longest]}… ({counted(len(line) - longest, 'more character')})"
