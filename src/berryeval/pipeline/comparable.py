"""Whether systems may be compared: the same data, the same number of hits, answers to judge."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from berryeval.errors import BerryEvalError, DataError
from berryeval.harness.outcomes import FAILED, NO_ANSWER
from berryeval.io.words import counted
from berryeval.reports.differences import finding
from berryeval.stats.alignment import unanswered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from berryeval.pipeline.systems import Candidate
    from berryeval.stats import Comparison, PairedDifference

__all__ = ["check_comparable", "with_failures"]


def check_comparable(candidates: Sequence[Candidate], *, anyway: bool = False) -> list[str]:
    """Refuse systems that were measured on different data; warn of all else that is not alike."""
    first, *others = (one.part.asked for one in candidates)
    apart = {what for one in others for what in one.different(first)}
    return [
        *(_data(candidates, anyway=anyway) if "data" in apart else ()),
        *(_queries(candidates) if "queries" in apart else ()),
        *(_depth(candidates) if "hits" in apart else ()),
        *_chunkers(candidates),
        *_failed(candidates),
        *_unanswered(candidates),
    ]


def _told(candidates: Sequence[Candidate], value: Callable[[Candidate], object]) -> str:
    return ", ".join(f"{one.label}: {value(one)}" for one in candidates)


def _data(candidates: Sequence[Candidate], *, anyway: bool) -> list[str]:
    told = _told(candidates, lambda one: one.part.content_hash)
    name = candidates[0].part.name
    if not anyway:
        msg = (
            f"{name} is not the same in these runs ({told}): a difference may come from its data, "
            "not from the systems. Run both on the same data, or compare the queries that they "
            "share with --anyway"
        )
        raise DataError(msg)
    texts: dict[str, set[str]] = {}
    for one in candidates:
        for query in one.part.queries:
            texts.setdefault(query.id, set()).add(query.text)
    changed = sum(len(found) > 1 for found in texts.values())
    words = f"; {changed} queries have another text in some of them" if changed else ""
    text = f"{name} is not the same in these runs ({told}): a difference may come from its data, "
    return [f"{text}not from the systems{words}"]


def _queries(candidates: Sequence[Candidate]) -> list[str]:
    told = _told(candidates, lambda one: counted(len(one.part.queries), "query", "queries"))
    return [f"not all were asked the same queries ({told}): only those that both have count"]


def _depth(candidates: Sequence[Candidate]) -> list[str]:
    depths = {one.part.k for one in candidates}
    told = _told(candidates, lambda one: f"{one.part.k} hits")
    deeper = f"measures that look deeper than {min(depths)} favour those that were asked for more"
    return [f"not all were asked for as many hits ({told}): {deeper}"]


def _chunkers(candidates: Sequence[Candidate]) -> list[str]:
    if not any(one.record.chunker for one in candidates):
        return []  # there was nothing to cut, or all followed the benchmark
    names = [one.record.chunker or _of_folder(one) for one in candidates]
    used = {_spelled(name) for name in names}
    if len(used) == 1:
        return []
    labels = (one.label for one in candidates)
    told = ", ".join(
        f"{label}: {name or 'as the benchmark suggested'}"
        for label, name in zip(labels, names, strict=True)
    )
    what = "were not" if all(used) else "may not have been"
    return [f"the documents {what} cut alike ({told}): a hit of one may be half a hit of another"]


def _of_folder(one: Candidate) -> str:
    """The chunker of a run whose record does not say it; runs of today need nothing of this."""
    from berryeval.pipeline.kept_hits import recorded_chunker

    return recorded_chunker(one.source.found, one.part, one.record)


def _spelled(name: str) -> str:
    """The name of a chunker, however it was spelled; empty where nothing says which it was."""
    from berryeval.chunkers import parse_chunker

    try:
        return str(parse_chunker(name)) if name else ""
    except BerryEvalError:
        return name  # of another version, or registered by who made the run


def _failed(candidates: Sequence[Candidate]) -> list[str]:
    """A query without an answer scores 0: that is no quality of a ranking."""
    warnings = []
    for one in candidates:
        outcomes = Counter(answer.outcome for answer in one.record.answers)
        failed = {name: outcomes[name] for name in FAILED if outcomes[name]}
        if failed:
            told = ", ".join(f"{count} {name}" for name, count in failed.items())
            count = sum(failed.values())
            noun = "query has" if count == 1 else "queries have"
            warnings.append(
                f"{count} {noun} no answer of {one.label} ({told}) and count as 0: a difference "
                "may be the failure's, not the ranking's"
            )
    return warnings


def _unanswered(candidates: Sequence[Candidate]) -> list[str]:
    """Queries that a run does not have; those that failed were told of."""
    found = []
    for one in candidates:
        if one.record.scores is not None:
            failed = [a.query_id for a in one.record.answers if a.outcome in FAILED]
            found.append(unanswered(one.label, one.record.scores, failed))
    return [text for text in found if text]


def with_failures(
    found: Comparison, candidates: Sequence[Candidate], groups: Mapping[str, str] | None
) -> Comparison:
    """The comparison, in which every finding that rests on answers which are not there says so."""
    failed = {one.label: _failing(one) for one in candidates}
    if not any(failed.values()):
        return found
    scored = {
        one.label: set() if one.record.scores is None else set(one.record.scores.queries)
        for one in candidates
    }
    parts = {}
    for label, group in found.groups.items():
        members = {query for query, name in (groups or {}).items() if name == label}
        parts[label] = _noted(group, failed, {name: one & members for name, one in scored.items()})
    return replace(_noted(found, failed, scored), groups=parts)


def _failing(one: Candidate) -> set[str]:
    """The queries of a value that is no ranking's."""
    return {answer.query_id for answer in one.record.answers if answer.outcome in NO_ANSWER}


def _noted(
    found: Comparison, failed: Mapping[str, set[str]], scored: Mapping[str, set[str]]
) -> Comparison:
    return replace(found, rows=tuple(_as_answered(row, failed, scored) for row in found.rows))


def _as_answered(
    row: PairedDifference, failed: Mapping[str, set[str]], scored: Mapping[str, set[str]]
) -> PairedDifference:
    """The row; where its lower value has zeros that are no ranking's, with a note on that."""
    lower = row.system if row.difference < 0 else row.baseline
    count = len(failed[lower] & scored[row.system] & scored[row.baseline])
    if not count or not row.shown:
        return row
    note = (
        f"{lower} has no answer to {count:,} of {counted(row.n, 'query', 'queries')}, which count "
        f"as 0: {row.system} is {finding(row)} as answered, not as ranked"
    )
    return replace(row, notes=(*row.notes, note))
