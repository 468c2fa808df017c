"""What is compared: which systems texts name, and which of them belong together."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval._internal.files import name_of
from berryeval._internal.validate import nearest
from berryeval.data import Query
from berryeval.errors import ConfigurationError, DataError
from berryeval.runs import (
    STANDARD,
    AnswerRecord,
    BenchmarkRecord,
    HitRecord,
    ProviderRecord,
    RunRecord,
    standard_of,
)
from berryeval.scoring import as_qrels, as_run, evaluate
from berryeval.workflows.plan import DEFAULT_METRICS
from berryeval.workflows.run_finder import FoundRun, find_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from berryeval.scoring import Scores


MARK: Final = "#"  # between a run and a provider of it


@dataclass(frozen=True)
class Source:
    """A run, or one provider of it.

    Attributes:
        text: what named it; messages and labels show it.
        run: the record of the run.
        provider: the only provider that is meant; empty for all of them.
        folder: that of the run, if it is still there.
    """

    text: str
    run: RunRecord
    provider: str = ""
    folder: Path | None = None

    @property
    def found(self) -> FoundRun:
        """The run with its folder."""
        return FoundRun(self.run, self.folder)

    @property
    def named_run(self) -> str:
        """What names the run alone."""
        return self.text.removesuffix(f"{MARK}{self.provider}") if self.provider else self.text

    @classmethod
    def named(cls, text: str) -> Source:
        """What a text means: a folder, file or name of a run, `latest`; `RUN#PROVIDER` of it."""
        run, provider = _split(text)
        there = find_run(run)
        found = cls(text, there.record, provider, there.folder)
        names = list(dict.fromkeys(p.name for part in found.run.benchmarks for p in part.providers))
        if provider and provider not in names:
            near = nearest(provider, names, 1)
            hint = f"did you mean {run}{MARK}{near[0]}?" if near else f"it has {', '.join(names)}"
            msg = f"the run {run} has no provider {provider!r}; {hint}"
            raise ConfigurationError(msg)
        return found


def _split(text: str) -> tuple[str, str]:
    """The run and the provider; a path that is there may have the mark in its name."""
    places = [place for place, letter in enumerate(text) if letter == MARK]
    for end in (len(text), *reversed(places)):
        if Path(text[:end]).exists() and text[:end]:
            return text[:end], text[end + 1 :]
    run, _, provider = text.partition(MARK)
    return run, provider


class Candidate(NamedTuple):
    """A provider of a run on one benchmark; `label` is unique among those it is compared with."""

    label: str
    source: Source
    part: BenchmarkRecord
    record: ProviderRecord


@dataclass(frozen=True)
class Table:
    """Systems that are compared with each other on one benchmark.

    Attributes:
        benchmark: the name of the benchmark.
        candidates: the systems, in the order in which they were named.
        warnings: what was left out.
    """

    benchmark: str
    candidates: tuple[Candidate, ...]
    warnings: tuple[str, ...] = ()


def tables_of(sources: Sequence[Source], benchmark: str | None = None) -> list[Table]:
    """What is to be compared with what, benchmark by benchmark.

    One run: its providers. Several: each provider that two of them have, old against new; if they
    have none in common, or if some are named by RUN#PROVIDER, all that is named.
    """
    names = _benchmarks(sources, benchmark)
    owners = {
        name: [one for one in sources if name in {part.name for part in one.run.benchmarks}]
        for name in names
    }
    alone = [name for name in names if len(owners[name]) < min(2, len(sources))]
    tables = [table for name in names if name not in alone for table in _tables(name, sources)]
    if not tables:
        raise _nothing(sources, names)
    notes = [f"only {owners[name][0].text} has {name}, which is left out" for name in alone]
    return [replace(table, warnings=(*notes, *table.warnings)) for table in tables]


def _benchmarks(sources: Sequence[Source], wanted: str | None) -> list[str]:
    names = list(dict.fromkeys(part.name for one in sources for part in one.run.benchmarks))
    if wanted is None:
        return names
    if wanted not in names:
        near = nearest(wanted, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names) or 'none'}"
        msg = f"no run has the benchmark {wanted!r}; {hint}"
        raise ConfigurationError(msg)
    return [wanted]


def _tables(benchmark: str, sources: Sequence[Source]) -> Iterable[Table]:
    found = [
        Candidate(record.name, source, part, record)
        for source in sources
        for part in source.run.benchmarks
        if part.name == benchmark
        for record in part.providers
        if source.provider in {"", record.name}
    ]
    found, warnings = _usable(found)
    if len({id(one.source) for one in found}) > 1 and not any(one.provider for one in sources):
        times = Counter(one.label for one in found)
        shared = [name for name, count in times.items() if count > 1]
        if shared:
            warnings += [_alone(one) for one in found if times[one.label] == 1]
            groups = [[one for one in found if one.label == name] for name in shared]
            return [Table(benchmark, _labelled(group), tuple(warnings)) for group in groups]
    enough = len(found) > 1
    return [Table(benchmark, _labelled(found), tuple(warnings))] if enough else []


def _usable(found: list[Candidate]) -> tuple[list[Candidate], list[str]]:
    """Those with scores; one that was asked for by its name must have some."""
    warnings = []
    for one in found:
        if one.record.scores is None:
            what = f"{one.label} of {one.source.text} has no scores: {one.record.failure}"
            if one.source.provider:
                raise DataError(what)
            warnings.append(f"{what}; it is left out")
    return [one for one in found if one.record.scores is not None], warnings


def _alone(one: Candidate) -> str:
    return (
        f"only {one.source.text} has {one.label}, which is left out; to compare it, name it: "
        f"{one.source.text}{MARK}{one.label}"
    )


def _labelled(found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """With labels that tell them apart: by provider, and by run where that is not enough."""
    _refuse_copies(found)
    names = Counter(one.label for one in found)
    ids = Counter((one.label, one.source.run.id) for one in found)
    labelled = []
    for one in found:
        label = one.label
        if names[label] > 1:
            same_id = ids[label, one.source.run.id] > 1
            text = one.source.text.removesuffix(f"{MARK}{label}")
            label = f"{label} ({text if same_id else one.source.run.id})"
        labelled.append(one._replace(label=label))
    twice = [name for name, count in Counter(one.label for one in labelled).items() if count > 1]
    if twice:
        msg = f"{twice[0]} is given twice; a run has nothing to be compared with in itself"
        raise ConfigurationError(msg)
    return tuple(labelled)


def _refuse_copies(found: Sequence[Candidate]) -> None:
    """A run and a copy of it are one run, by whatever path each was given."""
    seen: dict[tuple[str, ...], str] = {}
    for one in found:
        run = one.source.run
        key = (one.label, run.id, run.created, one.part.content_hash)
        if key in seen:
            who = (
                seen[key] if seen[key] == one.source.text else f"{seen[key]} and {one.source.text}"
            )
            msg = (
                f"{one.label} of the run {run.id} is given twice ({who}); a run has nothing to be "
                "compared with in itself"
            )
            raise ConfigurationError(msg)
        seen[key] = one.source.text


def _nothing(sources: Sequence[Source], names: Sequence[str]) -> DataError:
    """Why there is nothing to compare."""
    told = []
    for one in sources:
        for part in one.run.benchmarks:
            mine = [p for p in part.providers if one.provider in {"", p.name}]
            if part.name in names and mine:
                words = ", ".join(f"{p.name}{'' if p.scores else ' (failed)'}" for p in mine)
                told.append(f"{one.text} has {words} on {part.name}")
    return DataError(
        "there is nothing to compare: no benchmark has scores of two systems; "
        f"{'; '.join(told) or 'the runs are empty'}"
    )


# Files of rankings and judgments as runs, so that they can be compared like any other.

Grades = dict[str, dict[str, float]]


def sources_of(runs: Sequence[str], qrels: str, metrics: Sequence[str] | None) -> list[Source]:
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
        asked = list(metrics or DEFAULT_METRICS)
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
