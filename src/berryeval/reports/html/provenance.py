"""Provenance: runs, data hashes and versions, and notes on reliability."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from berryeval._internal import numbers
from berryeval._internal.text import pluralize
from berryeval.reports.html.standings import order_systems
from berryeval.reports.html.typography import shorten
from berryeval.reports.sections import format_tags
from berryeval.reports.tables import unjudged_share

if TYPE_CHECKING:
    from berryeval.reports.sections import Section, System
    from berryeval.runs import RunRecord


_ERROR_CHARACTERS = 80
_HASH_CHARACTERS = 23  # "sha256:" and sixteen digits


@dataclass(frozen=True)
class RunFacts:
    """Facts about a run, as names and values."""

    id: str
    started: str
    facts: tuple[tuple[str, str], ...]


def collect_facts(run: RunRecord) -> RunFacts:
    """Collect the facts about a run and each of its benchmarks."""
    facts = [
        ("started", _format_time(run.created)),
        ("tags", shorten(format_tags(run.tags), 300)),
        ("configuration", _brief(run.config_hash)),
    ]
    for part in run.benchmarks:
        queries = pluralize(len(part.queries), "query", "queries")
        words = f"{_brief(part.content_hash)}, {queries}, k = {part.k}"
        facts.append((f"data of {shorten(part.name, 60)}", words))
    facts.append(("versions", ", ".join(f"{name} {text}" for name, text in run.versions.items())))
    return RunFacts(
        shorten(run.id, 120),
        _format_time(run.created),
        tuple((name, text) for name, text in facts if text),
    )


def reliability_notes(section: Section) -> tuple[tuple[str, str], ...]:
    """Return the notes on reliability, each with the system it is about, or empty for all."""
    found: dict[tuple[str, str], None] = {}
    for note in section.notes:
        found["", note] = None
    for system in order_systems(section):
        for note in system.benchmark.notes:
            found["", note] = None
        for note in (*system.record.warnings, *(system.scores.notes if system.scores else ())):
            found[system.label, _shorten_error(system, note)] = None
    return tuple((about, shorten(note, 600)) for about, note in found)


def _shorten_error(system: System, note: str) -> str:
    """Shorten an error within a note; the section on failures shows it in full."""
    errors = (error for error in system.errors if error in note)
    longest = max(errors, key=len, default="")
    return note.replace(longest, shorten(longest, _ERROR_CHARACTERS)) if longest else note


def describe_unjudged(section: Section) -> str:
    """Return the share of hits without a judgment; empty without such hits."""
    shares = [
        f"{shorten(system.label, 60)} {numbers.format_share(share)}"
        for system in order_systems(section)
        if (share := unjudged_share(system.scores))
    ]
    return f"Unjudged hits count as not relevant: {', '.join(shares)}." if shares else ""


def _format_time(text: str) -> str:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return shorten(text, 40)
    zone = f" UTC{found:%z}".removesuffix("+0000") if found.tzinfo else ""
    return f"{found:%Y-%m-%d %H:%M}{zone}"


def _brief(digest: str) -> str:
    return digest[:_HASH_CHARACTERS]
