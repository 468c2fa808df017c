"""TREC files of a provider: its rankings of chunks and of documents, each with its judgments.

`berryeval score qrels.trec run.trec` on these files gives the scores of the run. A target is judged
under the id of the hit that is credited with it, or under its own name if it was missed; a hit of
something that was found above has grade 0. In `run.documents.trec` each document stands at its best
hit, and in `qrels.documents.trec` it has the highest grade of the targets in it.

TREC files cannot express that one hit covers several targets, or a lesser member of a group: other
tools score such queries differently.
"""

from __future__ import annotations

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING, Final

from berryeval._internal.text import pluralize
from berryeval.data import DEFAULT_RULE, Qrels, QueryTable, Run
from berryeval.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.anchors import Target, Targets
    from berryeval.data import Anchor, Hit, Kind
    from berryeval.relevance import Judged

log = logging.getLogger("berryeval")
RUN: Final = "run.trec"
QRELS: Final = "qrels.trec"
DOCUMENT_RUN: Final = "run.documents.trec"
DOCUMENT_QRELS: Final = "qrels.documents.trec"
_BATCH: Final = 1000  # queries that are converted to rows at once
_SPACE: Final = re.compile(r"\s+")
_NOTHING: Final = "nothing-is-relevant"  # a query without judgments counts, and scores 0


class TrecFiles:
    """Collects the judged answers of a provider, and writes its TREC files."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self._tables = {RUN: _Rows("run"), DOCUMENT_RUN: _Rows("run")}
        self._tables |= {QRELS: _Rows("qrels"), DOCUMENT_QRELS: _Rows("qrels")}
        self._inexact = 0  # queries that the files cannot express

    def add(self, query: str, hits: Sequence[Hit], judged: Judged) -> None:
        """Add the answer to a query."""
        if hits:
            self._tables[RUN].add(query, {hit.id: float(hit.score) for hit in hits})
            self._tables[DOCUMENT_RUN].add(query, _rank_documents(judged.hits))
        self._tables[QRELS].add(query, self._judge_hits(hits, judged) or {_NOTHING: 0.0})
        self._tables[DOCUMENT_QRELS].add(query, self._judge_documents(judged) or {_NOTHING: 0.0})

    def _judge_hits(self, hits: Sequence[Hit], judged: Judged) -> dict[str, float]:
        ranking = judged.ranking
        grades = {hits[hit.rank - 1].id: float(hit.grade) for hit in ranking.hits}
        left = Counter(map(float, ranking.grades))
        left.subtract(grades.values())
        names: dict[float, list[str]] = defaultdict(list)
        for target in judged.joined.missed:
            names[float(target.grade)].append(_name_target(target))
        self._inexact += any(left[grade] < 0 for grade in left if grade > 0) or bool(ranking.also)
        for grade, times in sorted(left.items(), reverse=True):
            for number in range(times):
                name = names[grade][number] if number < len(names[grade]) else "target"
                grades[_find_free_name(name, grades)] = grade
        return grades

    def _judge_documents(self, judged: Judged) -> dict[str, float]:
        grades: dict[str, float] = {}
        for place, target in enumerate(judged.joined.targets):
            hit = judged.joined.hit_of.get(place)
            if hit is not None:
                documents = {_document_of(judged.hits[hit]): target.grade}
            else:
                documents = self._find_documents(target) or {_name_target(target): target.grade}
            for document, grade in documents.items():
                grades[document] = max(grades.get(document, grade), float(grade))
        return grades

    def _find_documents(self, target: Target) -> dict[str, float]:
        """Return the documents that a target is in, with its grade in each."""
        found: dict[str, float] = {}
        for member, grade in zip(target.members, target.grades, strict=True):
            anchor = member.anchor
            chunk = self._targets.chunks.get(anchor.chunk)
            homes = {anchor.document, *(span.document for span in member.spans)}
            for home in filter(None, homes | {chunk.doc_id if chunk else anchor.chunk}):
                found[_escape(home)] = max(found.get(_escape(home), grade), grade)
        return found

    def write(self, folder: Path, name: str) -> list[str]:
        """Write the files; return a warning about the first that the format cannot hold."""
        remove_trec_files(folder)  # those of an earlier run
        if self._inexact:
            text = "%s: other tools score %s differently: a hit covers several targets"
            log.info(text, name, pluralize(self._inexact, "query"))
        warnings = []
        for pair in ((RUN, QRELS), (DOCUMENT_RUN, DOCUMENT_QRELS)):
            if problem := next(filter(None, (self._write(folder / one, name) for one in pair)), ""):
                (folder / pair[0]).unlink(missing_ok=True)  # one is of no use without the other
                warnings.append(problem)
        return warnings[:1]

    def _write(self, path: Path, name: str) -> str:
        try:
            self._tables[path.name].write(path, name)
        except DataError as error:
            return f"{path.name} was not written: {error}"
        return ""


class _Rows:
    """Rows of one file, kept as columns."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._tables: list[QueryTable] = []
        self._last: dict[str, Mapping[str, float]] = {}

    def add(self, query: str, rows: Mapping[str, float]) -> None:
        self._last[query] = rows
        if len(self._last) == _BATCH:
            self._flush()

    def _flush(self) -> None:
        if self._last:
            self._tables.append(QueryTable.from_dict(self._last, kind=self._kind))
            self._last = {}

    def write(self, path: Path, name: str) -> None:
        self._flush()
        table = QueryTable.joined(self._tables)
        (Run(table, name=name) if self._kind == "run" else Qrels(table)).to_trec(path)


def remove_trec_files(folder: Path) -> None:
    """Remove the files."""
    for name in (RUN, QRELS, DOCUMENT_RUN, DOCUMENT_QRELS):
        (folder / name).unlink(missing_ok=True)


def _document_of(hit: Hit) -> str:
    return _escape(hit.doc_id or hit.id)


def _escape(name: str) -> str:
    """Escape lone surrogates, which no text file can hold."""
    return name.encode(errors="backslashreplace").decode()


def _rank_documents(hits: Sequence[Hit]) -> dict[str, float]:
    """Return the documents by their best hits, with scores that keep this order."""
    best: dict[str, float] = {}
    for hit in hits:
        best.setdefault(_document_of(hit), float(hit.score))
    names = list(best)
    order = DEFAULT_RULE.order([name.encode() for name in names], list(best.values()))
    if order == list(range(len(names))):
        return best
    return {name: float(len(names) - place) for place, name in enumerate(names)}


def _name_target(target: Target) -> str:
    names = (_name_anchor(member.anchor) for member in target.members)
    return _SPACE.sub("_", _escape(" or ".join(names)))


def _name_anchor(anchor: Anchor) -> str:
    place = "#".join(filter(None, (anchor.document, *anchor.section[-1:])))
    exact = anchor.quote if anchor.start is None else f"{anchor.start}-{anchor.end}"
    return anchor.chunk or "@".join(filter(None, (place, exact)))


def _find_free_name(name: str, taken: Mapping[str, float]) -> str:
    name = name or "target"
    numbered = (f"{name}~{number}" for number in count(2))
    return next(one for one in chain([name], numbered) if one not in taken)
