"""Commands that messages tell people to type, quoted as a shell wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.io.command_lines import command_line, to_score_again

if TYPE_CHECKING:
    from berryeval.io.files import PathLike

__all__ = ["command_line", "to_go_on", "to_score_again"]


def to_go_on(folder: PathLike, *options: str) -> str:
    """The line that goes on with the run of a folder, also of one that looks like an option.

    >>> to_go_on("runs/a"), to_go_on("-x", "--retry-errors")
    ('berryeval eval --resume runs/a', 'berryeval eval --resume=-x --retry-errors')
    """
    resume = [f"--resume={folder}"] if str(folder).startswith("-") else ["--resume", folder]
    return command_line("eval", *resume, *options)
