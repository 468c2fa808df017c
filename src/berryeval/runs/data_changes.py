"""What changed in the data between two runs: which queries still compare, and the documents."""

from __future__ import annotations

import base64
import hashlib
import json
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from berryeval._internal.text import name_some, pluralize
from berryeval.relevance import find_differences, has_lost_targets

if TYPE_CHECKING:
    from berryeval.data import Document
    from berryeval.runs.record import BenchmarkRecord, ProviderRecord

LARGEST: Final = 20_000  # documents whose marks are kept, eight bytes each
_LISTED: Final = 5  # queries that a sentence names
_UNKNOWN: Final = "unknown"  # a record without fingerprints, on other data
_SEPARATOR: Final = " > "  # between a document and its headings, in names of passages
# By reason: what one query has, and what several have.
_REASONS: Final = {
    "text": ("has another text", "have another text"),
    "judgments": ("has other judgments", "have other judgments"),
    "targets": ("has changed targets", "have changed targets"),
    _UNKNOWN: ("has no fingerprint to tell", "have no fingerprint to tell"),
}  # fmt: skip


# The corpus: a mark for the id and a mark for the content of each document.


def mark_corpus(documents: Sequence[Document]) -> str:
    """Return a text by which two versions of a corpus can be compared, document by document.

    A corpus of more than `LARGEST` documents has a hash of its contents instead.
    """
    found = array("Q")  # pairs in one number each, as a large corpus has millions
    for one in documents:
        content = json.dumps(one.to_json(), sort_keys=True, default=str)
        found.append(_mark(one.id) << 32 | _mark(content))
    pairs = np.sort(np.frombuffer(found, np.uint64))
    lines = ((int(pair) >> 32, int(pair) & 0xFFFFFFFF) for pair in pairs)
    if len(documents) > LARGEST:
        whole = hashlib.sha256()
        for pair in lines:
            whole.update(repr(pair).encode())
        return f"sha256:{whole.hexdigest()}"
    marks = array("I", (mark for pair in lines for mark in pair))
    return base64.b64encode(marks.tobytes()).decode()


def _mark(text: str) -> int:
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "little")


def _read_marks(corpus: str) -> dict[int, int] | None:
    """Return the marks of contents by those of ids; None if they are unknown."""
    if not corpus or corpus.startswith("sha256:"):
        return None
    marks = array("I")
    marks.frombytes(base64.b64decode(corpus))
    return dict(zip(marks[::2], marks[1::2], strict=True))


class DocumentChanges(NamedTuple):
    """Marks of the ids of documents that only one of two versions has, or that changed."""

    added: frozenset[int] = frozenset()
    changed: frozenset[int] = frozenset()
    removed: frozenset[int] = frozenset()

    @classmethod
    def between(cls, before: str, after: str) -> DocumentChanges | None:
        """Compare two versions of a corpus; None if the documents are not known."""
        if before == after:
            return cls()
        old, new = _read_marks(before), _read_marks(after)
        if old is None or new is None:
            return None
        both = old.keys() & new.keys()
        return cls(
            frozenset(new.keys() - old.keys()),
            frozenset(one for one in both if old[one] != new[one]),
            frozenset(old.keys() - new.keys()),
        )

    def counts(self) -> dict[str, int]:
        """Return the number of documents by kind of change."""
        return {name: len(marks) for name, marks in self._asdict().items()}

    def __str__(self) -> str:
        found = [(n, change) for change, n in self.counts().items() if n]
        return ", ".join(
            f"{n:,} {change}" if place
            else f"{pluralize(n, 'document')} {'was' if n == 1 else 'were'} {change}"
            for place, (n, change) in enumerate(found)
        )  # fmt: skip


# Queries: unchanged ones are compared.


class DataVersion(NamedTuple):
    """The data that the values of a provider on a benchmark rest on.

    Attributes:
        content_hash: Hash of the whole benchmark.
        fingerprints: Fingerprints of the scored queries, "" if unknown.
        corpus: Text of `mark_corpus`; empty if unknown.
        unasked: Queries of the benchmark that were not asked.
    """

    content_hash: str
    fingerprints: Mapping[str, str]
    corpus: str = ""
    unasked: Collection[str] = ()

    @classmethod
    def of(cls, part: BenchmarkRecord, provider: ProviderRecord) -> DataVersion:
        """Return the data of a provider's scores."""
        known = dict(zip((one.id for one in part.queries), provider.fingerprints, strict=False))
        queries = provider.scores.queries if provider.scores is not None else ()
        found = {query: known.get(query, "") for query in queries}
        return cls(part.content_hash, found, part.corpus, frozenset(part.unasked))


@dataclass(frozen=True)
class DataChange:
    """How the data of one run differ from those of an earlier one.

    Attributes:
        compared: Queries that both have unchanged, in the order of the later run.
        lost: Compared queries with targets that the later corpus no longer has: a real loss.
        gained: Compared queries with targets that the earlier corpus did not have.
        changed: Reasons by changed query, such as "text" or "judgments, targets".
        new: Queries that only the later run has.
        removed: Queries of the earlier run that are no longer in the benchmark.
        missing: Queries of the earlier run that the later one was not asked.
        documents: Changed documents; None if the corpus changed in an unknown way.
        same: Whether the whole benchmark is the same.
    """

    compared: tuple[str, ...]
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    changed: Mapping[str, str]
    new: tuple[str, ...]
    removed: tuple[str, ...]
    missing: tuple[str, ...]
    documents: DocumentChanges | None
    same: bool

    @classmethod
    def between(
        cls, before: DataVersion, after: DataVersion, *, either_way: bool = False
    ) -> DataChange:
        """Compare two versions of the data of a benchmark.

        Queries that lost targets are compared; `either_way`, those that gained them, too.
        """
        same = before.content_hash == after.content_hash
        old, new = before.fingerprints, after.fingerprints
        changed = {}
        gained = {one for one in new if either_way and one in old and _has_lost(new[one], old[one])}
        for query in new:
            reason = _compare_query(old[query], new[query], same=same) if query in old else ""
            if reason and query not in gained:
                changed[query] = reason
        gone = [query for query in old if query not in new]
        is_removed = {one: not same and one not in after.unasked for one in gone}
        compared = tuple(one for one in new if one in old and one not in changed)
        return cls(
            compared,
            tuple(one for one in compared if _has_lost(old[one], new[one])),
            tuple(one for one in compared if one in gained),
            changed,
            tuple(one for one in new if one not in old),
            tuple(one for one in gone if is_removed[one]),
            tuple(one for one in gone if not is_removed[one]),
            DocumentChanges() if same else DocumentChanges.between(before.corpus, after.corpus),
            same,
        )

    @property
    def is_worth_a_word(self) -> bool:
        """Whether the data differ in a way that a reader of the comparison should know."""
        return not self.same or bool(self.changed or self.lost or self.gained)

    def describe_changed(self) -> str:
        """Return the reasons with the number of changed queries, and the first of them."""
        parts = []
        for why, words in _REASONS.items():
            named = [query for query, reasons in self.changed.items() if why in reasons.split(", ")]
            if named:
                several = words[len(named) > 1]
                parts.append(f"{len(named):,} {several} ({name_some(named, _LISTED)})")
        return ", ".join(parts)

    def describe(
        self, touched: int | None = None, word: str = "compared", *, where: str = ""
    ) -> str:
        """Say what is compared, what is not, and what changed in the corpus.

        `touched` is the number of compared queries that retrieved changed documents; `word` says
        what unchanged queries are, and `where` which hits are known, if not those of both runs.
        """
        count = len(self.compared)
        total = count + len(self.changed) + len(self.new)
        of = f"{count:,} of {pluralize(total, 'query')}"
        if count == total:
            of = "the only query" if count == 1 else f"all {count:,} queries"
        parts = [f"{of} {'is' if count == 1 else 'are'} {word}"]
        if self.lost:
            parts.append(f"targets no longer in the corpus: {name_some(self.lost, _LISTED)}")
        if self.gained:
            named = name_some(self.gained, _LISTED)
            parts.append(f"targets that were not in the corpus before: {named}")
        parts += filter(None, [self.describe_changed()])
        for queries, state in ((self.new, "new"), (self.removed, "removed")):
            if queries:
                verb = "is" if len(queries) == 1 else "are"
                parts.append(f"{len(queries):,} {verb} {state} ({name_some(queries, _LISTED)})")
        if self.documents is None:
            parts.append("the documents may have changed")
        elif any(self.documents):
            reached = (
                "" if touched is None else f"; {_describe_touched(touched, count, word)}{where}"
            )
            parts.append(f"{self.documents}{reached}")
        return "; ".join(parts)

    def to_dict(self, touched: int | None = None) -> dict[str, Any]:
        """Return the queries and counts for JSON."""
        return {
            "compared": len(self.compared),
            "lost": list(self.lost),
            "gained": list(self.gained),
            "changed": dict(self.changed),
            "new": list(self.new),
            "removed": list(self.removed),
            "documents": None if self.documents is None else self.documents.counts(),
            "touched": touched,
        }


def _compare_query(before: str, after: str, *, same: bool) -> str:
    """Return why a query changed; empty if it did not."""
    if before and after:
        return "" if _has_lost(before, after) else ", ".join(find_differences(before, after))
    return "" if same else _UNKNOWN


def _has_lost(before: str, after: str) -> bool:
    return bool(before and after) and has_lost_targets(before, after)


def _describe_touched(touched: int, count: int, word: str) -> str:
    one, several = f"{word} query", f"{word} queries"
    if word == "the same":
        one, several = "query that is the same", "queries that are the same"
    if not touched:
        return f"no {one} retrieved such a document"
    who = f"the only {one}" if count == 1 else f"{touched:,} of the {count:,} {several}"
    return f"{who} retrieved such a document"


def find_touched(
    part: BenchmarkRecord,
    providers: Iterable[ProviderRecord],
    queries: Collection[str],
    marks: Collection[int],
) -> set[str]:
    """Return those of the queries whose hits come from documents with these marks."""
    if not marks:
        return set()
    documents = [one.name.split(_SEPARATOR)[0] for one in part.passages]
    passages = {place for place, name in enumerate(documents) if name and _mark(name) in marks}
    wanted = set(queries)
    return {
        answer.query_id
        for provider in providers
        for answer in provider.answers
        if answer.query_id in wanted
        and any(
            hit.passage in passages if hit.passage is not None else _mark(hit.id) in marks
            for hit in answer.hits
        )
    }
