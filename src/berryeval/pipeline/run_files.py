"""Files of rankings and judgments as runs, so that they can be compared like any other."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from berryeval.engine import as_qrels, as_run, evaluate
from berryeval.errors import DataError
from berryeval.io.files import name_of
from berryeval.pipeline.plan import DEFAULT_MEASURES
from berryeval.pipeline.systems import Source
from berryeval.records import Query
from berryeval.results import AnswerRecord, BenchmarkRecord, HitRecord, ProviderRecord, RunRecord
from berryeval.results.standard import STANDARD, standard_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval.scores import Scores

__all__ = ["sources_of"]

Grades = dict[str, dict[str, float]]


def sources_of(runs: Sequence[str], qrels: str, measures: Sequence[str] | None) -> list[Source]:
    """Each file as a run of one provider, named after the file, scored by the judgments."""
    judgments = as_qrels(qrels)
    grades = judgments.to_dict()
    if not grades:
        msg = f"{qrels}: there are no judgments, so there is nothing to score"
        raise DataError(msg)
    benchmark = Path(name_of(qrels)).name
    text = json.dumps(grades, sort_keys=True)
    content = "sha256:" + hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    found = []
    for path in runs:
        ranked = as_run(path)
        asked = list(measures or DEFAULT_MEASURES)
        scores = evaluate(judgments, ranked, [*asked, *STANDARD])
        if set(scores.outcomes) == {"missing"}:
            msg = f"{path}: no query of the run is judged in {qrels}, so there is nothing to score"
            raise DataError(msg)
        hits = ranked.ranked().to_dict()
        part = _part(benchmark, content, grades, Path(path).name, hits, scores, asked)
        found.append(Source(path, RunRecord(path, "", (part,)), part.providers[0].name))
    return found


def _part(
    benchmark: str,
    content: str,
    grades: Grades,
    name: str,
    hits: Mapping[str, Mapping[str, float]],
    scores: Scores,
    asked: Sequence[str],
) -> BenchmarkRecord:
    missing = set(scores.with_outcome("missing"))
    answers = tuple(
        AnswerRecord(query, "missing")
        if query in missing
        else _answer(query, grades[query], hits.get(query, {}))
        for query in grades
    )
    depth = max((len(one.hits) for one in answers), default=0)
    every = scores.only(standard_of(depth))  # what the CSV files of any run have
    record = ProviderRecord(
        name, "file", scores=scores.only(asked), standard=every, answers=answers
    )
    return BenchmarkRecord(benchmark, content, depth, tuple(map(_query, grades)), (record,))


def _query(name: str) -> Query:
    return Query(name, name)


def _answer(query: str, grades: Mapping[str, float], hits: Mapping[str, float]) -> AnswerRecord:
    found = tuple(HitRecord(name, score, grades.get(name)) for name, score in hits.items())
    return AnswerRecord(query, "ok" if found else "empty", found)
