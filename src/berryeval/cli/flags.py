"""Options that several commands share; a short flag means the same in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from cyclopts import CycloptsError, Parameter

STDOUT: Final = "-"


def _reject_flag(_: Any, value: str | None) -> None:
    """Reject a path that starts with a hyphen: it is a flag, and the path was forgotten."""
    if value is not None and value.startswith("-") and value != STDOUT:
        raise ValueError(f"expected a path, or - for stdout, found {value!r}")


def _reject_unknown(_: Any, value: str | Sequence[str]) -> None:
    """Reject a file that starts with a hyphen: it is an option that the command does not have."""
    for one in [value] if isinstance(value, str) else value:
        if one.startswith("-") and one != STDOUT:
            raise CycloptsError(msg=f"Unknown option: {one}.")


_PATH: Final = Parameter(
    name=["--output", "-o"], allow_leading_hyphen=True, validator=_reject_flag, negative=""
)

# A file to read, or - for stdin.
File = Annotated[str, Parameter(allow_leading_hyphen=True, validator=_reject_unknown)]
Flag = Annotated[bool, Parameter(negative="")]
Several = Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")]
Metrics = Annotated[
    list[str] | None, Parameter(name=["--metrics", "-m"], consume_multiple=True, negative="")
]
Depth = Annotated[int | None, Parameter(name=["--k", "-k"])]
Format = Annotated[str | None, Parameter(name=["--format", "-f"])]
Formats = Annotated[
    list[str] | None, Parameter(name=["--format", "-f"], consume_multiple=True, negative="")
]
Output = Annotated[str | None, _PATH]
OutputFileName = Annotated[str, _PATH]
OutputFolder = Annotated[str | None, Parameter(name=["--output", "-o"])]
Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"], negative="")]
Verbose = Annotated[bool, Parameter(name=["--verbose", "-v"], negative="")]
