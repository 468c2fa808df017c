"""Systems that ran on different versions of a benchmark: which of their queries compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from berryeval._internal.numbers import format_metric
from berryeval.errors import DataError
from berryeval.runs import DataChange, DataVersion, find_touched

if TYPE_CHECKING:
    from berryeval.workflows.systems import Candidate


@dataclass(frozen=True)
class ComparedData:
    """The systems with the queries that compare.

    `changes` has what changed in the data since the first system, by system.
    """

    candidates: tuple[Candidate, ...]
    warnings: tuple[str, ...] = ()
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)


def select_comparable(
    candidates: Sequence[Candidate],
    metric: str = "",
    *,
    baseline: str | None = None,
    anyway: bool = False,
    strict: bool = False,
) -> ComparedData:
    """Leave out the queries that are not the same for all systems that have them.

    Raise a DataError if no query is left, if relevance was judged by other rules, or if `strict`
    and anything changed; `anyway` compares changed queries too. Warnings give the values of the
    metric, by default the first, over the compared queries of each pair: the baseline, a label,
    with every other system; all pairs without one.
    """
    whole = tuple(candidates)
    first, changed = whole[0], set[str]()
    for one, other in combinations(whole, 2):
        changed.update(_compare(one, other).changed)
    compared = {one.label: _compare(first, one) for one in whole[1:]}
    changes = {label: change for label, change in compared.items() if change.is_worth_a_word}
    problem = _find_problem(whole, changes, strict=strict)
    if problem and not (anyway and not strict):
        raise DataError(problem)
    if not changes and not changed:
        return ComparedData(whole)
    kept = whole if anyway else tuple(_leave_out(one, changed) for one in whole)
    warnings, data = [], {}
    for one in whole[1:]:
        if one.label in changes:
            change, touched = changes[one.label], _count_touched(first, one, changes[one.label])
            found = change.describe(touched, "the same" if anyway else "compared")
            warnings.append(
                f"{one.part.name} changed between {first.label} and {one.label}: {found}"
            )
            data[one.label] = change.to_dict(touched)
    pairs = [one for one in combinations(kept, 2) if baseline in {None, *(s.label for s in one)}]
    if anyway and changed:
        warnings.append(
            f"{len(changed):,} changed queries are compared too: a difference may come from the "
            "data, not from the systems"
        )
    return ComparedData(kept, (*warnings, *_describe_values(whole, pairs, metric)), data)


def _compare(before: Candidate, after: Candidate) -> DataChange:
    """Compare the data of two systems; those of one run are the same, however chunked."""
    old, new = (DataVersion.of(one.part, one.record) for one in (before, after))
    runs = [(one.source.run.id, one.source.run.created) for one in (before, after)]
    if runs[0] == runs[1] and old.content_hash == new.content_hash:  # not just begun together
        new = new._replace(fingerprints=dict.fromkeys(new.fingerprints, ""))
    return DataChange.between(old, new, either_way=True)


def _find_problem(
    candidates: Sequence[Candidate], changes: dict[str, DataChange], *, strict: bool
) -> str:
    """Return why the systems cannot be compared; empty if they can."""
    first = candidates[0]
    for one in candidates[1:]:
        name, labels = one.part.name, f"{first.label} and {one.label}"
        if first.record.judging and one.record.judging not in {"", first.record.judging}:
            return (
                f"the hits of {labels} on {name} were judged by other rules "
                f"({first.record.judging}, then {one.record.judging}): they cannot be compared"
            )
        change = changes.get(one.label)
        if change is not None and strict:
            return (
                f"{name} is not the same for {labels}, which --strict-data does not accept: "
                f"{change.describe(word='the same')}"
            )
        if change is not None and change.changed and not change.compared:
            return (
                f"no query of {name} is the same for {labels}: {change.describe_changed()}. Run "
                "both on the same data, or compare the queries that they share with --anyway"
            )
    return ""


def _leave_out(one: Candidate, queries: set[str]) -> Candidate:
    """Return the system without the scores of these queries."""
    scores, standard = one.record.scores, one.record.standard
    if not queries or scores is None:
        return one
    keep = [query for query in scores.queries if query not in queries]
    every = None if standard is None else standard.select(keep)
    return one._replace(record=replace(one.record, scores=scores.select(keep), standard=every))


def _count_touched(first: Candidate, one: Candidate, change: DataChange) -> int | None:
    """Count the compared queries for which a system retrieved a document that changed."""
    if change.documents is None:
        return None
    gone = change.documents.removed | change.documents.changed
    come = change.documents.added | change.documents.changed
    before = find_touched(first.part, [first.record], change.compared, gone)
    after = find_touched(one.part, [one.record], change.compared, come)
    return len(before | after)


def _describe_values(
    whole: Sequence[Candidate], pairs: Sequence[tuple[Candidate, Candidate]], metric: str
) -> Iterator[str]:
    """Say where the value over the compared queries of a pair is not that of the whole run."""
    shared = {(one.label, other.label): _share(one, other) for one, other in pairs}
    alike = len(set(shared.values())) == 1
    found: dict[str, None] = {}
    for one in whole:
        scores = one.record.scores_with(metric) if metric else one.record.scores
        for labels, queries in shared.items():
            if scores is None or not queries or one.label not in labels:
                continue
            name = metric or scores.metrics[0]
            shown = format_metric(scores.select(queries).mean[name])
            all_of_them = format_metric(scores.mean[name])
            if shown != all_of_them:
                other = labels[labels[0] == one.label]
                count = "only" if len(queries) == 1 else f"{len(queries):,}"
                noun = "query" if len(queries) == 1 else "queries"
                compared = f"{count} compared {noun}"
                if not alike:
                    compared = f"{count} {noun} compared with {other}"
                found[
                    f"{name} of {one.label} is {shown} over the {compared} and {all_of_them} over "
                    f"all {scores.count:,} of its run"
                ] = None
    yield from found


def _share(one: Candidate, other: Candidate) -> frozenset[str]:
    """Return the queries that both systems have."""
    tables = (one.record.scores, other.record.scores)
    known = [frozenset(table.queries) for table in tables if table is not None]
    return known[0] & known[1] if len(known) == len(tables) else frozenset()
