"""`compare_runs`: whether the systems of runs differ, where, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from berryeval._internal.text import format_rescore_command, pluralize
from berryeval._internal.validate import nearest, require, suggest
from berryeval.errors import ConfigurationError, MetricError, NotScoredError
from berryeval.metrics import parse_metric
from berryeval.reports import ComparedBenchmark, MovedHit, MovedQuery, Report, finding
from berryeval.runs import AnswerRecord, RunRecord, group_queries
from berryeval.stats import Pair, compare, describe_unanswered
from berryeval.workflows.compared_data import select_comparable
from berryeval.workflows.run_result import BenchmarkResult
from berryeval.workflows.systems import Source, build_tables, check_comparable, read_sources

if TYPE_CHECKING:
    from berryeval.runs import HitRecord, ProviderRecord
    from berryeval.scoring import Scores
    from berryeval.stats import Comparison, IntervalMethod
    from berryeval.workflows.systems import Candidate, Table


Compared: TypeAlias = str | Path | RunRecord | BenchmarkResult
MOVED: Final = 3
ALL_PAIRS: Final = "all"  # in place of a baseline
_SEPARATOR: Final = " > "  # between a document and its headings, in names of hits


@dataclass(frozen=True)
class Options:
    """Options of a comparison.

    Attributes:
        baseline: System that all others are compared with: a run as it was given, or the name of a
            system; the first by default. "all" compares every pair.
        metrics: Metrics; by default all that every system has.
        test: Significance test; see `berryeval.compare` for this and the next five.
        correction: Correction of p-values.
        interval: Confidence interval of differences.
        level: Confidence level.
        seed: Random seed.
        samples: Number of samples that tests draw.
        by: Property of queries to group by: "category", "difficulty", or a key of their metadata.
        moved: Number of most changed queries to explain, for each pair.
        benchmark: Benchmark to compare, if not all.
        anyway: Compare changed queries of runs on different data of a benchmark, too.
        strict_data: Refuse to compare runs on different data.
    """

    baseline: str | None = None
    metrics: Sequence[str] | None = None
    test: str = "randomization"
    correction: str = "holm"
    interval: IntervalMethod = "t"
    level: float = 0.95
    seed: int = 0
    samples: int = 100_000
    by: str | None = None
    moved: int = MOVED
    benchmark: str | None = None
    anyway: bool = False
    strict_data: bool = False


def compare_runs(
    runs: Sequence[Compared] | Compared,
    title: str = "",
    *,
    qrels: str | None = None,
    **options: Any,
) -> Report:
    """Compare the systems of one or several runs, and explain which queries moved.

        >>> import berryeval as be
        >>> result = be.run_benchmark("rag-template", ["bm25", "bm25:fixed-400"], ["nDCG@5"])
        >>> report = be.compare_runs(result, baseline="bm25")
        >>> report.compared[0].comparison.row("nDCG@5").significant
        False

    One run compares its providers; several runs compare what they have in common, old and new.

    Args:
        runs: Folders, files or names of runs, `RUN#PROVIDER`, records, or results of
            `run_benchmark`.
        title: Title of the report.
        qrels: Judgments; the runs are then ranking files.
        options: Fields of `berryeval.workflows.run_comparison.Options`: baseline, metrics, test,
            correction, interval, level, seed, samples, by, moved, benchmark, anyway,
            strict_data.
    """
    given = [runs] if isinstance(runs, str | Path | RunRecord | BenchmarkResult) else list(runs)
    if not given:
        raise ConfigurationError("no run to compare; give two runs, or one with several providers")
    chosen = Options(**options)
    if qrels is not None:
        sources = read_sources([str(one) for one in given], qrels, chosen.metrics)
    else:
        sources = [_find_source(one) for one in given]
    return _compare_sources(sources, chosen, title)


def _find_source(one: Compared) -> Source:
    if isinstance(one, RunRecord):
        return Source(one.id, one)
    if isinstance(one, BenchmarkResult):
        return Source(one.whole_run.id, one.whole_run)
    return Source.find(str(one))


def _compare_sources(sources: Sequence[Source], options: Options, title: str) -> Report:
    require(0 < options.level < 1, "level", "a number between 0 and 1, as 0.95", options.level)
    require(options.seed >= 0, "seed", "0 or more", options.seed)
    require(options.samples >= 1, "samples", "1 or more", options.samples)
    require(options.moved >= 0, "moved", "0 or more", options.moved)
    tables = build_tables(sources, options.benchmark)
    found = [_compare_table(table, options) for table in tables]
    records: list[RunRecord] = []
    for one in sources:
        records += [] if one.run in records else [one.run]
    names = ", ".join(dict.fromkeys(one.benchmark for one in found))
    return Report.of(records, title=title or f"Comparison on {names}", compared=found)


def _compare_table(table: Table, options: Options) -> ComparedBenchmark:
    data = select_comparable(
        table.candidates,
        options.metrics[0] if options.metrics else "",
        baseline=_find_baseline(table.candidates, options.baseline),
        anyway=options.anyway,
        strict=options.strict_data,
    )
    table = replace(table, candidates=data.candidates)
    warnings = [*data.warnings, *check_comparable(table.candidates)]
    sides = {one.label: Side.of(one, all_scores(one.record)) for one in table.candidates}
    metrics, partial = options.metrics, []
    if metrics is None:
        tables = (one.record.scores for one in table.candidates)
        asked = [scores.metrics for scores in tables if scores is not None]
        names = dict.fromkeys(name for known in asked for name in known)
        partial = [name for name in names if not all(name in known for known in asked)]
        metrics = [name for name in names if name not in partial] or None
    _check_scored(table.candidates, sides, options.metrics or ())
    groups = _group_queries(table, options.by)
    found = compare(
        {label: side.scores for label, side in sides.items()},
        baseline=_find_baseline(table.candidates, options.baseline),
        metrics=metrics,
        test=options.test,
        correction=options.correction,
        interval=options.interval,
        level=options.level,
        seed=options.seed,
        samples=options.samples,
        groups=groups,
    )
    if partial:
        warnings.append(f"not asked for in every run, and left out: {', '.join(partial)}")
    known = {describe_unanswered(label, side.scores) for label, side in sides.items()}
    # These are in the warnings already.
    found = replace(found, notes=tuple(note for note in found.notes if note not in known))
    found = _note_failures(found, table.candidates, groups)
    pairs = list(dict.fromkeys((row.baseline, row.system) for row in found.rows))
    moved = [
        query
        for first, second in pairs
        for query in moved_queries(sides[first], sides[second], found.metrics[0], options.moved)
    ]
    return ComparedBenchmark(
        table.benchmark,
        tuple(dict.fromkeys(one.part.content_hash for one in table.candidates)),
        found,
        options.by or "",
        tuple(moved),
        (*table.warnings, *warnings),
        data.changes,
    )


def _check_scored(
    candidates: Sequence[Candidate], sides: Mapping[str, Side], metrics: Sequence[str]
) -> None:
    first: NotScoredError | None = None
    missing: dict[str, list[str]] = {}  # by run
    for metric in metrics:
        lacks = [(one.source.named_run, _find_lack(sides[one.label], metric)) for one in candidates]
        error = next((error for _, error in lacks if error is not None), None)
        if error is None:
            continue
        try:
            parse_metric(metric)
        except MetricError:  # a misspelled name; the error suggests others
            raise error from None
        first = first or error
        for run in dict.fromkeys(run for run, error in lacks if error is not None):
            missing.setdefault(run, []).append(metric)
    if first is not None:
        lines = "; ".join(format_rescore_command(run, *names) for run, names in missing.items())
        end = "" if str(first).endswith("?") else "."
        several = len({name for names in missing.values() for name in names}) > 1
        raise NotScoredError(f"{first}{end} To compute {'them' if several else 'it'}: {lines}")


def _find_lack(side: Side, metric: str) -> NotScoredError | None:
    """Return why a system has no such metric; None if it has."""
    try:
        side.scores.row_of(metric)
    except NotScoredError as error:
        return error
    return None


def all_scores(record: ProviderRecord) -> Scores:
    """Return the requested metrics and those that every run has, in one table."""
    scores, standard = record.scores, record.standard
    if scores is None:
        raise ConfigurationError(f"{record.name} has no scores: {record.failure}")
    if standard is None or standard.queries != scores.queries:
        return scores
    return scores.with_metrics_of(standard)


def _group_queries(table: Table, by: str | None) -> dict[str, str] | None:
    if by is None:
        return None
    queries = [query for one in table.candidates for query in one.part.queries]
    groups = group_queries(queries, by)
    if not groups:
        raise ConfigurationError(f"no query of {table.benchmark} has a {by!r}; try --by category")
    return groups


def _find_baseline(candidates: Sequence[Candidate], wanted: str | None) -> str | None:
    if wanted is None:
        return candidates[0].label
    labels = [one.label for one in candidates]
    if wanted in labels:
        return wanted
    if wanted == ALL_PAIRS:
        return None
    known = {one.label: (one.source.text, one.source.run.id, one.record.name) for one in candidates}
    typed = [one.label for one in candidates if one.source.text == wanted]  # wins over the others
    found = typed or [label for label, names in known.items() if wanted in names]
    if len(found) == 1:
        return found[0]
    if found:
        raise ConfigurationError(
            f"{wanted!r} may be {' or '.join(found)}; name one of them as the baseline"
        )
    near = nearest(wanted, [*labels, *(name for names in known.values() for name in names)], 1)
    hint = suggest(wanted, near or labels)
    raise ConfigurationError(f"the baseline {wanted!r} is no system of this comparison; {hint}")


# Findings that rest on failed queries.


def _note_failures(
    found: Comparison, candidates: Sequence[Candidate], groups: Mapping[str, str] | None
) -> Comparison:
    """Add a note to every finding that rests on queries without an answer."""
    from berryeval.runner import NO_ANSWER

    failed = {
        one.label: {a.query_id for a in one.record.answers if a.outcome in NO_ANSWER}
        for one in candidates
    }
    if not any(failed.values()):
        return found
    scored = {
        one.label: set() if one.record.scores is None else set(one.record.scores.queries)
        for one in candidates
    }
    parts = {}
    for label, group in found.groups.items():
        members = {query for query, name in (groups or {}).items() if name == label}
        inside = {name: one & members for name, one in scored.items()}
        parts[label] = _note_rows(group, failed, inside)
    return replace(_note_rows(found, failed, scored), groups=parts)


def _note_rows(
    found: Comparison, failed: Mapping[str, set[str]], scored: Mapping[str, set[str]]
) -> Comparison:
    rows = []
    for row in found.rows:
        lower = row.system if row.difference < 0 else row.baseline
        count = len(failed[lower] & scored[row.system] & scored[row.baseline])
        notes = list(row.notes)
        if count and row.shown:
            queries = pluralize(row.n, "query", "queries")
            notes.append(
                f"{lower} has no answer to {count:,} of {queries}, which count as 0: {row.system} "
                f"is {finding(row)} as answered, not as ranked"
            )
        rows.append(replace(row, notes=tuple(notes)))
    return replace(found, rows=tuple(rows))


# Queries that moved: which hits entered, left, or changed their rank.


class Side(NamedTuple):
    """One of two systems: the system, its scores, and its answers by query."""

    candidate: Candidate
    scores: Scores
    answers: Mapping[str, AnswerRecord]

    @classmethod
    def of(cls, candidate: Candidate, scores: Scores) -> Side:
        """Build the side of a system."""
        answers = {answer.query_id: answer for answer in candidate.record.answers}
        return cls(candidate, scores, answers)

    def answer(self, query: str) -> AnswerRecord:
        """Return the answer to a query, "missing" without one."""
        return self.answers.get(query, AnswerRecord(query, "missing"))

    def name_hit(self, hit: HitRecord) -> str:
        """Return the document and section of a hit, else its id."""
        passages = self.candidate.part.passages
        return (passages[hit.passage].name if hit.passage is not None else "") or hit.id

    def describe_failure(self, query: str) -> list[str]:
        """Explain an answer without hits."""
        from berryeval.runner import FAILED

        label, answer = self.candidate.label, self.answer(query)
        if answer.outcome == "missing":
            return [f"{label} has no answer on record"]
        if answer.outcome in FAILED:
            why = f" ({answer.error})" if answer.error else ""
            return [f"{label} failed: {answer.outcome}{why}"]
        return [f"{label} found nothing"] if not answer.hits else []


def moved_queries(baseline: Side, system: Side, metric: str, count: int) -> list[MovedQuery]:
    """Return the shared queries that changed most, the largest change first."""
    before, after = baseline.scores.per_query(metric), system.scores.per_query(metric)
    both = [query for query in before if query in after]
    pair = Pair.of([before[query] for query in both], [after[query] for query in both])
    sizes = dict(zip(both, abs(pair.differences).tolist(), strict=True))
    order = sorted(sizes, key=lambda query: (-sizes[query], query))
    chosen = [query for query in order[:count] if sizes[query]]
    return [_explain_move(baseline, system, metric, query) for query in chosen]


def _explain_move(baseline: Side, system: Side, metric: str, query: str) -> MovedQuery:
    depth = max(baseline.candidate.part.k, system.candidate.part.k)
    cutoff = parse_metric(metric).params.get("cutoff")
    depth = min(cutoff, depth) if isinstance(cutoff, int) else depth
    hits = _pair_hits(baseline, system, query)
    inside_before = [hit for hit in hits if _is_inside(hit.before, depth)]
    inside_after = [hit for hit in hits if _is_inside(hit.after, depth)]
    texts = {one.id: one.text for side in (baseline, system) for one in side.candidate.part.queries}
    return MovedQuery(
        query_id=query,
        text=texts.get(query, ""),
        metric=metric,
        baseline=baseline.candidate.label,
        system=system.candidate.label,
        before=baseline.scores.per_query(metric)[query],
        after=system.scores.per_query(metric)[query],
        depth=depth,
        entered=tuple(hit for hit in inside_after if not _is_inside(hit.before, depth)),
        left=tuple(hit for hit in inside_before if not _is_inside(hit.after, depth)),
        moved=tuple(
            hit
            for hit in inside_before
            if _is_inside(hit.after, depth) and hit.before != hit.after and (hit.grade or 0) > 0
        ),
        notes=(*baseline.describe_failure(query), *system.describe_failure(query)),
    )


def _is_inside(rank: int | None, depth: int) -> bool:
    return rank is not None and rank <= depth


def _pair_hits(baseline: Side, system: Side, query: str) -> list[MovedHit]:
    """Return the hits of both answers with both ranks, by relevance; join those on one target."""
    ranks: dict[str, list[int | None]] = {}
    grades: dict[str, list[float]] = {}
    names: dict[str, str] = {}
    for place, side in enumerate((baseline, system)):
        for rank, hit in enumerate(side.answer(query).hits, start=1):
            ranks.setdefault(hit.id, [None, None])[place] = rank
            names.setdefault(hit.id, side.name_hit(hit))
            grades.setdefault(hit.id, []).extend([] if hit.grade is None else [hit.grade])
    found = [
        MovedHit(name, names[name], max(grades[name], default=None), before, after)
        for name, (before, after) in ranks.items()
    ]
    before, after = baseline.answer(query), system.answer(query)
    same = baseline.candidate.part.content_hash == system.candidate.part.content_hash
    if same or (before.found and after.found):
        found = join_by_target(found, before, after)
    return sorted(found, key=_rank_by_worth)


def _rank_by_worth(hit: MovedHit) -> tuple[float, int]:
    places = [rank for rank in (hit.before, hit.after) if rank is not None]
    return (-(hit.grade if hit.grade is not None else -1), min(places))


def join_by_target(
    hits: Sequence[MovedHit], before: AnswerRecord, after: AnswerRecord
) -> list[MovedHit]:
    """Join two hits that cover the same judged target into one with both ranks.

    Answers that do not record the targets that they found are joined by document and grade.
    """
    if before.found and after.found:
        return _join_by_record(hits, before, after)
    gone: dict[tuple[str, float], list[MovedHit]] = {}
    come: dict[tuple[str, float], list[MovedHit]] = {}
    for hit in hits:
        if hit.grade and hit.grade > 0 and None in {hit.before, hit.after}:
            side = gone if hit.after is None else come
            side.setdefault((hit.name.split(_SEPARATOR)[0], hit.grade), []).append(hit)
    joined: dict[MovedHit, MovedHit] = {}
    for (document, grade), left in gone.items():
        entered = come.get((document, grade), [])
        is_pair = len(left) == len(entered) == 1
        if is_pair and not _misses_differ(before, after, document, grade):
            joined[left[0]] = replace(
                left[0],
                name=_join_names(document, left[0].name, entered[0].name),
                after=entered[0].after,
            )
            joined[entered[0]] = joined[left[0]]
    return list(dict.fromkeys(joined.get(hit, hit) for hit in hits))


def _join_by_record(
    hits: Sequence[MovedHit], before: AnswerRecord, after: AnswerRecord
) -> list[MovedHit]:
    """Join hits by the recorded targets, best grade first; a hit is joined once."""
    gone = {hit.before: hit for hit in hits if hit.after is None}
    come = {hit.after: hit for hit in hits if hit.before is None}
    rank_of = {target.name: target.rank for target in after.found}
    joined: dict[MovedHit, MovedHit] = {}
    for target in before.found:
        left, entered = gone.get(target.rank), come.get(rank_of.get(target.name))
        if left and entered and left not in joined and entered not in joined:
            name = _join_names(left.name.split(_SEPARATOR)[0], left.name, entered.name)
            joined[left] = replace(left, name=name, after=entered.after)
            joined[entered] = joined[left]
    return list(dict.fromkeys(joined.get(hit, hit) for hit in hits))


def _misses_differ(before: AnswerRecord, after: AnswerRecord, document: str, grade: float) -> bool:
    """Whether only one of two answers misses a target of this grade in the document."""
    missed = [
        {one.name for one in answer.missed if one.grade == grade} for answer in (before, after)
    ]
    return any(_may_be_in(document, name) for name in missed[0] ^ missed[1])


def _may_be_in(document: str, target: str) -> bool:
    """Whether a target is in the document, or does not name its document."""
    is_named = all(part.startswith(("'", '"')) for part in target.split(" or "))
    return repr(document) in target or not is_named


def _join_names(document: str, first: str, second: str) -> str:
    """Return the longer of two names if it starts with the other, else the document."""
    long, short = (first, second) if len(first) >= len(second) else (second, first)
    return long if long.startswith(short) else document
