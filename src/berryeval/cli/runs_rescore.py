"""`berryeval runs rescore`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval.cli.flags import Flag, Metrics

if TYPE_CHECKING:
    from berryeval.scoring import Scores
    from berryeval.workflows import FoundRun, Rescored


_REPORTS: Final = ("report.*", "junit.xml")  # files that eval writes to a run folder
_VERDICTS: Final = {".html": 'id="gates"', ".md": "| verdict | rule |", ".json": '"rule":'}
_CASE: Final = re.compile(r'<testcase [^<>]*\bname="([^"<]*)"')


def rescore(
    run: str,
    /,
    *,
    metrics: Metrics = None,
    qrels: str | None = None,
    benchmark: str | None = None,
    judged: str | None = None,
    per_query: Flag = False,
    save: Flag = False,
    store: str | None = None,
    json: Flag = False,
) -> None:
    """Score a past run with other metrics or judgments, without searching again.

    Args:
        run: Name of a run or the start of it, its folder, a file, `latest`, or `latest~1`.
        metrics: Metrics to compute: -m nDCG@10 AP, -m nDCG@10,AP, or -m repeated; default, if
            judges have voted since: those of the run.
        qrels: Judgments by hit id (TREC, JSON, ...), used instead of the benchmark's.
        benchmark: Current location of the benchmark, whose judgments may have changed.
        judged: Votes of judges that count: auto (those in BENCHMARK.judged, if there are any),
            none, or the folder or store of a ledger; default: as in the run.
        per_query: Also print one row per query.
        save: Add the metrics to the run folder and the store; existing scores stay.
        store: Path or PostgreSQL URL of the store; default: .berryeval/results.db.
        json: JSON output, in full precision.
    """
    from berryeval.cli.logs import error_screen, log_level, log_lines
    from berryeval.errors import ConfigurationError
    from berryeval.metrics import split_names
    from berryeval.workflows import rescore as rescore_run

    names = split_names(metrics or [])
    for other, given in (("--benchmark", benchmark), ("--judged", judged)):
        if qrels is not None and given is not None:
            raise ConfigurationError(f"choose one of --qrels and {other}")
    if qrels is not None and not names:
        raise ConfigurationError("name at least one metric, as in -m nDCG@10 AP")
    with log_lines(error_screen(), log_level()):
        done = rescore_run(
            run, names, qrels=qrels, benchmark=benchmark, judged=judged, save=save, store=store
        )
    found, parts, saved = done.run, done.parts, done.saved
    if json:
        _print_json(found, parts, saved, per_query=per_query)
    else:
        _print(parts, saved, per_query=per_query)
        if saved:
            _warn_outdated(found, done.own_rules)


def _print(parts: Sequence[Rescored], saved: list[str], *, per_query: bool) -> None:
    from berryeval._internal.text import pluralize
    from berryeval.cli.eval_tables import print_legend, quality_tables
    from berryeval.cli.output import console, print_indented
    from berryeval.cli.score import build_query_table

    screen = console()
    for part in parts:
        queries = pluralize(part.count, "query")
        screen.print(f"{part.part.name}: {queries}; {_hash_of(part)}", style="bold")
        for name, scores in part.scores.items() if per_query else ():
            screen.print()
            screen.print(name)
            screen.print(build_query_table(scores))
        screen.print()
        metrics = list(next(iter(part.scores.values())).metrics) if part.scores else []
        for table in quality_tables(dict(part.scores), metrics, screen.width):
            screen.print(table)
            screen.print()
        if metrics:
            print_legend(screen, list(part.scores.values()), metrics)
        for note in part.notes:
            print_indented(screen, f"note: {note}", 0, style="yellow")
    for place in saved:
        screen.print(f"saved in {place}")


def _hash_of(part: Rescored) -> str:
    """Return the hash of the data that was scored: the current benchmark's, or the run's."""
    return part.content_hash or part.part.content_hash


def _find_outdated(found: FoundRun) -> list[Path]:
    """Return the reports in the run folder, which lack the new metrics."""
    if found.folder is None:
        return []
    return [path for name in _REPORTS for path in sorted(found.folder.glob(name))]


def _warn_outdated(found: FoundRun, own_rules: Collection[str]) -> None:
    from berryeval._internal.text import format_command
    from berryeval.cli.output import console
    from berryeval.reports import find_format

    folder = str(found.folder)
    for path in _find_outdated(found):
        again = format_command("report", folder, "-o", path)
        if _has_verdicts(path, found, own_rules):
            again = format_command(
                "gate", folder, "--export", find_format(path), "--output", folder
            )
            again += ", with the rules of its verdicts"
        words = f"note: {path} lacks the new metrics; to write it again: {again}"
        console().print(words, style="yellow", soft_wrap=True)


def _has_verdicts(path: Path, found: FoundRun, own_rules: Collection[str]) -> bool:
    """Whether a report has verdicts that `report` would not write: those of a gate."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix != ".xml":
        mark = _VERDICTS.get(path.suffix)
        return not own_rules and mark is not None and mark in text
    providers = {one.name for part in found.record.benchmarks for one in part.providers}
    names = set(map(unescape, _CASE.findall(text)))
    return not names <= providers.union(own_rules)


def _print_json(
    found: FoundRun, parts: Sequence[Rescored], saved: list[str], *, per_query: bool
) -> None:
    from berryeval.cli.output import print_json

    def shown(scores: Scores) -> dict[str, Any]:
        queries = {"per_query": {name: scores.per_query(name) for name in scores.metrics}}
        return {**scores.summary(), **(queries if per_query else {})}

    data = {
        "run": found.record.id,
        "benchmarks": [
            {
                "benchmark": part.part.name,
                "content_hash": _hash_of(part),
                "queries": part.count,
                "same_judgments": part.same_judgments,
                "notes": list(part.notes),
                "providers": {name: shown(scores) for name, scores in part.scores.items()},
            }
            for part in parts
        ],
        "saved": saved,
        "outdated": [str(path) for path in _find_outdated(found)] if saved else [],
    }
    print_json("runs rescore", data)
