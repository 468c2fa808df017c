"""Queries that are copied from what they should find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.benchmarks.checks.finding import Finding
from berryeval.benchmarks.checks.words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from berryeval.benchmarks.checks.subject import Subject

__all__ = ["check_copied", "longest_shared_run"]

LONG: Final = 8  # words in a row that nobody writes twice by chance
SHORTEST: Final = 5  # enough, if they are most of the query
MOST: Final = 0.8


def check_copied(subject: Subject) -> Iterator[Finding]:
    """Queries that share a long run of words with a passage that is relevant to them."""
    known: dict[str, str] = {}
    for place, query in enumerate(subject.benchmark.queries):
        words = words_of(query.text)
        for passage in subject.passages_for(query) if len(words) >= SHORTEST else ():
            texts = [_spaced(text, known) for text in passage.texts if passage.grade > 0]
            shared = max((longest_shared_run(words, text) for text in texts), key=len, default=())
            if len(shared) >= LONG or len(shared) >= max(SHORTEST, MOST * len(words)):
                yield Finding(
                    "copied query", "warning", subject.where("queries", place),
                    f"the query {query.id!r} has {len(shared)} of its {len(words)} words in a row "
                    f"from {passage.name}: {' '.join(shared)!r:.80}",
                    "write it in other words: matching words finds it too easily",
                )  # fmt: skip
                break


def _spaced(text: str, known: dict[str, str]) -> str:
    """The words of a text with one space around each."""
    if text not in known:
        known[text] = f" {' '.join(words_of(text))} "
    return known[text]


def longest_shared_run(words: Sequence[str], passage: str) -> tuple[str, ...]:
    """The longest run of words that is in the passage, from `SHORTEST` words on.

    >>> longest_shared_run("what is the port of the server".split(), " the port of the server is ")
    ('the', 'port', 'of', 'the', 'server')
    """
    best: tuple[str, ...] = ()
    length = SHORTEST
    start = 0
    while start + length <= len(words):
        if f" {' '.join(words[start : start + length])} " in passage:
            best = tuple(words[start : start + length])
            length += 1  # from the same start, or a later one
        else:
            start += 1
    return best
