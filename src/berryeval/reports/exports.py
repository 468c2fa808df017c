"""Exporters: the table of report formats, and writing their files to disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from berryeval._internal.files import display_name, plain_suffix, replace_file
from berryeval._internal.registry import Registry
from berryeval._internal.text import file_key, make_file_name
from berryeval.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.reports.sections import Report


Home: TypeAlias = Literal["stdout", "run folder", "eval folder", "tracker"]


@dataclass(frozen=True)
class OutputFile:
    """A file to write.

    Attributes:
        name: Default file name.
        text: Content.
        part: Suffix that distinguishes it from other files of the same report; empty if alone.
    """

    name: str
    text: str
    part: str = ""


@dataclass(frozen=True)
class Exporter:
    """A report format.

    Attributes:
        summary: What it writes, in a few words.
        endings: File name endings; the first is the default.
        files: Function from a report and a label (may be empty) to files; it writes nothing.
        home: Where the files go by default.
        publish: Function to try first if no output is given: it hands the report to where it is
            displayed and returns the text that remains to be printed, or None if there is no such
            place.
        track: Function that logs the report to an experiment tracker, at a place (the tracker's
            own setting if empty) and under a label (may be empty), and returns a line about it.
            Such an exporter has no files.
        modules: Packages that it needs, each with the extra that installs it.
    """

    summary: str
    endings: tuple[str, ...]
    files: Callable[[Report, str], list[OutputFile]]
    home: Home = "stdout"
    publish: Callable[[Report], str | None] | None = None
    track: Callable[[Report, str, str], str] | None = None
    modules: Mapping[str, str] = field(default_factory=dict)


def single_file(
    name: str, render: Callable[[Report], str]
) -> Callable[[Report, str], list[OutputFile]]:
    """Return the `files` function of a format with one file, named after the label if given."""

    def build_files(report: Report, label: str) -> list[OutputFile]:
        file_name = f"{make_file_name(label)}{Path(name).suffix}" if label else name
        return [OutputFile(file_name, render(report))]

    return build_files


def unique_name(label: str, taken: set[str]) -> str:
    """Return a safe file name, with -2, -3 and so on if taken (ignoring case), and take it."""
    first = name = make_file_name(label)
    number = 1
    while file_key(name) in taken:
        number += 1
        name = f"{first}-{number}"
    taken.add(file_key(name))
    return name


# The table of exporters: a new format needs one file, and one line here.

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
        "mlflow": "berryeval.reports.exporters.mlflow:MLFLOW",
        "wandb": "berryeval.reports.exporters.wandb:WANDB",
    },
    {"md": "markdown", "tex": "latex"},
)


def find_format(path: PathLike) -> str:
    """Return the name of the exporter for a file name ending."""
    ending = plain_suffix(path)
    by_ending: dict[str, str] = {}
    for name in EXPORTERS:
        for known in EXPORTERS.get(name).endings:
            by_ending.setdefault(known, name)
    if ending not in by_ending:
        found = f"unknown ending {ending!r}" if ending else "no ending"
        expected = f"expected one of {', '.join(by_ending)}; or name the format"
        raise ConfigurationError(f"{display_name(path)}: {found}, {expected}")
    return by_ending[ending]


# Writing files. Files of other runs are never overwritten in the eval folder.

EVAL_DIR: Final = "BERRYEVAL_EVAL_DIR"


def eval_folder(given: PathLike | None = None) -> Path | None:
    """Return the folder that collects the CSV files of all runs, or None."""
    chosen = given or os.environ.get(EVAL_DIR)
    return Path(chosen).expanduser() if chosen else None


def is_folder(output: PathLike) -> bool:
    """Whether a path is a folder: an existing one, or a name without an ending."""
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
    eval_dir: PathLike | None = None,
) -> list[Path]:
    """Write the report in one format and return the paths.

    Args:
        report: Report.
        name: Name of the exporter.
        output: File or folder.
        label: Label in file names.
        beside: Folder of the run, without an `output`.
        eval_dir: Folder that collects the CSV files of all runs; by default that of the variable.
    """
    files = EXPORTERS.get(name).files(report, label)
    return write_files(files, name, output, beside=beside, eval_dir=eval_dir)


def write_files(
    files: Sequence[OutputFile],
    name: str,
    output: PathLike | None = None,
    *,
    beside: PathLike = ".",
    eval_dir: PathLike | None = None,
) -> list[Path]:
    """Write the files of an exporter, with `output` and others as in `write_in_format`."""
    exporter = EXPORTERS.get(name)
    if output is not None and not is_folder(output):
        paths = _name_after(Path(output), files)
        _write_all(paths, files)
        return paths
    shared = eval_folder(eval_dir) if exporter.home == "eval folder" and output is None else None
    folder = shared or Path(beside if output is None else output)
    _make_folder(folder, f"; set {EVAL_DIR} to another folder" if shared else "")
    if shared or (exporter.home == "eval folder" and output is not None):
        return _write_beside_others(folder, files)
    paths = [folder / file.name for file in files]
    _write_all(paths, files, folder)
    return paths


def _name_after(path: Path, files: Sequence[OutputFile]) -> list[Path]:
    """Return the given path, or for several files one path each with its part in the name."""
    _make_folder(path.parent)
    if len(files) == 1:
        return [path]
    if path.exists() and not path.is_file():
        raise ConfigurationError(
            f"{path}: expected a folder for {len(files)} files, found something else"
        )
    ending = plain_suffix(path)
    stem, _, rest = path.name.rpartition(ending) if ending else (path.name, "", "")
    return [path.with_name(f"{stem}-{file.part}{ending}{rest}") for file in files]


def _make_folder(folder: Path, hint: str = "") -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"{folder}: cannot create this folder ({error.strerror or error}){hint}"
        ) from None


def _write_all(
    paths: Sequence[Path], files: Sequence[OutputFile], inside: Path | None = None
) -> None:
    for path, file in zip(paths, files, strict=True):
        with replace_file(path, inside) as stream:
            stream.write(_encode(file))


def _encode(file: OutputFile) -> bytes:
    return file.text.encode(errors="backslashreplace")


def _write_beside_others(folder: Path, files: Sequence[OutputFile]) -> list[Path]:
    """Write under names that no file with other content has: as given, or with -2, -3, ..."""
    number = 1
    while True:
        paths = [folder / _numbered(file.name, number) for file in files]
        claimed = _claim_all(paths, files)
        if claimed is None:
            number += 1
            continue
        try:
            _write_all(paths, files, folder)
        except DataError:
            _release(claimed)
            raise
        return paths


def _claim_all(paths: Sequence[Path], files: Sequence[OutputFile]) -> list[Path] | None:
    """Claim the names before another process does; return None if one has other content."""
    taken: list[Path] = []
    try:
        for path, file in zip(paths, files, strict=True):
            if _claim(path):
                taken.append(path)
            elif not _holds(path, _encode(file)):
                _release(taken)
                return None
    except DataError:
        _release(taken)
        raise
    return taken


def _claim(path: Path) -> bool:
    """Create an empty file; return False if the name is taken."""
    try:
        path.open("xb").close()
    except FileExistsError:
        return False
    except OSError as error:
        reason = error.strerror or error
        raise DataError(
            f"{path}: cannot be written ({reason}); set {EVAL_DIR} to another folder"
        ) from None
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
