"""`berryeval init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def init(
    folder: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    /,
    *,
    force: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Write a starting berryeval.yaml here, and a table of questions for your documents.

    Example: berryeval init docs

    Args:
        folder: Your documents (Markdown and text files), or a benchmark you have already; without,
            a bundled one to start with.
        force: Replace files that are there.
    """
    from berryeval.pipeline.starting_files import QUESTIONS, write_starting_files

    written = write_starting_files(Path(folder) if folder else None, force=force)
    for path in written.files:
        print(f"written: {path.as_posix()}")
    if written.has_examples:
        print(f"next: replace the titles in {QUESTIONS} by questions of your users, then:")
    print("berryeval eval")
