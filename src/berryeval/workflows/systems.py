"""The systems that a comparison names: which belong together, and whether they compare."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval._internal.files import display_name
from berryeval._internal.text import pluralize
from berryeval._internal.validate import nearest, suggest
from berryeval.data import Query
from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.runs import (
    STANDARD,
    AnswerRecord,
    BenchmarkRecord,
    HitRecord,
    ProviderRecord,
    RunRecord,
    standard_metrics,
)
from berryeval.stats import describe_unanswered
from berryeval.workflows.run_finder import find_run

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.scoring import Scores


MARK: Final = "#"  # between a run and one of its providers
_SELF: Final = "a run cannot be compared with itself"


@dataclass(frozen=True)
class Source:
    """A run, or one provider of it, and the text that named it."""

    text: str
    run: RunRecord
    provider: str = ""
    folder: Path | None = None

    @property
    def named_run(self) -> str:
        """The part of the text that names the run."""
        return self.text.removesuffix(f"{MARK}{self.provider}") if self.provider else self.text

    @classmethod
    def find(cls, text: str, store: PathLike | None = None) -> Source:
        """Find a run, see `find_run`, or one provider of it, given as `RUN#PROVIDER`."""
        run, provider = _split(text)
        found = find_run(run, store)
        source = cls(text, found.record, provider, found.folder)
        names = list(
            dict.fromkeys(one.name for part in source.run.benchmarks for one in part.providers)
        )
        if provider and provider not in names:
            near = nearest(provider, names, 1)
            hint = f"did you mean {run}{MARK}{near[0]}?" if near else f"it has {', '.join(names)}"
            raise ConfigurationError(f"the run {run} has no provider {provider!r}; {hint}")
        return source


def _split(text: str) -> tuple[str, str]:
    """Split a run and a provider; an existing path may have the mark in its name."""
    places = [place for place, letter in enumerate(text) if letter == MARK]
    for end in (len(text), *reversed(places)):
        if Path(text[:end]).exists() and text[:end]:
            return text[:end], text[end + 1 :]
    run, _, provider = text.partition(MARK)
    return run, provider


class Candidate(NamedTuple):
    """A provider of a run on one benchmark, with a label that is unique in its table."""

    label: str
    source: Source
    part: BenchmarkRecord
    record: ProviderRecord


@dataclass(frozen=True)
class Table:
    """Systems to compare with each other on one benchmark."""

    benchmark: str
    candidates: tuple[Candidate, ...]
    warnings: tuple[str, ...] = ()


def build_tables(sources: Sequence[Source], benchmark: str | None = None) -> list[Table]:
    """Decide which systems to compare, benchmark by benchmark.

    One run compares its providers. Several runs compare each provider that two of them share; if
    they share none, or if some are given as RUN#PROVIDER, everything named is compared.
    """
    names = _find_benchmarks(sources, benchmark)
    owners = {
        name: [one for one in sources if name in {part.name for part in one.run.benchmarks}]
        for name in names
    }
    alone = [name for name in names if len(owners[name]) < min(2, len(sources))]
    tables = [table for name in names if name not in alone for table in _build(name, sources)]
    if not tables:
        raise _nothing_to_compare(sources, names)
    notes = [f"only {owners[name][0].text} has {name}, which is left out" for name in alone]
    return [replace(table, warnings=(*notes, *table.warnings)) for table in tables]


def _find_benchmarks(sources: Sequence[Source], wanted: str | None) -> list[str]:
    names = list(dict.fromkeys(part.name for one in sources for part in one.run.benchmarks))
    if wanted is None:
        return names
    if wanted not in names:
        raise ConfigurationError(f"no run has the benchmark {wanted!r}; {suggest(wanted, names)}")
    return [wanted]


def _build(benchmark: str, sources: Sequence[Source]) -> Iterable[Table]:
    found = [
        Candidate(record.name, source, part, record)
        for source in sources
        for part in source.run.benchmarks
        if part.name == benchmark
        for record in part.providers
        if source.provider in {"", record.name}
    ]
    found, warnings = _drop_unscored(found)
    if len({id(one.source) for one in found}) > 1 and not any(one.provider for one in sources):
        times = Counter(one.label for one in found)
        shared = [name for name, count in times.items() if count > 1]
        if shared:
            warnings += [
                f"only {one.source.text} has {one.label}, which is left out; to compare it, name "
                f"it: {one.source.text}{MARK}{one.label}"
                for one in found
                if times[one.label] == 1
            ]
            groups = [[one for one in found if one.label == name] for name in shared]
            return [Table(benchmark, label_candidates(group), tuple(warnings)) for group in groups]
    enough = len(found) > 1
    return [Table(benchmark, label_candidates(found), tuple(warnings))] if enough else []


def _drop_unscored(found: list[Candidate]) -> tuple[list[Candidate], list[str]]:
    """Return the systems with scores; a system that was named must have some."""
    warnings = []
    for one in found:
        if one.record.scores is None:
            problem = f"{one.label} of {one.source.text} has no scores: {one.record.failure}"
            if one.source.provider:
                raise DataError(problem)
            warnings.append(f"{problem}; it is left out")
    return [one for one in found if one.record.scores is not None], warnings


def label_candidates(found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Give unique labels: the provider, and the run if that is not enough."""
    _reject_copies(found)
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
        raise ConfigurationError(f"{twice[0]} is given twice; {_SELF}")
    return tuple(labelled)


def _reject_copies(found: Sequence[Candidate]) -> None:
    """Reject a run that is given twice; two runs of one second differ in how long they took."""
    seen: dict[tuple[object, ...], str] = {}
    for one in found:
        run, text = one.source.run, one.source.text
        key = (one.label, run.id, run.created, one.part.content_hash, one.record.latency)
        if key in seen:
            texts = text if seen[key] == text else f"{seen[key]} and {text}"
            raise ConfigurationError(
                f"{one.label} of the run {run.id} is given twice ({texts}); {_SELF}"
            )
        seen[key] = text


def _nothing_to_compare(sources: Sequence[Source], names: Sequence[str]) -> DataError:
    lines = []
    for one in sources:
        for part in one.run.benchmarks:
            mine = [p for p in part.providers if one.provider in {"", p.name}]
            if part.name in names and mine:
                words = ", ".join(f"{p.name}{'' if p.scores else ' (failed)'}" for p in mine)
                lines.append(f"{one.text} has {words} on {part.name}")
    return DataError(
        "there is nothing to compare: no benchmark has scores of two systems; "
        f"{'; '.join(lines) or 'the runs are empty'}"
    )


# Whether systems compare: the same data, the same number of hits, answers to judge.


def check_comparable(candidates: Sequence[Candidate]) -> list[str]:
    """Return warnings about differences between systems other than their data."""
    first, *others = (one.part.asked for one in candidates)
    different = {what for one in others for what in one.different(first)}
    return [
        *_compare_asked(candidates, different),
        *_compare_chunkers(candidates),
        *_count_failures(candidates),
    ]


def _join_values(candidates: Sequence[Candidate], value: Callable[[Candidate], object]) -> str:
    return ", ".join(f"{one.label}: {value(one)}" for one in candidates)


def _compare_asked(candidates: Sequence[Candidate], different: Collection[str]) -> Iterator[str]:
    if "queries" in different and "data" not in different:
        counts = _join_values(candidates, lambda one: pluralize(len(one.part.queries), "query"))
        yield f"not all were asked the same queries ({counts}): only shared queries count"
    if "hits" in different:
        shown = _join_values(candidates, lambda one: pluralize(one.part.k, "hit"))
        least = min(one.part.k for one in candidates)
        deeper = f"metrics deeper than {least} favour those that were asked for more"
        yield f"not all were asked for the same number of hits ({shown}): {deeper}"


def _compare_chunkers(candidates: Sequence[Candidate]) -> list[str]:
    from berryeval.workflows.past_hits import recorded_chunker

    if not any(one.record.chunker for one in candidates):
        return []  # no documents, or all used the chunker that the benchmark suggests
    # The record of an older run does not have the suggested chunker.
    names = [
        one.record.chunker or recorded_chunker(one.source.folder, one.part, one.record)
        for one in candidates
    ]
    used = {_normalize_chunker(name) for name in names}
    if len(used) == 1:
        return []
    labels = (one.label for one in candidates)
    shown = ", ".join(
        f"{label}: {name or 'as the benchmark suggested'}"
        for label, name in zip(labels, names, strict=True)
    )
    verb = "were not" if all(used) else "may not have been"
    return [f"the documents {verb} chunked alike ({shown}): a hit of one may be half of another"]


def _normalize_chunker(name: str) -> str:
    from berryeval.chunkers import parse_chunker

    try:
        return str(parse_chunker(name)) if name else ""
    except BerryEvalError:
        return name  # of another version, or registered where the run was made


def _count_failures(candidates: Sequence[Candidate]) -> list[str]:
    """Warn of failed queries, whose 0 says nothing about the ranking, then of missing ones."""
    from berryeval.runner import FAILED

    warnings, unanswered = [], []
    for one in candidates:
        failed = {a.query_id: a.outcome for a in one.record.answers if a.outcome in FAILED}
        if failed:
            counts = Counter(failed.values())
            shown = ", ".join(f"{counts[name]} {name}" for name in FAILED if counts[name])
            noun = "query has" if len(failed) == 1 else "queries have"
            warnings.append(
                f"{len(failed)} {noun} no answer of {one.label} ({shown}) and count as 0: a "
                "difference may come from the failures, not from the ranking"
            )
        if one.record.scores is not None:
            unanswered.append(describe_unanswered(one.label, one.record.scores, list(failed)))
    return [*warnings, *filter(None, unanswered)]


# Ranking files and judgments as runs.


def read_sources(runs: Sequence[str], qrels: str, metrics: Sequence[str] | None) -> list[Source]:
    """Read each ranking file as a run of one provider, scored by the judgments."""
    from berryeval.scoring import as_qrels, as_run, evaluate
    from berryeval.workflows.plan import DEFAULT_METRICS

    judgments = as_qrels(qrels)
    grades = judgments.to_dict()
    if not grades:
        raise DataError(f"{qrels}: has no judgments, so there is nothing to score")
    benchmark = Path(display_name(qrels)).name
    text = json.dumps(grades, sort_keys=True)
    content = "sha256:" + hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    found = []
    for path in runs:
        ranked = as_run(path)
        if grades.keys().isdisjoint(ranked.table.queries):
            raise DataError(
                f"{path}: no query of the run is judged in {qrels}, so there is nothing to score"
            )
        asked = list(metrics or DEFAULT_METRICS)
        scores = evaluate(judgments, ranked, [*asked, *STANDARD])
        record = _build_provider(Path(path).name, grades, ranked.ranked().to_dict(), scores, asked)
        depth = max((len(one.hits) for one in record.answers), default=0)
        every = scores.only(standard_metrics(depth))  # the CSV files of any run have these
        queries = tuple(Query(name, name) for name in grades)
        part = BenchmarkRecord(
            benchmark, content, depth, queries, (replace(record, standard=every),)
        )
        found.append(Source(path, RunRecord(path, "", (part,)), record.name))
    return found


def _build_provider(
    name: str,
    grades: Mapping[str, Mapping[str, float]],
    hits: Mapping[str, Mapping[str, float]],
    scores: Scores,
    asked: Sequence[str],
) -> ProviderRecord:
    missing = set(scores.with_outcome("missing"))
    answers = []
    for query, known in grades.items():
        ranked = {} if query in missing else hits.get(query, {})
        found = tuple(HitRecord(hit, score, known.get(hit)) for hit, score in ranked.items())
        outcome = "missing" if query in missing else "ok" if found else "empty"
        answers.append(AnswerRecord(query, outcome, found))
    return ProviderRecord(name, "file", scores=scores.only(asked), answers=tuple(answers))
