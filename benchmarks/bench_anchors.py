"""Time the resolution of anchored judgments against many chunks, by kind of anchor.

`make bench` runs it. Every kind is resolved by itself, from documents and chunks with offsets;
"all kinds" is some of each, which is resolved from chunks alone too. The corpus is made of words
drawn at random, in sections, and is the same in every run. One processor does the work, and its
time is what counts.
"""

from __future__ import annotations

import argparse
import random
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from berryeval.anchors.targets import Targets, resolve
from berryeval.data.records import Anchor, Chunk, Document, Judgment

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK = 500  # characters
SECTIONS = 25  # per document, of four chunks each
QUOTE = 120
DEPTH = 100  # hits per query


@dataclass(frozen=True)
class Corpus:
    """Documents and their chunks."""

    documents: list[Document]
    chunks: list[Chunk]


def corpus_of(count: int, chance: random.Random) -> Corpus:
    """Build a corpus with the given number of chunks."""
    words = ["".join(chance.choices("abcdefghiklmnoprstuvw", k=1 + k % 11)) for k in range(20_000)]
    documents: list[Document] = []
    chunks: list[Chunk] = []
    while len(chunks) < count:
        name = f"d{len(documents)}"
        bodies = (" ".join(chance.choices(words, k=4 * CHUNK // 7)) for _ in range(SECTIONS))
        text = "".join(
            f"## Section {number}\n\n{body.capitalize()}.\n\n" for number, body in enumerate(bodies)
        )
        documents.append(Document(name, text))
        for start in range(0, len(text), CHUNK):
            end = min(start + CHUNK, len(text))
            chunks.append(Chunk(f"{name}:{start}", name, text[start:end], start, end))
    return Corpus(documents, chunks[:count])


@dataclass(frozen=True)
class Passage:
    """A place in a document that every kind of anchor can point at."""

    document: str
    start: int
    end: int
    text: str
    chance: random.Random

    def rewritten(self, share: float) -> str:
        """Return the text with some letters exchanged."""
        letters = list(self.text)
        for place in self.chance.sample(range(len(letters)), int(share * len(letters))):
            letters[place] = "x"
        return "".join(letters)


KINDS: dict[str, Callable[[Passage], Anchor]] = {
    "chunk id": lambda at: Anchor(chunk=f"{at.document}:{at.start // CHUNK * CHUNK}"),
    "document": lambda at: Anchor(document=at.document),
    "section": lambda at: Anchor(
        document=at.document, section=(f"Section {at.chance.randrange(SECTIONS)}",)
    ),
    "span": lambda at: Anchor(document=at.document, start=at.start, end=at.end),
    "lines": lambda at: Anchor(
        document=at.document,
        start=(line := 1 + at.chance.randrange(90)),
        end=line + 9,
        unit="lines",
    ),
    "quote": lambda at: Anchor(document=at.document, quote=at.text),
    "quote, other case": lambda at: Anchor(document=at.document, quote=at.text.upper()),
    "quote, 5 % rewritten": lambda at: Anchor(document=at.document, quote=at.rewritten(0.05)),
    "quote, document unknown": lambda at: Anchor(quote=at.text),
    "lost quote": lambda at: Anchor(document=at.document, quote=at.rewritten(0.3)),
}


def judgments_of(kind: str, corpus: Corpus, count: int, chance: random.Random) -> list[Judgment]:
    """Build judgments of one kind, or of all kinds in turn, ten per query."""
    makers = [KINDS[kind]] if kind in KINDS else list(KINDS.values())
    found = []
    for number in range(count):
        document = chance.choice(corpus.documents)
        start = chance.randrange(len(document.text) - QUOTE)
        text = document.text[start : start + QUOTE]
        place = Passage(document.id, start, start + QUOTE, text, chance)
        anchor = replace(makers[number % len(makers)](place), extra={"number": number})
        found.append(Judgment(f"q{number // 10}", anchor, 1, group=str(number)))
    return found


def judging(judgments: list[Judgment], corpus: Corpus, chance: random.Random) -> tuple[float, int]:
    """Return the seconds to join every query with its hits, and the number of hits."""
    targets = Targets.locate(judgments, corpus.documents)
    queries = targets.queries[:1000]
    depth = min(DEPTH, len(corpus.chunks))
    rankings = [chance.sample(corpus.chunks, depth) for _ in queries]
    start = time.process_time()
    for query, hits in zip(queries, rankings, strict=True):
        targets.judge(query, hits)
    return time.process_time() - start, len(queries) * depth


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--anchors", type=int, default=10_000)
    parser.add_argument("--chunks", type=int, default=100_000)
    arguments = parser.parse_args()
    chance = random.Random(7)  # noqa: S311 - the same corpus in every run
    corpus = corpus_of(arguments.chunks, chance)
    size = sum(len(document.text) for document in corpus.documents)
    title = (
        f"{arguments.anchors:,} anchors x {len(corpus.chunks):,} chunks, "
        f"{len(corpus.documents):,} documents, {size / 1e6:.0f} million characters"
    )
    table = Table(
        "anchors", "CPU seconds", "per anchor", "resolved", title=title, title_justify="left"
    )
    for kind in (*KINDS, "all kinds", "all kinds, chunks alone"):
        judgments = judgments_of(kind, corpus, arguments.anchors, chance)
        documents = None if kind.endswith("alone") else corpus.documents
        start = time.process_time()
        resolution = resolve(judgments, corpus.chunks, documents)
        seconds = time.process_time() - start
        resolved = len(judgments) - len(resolution.drift)
        per_anchor = f"{1e6 * seconds / len(judgments):.0f} µs"
        table.add_row(kind, f"{seconds:.2f}", per_anchor, f"{resolved:,}")
    console = Console(width=110)
    console.print(table)
    judgments = judgments_of("all kinds", corpus, arguments.anchors, chance)
    seconds, hits = judging(judgments, corpus, chance)
    console.print(
        f"judging {hits:,} hits: {seconds:.2f} CPU seconds, {1e6 * seconds / hits:.1f} µs per hit"
    )


if __name__ == "__main__":
    main()
