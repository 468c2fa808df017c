"""Do judgments point at something?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.anchors.corpus import as_hash
from berryeval.benchmarks.checks.finding import Finding
from berryeval.benchmarks.checks.naming import name_of
from berryeval.io.words import counted, cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.anchors import Located
    from berryeval.benchmarks.checks.subject import Subject
    from berryeval.records import Anchor, Judgment

__all__ = ["check_targets"]

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
    return as_hash(anchor.document_hash) != known.content_hash


def _about_chunks(subject: Subject, places: list[int]) -> Finding:
    first = subject.benchmark.judgments[places[0]].target.chunk
    return Finding(
        _NAME, "warning", subject.where("judgments", places[0]),
        f"{counted(len(places), 'judgment')} by ids of chunks that are no document and no section, "
        f"the first {first!r}: they mean something in one chunking only",
        "point at a document with a section, a span or a quote instead",
    )  # fmt: skip
