"""`hybrid`: rankings of other providers, fused by rank or by score.

By rank: score(d) = sum over the providers that rank d: weight / (k + rank of d). Cormack, Clarke
and Büttcher (2009), "Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning
Methods".

By score: score(d) = sum over the providers that rank d: weight * (s - lowest) / (highest - lowest),
where s is the score of d, and highest and lowest are the scores of the provider's first and last
hit. The margins between hits then count. Fox and Shaw (1994), "Combination of Multiple Searches";
compared with rank fusion by Bruch, Gai and Ingber (2023), "An Analysis of Fusion Functions for
Hybrid Retrieval". A provider whose scores are all equal, or contradict the order of its hits by
more than rounding, counts by position, evenly spaced from 1 down.

The defaults (fusion by score, depth, feedback) were chosen on `spring-boot`, while the scores on
`technical-docs` were in view, so neither is an independent test of them. Tune them on
your own queries: with `weights: [1, 0.6]` and `feedback: 2` for bm25, nDCG@10 on `spring-boot` is
0.824 instead of 0.792, while RR on `technical-docs` falls from 0.87 to 0.82.

Like all providers, both search the headings above a chunk as well as its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from berryeval._internal.validate import is_number, reject_unknown, require_choice, require_whole
from berryeval.data import Hit
from berryeval.errors import ConfigurationError
from berryeval.providers.answers import Answer, as_hits
from berryeval.providers.base import add_costs
from berryeval.providers.catalogue import build_provider
from berryeval.providers.combined import Combined, read_part
from berryeval.providers.ranking import fuse_ranks, fuse_scores

if TYPE_CHECKING:
    from berryeval.data import Query
    from berryeval.providers.base import Provider


_DEFAULTS: Final[dict[str, dict[str, Any]]] = {"bm25": {"feedback": 5}, "dense": {"feedback": 3}}


@dataclass
class Hybrid(Combined):
    """Rankings of other providers over the same chunks, fused by rank or by score.

    Attributes:
        providers: Provider names; mappings with `type` and `options`, so that one provider can be
            used twice with different options; or provider objects and anything else that can be
            searched.
        weights: Weight of each provider; 1 by default.
        k: Rank constant: the higher, the less the top ranks stand out. Not used for scores.
        depth: Number of hits fused from each provider, at least as many as requested. The last hit
            counts nothing when scores are fused, so the depth should be large.
        options: Options by provider name. `bm25` and `dense` use feedback by default.
        fusion: "scores" adds scores normalized to 0-1, "ranks" adds reciprocal ranks.
    """

    providers: Sequence[Any] = ("bm25", "dense")
    weights: Sequence[float] = ()
    k: int = 60
    depth: int = 1000
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    fusion: str = "scores"
    extra: ClassVar[str] = "dense"
    modules: ClassVar[Sequence[str]] = ("wordllama",)

    def __post_init__(self) -> None:
        if isinstance(self.providers, str) or not self.providers:
            raise ConfigurationError(f"hybrid needs a list of providers, found {self.providers!r}")
        reject_unknown(
            "hybrid", self.options, [one for one in self.providers if isinstance(one, str)]
        )
        require_choice("fusion of hybrid", self.fusion, ["ranks", "scores"])
        require_whole("k of hybrid", self.k)
        require_whole("depth of hybrid", self.depth)
        if not self.weights:
            self.weights = [1.0] * len(self.providers)
        valid = all(is_number(weight) and weight >= 0 for weight in self.weights)
        if not valid or len(self.weights) != len(self.providers) or not any(self.weights):
            raise ConfigurationError(
                f"weights of hybrid must be {len(self.providers)} numbers of 0 or more, one per "
                f"provider, and not all 0; found {list(self.weights)}"
            )
        self._children = [self._build_child(child) for child in self.providers]

    def _build_child(self, child: Any) -> Provider:
        if isinstance(child, str):
            given = self.options.get(child, {})
        elif isinstance(child, Mapping):
            child, given = read_part("hybrid", child)
        else:
            return build_provider(child)
        return build_provider(child, {**_DEFAULTS.get(child, {}), **given})

    def search(self, query: Query, k: int) -> list[Hit]:
        """Return the hits of all providers by fused score."""
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Search several queries, batched for the providers that accept batches."""
        deep = max(k, self.depth)
        found = [self._ask(child, queries, deep) for child in self._children]
        return [self._fuse(answers, k) for answers in zip(*found, strict=True)]

    def _fuse(self, answers: Sequence[Any], k: int) -> list[Hit]:
        rankings = [
            answer
            if isinstance(answer, list) and {*map(type, answer)} <= {Hit}
            else as_hits(answer, max(k, self.depth))
            for answer in answers
        ]
        if self.fusion == "scores":
            hits = fuse_scores(rankings, k, weights=self.weights)
        else:
            hits = fuse_ranks(rankings, k, constant=self.k, weights=self.weights)
        cost = add_costs(getattr(answer, "cost", None) for answer in answers)
        return Answer(hits, cost) if cost else hits
