"""Checks of judgments, grades, targets, labels and texts."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.text import find_field, pluralize, truncate
from berryeval._internal.validate import nearest
from berryeval.anchors import format_hash
from berryeval.benchmarks.checks.finding import Finding, name_of
from berryeval.data import ScopeIndex, format_scope, is_in_scope
from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.relevance import Labels, find_pack

if TYPE_CHECKING:
    from berryeval.anchors import Location
    from berryeval.benchmarks.checks.subject import Subject
    from berryeval.data import Anchor, Judgment, Query


MANY: Final = 5_000  # queries; no suggestion among more


def check_queries_exist(subject: Subject) -> Iterator[Finding]:
    """Find judgments of unknown queries."""
    known = subject.benchmark.query_of
    seen: set[str] = set()
    for place, judgment in enumerate(subject.benchmark.judgments):
        query = judgment.query_id
        if query in known or query in seen:
            continue
        seen.add(query)
        near = nearest(query, list(known), 1) if len(known) <= MANY else []
        hint = f"did you mean {near[0]!r}? Otherwise " if near else ""
        advice = f"{hint}add the query, or remove its judgments, which are never used"
        yield Finding(
            "unknown query", "error", subject.where("judgments", place),
            f"unknown query {query!r}", advice,
        )  # fmt: skip


def check_repeats(subject: Subject) -> Iterator[Finding]:
    """Find targets judged twice for a query."""
    first: dict[tuple[str, str, Anchor], int] = {}
    judgments = subject.benchmark.judgments
    for place, judgment in enumerate(judgments):
        bare = replace(judgment.target, document_hash="", extra={})
        before = first.setdefault((judgment.query_id, judgment.group, bare), place)
        if before == place:
            continue
        grade, other = judgments[before].grade, judgment.grade
        same = grade == other
        what = f"for query {judgment.query_id!r}, {name_of(bare)} is judged twice"
        grades = "" if same else f", with grades {grade:g} and {other:g}"
        yield Finding(
            "repeated judgment", "warning" if same else "error", subject.where("judgments", place),
            f"{what}{grades}; first in {subject.where('judgments', before)}",
            "remove one of them" if same else "keep the correct grade and remove the other",
        )  # fmt: skip


def check_groups(subject: Subject) -> Iterator[Finding]:
    """Find groups of judgments that need both "any" and "all"."""
    needs: dict[tuple[str, str], str] = {}
    for place, judgment in enumerate(subject.benchmark.judgments):
        key = judgment.query_id, judgment.group
        if judgment.group and needs.setdefault(key, judgment.need) != judgment.need:
            yield Finding(
                "group", "error", subject.where("judgments", place),
                f"for query {judgment.query_id!r}, group {judgment.group!r} needs "
                f"{needs[key]!r} before and {judgment.need!r} here",
                'give all judgments of a group the same "need"',
            )  # fmt: skip


def check_scopes(subject: Subject) -> Iterator[Finding]:
    """Find scopes without a document, and targets outside the scope of their query."""
    documents = subject.benchmark.document_of
    index = ScopeIndex(subject.benchmark.documents)
    for place, query in enumerate(subject.benchmark.queries) if documents else ():
        if not query.scope:
            continue
        where = subject.where("queries", place)
        if not index.count(query.scope):
            yield Finding(
                "scope", "error", where,
                f"no document is in the scope of query {query.id!r}: {format_scope(query.scope)}",
                "correct the scope, or the field of the documents; nothing can be found",
            )  # fmt: skip
            continue
        for passage in subject.passages_for(query):
            inside = (is_in_scope(documents[one[0]], query.scope) for one in passage.places)
            if passage.grade > 0 and passage.places and not any(inside):
                yield Finding(
                    "scope", "error", where,
                    f"{passage.name}, relevant to query {query.id!r}, is outside its scope",
                    "correct the scope or the judgment; this target cannot be found",
                )  # fmt: skip


HIGHEST: Final = 10  # higher grades are more likely scores or ids
# Metadata in which a query names its relevant items or its answer.
_LABELS: Final = (
    "relevant_ids", "relevant_chunk_ids", "ground_truth_ids", "qrels", "evidence",
    "answer_corpus_ids", "answer_session_ids", "locations", "expected_answer", "answer",
)  # fmt: skip


def check_grades(subject: Subject) -> Iterator[Finding]:
    """Find undeclared, negative, fractional, very high and infinite grades."""
    declared = subject.benchmark.metadata.get("grades")
    if not isinstance(declared, list) or not all(isinstance(one, int | float) for one in declared):
        declared = []
    places: dict[float, list[int]] = defaultdict(list)
    for place, judgment in enumerate(subject.benchmark.judgments):
        places[judgment.grade].append(place)
    for grade in sorted(places):
        problem = _find_problem(grade, declared)
        if problem is None:
            continue
        severity, what, advice = problem
        count = len(places[grade])
        times = f"; {count} judgments have it" if count > 1 else ""
        yield Finding(
            "grade", severity, subject.where("judgments", places[grade][0]),
            f"the grade {grade:g} {what}{times}", advice,
        )  # fmt: skip


def _find_problem(grade: float, declared: list[float]) -> tuple[Any, str, str] | None:
    if not math.isfinite(grade):
        return "error", "is not finite, so nothing can be scored", "correct the grade"
    if declared and grade not in declared:
        known = ", ".join(f"{one:g}" for one in declared)
        return "error", f"is not declared; declared: {known}", "correct the grade, or declare it"
    if grade < 0:
        return "info", "is negative and counts as not relevant", "use 0 unless the value matters"
    if grade != int(grade):
        return "info", "is not a whole number", "thresholds such as rel=1 compare it unrounded"
    if grade > HIGHEST and not declared:
        return "warning", "is unusually high; is it a score?", "grades are usually 0 to 3"
    return None


def check_something_relevant(subject: Subject) -> Iterator[Finding]:
    """Find queries without a relevant judgment or label."""
    for place, query in enumerate(subject.benchmark.queries):
        why = _explain_nothing(subject, query)
        if why and query.metadata.get("abstention") is not True:
            yield Finding(
                "nothing relevant", "warning", subject.where("queries", place),
                f"query {query.id!r} has {why}, so every system scores 0",
                "judge it, or remove it",
            )  # fmt: skip


def _explain_nothing(subject: Subject, query: Query) -> str:
    """Explain why nothing is relevant to a query; empty if something is."""
    judged = subject.judged.get(query.id, [])
    if judged:
        return "" if any(one.grade > 0 for one in judged) else "only judgments with grade 0"
    ids = subject.read_explicit_ids(query)
    if isinstance(ids, dict) and not any(grade > 0 for grade in ids.values()):
        return "no id above grade 0 in its metadata"
    labels = subject.read_labels(query)
    if isinstance(labels, Labels) and labels.grades is not None:
        return "" if labels.grades else "no labels that its pack can read"
    fields = (find_field(query.metadata, name) for name in _LABELS)
    return "" if any(query.metadata[one] for one in fields if one) else "no judgment"


def check_targets(subject: Subject) -> Iterator[Finding]:
    """Find targets that are missing, ambiguous, changed or matched only approximately."""
    if not subject.benchmark.documents:
        return
    unknown: list[int] = []
    for place, judgment in enumerate(subject.benchmark.judgments):
        if judgment.target.chunk:
            if subject.find_named(judgment.target.chunk) is None:
                unknown.append(place)
            continue
        found = subject.locate(judgment.target)
        yield from _check_target(subject, judgment, found, subject.where("judgments", place))
    if unknown:
        first = subject.benchmark.judgments[unknown[0]].target.chunk
        yield Finding(
            "target", "warning", subject.where("judgments", unknown[0]),
            f"{pluralize(len(unknown), 'judgment')} with chunk ids that name no document or "
            f"section, such as {first!r}; they are valid for one chunking only",
            "use a document with a section, a span or a quote instead",
        )  # fmt: skip


def _check_target(
    subject: Subject, judgment: Judgment, found: Location, where: str
) -> Iterator[Finding]:
    """Find the problem of one target."""
    name = name_of(found.anchor)
    if found.lost is not None:
        yield _report_lost(subject, judgment, found, where)
    elif found.choices:
        places = f"{len(found.choices)} places: {truncate(', '.join(found.choices))}"
        if found.spans:
            advice = "name the document; until then every place counts"
            yield Finding("target", "warning", where, f"{name} is at {places}", advice)
        else:
            advice = "give the full path or the section id; until then nothing matches"
            yield Finding("target", "error", where, f"{name} is ambiguous, with {places}", advice)
    elif found.match == "fuzzy":
        yield Finding(
            "target", "warning", where, f"{name} matches only approximately ({found.ratio:.2f})",
            "quote the document exactly",
        )  # fmt: skip
    elif _has_changed(subject, found.anchor):
        yield Finding(
            "target", "info", where, f"{found.anchor.document!r} has changed, but still has {name}",
            "check the judgment, and update the hash",
        )  # fmt: skip


def _report_lost(subject: Subject, judgment: Judgment, found: Location, where: str) -> Finding:
    reason, nearest, ratio, repaired = found.lost or ("", "", 0.0, None)
    drifted = _has_changed(subject, found.anchor)
    message = f"query {judgment.query_id!r}: {reason}"
    if nearest:
        how = f"most similar ({ratio:.2f})" if ratio else "current text"
        message += f"; {how}: {truncate(nearest)!r}"
    advice = "correct the target or remove the judgment, which nothing can match"
    if repaired is not None:
        advice = f"if this is the intended passage, use {name_of(repaired)}"
    return Finding("drift" if drifted else "target", "error", where, message, advice)


def _has_changed(subject: Subject, anchor: Anchor) -> bool:
    """Whether the document changed after it was judged."""
    known = subject.benchmark.document_of.get(anchor.document)
    if known is None or not anchor.document_hash:
        return False
    return format_hash(anchor.document_hash) != known.content_hash


def check_labels(subject: Subject) -> Iterator[Finding]:
    """Find an unknown pack, and labels that are unreadable or not in the corpus."""
    benchmark = subject.benchmark
    yield from _check_ids(subject)
    try:
        find_pack(benchmark.pack or "generic")
    except ConfigurationError as error:
        advice = "correct the name of the pack, or install it"
        yield Finding("label", "error", benchmark.name, str(error), advice)
        return
    for place, query in enumerate(benchmark.queries):
        labels = subject.read_labels(query)
        if isinstance(labels, BerryEvalError):
            advice = "correct the label; until then the query cannot be scored"
            yield Finding("label", "error", subject.where("queries", place), str(labels), advice)
        elif labels is not None:
            for note in labels.notes:
                yield Finding(
                    "label", "warning", subject.where("queries", place),
                    f"query {query.id!r}: {note}", "correct the label if possible",
                )  # fmt: skip


def _check_ids(subject: Subject) -> Iterator[Finding]:
    """Find problems of the relevant ids in the metadata of queries."""
    unknown: list[tuple[int, str]] = []
    for place, query in enumerate(subject.benchmark.queries):
        ids = subject.read_explicit_ids(query)
        if isinstance(ids, BerryEvalError):
            advice = "correct the ids; until then the benchmark cannot be scored"
            yield Finding("label", "error", subject.where("queries", place), str(ids), advice)
        elif ids and subject.benchmark.documents:
            unknown += [(place, one) for one in ids if subject.find_named(one) is None]
    if unknown:
        place, first = unknown[0]
        yield Finding(
            "label", "warning", subject.where("queries", place),
            f"{pluralize(len(unknown), 'id')} in the metadata of queries that name no document or "
            f"section, such as {first!r}; they are valid for one chunking only",
            "correct them, or judge a document with a section, a span or a quote instead",
        )  # fmt: skip


FEW: Final = 25  # with fewer queries, each one moves the mean a lot


def check_size(subject: Subject) -> Iterator[Finding]:
    """Find a missing corpus, and a small number of queries."""
    benchmark = subject.benchmark
    if not benchmark.documents:
        yield Finding(
            "size", "info", benchmark.name, "no documents, so targets cannot be checked",
            "add the corpus if you have it",
        )  # fmt: skip
    if len(benchmark.queries) < FEW:
        yield Finding(
            "size", "info", benchmark.name,
            f"only {pluralize(len(benchmark.queries), 'query')}; each can change a mean "
            f"by up to {1 / max(1, len(benchmark.queries)):.3f}",
            "check confidence intervals before you compare two systems",
        )  # fmt: skip


def check_texts(subject: Subject) -> Iterator[Finding]:
    """Find blank queries and documents."""
    for place, query in enumerate(subject.benchmark.queries):
        if not query.text.strip():
            yield Finding(
                "empty text", "error", subject.where("queries", place),
                f"query {query.id!r} has no text", "write the query or remove it",
            )  # fmt: skip
    for place, document in enumerate(subject.benchmark.documents):
        if not document.text.strip():
            title = f", only a title: {document.title!r:.60}" if document.title.strip() else ""
            yield Finding(
                "empty text", "warning", subject.where("documents", place),
                f"document {document.id!r} has no text{title}",
                "add its text or remove it, because none of its chunks can be found",
            )  # fmt: skip


# A location (a file, perhaps with a line or a JSON path), then the remark.
_REMARK: Final = re.compile(r"(?s)(?P<where>.+?(?::\d+|: \[\S*|: \w+[.\[]\S*)?): (?P<what>.+)")


def check_remarks(subject: Subject) -> Iterator[Finding]:
    """Report the oddities that the loader kept."""
    for remark in subject.benchmark.remarks:
        found = _REMARK.fullmatch(remark)
        where, what = (found["where"], found["what"]) if found else (subject.benchmark.name, remark)
        yield Finding("remark", "warning", where, what, "check whether this is intended")
