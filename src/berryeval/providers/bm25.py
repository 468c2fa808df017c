"""`bm25`: lexical search in memory, with the BM25 formula of Lucene.

score(q, d) = sum over the terms t of q: idf(t) * tf / (tf + k1 (1 - b + b |d| / mean |d|)), with
idf(t) = ln(1 + (N - n_t + 0.5) / (n_t + 0.5)). Robertson and Zaragoza (2009), "The Probabilistic
Relevance Framework: BM25 and Beyond"; the Lucene variant as compared by Kamphuis et al. (2020),
"Which BM25 Do You Mean?". Computed by bm25s.

The scope of a query selects the chunks that are ranked; N, n_t and mean |d| count the whole corpus,
as in a search engine with a filter.

With feedback the query is searched twice: the second time with the terms that are frequent in the
best chunks of the first search, weighted equally with the original terms. Abdul-Jaleel et al.
(2004), "UMass at TREC 2004: Novelty and HARD" (RM3).
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from berryeval._internal.optional import import_optional
from berryeval._internal.validate import require, require_whole
from berryeval.data import ScopeIndex
from berryeval.errors import ConfigurationError
from berryeval.providers.base import Provider, searchable_text, select_best

if TYPE_CHECKING:
    import numpy.typing as npt

    from berryeval.data import Chunk, Hit, Query


_WORD: Final = re.compile(r"\w+")
# English words too common to distinguish texts.
STOPWORDS: Final = frozenset(
    re.split(
        r"\s+",
        "a about above after again against all am an and any are as at be because been before "
        "being below between both but by can cannot could did do does doing down during each "
        "few for from further had has have having he her here hers him his how i if in into is "
        "it its itself me more most my no nor not of off on once only or other our out over own "
        "same she should so some such than that the their them then there these they this those "
        "through to too under until up very was we were what when where which while who whom "
        "why will with would you your",
    )
)
_REPORTED: Final = 1000  # chunks from one report of progress to the next
_FEEDBACK_TERMS: Final = 15
_FEEDBACK_SHARE: Final = 0.5


@dataclass
class Bm25(Provider):
    """Lexical search (BM25) over all chunks, in memory.

    Attributes:
        k1: Saturation of the term frequency: the higher, the more repeated terms count.
        b: Length normalization, from 0 (none) to 1 (full).
        stemmer: Snowball language, such as "english"; "" for no stemming.
        stopwords: Whether to drop common English words.
        feedback: Number of top chunks whose terms are added to the query; 0 for none. Feedback
            raises recall if many chunks are relevant, and takes longer.
    """

    k1: float = 1.2
    b: float = 0.75
    stemmer: str = "english"
    stopwords: bool = True
    feedback: int = 0
    in_process: ClassVar[bool] = True
    _chunks: Sequence[Chunk] = field(default=(), init=False, repr=False)
    _index: Any = field(default=None, init=False, repr=False)
    _terms_of: dict[str, list[str]] = field(default_factory=dict, init=False, repr=False)
    _scopes: ScopeIndex = field(default=ScopeIndex(()), init=False, repr=False)

    def __post_init__(self) -> None:
        require(self.k1 >= 0, "k1 of bm25", "0 or more", self.k1)
        require(0 <= self.b <= 1, "b of bm25", "between 0 and 1", self.b)
        require_whole("feedback of bm25", self.feedback, least=0)
        _ = self._stem  # rejects an unknown language now rather than at the first search

    def needs_documents(self) -> bool:
        """Return True: it searches only what it indexed."""
        return True

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Count the terms of every chunk."""
        with warnings.catch_warnings():  # of its progress bars, which are off, in a notebook
            warnings.filterwarnings("ignore", "IProgress not found")
            bm25s = import_optional("bm25s", "the provider bm25")
        self._chunks = chunks
        self._scopes = ScopeIndex(chunks)
        self._index = None
        texts = []
        for number, chunk in enumerate(chunks, start=1):
            texts.append(self.tokenize(searchable_text(chunk)))
            if number % _REPORTED == 0:
                self.report_progress(number, len(chunks))
        if self.feedback:
            self._terms_of = {chunk.id: terms for chunk, terms in zip(chunks, texts, strict=True)}
        if any(texts):
            self._index = bm25s.BM25(k1=self.k1, b=self.b, method="lucene", backend="numpy")
            self._index.index(texts, show_progress=False)

    def search(self, query: Query, k: int) -> list[Hit]:
        """Return the chunks that share a term with the query."""
        if self._index is None:
            return []
        terms = [term for term in self.tokenize(query.text) if term in self._index.vocab_dict]
        inside = self._scopes.find(query.scope)
        if not terms:
            return []
        scores = self._index.get_scores(terms)
        if inside is not None:
            scores[~inside] = 0.0
        if self.feedback:
            weights = self._expand(terms, scores)
            scores = np.zeros(len(self._chunks), dtype=np.float32)
            for term, weight in weights.items():
                scores += weight * self._index.get_scores([term])
            if inside is not None:
                scores[~inside] = 0.0
        return select_best(self._chunks, scores, k, least=0.0)

    def search_many(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Search several queries without changing threads in between."""
        return [self.search(query, k) for query in queries]

    def _expand(self, terms: list[str], scores: npt.NDArray[np.float32]) -> dict[str, float]:
        """Return the weights of the query terms and of terms frequent in the best chunks."""
        frequent: dict[str, float] = {}
        best = select_best(self._chunks, scores, self.feedback, least=0.0)
        for hit in best:
            found = self._terms_of[hit.id]
            for term in found:
                frequent[term] = frequent.get(term, 0.0) + hit.score / len(found)
        kept = sorted(frequent, key=lambda term: (-frequent[term], term))[:_FEEDBACK_TERMS]
        total = sum(frequent[term] for term in kept)
        weights = {term: _FEEDBACK_SHARE * frequent[term] / total for term in kept}
        for term in terms:
            weights[term] = weights.get(term, 0.0) + (1 - _FEEDBACK_SHARE) / len(terms)
        return weights

    def tokenize(self, text: str) -> list[str]:
        """Return the terms of a text, with repetitions."""
        words = _WORD.findall(text.lower())
        if self.stopwords:
            words = [word for word in words if word not in STOPWORDS]
        return list(map(self._stem, words))

    @cached_property
    def _stem(self) -> Callable[[str], str]:
        return load_stemmer(self.stemmer) if self.stemmer else str


def load_stemmer(language: str) -> Callable[[str], str]:
    """Return a function that gives the stem of a word; several threads may call it at once."""
    snowball = import_optional("snowballstemmer", "stemming")
    languages = snowball.algorithms()
    if language not in languages:
        raise ConfigurationError(
            f"no stemmer for {language!r}; there are {', '.join(sorted(languages))}"
        )
    return _Stems(snowball.stemmer(language)).__getitem__


class _Stems(dict[str, str]):
    """The stems of words, made on first use; safe to use from several threads."""

    def __init__(self, stemmer: Any) -> None:
        super().__init__()
        self._stemmer = stemmer
        self._lock = threading.Lock()  # a stemmer keeps the word it is working on

    def __missing__(self, word: str) -> str:
        with self._lock:
            stem: str = self._stemmer.stemWord(word)
        self[word] = stem
        return stem
