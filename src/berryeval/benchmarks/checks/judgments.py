"""Judgments that cannot all be meant."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.text import counted, cut
from berryeval._internal.validate import nearest
from berryeval.anchors import format_hash
from berryeval.benchmarks.checks.finding import Finding, name_of
from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.relevance import Labels, find_pack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.anchors import Located
    from berryeval.benchmarks.checks.subject import Subject
    from berryeval.data import Anchor, Judgment, Query


MANY: Final = 5_000  # queries; among more, the nearest is not looked for


def check_queries_exist(subject: Subject) -> Iterator[Finding]:
    """Judgments of queries that are not there."""
    known = subject.benchmark.query_of
    seen: set[str] = set()
    for place, judgment in enumerate(subject.benchmark.judgments):
        query = judgment.query_id
        if query in known or query in seen:
            continue
        seen.add(query)
        near = nearest(query, list(known), 1) if len(known) <= MANY else []
        hint = f"did you mean {near[0]!r}? Else " if near else ""
        advice = f"{hint}add the query, or remove its judgments: they count nowhere"
        yield Finding(
            "unknown query", "error", subject.where("judgments", place),
            f"there is no query {query!r}", advice,
        )  # fmt: skip


def check_repeats(subject: Subject) -> Iterator[Finding]:
    """The same target judged twice for a query, perhaps with another grade."""
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
        grades = "" if same else f", {grade:g} and {other:g}"
        yield Finding(
            "repeated judgment", "warning" if same else "error", subject.where("judgments", place),
            f"{what}{grades}; first in {subject.where('judgments', before)}",
            "remove one of them" if same else "decide which grade is right, and remove the other",
        )  # fmt: skip


def check_groups(subject: Subject) -> Iterator[Finding]:
    """Judgments of one group that say "any" and "all"."""
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


# Grades, and queries to which nothing is relevant.

HIGHEST: Final = 10  # grades above are more likely scores, or ids
# Where a query itself says what is relevant to it, or what the answer is.
_LABELS: Final = (
    "relevant_ids", "relevant_chunk_ids", "ground_truth_ids", "qrels", "evidence",
    "answer_corpus_ids", "answer_session_ids", "locations", "expected_answer", "answer",
)  # fmt: skip


def check_grades(subject: Subject) -> Iterator[Finding]:
    """Grades that are not among those announced, below 0, not whole, or very high."""
    announced = _announced(subject.benchmark.metadata.get("grades"))
    places: dict[float, list[int]] = defaultdict(list)
    for place, judgment in enumerate(subject.benchmark.judgments):
        places[judgment.grade].append(place)
    for grade in sorted(places):
        problem = _problem(grade, announced)
        if problem is None:
            continue
        severity, what, advice = problem
        count = len(places[grade])
        times = f"; {count} judgments have it" if count > 1 else ""
        yield Finding(
            "grade", severity, subject.where("judgments", places[grade][0]),
            f"the grade {grade:g} {what}{times}", advice,
        )  # fmt: skip


def _announced(value: Any) -> list[float]:
    """The grades that the benchmark says it uses, if it does."""
    if not isinstance(value, list) or not all(isinstance(one, int | float) for one in value):
        return []
    return value


def _problem(grade: float, announced: list[float]) -> tuple[Any, str, str] | None:
    if not math.isfinite(grade):
        return "error", "is no finite number: nothing can be scored with it", "correct the grade"
    if announced and grade not in announced:
        known = ", ".join(f"{one:g}" for one in announced)
        return "error", f"is none of those announced: {known}", "correct the grade, or announce it"
    if grade < 0:
        return "info", "is below 0 and counts as not relevant", "use 0 if nothing else is meant"
    if grade != int(grade):
        return "info", "is not whole", "thresholds such as rel=1 compare it as it is"
    if grade > HIGHEST and not announced:
        return "warning", "is high: is it a score?", "grades are usually 0 to 3; nDCG gains them"
    return None


def check_something_relevant(subject: Subject) -> Iterator[Finding]:
    """Queries without a judgment above 0, and without a label that says what is relevant."""
    for place, query in enumerate(subject.benchmark.queries):
        why = _why_nothing(subject, query)
        if why and query.metadata.get("abstention") is not True:
            yield Finding(
                "nothing relevant", "warning", subject.where("queries", place),
                f"the query {query.id!r} has {why}: every system scores 0 for it",
                "judge it, or remove it",
            )  # fmt: skip


def _why_nothing(subject: Subject, query: Query) -> str:
    """Why nothing is relevant to a query; nothing, if something is."""
    judged = subject.judged.get(query.id, [])
    if judged:
        return "" if any(one.grade > 0 for one in judged) else "only judgments of grade 0"
    ids = subject.explicit(query)
    if isinstance(ids, dict) and not any(grade > 0 for grade in ids.values()):
        return "no id above grade 0 in its metadata"
    labels = subject.labels(query)
    if isinstance(labels, Labels) and labels.grades is not None:
        return "" if labels.grades else "no labels that its pack can read"
    return "" if any(query.metadata.get(name) for name in _LABELS) else "no judgment"


# Do judgments point at something?

_NAME: Final = "target"


def check_targets(subject: Subject) -> Iterator[Finding]:
    """Targets that are not in the corpus, or at several places, or only nearly as judged."""
    if not subject.benchmark.documents:
        return
    unknown: list[int] = []
    for place, judgment in enumerate(subject.benchmark.judgments):
        if judgment.target.chunk:
            if subject.named(judgment.target.chunk) is None:
                unknown.append(place)
            continue
        found = subject.located(judgment.target)
        yield from _about(subject, judgment, found, subject.where("judgments", place))
    if unknown:
        yield _about_chunks(subject, unknown)


def _about(subject: Subject, judgment: Judgment, found: Located, where: str) -> Iterator[Finding]:
    """What is wrong with one target."""
    name = name_of(found.anchor)
    if found.lost is not None:
        yield _about_lost(subject, judgment, found, where)
    elif found.choices:
        places = f"{len(found.choices)} places: {cut(', '.join(found.choices))}"
        if found.spans:
            advice = "add the document; until then each place counts"
            yield Finding(_NAME, "warning", where, f"{name} is at {places}", advice)
        else:
            advice = "give the whole path, or the id of the section; until then nothing covers it"
            yield Finding(_NAME, "error", where, f"{name} may be any of {places}", advice)
    elif found.match == "fuzzy":
        yield Finding(
            _NAME, "warning", where, f"{name} is there only nearly ({found.ratio:.2f} alike)",
            "put the quote as the document has it",
        )  # fmt: skip
    elif _has_changed(subject, found.anchor):
        yield Finding(
            _NAME, "info", where, f"{found.anchor.document!r} has changed; {name} is still there",
            "read it again, and renew the hash",
        )  # fmt: skip


def _about_lost(subject: Subject, judgment: Judgment, found: Located, where: str) -> Finding:
    reason, nearest, ratio, repaired = found.lost or ("", "", 0.0, None)
    drifted = _has_changed(subject, found.anchor)
    message = f"query {judgment.query_id!r}: {reason}"
    if nearest:
        how = f"found ({ratio:.2f} alike)" if ratio else "there now"
        message += f"; {how}: {cut(nearest)!r}"
    advice = "correct the target, or remove the judgment: nothing can cover it"
    if repaired is not None:
        advice = f"if that is meant, point at {name_of(repaired)}"
    return Finding("drift" if drifted else _NAME, "error", where, message, advice)


def _has_changed(subject: Subject, anchor: Anchor) -> bool:
    """Whether the document is not the one that was judged."""
    known = subject.benchmark.document_of.get(anchor.document)
    if known is None or not anchor.document_hash:
        return False
    return format_hash(anchor.document_hash) != known.content_hash


def _about_chunks(subject: Subject, places: list[int]) -> Finding:
    first = subject.benchmark.judgments[places[0]].target.chunk
    return Finding(
        _NAME, "warning", subject.where("judgments", places[0]),
        f"{counted(len(places), 'judgment')} by ids of chunks that are no document and no section, "
        f"the first {first!r}: they mean something in one chunking only",
        "point at a document with a section, a span or a quote instead",
    )  # fmt: skip


# Labels that a pack should read.


def check_labels(subject: Subject) -> Iterator[Finding]:
    """A pack that is not there, labels that cannot be read, or that are not in the corpus."""
    benchmark = subject.benchmark
    yield from _about_ids(subject)
    try:
        find_pack(benchmark.pack or "generic")
    except ConfigurationError as error:
        advice = "correct the name of the pack, or install it"
        yield Finding("label", "error", benchmark.name, str(error), advice)
        return
    for place, query in enumerate(benchmark.queries):
        labels = subject.labels(query)
        if isinstance(labels, BerryEvalError):
            advice = "correct the label: the query cannot be scored"
            yield Finding("label", "error", subject.where("queries", place), str(labels), advice)
        elif labels is not None:
            for note in labels.notes:
                yield Finding(
                    "label", "warning", subject.where("queries", place),
                    f"the query {query.id!r}: {note}", "correct the label, if you can",
                )  # fmt: skip


def _about_ids(subject: Subject) -> Iterator[Finding]:
    """What is wrong with the relevant ids that queries have in their metadata."""
    unknown: list[tuple[int, str]] = []
    for place, query in enumerate(subject.benchmark.queries):
        ids = subject.explicit(query)
        if isinstance(ids, BerryEvalError):
            advice = "correct it: the benchmark cannot be scored"
            yield Finding("label", "error", subject.where("queries", place), str(ids), advice)
        elif ids and subject.benchmark.documents:
            unknown += [(place, one) for one in ids if subject.named(one) is None]
    if unknown:
        place, first = unknown[0]
        yield Finding(
            "label", "warning", subject.where("queries", place),
            f"{counted(len(unknown), 'id')} in metadata of queries that are no document and no "
            f"section, the first {first!r}: they mean something in one chunking only",
            "correct them, or judge a document with a section, a span or a quote instead",
        )  # fmt: skip


# Is there enough of everything?

FEW: Final = 25  # queries; below, a mean moves a lot with each of them
_SIZE: Final = "size"


def check_size(subject: Subject) -> Iterator[Finding]:
    """No documents, or few queries."""
    benchmark = subject.benchmark
    if not benchmark.documents:
        yield Finding(
            _SIZE, "info", benchmark.name, "there are no documents, so targets cannot be looked up",
            "add the corpus, if you have it",
        )  # fmt: skip
    if len(benchmark.queries) < FEW:
        yield Finding(
            _SIZE, "info", benchmark.name,
            f"{counted(len(benchmark.queries), 'query', 'queries')} only: one of them moves a mean "
            f"by up to {1 / max(1, len(benchmark.queries)):.3f}",
            "look at confidence intervals before you compare two systems",
        )  # fmt: skip


# Texts with nothing in them.

_TEXT: Final = "empty text"


def check_texts(subject: Subject) -> Iterator[Finding]:
    """Queries and documents that are blank."""
    for place, query in enumerate(subject.benchmark.queries):
        if not query.text.strip():
            yield Finding(
                _TEXT, "error", subject.where("queries", place),
                f"the query {query.id!r} has no text", "write the query, or remove it",
            )  # fmt: skip
    for place, document in enumerate(subject.benchmark.documents):
        if not document.text.strip():
            title = f", only a title: {document.title!r:.60}" if document.title.strip() else ""
            yield Finding(
                _TEXT, "warning", subject.where("documents", place),
                f"the document {document.id!r} has no text{title}",
                "remove it, or give it its text: no chunk of it can be found",
            )  # fmt: skip


# What the loader noticed.

# A place (a file, perhaps with a line or a path in its JSON), then what is there.
_REMARK: Final = re.compile(r"(?s)(?P<where>.+?(?::\d+|: \[\S*|: \w+[.\[]\S*)?): (?P<what>.+)")


def check_remarks(subject: Subject) -> Iterator[Finding]:
    """What was odd in the files, and kept."""
    for remark in subject.benchmark.remarks:
        found = _REMARK.fullmatch(remark)
        where, what = (found["where"], found["what"]) if found else (subject.benchmark.name, remark)
        yield Finding("remark", "warning", where, what, "look whether this was meant")
