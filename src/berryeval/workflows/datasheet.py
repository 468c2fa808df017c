"""The datasheet of a generated benchmark: what it is, how it was made, and what it cannot tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from berryeval._internal.text import pluralize
from berryeval._internal.validate import is_whole
from berryeval.benchmarks import GENERATED
from berryeval.reports import escape_markdown

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark, Report

DATASHEET: Final = "datasheet.md"
_UNREVIEWED: Final = "**Nobody has reviewed these queries yet.**"
_TOLD: Final = ("passages", "rejected", "reviewed")  # which have a place of their own
_LISTED: Final = 20  # documents in the table
_ABOUT: Final = {
    "known-item": (
        "Known-item queries: each is a few words drawn from one passage, as by a user who has seen "
        "it once and looks for it again. The passage is the only one that counts as relevant."
    ),
    "questions": (
        "Questions that a language model wrote about single passages. What counts as relevant is "
        "the quotes that answer them."
    ),
}
_LIMITS: Final = {
    "known-item": """\
- The words of a query occur in its passage, so lexical search looks better than it is for users who
  use other words. Use it for a first look and as a smoke test. On benchmarks with judgments of
  people, such queries ranked engines and chunkers quite differently than people's questions did
  (docs/judging.md), so do not choose between systems by them.
- One passage counts as relevant; others may be just as useful. Queries whose words fit many
  passages were rejected, which makes the rest easier than those of users.
- Every document is asked for equally often. Users do not do that.""",
    "questions": """\
- The model saw the passage when it asked, so the questions are closer to its words than those of
  users.
- Only the quotes of one passage count as relevant; other passages may answer as well. Judge what
  systems find before you trust small differences (`berryeval judge pool`).
- A system that uses the same model may have an advantage.""",
}


def write_datasheet(benchmark: Benchmark, report: Report) -> str:
    """Return the datasheet of a generated benchmark in Markdown, also after a review."""
    about = benchmark.metadata[GENERATED]
    kind = str(about.get("kind", ""))
    asked = dict.fromkeys((one.query_id, one.target.document) for one in benchmark.judgments)
    documents = Counter(document for _, document in asked)
    passages, rejected = about.get("passages"), about.get("rejected")
    if isinstance(rejected, Mapping):
        rejections = _format_counts("reason", rejected) or "Nothing was rejected."
    else:
        rejections = "Not recorded."
    drawn = f", drawn from {pluralize(passages, 'passage')}" if is_whole(passages) else ""
    sizes = (
        f"{pluralize(len(benchmark.queries), 'query', 'queries')} for "
        f"{pluralize(len(documents), 'document')} of {len(benchmark.documents):,}{drawn}."
    )
    queries = benchmark.queries
    settings = [one for one in about.items() if one[0] not in _TOLD]
    parts = [
        f"# Datasheet of {escape_markdown(benchmark.name)}",
        _describe_review(about.get("reviewed")),
        _ABOUT.get(kind, ""),
        sizes,
        "## How it was made",
        _format_table(("setting", "value"), settings),
        "## Queries",
        _format_counts("type", Counter(one.category for one in queries)),
        _format_counts("difficulty", Counter(one.difficulty for one in queries)),
        _format_counts("document", documents),
        "## Rejected",
        rejections,
        "## What `berryeval validate` found",
        _format_counts("finding", _count_findings(report)) or "Nothing.",
        "## Limits",
        _LIMITS.get(kind, ""),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _describe_review(done: object) -> str:
    """Say what the last review did."""
    if not isinstance(done, Mapping):
        return _UNREVIEWED
    return f"Reviewed by a person: {', '.join(f'{count} {word}' for word, count in done.items())}."


def _count_findings(report: Report) -> dict[str, int]:
    groups = report.by_check().items()
    return {f"{severity}: {check}": len(findings) for (severity, check), findings in groups}


def _format_counts(title: str, counts: Mapping[str, int]) -> str:
    """Return a table of counts, largest first; empty if nothing has a name."""
    if not any(counts):
        return ""
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    rest = ordered[_LISTED:]
    rows = ordered[:_LISTED]
    if rest:
        rows.append((f"{len(rest):,} more", sum(count for _, count in rest)))
    return _format_table((title, "count"), rows)


def _format_table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    cells = [[escape_markdown(str(cell)) for cell in line] for line in (titles, *rows)]
    cells.insert(1, ["---"] * len(titles))
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)
