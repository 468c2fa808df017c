"""Documents that are files: a folder of Markdown and text, or of source code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from berryeval.anchors.sections import parse_sections
from berryeval.errors import DataError
from berryeval.io.beginnings import is_regular
from berryeval.io.json_text import read_text
from berryeval.records import Document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["TEXT_SUFFIXES", "files_below", "read_text_documents"]

_MARKDOWN: Final = (".md", ".markdown")
TEXT_SUFFIXES: Final = (*_MARKDOWN, ".txt", ".rst")


def read_text_documents(folder: Path) -> Iterator[tuple[Document, str]]:
    """The Markdown and text files of a folder, each with its path.

    They are known by their endings, in letters of any case. The id is the path below the folder
    without its ending, "guides/set-up" for "guides/set-up.md"; the title of a Markdown file is its
    first heading.
    """
    found = False
    for path in files_below(folder, lambda name: name.lower().endswith(TEXT_SUFFIXES)):
        if not is_regular(path):
            continue
        found = True
        text = read_text(path)
        title = _title(text) if path.suffix.lower() in _MARKDOWN else ""
        relative = path.relative_to(folder)
        identity = relative.with_suffix("").as_posix()
        yield Document(identity, text, title=title, source=relative.as_posix()), os.fspath(path)
    if not found:
        endings = ", ".join(TEXT_SUFFIXES)
        msg = f"{folder}: holds no documents, expected files that end in one of {endings}"
        raise DataError(msg)


def _title(text: str) -> str:
    return next((section.path[-1] for section in parse_sections(text) if section.path), "")


def files_below(folder: Path, wanted: Callable[[str], bool]) -> Iterator[Path]:
    """The files below a folder in the order of their paths, hidden ones left out."""
    if not folder.is_dir():
        problem = "expected a folder, found a file" if folder.exists() else "no such folder"
        msg = f"{folder}: {problem}"
        raise DataError(msg)
    paths = []
    for place, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [Path(place) / name for name in names if not name.startswith(".") and wanted(name)]
    yield from sorted(paths, key=lambda path: path.relative_to(folder).as_posix())


def _refuse(error: OSError) -> None:
    msg = f"{error.filename}: cannot be read ({error.strerror or error})"
    raise DataError(msg) from None
