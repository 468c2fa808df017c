"""The titles of sections: names of benchmarks, with what tells those of one name apart."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.results import BenchmarkRecord

__all__ = ["numbered", "titles_of"]

_HASH_CHARACTERS: Final = 15  # "sha256:" and eight digits


def titles_of(parts: Sequence[BenchmarkRecord]) -> list[str]:
    """A title for each, no two the same: "manual", or "manual (5 queries, 10 hits)"."""
    titles = [part.name for part in parts]
    times = Counter(titles)
    titles = [
        f"{part.name} ({_asked(part)})" if times[part.name] > 1 else part.name for part in parts
    ]
    times = Counter(titles)
    for place, part in enumerate(parts):
        if times[titles[place]] > 1:
            brief = part.content_hash[:_HASH_CHARACTERS]
            titles[place] = f"{part.name} ({_asked(part)}, data {brief})"
    # What is still the same is of as many other queries of the same data.
    return numbered(titles)


def _asked(part: BenchmarkRecord) -> str:
    from berryeval.io.words import counted

    return f"{counted(len(part.queries), 'query', 'queries')}, {counted(part.k, 'hit', 'hits')}"


def numbered(titles: Sequence[str]) -> list[str]:
    """Those that are the same, with a number from the second on."""
    found: list[str] = []
    for title in titles:
        shown, number = title, 1
        while shown in found:
            number += 1
            shown = f"{title} #{number}"
        found.append(shown)
    return found
