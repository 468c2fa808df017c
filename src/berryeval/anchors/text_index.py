"""Which of many normalised texts hold a needle, by the words they are made of."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["TextIndex"]

# Words stand between spaces; a letter of a script that writes none is a word of its own.
_WORD: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^ \u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
_RAREST: Final = 3  # this many of a needle's words, the rarest, are enough to tell texts apart


def _words(text: str) -> list[str]:
    return text.split(" ") if text.isascii() else _WORD.findall(text)


class TextIndex:
    """Normalised texts by their words.

    >>> TextIndex(["the cat sat", "a dog sat", "the cats sat"]).holding("he cat")
    [0, 2]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    @cached_property
    def _homes(self) -> dict[str, list[int]]:
        """The texts each word stands in."""
        homes: dict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(self._texts):
            for word in set(_words(text)):
                homes[word].append(number)
        return homes

    def holding(self, needle: str) -> list[int]:
        """The numbers of the texts that hold the needle, in order."""
        return [number for number in sorted(self._maybe(needle)) if needle in self._texts[number]]

    def most_alike(self, needle: str, count: int = 5) -> list[int]:
        """The numbers of the texts that share most of the needle's rarer words, best first."""
        known = [self._homes[word] for word in set(_words(needle)) if word in self._homes]
        rarest = sorted(known, key=len)[: 4 * _RAREST]
        shared = Counter(number for homes in rarest for number in homes)
        return sorted(shared, key=lambda number: (-shared[number], number))[:count]

    def _maybe(self, needle: str) -> Iterable[int]:
        """The texts that may hold the needle, and perhaps some that do not."""
        words = _words(needle)
        inner = words[1:-1]  # the first and last may be parts of words
        if not inner:
            return self._texts_with_parts(words)
        if any(word not in self._homes for word in inner):
            return ()
        rarest = sorted((self._homes[word] for word in set(inner)), key=len)[:_RAREST]
        return set(rarest[0]).intersection(*rarest[1:])

    def _texts_with_parts(self, parts: list[str]) -> Iterable[int]:
        """For needles of a word or two: the texts with words that hold each of them."""
        found: set[int] | None = None
        for part in parts:
            here = {
                number for word, homes in self._homes.items() if part in word for number in homes
            }
            found = here if found is None else found & here
        return found or ()
