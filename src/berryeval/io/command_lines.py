"""Lines that messages tell people to type, quoted as a shell wants them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from berryeval.io.files import PathLike

__all__ = ["command_line", "to_score_again"]


def command_line(*words: PathLike) -> str:
    """The line to type.

    >>> command_line("report", "run 2", "--format", "csv")
    "berryeval report 'run 2' --format csv"
    """
    return shlex.join(["berryeval", *map(str, words)])


def to_score_again(run: PathLike, *measures: str, store: PathLike | None = None) -> str:
    """The line that gives a past run more measures, also one that looks like an option.

    >>> to_score_again("latest", "P(rel=2)@5")
    "berryeval score-run latest -m 'P(rel=2)@5' --save"
    >>> to_score_again("-x", "RR", store="all.db")
    'berryeval score-run -m RR --save --store all.db -- -x'
    """
    options = ["-m", *measures, "--save", *([] if store is None else ["--store", store])]
    if str(run).startswith("-"):
        return command_line("score-run", *options, "--", run)
    return command_line("score-run", run, *options)
