"""`bm25`: lexical search in memory, by the formula of Lucene.

score(q, d) = sum over the terms t of q: idf(t) * tf / (tf + k1 (1 - b + b |d| / mean |d|)), with
idf(t) = ln(1 + (N - n_t + 0.5) / (n_t + 0.5)). Robertson and Zaragoza (2009), "The Probabilistic
Relevance Framework: BM25 and Beyond"; the variant of Lucene as compared by Kamphuis et al. (2020),
"Which BM25 Do You Mean?". Computed by bm25s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ConfigurationError
from berryeval.optional import imported
from berryeval.providers.base import Provider, best_hits, searched_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from berryeval.records import Chunk, Hit, Query

__all__ = ["Bm25"]

_WORD: Final = re.compile(r"\w+")
# The words Lucene's analyser of English leaves out.
STOPWORDS: Final = frozenset(
    re.split(
        r"\s+",
        "a an and are as at be but by for if in into is it no not of on or such that the their "
        "then there these they this to was will with",
    )
)


@dataclass
class Bm25(Provider):
    """Lexical search over all chunks, held in memory.

    Attributes:
        k1: how fast more of the same term stops to matter.
        b: how much a long chunk is held back; 0 is not at all.
        stemmer: a language of Snowball, such as "english"; "" leaves words as they are.
        stopwords: whether to leave out the words that English has everywhere.
    """

    k1: float = 1.2
    b: float = 0.75
    stemmer: str = "english"
    stopwords: bool = True
    _chunks: Sequence[Chunk] = field(default=(), init=False, repr=False)
    _index: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse parameters outside the formula."""
        if not self.k1 >= 0:
            msg = f"k1 of bm25 must be 0 or more, found {self.k1!r}"
            raise ConfigurationError(msg)
        if not 0 <= self.b <= 1:
            msg = f"b of bm25 must lie between 0 and 1, found {self.b!r}"
            raise ConfigurationError(msg)
        _ = self._stem  # an unknown language is refused now, not at the first search

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Count the terms of every chunk."""
        bm25s = imported("bm25s", "the provider bm25")
        self._chunks = chunks
        self._index = None
        texts = [self.terms(searched_text(chunk)) for chunk in chunks]
        if any(texts):
            self._index = bm25s.BM25(k1=self.k1, b=self.b, method="lucene", backend="numpy")
            self._index.index(texts, show_progress=False)

    def search(self, query: Query, k: int) -> list[Hit]:
        """The chunks that share a term with the query."""
        if self._index is None:
            return []
        known = self._index.vocab_dict
        terms = [term for term in self.terms(query.text) if term in known]
        if not terms:
            return []
        return best_hits(self._chunks, self._index.get_scores(terms), k, least=0.0)

    def terms(self, text: str) -> list[str]:
        """The terms of a text, repeated as often as they stand there."""
        words = _WORD.findall(text.lower())
        if self.stopwords:
            words = [word for word in words if word not in STOPWORDS]
        return [self._stem(word) for word in words]

    @cached_property
    def _stem(self) -> Callable[[str], str]:
        if not self.stemmer:
            return str
        snowball = imported("snowballstemmer", "stemming")
        languages = snowball.algorithms()
        if self.stemmer not in languages:
            msg = f"no stemmer for {self.stemmer!r}; there are {', '.join(sorted(languages))}"
            raise ConfigurationError(msg)
        stemmer = snowball.stemmer(self.stemmer)
        stems: dict[str, str] = {}

        def stem(word: str) -> str:
            if word not in stems:
                stems[word] = stemmer.stemWord(word)
            return stems[word]

        return stem
