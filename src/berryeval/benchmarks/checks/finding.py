"""`Finding`: something that a check found; `Report`: all of them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from berryeval._internal.text import cut

if TYPE_CHECKING:
    from berryeval.data import Anchor


Severity: TypeAlias = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Finding:
    """Something that a check found.

    Attributes:
        check: the name of the check.
        severity: "error": scores are wrong or cannot be computed; "warning": they may not mean what
            they seem to; "info": good to know.
        where: the file and line, or the path in a JSON file; else the id of the record.
        message: what was found.
        advice: what to do about it.
    """

    check: str
    severity: Severity
    where: str
    message: str
    advice: str = ""

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)


@dataclass(frozen=True)
class Report:
    """All findings, in the order of the checks."""

    findings: tuple[Finding, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many findings there are of each severity."""
        found = Counter(finding.severity for finding in self.findings)
        return {severity: found[severity] for severity in get_args(Severity)}

    @property
    def passed(self) -> bool:
        """Whether there is no error."""
        return not self.counts["error"]

    def by_check(self) -> dict[tuple[Severity, str], list[Finding]]:
        """The findings of each check, the most severe first."""
        groups: dict[tuple[Severity, str], list[Finding]] = {}
        for severity in get_args(Severity):
            for finding in self.findings:
                if finding.severity == severity:
                    groups.setdefault((severity, finding.check), []).append(finding)
        return groups


# Targets in a few words.


def name_of(anchor: Anchor) -> str:
    """A target in a few words."""
    if anchor.chunk:
        return f"chunk {anchor.chunk!r}"
    parts = [repr(anchor.document)] if anchor.document else []
    if anchor.section:
        parts.append(f"section {' > '.join(anchor.section)!r}")
    if anchor.start is not None:
        parts.append(f"{anchor.unit} {anchor.start} to {anchor.end}")
    elif anchor.quote:
        parts.append(f"quote {cut(anchor.quote, 50)!r}")
    return ", ".join(parts)


# The words of a text, by one rule for all checks.

_WORD: Final = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """The words, in small letters."""
    return _WORD.findall(text.lower())
