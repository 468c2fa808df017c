"""Findings of checks, and the report that collects them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from berryeval._internal.text import truncate

if TYPE_CHECKING:
    from berryeval.data import Anchor


Severity: TypeAlias = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Finding:
    """A problem found by a check.

    Attributes:
        severity: "error" if scores are wrong or cannot be computed, "warning" if they may be
            misleading, "info" for a note.
        where: File and line, or path in a JSON file; else the id of the record.
    """

    check: str
    severity: Severity
    where: str
    message: str
    advice: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return asdict(self)


@dataclass(frozen=True)
class Report:
    """All findings, in the order of the checks."""

    findings: tuple[Finding, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Number of findings by severity."""
        found = Counter(finding.severity for finding in self.findings)
        return {severity: found[severity] for severity in get_args(Severity)}

    @property
    def passed(self) -> bool:
        """Whether there are no errors."""
        return not self.counts["error"]

    def by_check(self) -> dict[tuple[Severity, str], list[Finding]]:
        """Group the findings by severity, most severe first, and check."""
        groups: dict[tuple[Severity, str], list[Finding]] = {}
        rank = get_args(Severity).index
        for finding in sorted(self.findings, key=lambda one: rank(one.severity)):
            groups.setdefault((finding.severity, finding.check), []).append(finding)
        return groups


def name_of(anchor: Anchor) -> str:
    """Describe a target in a few words."""
    if anchor.chunk:
        return f"chunk {anchor.chunk!r}"
    parts = [repr(anchor.document)] if anchor.document else []
    if anchor.section:
        parts.append(f"section {' > '.join(anchor.section)!r}")
    if anchor.start is not None:
        parts.append(f"{anchor.unit} {anchor.start} to {anchor.end}")
    elif anchor.quote:
        parts.append(f"quote {truncate(anchor.quote, 50)!r}")
    return ", ".join(parts)


_WORD: Final = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """Split a text into lower-case words."""
    return _WORD.findall(text.lower())
