"""What the loader noticed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from berryeval.benchmarks.checks.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.benchmarks.checks.subject import Subject

__all__ = ["check_remarks"]

# A place (a file, perhaps with a line or a path in its JSON), then what is there.
_REMARK: Final = re.compile(r"(?s)(?P<where>.+?(?::\d+|: \[\S*|: \w+[.\[]\S*)?): (?P<what>.+)")


def check_remarks(subject: Subject) -> Iterator[Finding]:
    """What was odd in the files, and kept."""
    for remark in subject.benchmark.remarks:
        found = _REMARK.fullmatch(remark)
        where, what = (found["where"], found["what"]) if found else (subject.benchmark.name, remark)
        yield Finding("remark", "warning", where, what, "look whether this was meant")
