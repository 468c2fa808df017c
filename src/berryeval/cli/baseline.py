"""`berryeval baseline set|show|diff`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from berryeval._internal.text import visible
from berryeval.cli.logs import is_quiet
from berryeval.cli.options import STDOUT, Flag, OutputFileName

if TYPE_CHECKING:
    from berryeval.gates import Baseline
    from berryeval.runs import RunRecord


FILE = "berryeval-baseline.json"


def set_baseline(
    run: str = "latest",
    /,
    *,
    output: OutputFileName = FILE,
    allow_errors: Flag = False,
    json: Flag = False,
) -> None:
    """Keep the scores of a run as the baseline, in a small file to be committed.

    Queries without an answer score 0, and later drops of them would not be seen: a run with such
    is refused unless --allow-errors.

    Args:
        run: A run folder, its run.json, the name of a run, or `latest`.
        output: The file; - is stdout.
        allow_errors: Keep the scores of queries that failed, too.
        json: Print JSON.
    """
    from pathlib import Path

    from berryeval.cli.output import print_document, print_json
    from berryeval.errors import DataError
    from berryeval.gates import Baseline
    from berryeval.workflows import find_record, write_text_file

    record = find_record(run)
    baseline = Baseline.of(record)
    if not baseline.parts:
        msg = f"no provider of {record.id} has scores: a baseline of it would hold nothing"
        raise DataError(msg)
    failed = _failing(record)
    if failed and not allow_errors:
        msg = f"{_masked(failed)}; ask them again (berryeval eval --resume FOLDER --retry-errors), "
        msg += "or keep them so with --allow-errors"
        raise DataError(msg)
    to_stdout = output == STDOUT
    if not to_stdout:
        write_text_file(Path(output), baseline.dumps())
    left_out = [
        f"{provider.name} on {part.name}"
        for part in record.benchmarks
        for provider in part.providers
        if provider.scores is None
    ]
    if json:
        data = {
            "file": None if to_stdout else output,
            "left_out": left_out,
            "failed_queries": failed,
            **({"text": baseline.dumps()} if to_stdout else {}),
            **_summary(baseline),
        }
        print_json("baseline set", data)
    else:
        owners = ", ".join(f"{part.provider} on {part.benchmark}" for part in baseline.parts)
        if to_stdout:
            print_document(baseline.dumps())
        else:
            print(visible(f"baseline written to {output}: {owners}"))
        if left_out:
            words = visible(f"not in it, as they failed: {', '.join(left_out)}")
            print(words, file=sys.stderr if to_stdout else sys.stdout)
        if failed and not is_quiet():
            print(visible(f"warning: {_masked(failed)}"), file=sys.stderr)


def _failing(record: RunRecord) -> list[dict[str, str | int]]:
    """Of each provider with scores how many of its queries failed, where some did."""
    from berryeval.runner import failed_of

    return [
        {
            "benchmark": part.name,
            "provider": provider.name,
            "failed": failed_of(provider.outcomes),
            "queries": sum(provider.outcomes.values()),
        }
        for part in record.benchmarks
        for provider in part.providers
        if provider.scores and failed_of(provider.outcomes)
    ]


def _masked(failed: list[dict[str, str | int]]) -> str:
    """How many queries failed, and what that does to a baseline."""
    counts = ", ".join(
        f"{one['failed']} of {one['queries']} queries of {one['provider']} on {one['benchmark']}"
        for one in failed
    )
    return f"{counts} failed and score 0: a baseline of them hides later drops of these queries"


def show(file: str = FILE, /, *, json: Flag = False) -> None:
    """Show what a baseline holds.

    Args:
        file: A file of `berryeval baseline set`, or a run.
        json: Print JSON, in full precision.
    """
    from rich.table import Table

    from berryeval._internal import numbers
    from berryeval.cli.output import console, print_json
    from berryeval.workflows import find_baseline

    baseline = find_baseline(file)
    if json:
        print_json("baseline show", _summary(baseline))
        return
    screen = console()
    screen.print(f"{file}: run {baseline.run} of {baseline.created}")
    screen.print()
    table = Table(box=None, pad_edge=False)
    for column in ("benchmark", "provider", "queries", "metric", "value", "of queries"):
        table.add_column(column)
    for part in baseline.parts:
        for name, row in part.values.items():
            value = part.value(name)
            shown = numbers.NOTHING if value is None else numbers.exact_metric(value)
            how = part.aggregate_of(name)
            table.add_row(part.benchmark, part.provider, str(len(row)), name, shown, how)
    screen.print(table)


def diff(
    run: str = "latest", /, *, baseline: str = FILE, strict: Flag = False, json: Flag = False
) -> int:
    """Show how a run differs from the baseline, metric by metric.

    Exits with 1 where a fall of a metric is significant, or a provider failed; where that cannot
    be told, or something of the baseline is not in the run, only with --strict.

    Args:
        run: A run folder, its run.json, the name of a run, or `latest`.
        baseline: A file of `berryeval baseline set`, or a run.
        strict: Fail where it cannot be told.
        json: Print JSON, in full precision.
    """
    from berryeval.cli.app import EXIT_FAILED, EXIT_PASSED
    from berryeval.cli.gate import print_verdicts
    from berryeval.cli.output import console, print_json
    from berryeval.workflows import baseline_for, differences, find_record, passed

    record = find_record(run)
    verdicts = differences(record, baseline_for(baseline, record))
    good = passed(verdicts, strict=strict)
    if json:
        data = {
            "run": record.id,
            "passed": good,
            "strict": strict,
            "verdicts": [one.to_dict() for one in verdicts],
        }
        print_json("baseline diff", data)
    else:
        screen = console()
        screen.print(f"{record.id} against {baseline}")
        screen.print()
        print_verdicts(screen, verdicts)
    return EXIT_PASSED if good else EXIT_FAILED


def _summary(baseline: Baseline) -> dict[str, object]:
    return {
        "run": baseline.run,
        "created": baseline.created,
        "parts": [
            {
                "benchmark": part.benchmark,
                "content_hash": part.content_hash,
                "provider": part.provider,
                "k": part.k,
                "queries": len(part.queries),
                "values": {name: part.value(name) for name in part.values},
                "aggregates": {name: part.aggregate_of(name) for name in part.values},
            }
            for part in baseline.parts
        ],
    }
