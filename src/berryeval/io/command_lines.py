"""Lines that messages tell people to type, quoted as a shell wants them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from berryeval.io.files import PathLike

__all__ = ["command_line", "to_go_on", "to_score_again"]


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


def to_go_on(folder: PathLike, *options: str) -> str:
    """The line that goes on with the run of a folder, also of one that looks like an option.

    >>> to_go_on("runs/a"), to_go_on("-x", "--retry-errors")
    ('berryeval eval --resume runs/a', 'berryeval eval --resume=-x --retry-errors')
    """
    resume = [f"--resume={folder}"] if str(folder).startswith("-") else ["--resume", folder]
    return command_line("eval", *resume, *options)
