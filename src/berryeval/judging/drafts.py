"""Drafts: generated queries with the passages that they ask for, and those that were rejected.

A passage is a section without its subsections, or a piece of a long one. Passages are taken in
rounds: in each, one from every document that has some left, documents and sections in random order.
Every generated query and benchmark is marked, until a person has reviewed it.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, TypeAlias

from berryeval.anchors import Corpus, locate, make_anchor
from berryeval.benchmarks import GENERATED, Benchmark, words_of
from berryeval.chunkers import SectionChunker
from berryeval.data import SECTION_SEPARATOR, Anchor, Chunk, Document, Judgment, Query

LONGEST: Final = 2000  # characters of a passage
ANSWERS: Final = 3.0  # grade of a passage that gives the answer, by docs/protocol.md
PART: Final = 2.0  # grade of one that gives an essential part of it
_UNSPACED: Final = re.compile(  # Thai, Lao, Burmese, Khmer, Japanese, Chinese
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff]"
)
Reason: TypeAlias = Literal[
    "too few words", "no spaces between words", "ambiguous", "duplicate",
    "no answer from the model", "quote not found", "not answerable from the passage",
    "answerable without the passage", "copied words",
]  # fmt: skip


@dataclass(frozen=True)
class Draft:
    """A generated query.

    Attributes:
        text: The query.
        passage: Where it comes from.
        targets: What is to be found.
        grade: Grade of each target.
        category: Type of query.
        difficulty: How hard it was meant to be.
        answer: Expected answer, if there is one.
    """

    text: str
    passage: Chunk
    targets: tuple[Anchor, ...]
    grade: float = ANSWERS
    category: str = ""
    difficulty: str = ""
    answer: str = ""


@dataclass(frozen=True)
class Rejected:
    """A query that was not kept, or a passage of which none could be made."""

    passage: str
    reason: Reason
    detail: str = ""
    text: str = ""

    def to_json(self) -> dict[str, str]:
        """Return a JSON object."""
        return asdict(self)


@dataclass
class Drafts:
    """Generated queries.

    Attributes:
        passages: Number of passages to choose from.
        kept: Queries that were kept.
        rejected: Queries that were not.
        exhausted: Whether there was nothing left to try.
    """

    passages: int = 0
    kept: list[Draft] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    exhausted: bool = False

    @property
    def reasons(self) -> dict[str, int]:
        """Number of rejections by reason, most frequent first."""
        return dict(Counter(one.reason for one in self.rejected).most_common())

    def reject(self, passage: Chunk, reason: Reason, detail: str = "", text: str = "") -> None:
        """Record a rejection."""
        self.rejected.append(Rejected(name_passage(passage), reason, detail, text))


def split_passages(documents: Iterable[Document]) -> list[Chunk]:
    """Split documents into passages; headings without text are left out."""
    chunker = SectionChunker(max_size=LONGEST, empty="drop")
    return [chunk for document in documents for chunk in chunker.chunk(document)]


def separate_characters(text: str) -> str:
    """Put spaces around each character of scripts that have none between words."""
    return _UNSPACED.sub(r" \g<0> ", text)


def count_words(text: str) -> int:
    """Return the number of words; two characters of scripts without spaces count as one."""
    words, characters = _count_kinds(text)
    return words + (characters + 1) // 2


def is_unspaced(text: str) -> bool:
    """Whether most of a text is in scripts that have no spaces between words."""
    words, characters = _count_kinds(text)
    return characters > words


def has_unspaced(word: str) -> bool:
    """Whether a word has a character of such scripts, and may be a whole clause."""
    return _UNSPACED.search(word) is not None


def _count_kinds(text: str) -> tuple[int, int]:
    found = words_of(separate_characters(text))
    characters = sum(map(has_unspaced, found))
    return len(found) - characters, characters


def name_passage(passage: Chunk) -> str:
    """Return document and headings of a passage."""
    headings = SECTION_SEPARATOR.join(passage.section)
    return f"{passage.doc_id}: {headings}" if headings else passage.doc_id


def spread_passages(passages: Sequence[Chunk], seed: int) -> Iterator[int]:
    """Yield the place of every passage once, in rounds over the documents."""
    drawn = random.Random(f"passages {seed}")  # noqa: S311 - not a secret
    left: dict[str, list[int]] = defaultdict(list)
    for place, passage in enumerate(passages):
        left[passage.doc_id].append(place)
    for own in left.values():
        drawn.shuffle(own)
    while left:
        documents = list(left)
        drawn.shuffle(documents)
        for document in documents:
            yield left[document].pop()
            if not left[document]:
                del left[document]


class TargetMaker:
    """Makes anchors of passages and quotes that resolve in any chunking."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = {document.id: document for document in documents}
        self._corpus = Corpus(documents)

    def make_target(self, passage: Chunk) -> Anchor:
        """Return the anchor of a passage: its document, its section, or else its span."""
        document = self._documents[passage.doc_id]
        known = document.content_hash
        if passage.text.strip() == document.text.strip():
            return Anchor(document=document.id, document_hash=known)
        if passage.section:
            anchor = Anchor(
                document=document.id, section=passage.section, document_hash=known,
                subsections=False,
            )  # fmt: skip
            spans = locate(anchor, self._corpus).spans
            texts = [document.text[one.start : one.end].strip() for one in spans]
            if texts == [passage.text]:
                return anchor
        return make_anchor(passage, document)

    def find_quote(self, quote: str, passage: Chunk) -> Anchor | None:
        """Return the anchor of a quote in a passage; None if the passage does not contain it."""
        start = passage.start or 0
        document = self._documents[passage.doc_id]
        found = locate(
            Anchor(document=passage.id, quote=quote), Corpus([Document(passage.id, passage.text)])
        )
        if found.match == "fuzzy" or not found.spans:
            return None
        _, first, last = found.spans[0]
        return Anchor(
            document=document.id,
            start=start + first,
            end=start + last,
            quote=document.text[start + first : start + last],
            document_hash=document.content_hash,
        )


def build_benchmark(
    name: str, documents: Sequence[Document], drafts: Sequence[Draft], about: Mapping[str, Any]
) -> Benchmark:
    """Build the benchmark, marked as generated; `about` says how."""
    kind = str(about["kind"])
    queries: list[Query] = []
    judgments: list[Judgment] = []
    for number, draft in enumerate(drafts, start=1):
        query_id = f"g{number}"
        metadata = {GENERATED: kind, "passage": name_passage(draft.passage)}
        if draft.answer:
            metadata["expected_answer"] = draft.answer
        queries.append(
            Query(query_id, draft.text, draft.category, draft.difficulty, metadata=metadata)
        )
        judgments += [Judgment(query_id, target, draft.grade) for target in draft.targets]
    return Benchmark(
        name,
        tuple(documents),
        tuple(queries),
        tuple(judgments),
        description=f"Queries generated from a corpus ({kind}).",
        metadata={GENERATED: {**about, "reviewed": False}},
    )
