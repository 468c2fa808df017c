"""Secrets in the answers of a provider, masked before anything is recorded or shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from berryeval._internal.masking import Masker
    from berryeval.benchmarks import Benchmark
    from berryeval.data import Chunk, Hit
    from berryeval.runner import Ranking, StageRanking


class AnswerMasker:
    """Masks secrets in the rankings of one provider without an effect on its scores.

    A value from the environment may be a word of the benchmark, such as the name of a folder: what
    the benchmark itself has is not masked in hits, so that every id and text that can be judged
    stays. Different ids stay different.
    """

    def __init__(self, masker: Masker, benchmark: Benchmark, chunks: Sequence[Chunk]) -> None:
        self._masker = masker
        self._benchmark = benchmark
        self._chunks = chunks
        self._names: dict[str, str] = {}  # masked ids by their originals
        self._taken: set[str] = set()

    def mask(self, ranking: Ranking) -> Ranking:
        """Return a ranking without secrets."""
        error = self._masker.mask(ranking.error)
        cost = self._masker.mask_all(ranking.cost)
        hits = tuple(map(self._mask_hit, ranking.hits))
        answer = ranking.answer
        if answer and self._masker.mask(answer) != answer:
            answer = self._hit_masker.mask(answer)
        stages = tuple(map(self._mask_stage, ranking.stages))
        masked = (error, cost, hits, answer, stages)
        if masked == (ranking.error, ranking.cost, ranking.hits, ranking.answer, ranking.stages):
            return ranking
        return replace(ranking, error=error, cost=cost, hits=hits, answer=answer, stages=stages)

    def _mask_stage(self, stage: StageRanking) -> StageRanking:
        return replace(
            stage,
            name=self._masker.mask(stage.name),
            hits=tuple(map(self._mask_hit, stage.hits)),
            cost=self._masker.mask_all(stage.cost),
        )

    def _mask_hit(self, hit: Hit) -> Hit:
        parts = {
            name: getattr(hit, name)
            for name in ("id", "text", "doc_id", "section", "metadata", "extra")
        }
        if self._masker.mask_all(parts) == parts:
            return hit
        masked: dict[str, Any] = self._hit_masker.mask_all(parts)
        for name in ("id", "doc_id"):
            masked[name] = self._rename(parts[name], masked[name])
        return replace(hit, **masked)

    @cached_property
    def _hit_masker(self) -> Masker:
        """The values that do not occur in the benchmark, looked for once one is in a hit."""
        return self._masker.without(self._texts())

    def _texts(self) -> Iterator[str]:
        yield from (chunk.id for chunk in self._chunks)
        given = self._benchmark
        for record in chain(given.documents, given.queries, given.judgments):
            yield json.dumps(record.to_json(), ensure_ascii=False, default=str)

    def _rename(self, name: str, masked: str) -> str:
        """Return the masked id of an id; of another one with the same text, with a number."""
        if masked == name:
            return name
        if name not in self._names:
            numbered = (f"{masked}-{number}" for number in count(2))
            free = next(one for one in chain([masked], numbered) if one not in self._taken)
            self._names[name] = free
            self._taken.add(free)
        return self._names[name]
