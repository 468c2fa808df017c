"""`--output -`: a text that goes to stdout instead of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

if TYPE_CHECKING:
    from berryeval.reports import Report
    from berryeval.reports.exporter import OutputFile

STDOUT: Final = "-"
_NAMED: Final = 3  # files in a message


def _no_flag(_: Any, value: str | None) -> None:
    """A path may be -; another hyphen in front is a flag, and the path was forgotten."""
    if value is not None and value.startswith("-") and value != STDOUT:
        msg = f"expected a path, or - for stdout, found {value!r}"
        raise ValueError(msg)


_PATH: Final = Parameter(
    name=["--output", "-o"], allow_leading_hyphen=True, validator=_no_flag, negative=""
)
Output = Annotated[str | None, _PATH]
OutputFileName = Annotated[str, _PATH]


def files_of(made: Report, name: str, label: str = "", *, to_stdout: bool) -> list[OutputFile]:
    """The files of a format; several of them do not go to stdout."""
    from berryeval.errors import ConfigurationError
    from berryeval.reports.table import EXPORTERS

    files = EXPORTERS.get(name).files(made, label)
    if len(files) > 1 and to_stdout:
        parts = ", ".join(file.name for file in files[:_NAMED])
        more = ", ..." if len(files) > _NAMED else ""
        msg = f"{name} makes {len(files)} files ({parts}{more}); give a folder with --output"
        raise ConfigurationError(msg)
    return files


def text_of(made: Report, name: str) -> str:
    """The report as one text, in a format that makes only one file."""
    (file,) = files_of(made, name, to_stdout=True)
    return file.text
