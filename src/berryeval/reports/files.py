"""What an exporter is: a report in, files out; it writes nothing itself."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from berryeval._internal.files import name_of, plain_suffix, writing
from berryeval._internal.registry import Registry
from berryeval.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from berryeval._internal.files import PathLike
    from berryeval.reports.report import Report


Home: TypeAlias = Literal["stdout", "run folder", "eval folder"]


@dataclass(frozen=True)
class OutputFile:
    """A file to be written.

    Attributes:
        name: what it is called unless the user says otherwise.
        text: its content.
        part: what tells it from the other files of the same report; empty if it is the only one.
    """

    name: str
    text: str
    part: str = ""


@dataclass(frozen=True)
class Exporter:
    """A format of reports.

    Attributes:
        summary: what it writes, in a few words.
        endings: of the files it writes; the first is its own.
        files: makes the files of a report; the text is the user's label, or empty.
        home: where the files go if nobody says where.
        publish: where nobody says where, this is tried first: it hands the report to where it is
            shown, and returns what is left to be printed; None if there is no such place.
    """

    summary: str
    endings: tuple[str, ...]
    files: Callable[[Report, str], list[OutputFile]]
    home: Home = "stdout"
    publish: Callable[[Report], str | None] | None = None


def one_file(
    name: str, render: Callable[[Report], str]
) -> Callable[[Report, str], list[OutputFile]]:
    """What makes the single file of a report, named after the label if there is one."""

    def files(report: Report, label: str) -> list[OutputFile]:
        from pathlib import Path

        from berryeval._internal.text import safe_name

        called = f"{safe_name(label)}{Path(name).suffix}" if label else name
        return [OutputFile(called, render(report))]

    return files


# The table of exporters: a new format is one file and one line here.

EXPORTERS: Final[Registry[Exporter]] = Registry(
    "exporter",
    {
        "html": "berryeval.reports.html.page:HTML",
        "csv": "berryeval.reports.exporters.csv:CSV",
        "json": "berryeval.reports.exporters.json:JSON",
        "markdown": "berryeval.reports.exporters.markdown:MARKDOWN",
        "github": "berryeval.reports.exporters.github:GITHUB",
        "latex": "berryeval.reports.exporters.latex:LATEX",
        "junit": "berryeval.reports.exporters.junit:JUNIT",
        "trec": "berryeval.reports.exporters.trec:TREC",
    },
    {"md": "markdown", "tex": "latex"},
)


def format_of(path: PathLike) -> str:
    """The name of the exporter that writes files with this ending."""
    ending = plain_suffix(path)
    by_ending: dict[str, str] = {}
    for name in EXPORTERS:
        for known in EXPORTERS.get(name).endings:
            by_ending.setdefault(known, name)
    if ending not in by_ending:
        found = f"the ending {ending!r}" if ending else "no ending"
        msg = (
            f"{name_of(path)}: has {found}, which tells no format; there are "
            f"{', '.join(by_ending)}; or say which format"
        )
        raise ConfigurationError(msg)
    return by_ending[ending]


# Where the files of a report go; nothing of another run is lost by it.

EVAL_DIR: Final = "BERRYEVAL_EVAL_DIR"


def eval_folder() -> Path:
    """The folder that collects the CSV files of all runs."""
    given = os.environ.get(EVAL_DIR)
    return Path(given).expanduser() if given else Path.home() / ".berryeval" / "evals"


def is_folder(output: PathLike) -> bool:
    """Whether a path means a folder: one that is there, or a name without an ending."""
    path, text = Path(output), os.fspath(output)
    if path.exists():
        return path.is_dir()
    return text.endswith(("/", os.sep)) or not path.suffix


def write_in_format(
    report: Report,
    name: str,
    output: PathLike | None = None,
    *,
    label: str = "",
    beside: PathLike = ".",
) -> list[Path]:
    """Write the report in the format of this name; the paths of its files.

    Args:
        report: what to write.
        name: of the exporter.
        output: a file or a folder; without, the folder that the format has for itself.
        label: takes the place of the usual one in the names of files.
        beside: the folder for formats that have none for themselves.
    """
    files = EXPORTERS.get(name).files(report, label)
    return write_files(files, name, output, beside=beside)


def write_files(
    files: Sequence[OutputFile],
    name: str,
    output: PathLike | None = None,
    *,
    beside: PathLike = ".",
) -> list[Path]:
    """Write the files that the exporter of this name has made; places as of `write_in_format`."""
    exporter = EXPORTERS.get(name)
    if output is not None and not is_folder(output):
        paths = _named_after(Path(output), files)
        _write_all(paths, files)
        return paths
    if output is None:
        folder = eval_folder() if exporter.home == "eval folder" else Path(beside)
    else:
        folder = Path(output)
    _make(folder, f"; {EVAL_DIR} names another folder" if exporter.home == "eval folder" else "")
    if exporter.home == "eval folder":
        return _write_beside_others(folder, files)
    paths = [folder / file.name for file in files]
    _write_all(paths, files)
    return paths


def _named_after(path: Path, files: Sequence[OutputFile]) -> list[Path]:
    """The given path; of several files each has its part in the name."""
    _make(path.parent, "")
    if len(files) == 1:
        return [path]
    if path.exists() and not path.is_file():
        msg = f"{path}: is no file, and {len(files)} files are to be written; give a folder"
        raise ConfigurationError(msg)
    ending = plain_suffix(path)
    stem, _, rest = path.name.rpartition(ending) if ending else (path.name, "", "")
    return [path.with_name(f"{stem}-{file.part}{ending}{rest}") for file in files]


def _make(folder: Path, hint: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"{folder}: cannot be made a folder ({error.strerror or error}){hint}"
        raise DataError(msg) from None


def _write_all(paths: Sequence[Path], files: Sequence[OutputFile]) -> None:
    for path, file in zip(paths, files, strict=True):
        with writing(path) as stream:
            stream.write(_bytes(file))


def _bytes(file: OutputFile) -> bytes:
    return file.text.encode(errors="backslashreplace")


def _write_beside_others(folder: Path, files: Sequence[OutputFile]) -> list[Path]:
    """Under names that no file of other content has: the usual ones, or with -2, -3, ..."""
    number = 1
    while True:
        paths = [folder / _numbered(file.name, number) for file in files]
        claimed = _claimed(paths, files)
        if claimed is None:
            number += 1
            continue
        try:
            _write_all(paths, files)
        except DataError:
            _release(claimed)
            raise
        return paths


def _claimed(paths: Sequence[Path], files: Sequence[OutputFile]) -> list[Path] | None:
    """Take the names, so that no other process does; None if something else is there."""
    taken: list[Path] = []
    try:
        for path, file in zip(paths, files, strict=True):
            if _claim(path):
                taken.append(path)
            elif not _holds(path, _bytes(file)):
                _release(taken)
                return None
    except DataError:
        _release(taken)
        raise
    return taken


def _claim(path: Path) -> bool:
    """Make the file, empty; False if there is one."""
    try:
        path.open("xb").close()
    except FileExistsError:
        return False
    except OSError as error:
        why = error.strerror or error
        msg = f"{path}: cannot be written ({why}); {EVAL_DIR} names another folder"
        raise DataError(msg) from None
    return True


def _holds(path: Path, content: bytes) -> bool:
    with suppress(OSError):
        return path.read_bytes() == content
    return False


def _release(paths: Sequence[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()


def _numbered(name: str, number: int) -> str:
    path = Path(name)
    return name if number == 1 else f"{path.stem}-{number}{path.suffix}"
