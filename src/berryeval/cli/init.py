"""`berryeval init`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from berryeval.cli.app import is_quiet
from berryeval.cli.flags import Flag

_FEW: Final = 15  # questions, as people begin with


def init(folder: str | None = None, /, *, force: Flag = False, json: Flag = False) -> None:
    """Write a starting berryeval.yaml and a table of questions for your documents.

    Args:
        folder: Your documents (texts or JSON Lines) or an existing benchmark; default: a bundled
            benchmark. Write a name that begins with a hyphen as ./-docs.
        force: Overwrite existing files.
        json: JSON output.
    """
    from berryeval.cli.output import print_json, print_line
    from berryeval.gates import Power
    from berryeval.workflows import write_starting_files

    written = write_starting_files(Path(folder) if folder else None, force=force)
    if json:
        files = [path.as_posix() for path in written.files]
        print_json("init", {"files": files, "has_examples": written.has_examples})
        return
    for path in written.files:
        print_line(f"written: {path.as_posix()}")
    if is_quiet():
        return
    if written.has_examples:
        print_line(
            f"next: replace the titles in {written.questions} with questions of your users, then:"
        )
    print("berryeval eval")
    print(f"before you rely on a gate: {Power(_FEW).sentence}")
