"""Data sets of known shapes for the benchmarks, generated from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = 8_841_823  # as many as MS MARCO has passages


@dataclass(frozen=True)
class Shape:
    """Size of a data set: queries, documents per ranking, judgments per query."""

    name: str
    queries: int
    depth: int
    judged: int
    grades: int

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write the run and the qrels unless they exist."""
        run, qrels = folder / f"{self.name}.run", folder / f"{self.name}.qrels"
        if not (run.exists() and qrels.exists()):
            self._write(run, qrels)
        return run, qrels

    def _write(self, run: Path, qrels: Path) -> None:
        rng = np.random.default_rng(2026)
        with run.open("w") as runs, qrels.open("w") as judgments:
            for query in range(self.queries):
                topic = 1_000_000 + 7 * query
                ranked = rng.choice(DOCUMENTS, self.depth, replace=False, shuffle=False).tolist()
                scores = np.sort(rng.random(self.depth) * 20)[::-1].tolist()
                runs.writelines(
                    f"{topic} Q0 {document} {rank} {score:.6f} bench\n"
                    for rank, (document, score) in enumerate(
                        zip(ranked, scores, strict=True), start=1
                    )
                )
                judgments.writelines(
                    f"{topic} 0 {document} {grade}\n"
                    for document, grade in self._judgments(rng, ranked)
                )

    def _judgments(self, rng: np.random.Generator, ranked: list[int]) -> list[tuple[int, int]]:
        """Put two of three judged documents in the ranking, the others anywhere."""
        inside = round(self.judged * 2 / 3) if self.judged > 1 else int(rng.random() < 0.8)
        found = rng.choice(len(ranked), inside, replace=False).tolist()
        documents = [ranked[place] for place in found]
        documents += [DOCUMENTS + place for place in range(self.judged - inside)]
        low = 1 if self.grades == 1 else 0
        grades = rng.integers(low, self.grades + 1, len(documents)).tolist()
        return list(zip(documents, grades, strict=True))


MARCO = Shape("marco", queries=6_980, depth=1_000, judged=1, grades=1)
POOLS = Shape("pools", queries=250, depth=1_000, judged=400, grades=3)
GROWTH = tuple(Shape(f"growth-{n}", n, 1_000, 1, 1) for n in (1_000, 2_000, 4_000))
IN_MEMORY = Shape("memory", queries=1_000, depth=1_000, judged=100, grades=3)
