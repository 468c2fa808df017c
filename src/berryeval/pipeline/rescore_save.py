"""New measures of a run, written to where the run is: its folder, and the store."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from berryeval.errors import ConfigurationError, DataError
from berryeval.pipeline.folder import RunFolder, write_json_file
from berryeval.pipeline.kept_hits import spec_of
from berryeval.pipeline.remember import opened_store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from berryeval.pipeline.find_run import FoundRun
    from berryeval.pipeline.rescore import Rescored
    from berryeval.results import BenchmarkRecord, ProviderRecord, RunRecord
    from berryeval.scores import Scores

__all__ = ["save_rescored"]


def save_rescored(found: FoundRun, parts: Sequence[Rescored], place: str | None) -> list[str]:
    """Add the new measures to the run; what was there stays. Where it was saved.

    Scores by other judgments than the run's are refused: in one table they would seem comparable.
    So are those of a run whose own measures do not come out again: nobody knows which are right.
    """
    if not all(part.same_judgments for part in parts):
        msg = "--save keeps scores by the run's own judgments only; leave out --qrels, --benchmark"
        raise ConfigurationError(msg)
    differing = sorted({name for part in parts for name in part.differing})
    if differing:
        msg = (
            f"--save keeps new measures beside those that come out again; those of "
            f"{', '.join(differing)} do not: nothing was saved. Leave out --save to see them, or "
            "make a new run (berryeval eval)"
        )
        raise DataError(msg)
    if found.folder is None and place is None:
        msg = "--save has no place to write to: the run has no folder here, and there is no store"
        raise ConfigurationError(msg)
    record = _with_scores(found.record, parts)
    saved = []
    if found.folder is not None:
        _write_folder(found.folder, record)
        saved.append(str(found.folder))
    if place is not None:
        with opened_store(place, make=True) as store:
            store.add(record, replace_content=True)
            saved.append(f"the store {store.shown}")
    return saved


def _with_scores(record: RunRecord, parts: Sequence[Rescored]) -> RunRecord:
    new = {part.part.name: part.scores for part in parts}
    return replace(
        record,
        benchmarks=tuple(
            _part_with(benchmark, new.get(benchmark.name, {})) for benchmark in record.benchmarks
        ),
    )


def _part_with(part: BenchmarkRecord, new: dict[str, Scores]) -> BenchmarkRecord:
    def changed(provider: ProviderRecord) -> ProviderRecord:
        if provider.scores is None or provider.name not in new:
            return provider
        return replace(provider, scores=_joined(provider.scores, new[provider.name]))

    return replace(part, providers=tuple(map(changed, part.providers)))


def _joined(old: Scores, new: Scores) -> Scores:
    """The old table, and the measures that it did not have."""
    if old.queries != new.queries:
        msg = "the queries of the run and of the new scores differ; nothing was saved"
        raise DataError(msg)
    return old.with_those_of(new)


def _write_folder(path: Path, record: RunRecord) -> None:
    folder = RunFolder(path)
    with folder.locked():
        for part in record.benchmarks:
            for provider in part.providers:
                if provider.scores is not None:
                    file = folder.part(part.name, spec_of(provider)) / "scores.json"
                    write_json_file(file, provider.scores.to_dict())
        folder.write_record(record)
