"""The table of exporters: a new format is one file and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.errors import ConfigurationError
from berryeval.io.files import name_of, plain_suffix
from berryeval.registry import Registry

if TYPE_CHECKING:
    from berryeval.io.files import PathLike
    from berryeval.reports.exporter import Exporter

__all__ = ["EXPORTERS", "format_of"]

EXPORTERS: Final[Registry[Exporter]] = Registry(
    "exporter",
    {
        "html": "berryeval.reports.html_page:HTML",
        "csv": "berryeval.reports.csv_pair:CSV",
        "json": "berryeval.reports.json_file:JSON",
        "markdown": "berryeval.reports.markdown:MARKDOWN",
        "github": "berryeval.reports.github:GITHUB",
        "latex": "berryeval.reports.latex:LATEX",
        "junit": "berryeval.reports.junit:JUNIT",
        "trec": "berryeval.reports.trec_run:TREC",
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
