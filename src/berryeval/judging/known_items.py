"""Known-item queries: words drawn from a passage, as by a user who has seen it once.

After Azzopardi, de Rijke and Balog (2007), "Building simulated queries for known-item topics":
choose a passage, choose a length, then draw that many terms, each from the passage with probability
1 - noise, else from the whole corpus. A term t of the passage d is drawn with a probability
proportional to

    popular         tf(t, d)                      what d says often
    uniform         1                             any word of d
    discriminative  1 / (cf(t) / |corpus|)        what is rare elsewhere
    tf-idf          tf(t, d) ln(N / df(t))        both

Terms are those of the provider `bm25`: no stop words, and forms of a word are one term. The stop
words are English; in other languages the terms of more than a third of the passages count as such.
A term is written in a form drawn from the corpus, not always that of the passage, as users do. A
query is ambiguous, and rejected, if another passage has more of its terms, or several have as many.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from berryeval._internal.validate import is_number, require, require_choice, require_whole
from berryeval.errors import DataError
from berryeval.judging.drafts import (
    Draft,
    Drafts,
    Reason,
    TargetMaker,
    has_unspaced,
    is_unspaced,
    name_passage,
    split_passages,
    spread_passages,
)
from berryeval.providers import STOPWORDS, Bm25

if TYPE_CHECKING:
    from berryeval.data import Chunk, Document

TermSelection: TypeAlias = Literal["popular", "uniform", "discriminative", "tf-idf"]
SHORTEST: Final = 2  # terms of a query
_FEWEST: Final = 5  # terms of a passage that is worth asking for
_LETTERS: Final = 2  # of a term
_TRIES: Final = 10  # queries drawn from a passage at most
_DRAWS: Final = 50  # until a term is new
_ENGLISH: Final = 0.2  # share of stop words, at least; usual is a third to a half
_FREQUENT: Final = 1 / 3  # share of the passages that have a stop word of another language
_ENOUGH: Final = 20  # passages that show it


@dataclass(frozen=True)
class KnownItems:
    """How known-item queries are drawn.

    Attributes:
        method: How terms are chosen.
        noise: Share of terms from anywhere in the corpus.
        length: Mean number of terms; a query has at least two.
        rivals: Number of other passages that may have as many of the terms.
        seed: Random seed.
    """

    method: TermSelection = "popular"
    noise: float = 0.1
    length: float = 4.0
    rivals: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        require_choice("method", self.method, get_args(TermSelection))
        ok = is_number(self.noise) and 0 <= self.noise < 1
        require(ok, "noise", "a number from 0 to below 1", self.noise)
        ok = is_number(self.length) and SHORTEST <= self.length <= 50  # noqa: PLR2004 - stated
        require(ok, "length", f"a number from {SHORTEST} to 50", self.length)
        require_whole("rivals", self.rivals, least=0)
        require_whole("seed", self.seed, least=0)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return asdict(self)


def draw_known_items(
    documents: Sequence[Document], count: int, how: KnownItems | None = None
) -> Drafts:
    """Draw queries for passages, spread over documents and sections, until there are `count`.

    There are fewer if ten queries of every passage were tried. Raise a DataError if no passage has
    enough words.
    """
    require_whole("count", count)
    how = how or KnownItems()
    passages = split_passages(documents)
    index = _TermIndex(passages, how)
    drafts = Drafts(len(passages))
    targets = TargetMaker(documents)
    order = list(spread_passages(passages, how.seed))
    short = [place for place in order if len(index.counts[place]) < _FEWEST]
    unspaced = {place for place in short if is_unspaced(passages[place].text)}
    _check_enough(len(order) - len(short), unspaced=bool(unspaced))
    drawn = random.Random(f"known items {how.seed}")  # noqa: S311 - not a secret
    taken: dict[int, list[frozenset[str]]] = defaultdict(list)
    for place in short:
        few = f"{len(index.counts[place])} different words, expected {_FEWEST}"
        reason: Reason = "no spaces between words" if place in unspaced else "too few words"
        drafts.reject(passages[place], reason, "" if place in unspaced else few)
    for attempt in range(_TRIES * len(order)):
        place = order[attempt % len(order)]
        if len(drafts.kept) == count:
            return drafts
        if len(index.counts[place]) < _FEWEST:
            continue
        words = index.draw_terms(place, drawn)
        passage, text = passages[place], " ".join(words.values())
        terms = frozenset(words)
        if rival := index.find_rival(place, terms):
            drafts.reject(passage, "ambiguous", rival, text)
        elif any(terms <= one or one <= terms for one in taken[place]):
            drafts.reject(passage, "duplicate", "of the same passage, with the same words", text)
        else:
            taken[place].append(terms)
            target = targets.make_target(passage)
            drafts.kept.append(Draft(text, passage, (target,), category="known-item"))
    drafts.exhausted = len(drafts.kept) < count
    return drafts


def _check_enough(passages: int, *, unspaced: bool) -> None:
    if not passages and unspaced:
        raise DataError(
            "the words of this corpus are not separated by spaces, so none can be drawn; let a "
            "model write questions: --model NAME"
        )
    if not passages:
        raise DataError(
            f"no passage has {_FEWEST} different words besides stop words, so no query can be drawn"
        )
    if passages == 1:
        raise DataError("only one passage has enough words, which every search would find")


class _TermIndex:
    """The terms of passages, with what is needed to draw and to compare them."""

    def __init__(self, passages: Sequence[Chunk], how: KnownItems) -> None:
        self._passages = passages
        self._how = how
        self.counts: list[dict[str, int]] = []  # by passage, of each term
        self._forms: dict[str, Counter[str]] = defaultdict(Counter)  # the words of each term
        self._homes: dict[str, list[int]] = defaultdict(list)
        totals: Counter[str] = Counter()
        plain, stemmed = Bm25(stemmer="", stopwords=False), Bm25()
        term_of: dict[str, str] = {}
        size = stopped = 0
        for place, passage in enumerate(passages):
            text = "" if is_unspaced(passage.text) else passage.text
            words = Counter(plain.tokenize(text))
            counts: Counter[str] = Counter()
            for word, often in words.items():
                size += often
                if word in STOPWORDS:
                    stopped += often
                if word in STOPWORDS or not _is_word(word):
                    continue
                if word not in term_of:
                    term_of[word] = next(iter(stemmed.tokenize(word)), word)
                term = term_of[word]
                counts[term] += often
                self._forms[term][word] += often
            self.counts.append(dict(counts))
            totals.update(counts)
            for term in counts:
                self._homes[term].append(place)
        if stopped < _ENGLISH * size and len(passages) >= _ENOUGH:
            for term in self._drop_frequent():
                del totals[term]
        self._totals = totals
        self._vocabulary = list(totals)
        self._cumulated = list(accumulate(totals.values()))

    def _drop_frequent(self) -> list[str]:
        """Leave out the terms of many passages, and return them."""
        most = _FREQUENT * len(self._passages)
        frequent = [term for term, homes in self._homes.items() if len(homes) > most]
        for term in frequent:
            for place in self._homes.pop(term):
                del self.counts[place][term]
        return frequent

    def draw_terms(self, place: int, drawn: random.Random) -> dict[str, str]:
        """Draw the terms of a query, each with the word to write, in any form of the corpus."""
        terms, weights = self._weigh(place)
        wanted = min(SHORTEST + _draw_poisson(self._how.length - SHORTEST, drawn), len(terms))
        found: dict[str, str] = {}
        for _ in range(wanted):
            for _ in range(_DRAWS):
                if drawn.random() < self._how.noise:
                    (term,) = drawn.choices(self._vocabulary, cum_weights=self._cumulated)
                else:
                    (term,) = drawn.choices(terms, cum_weights=weights)
                if term not in found:
                    forms = self._forms[term]
                    (found[term],) = drawn.choices(list(forms), list(forms.values()))
                    break
        return found

    def _weigh(self, place: int) -> tuple[list[str], list[float]]:
        """Return the terms of a passage and their weights, cumulated."""
        own = self.counts[place]
        how = self._how.method
        if how == "popular":
            weights = [float(often) for often in own.values()]
        elif how == "uniform":
            weights = [1.0] * len(own)
        elif how == "discriminative":
            weights = [1 / self._totals[term] for term in own]
        else:
            size = len(self._passages) + 1  # a term of all passages is rare, but possible
            weights = [
                often * math.log(size / len(self._homes[term])) for term, often in own.items()
            ]
        return list(own), list(accumulate(weights))

    def find_rival(self, place: int, terms: frozenset[str]) -> str:
        """Say which other passage has more of the terms, or how many have as many; "" if few."""
        shared = Counter(home for term in terms for home in self._homes[term])
        own = shared.pop(place, 0)
        rivals = [home for home, count in shared.items() if count >= own]
        if not rivals:
            return ""
        best = max(rivals, key=lambda home: (shared[home], -home))
        name = name_passage(self._passages[best])
        if shared[best] > own:
            return f"{name} has more of its words"
        if len(rivals) <= self._how.rivals:
            return ""
        return f"{len(rivals)} other passages have as many of its words, such as {name}"


def _is_word(text: str) -> bool:
    letters = len(text) >= _LETTERS and not text[0].isdigit() and any(map(str.isalpha, text))
    return letters and not has_unspaced(text)


def _draw_poisson(mean: float, drawn: random.Random) -> int:
    """Draw a number from the Poisson distribution."""
    limit, number, product = math.exp(-mean), 0, drawn.random()
    while product > limit:
        number += 1
        product *= drawn.random()
    return number
