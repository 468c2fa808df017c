"""`berryeval baseline set`, `show` and `diff`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from berryeval.cli.app import is_quiet
from berryeval.cli.flags import STDOUT, Flag, OutputFileName

if TYPE_CHECKING:
    from berryeval.gates import Baseline


FILE: Final = "berryeval-baseline.json"


def set_baseline(
    run: str = "latest",
    /,
    *,
    output: OutputFileName = FILE,
    allow_errors: Flag = False,
    json: Flag = False,
) -> None:
    """Save the scores of a run as the baseline, in a small file to commit.

    Failed queries score 0, which would hide later drops: a run with failures is rejected unless
    --allow-errors is given.

    Args:
        run: A run folder, its run.json, the name of a run, or `latest`.
        output: File to write; - for stdout.
        allow_errors: Accept a run with failed queries.
        json: JSON output.
    """
    from berryeval.cli.output import print_document, print_json, print_line
    from berryeval.workflows import set_baseline as build_baseline

    to_stdout = output == STDOUT
    built = build_baseline(run, None if to_stdout else output, allow_errors=allow_errors)
    baseline = built.baseline
    if json:
        data = {
            "file": None if to_stdout else output,
            "left_out": built.left_out,
            "failed_queries": built.failed,
            "power": built.power.to_dict(),
            **({"text": baseline.dumps()} if to_stdout else {}),
            **_describe(baseline),
        }
        print_json("baseline set", data)
        return
    if to_stdout:
        print_document(baseline.dumps(), "json")
    else:
        owners = ", ".join(f"{part.provider} on {part.benchmark}" for part in baseline.parts)
        print_line(f"baseline written to {output}: {owners}")
    if not is_quiet():
        note = f"power of one rule: {built.power.sentence}"
        print_line(note, sys.stderr if to_stdout else sys.stdout)
    if built.left_out:
        words = f"left out because they failed: {', '.join(built.left_out)}"
        print_line(words, sys.stderr if to_stdout else sys.stdout)
    if built.warning and not is_quiet():
        print_line(f"warning: {built.warning}", sys.stderr)


def show(file: str = FILE, /, *, json: Flag = False) -> None:
    """Show the contents of a baseline.

    Args:
        file: A file of `berryeval baseline set`, or a run.
        json: JSON output, in full precision.
    """
    from berryeval._internal import numbers
    from berryeval.cli.output import build_table, console, print_json
    from berryeval.workflows import find_baseline

    baseline = find_baseline(file)
    if json:
        print_json("baseline show", _describe(baseline))
        return
    screen = console()
    screen.print(f"{file}: run {baseline.run} of {baseline.created}")
    screen.print()
    rows = []
    for part in baseline.parts:
        for name, values in part.values.items():
            value = part.value(name)
            shown = numbers.NOTHING if value is None else numbers.format_exact_metric(value)
            how = part.aggregate_of(name)
            rows.append((part.benchmark, part.provider, str(len(values)), name, shown, how))
    titles = ("benchmark", "provider", "queries", "metric", "value", "of queries")
    screen.print(build_table(titles, rows))


def diff(
    run: str = "latest",
    /,
    *,
    baseline: str = FILE,
    strict: Flag = False,
    strict_data: Flag = False,
    json: Flag = False,
) -> int:
    """Show how a run differs from the baseline, metric by metric.

    Exits with 1 if a metric dropped significantly or a provider failed. With --strict,
    inconclusive results and items missing from the run fail too.

    Args:
        run: A run folder, its run.json, the name of a run, or `latest`.
        baseline: A file of `berryeval baseline set`, or a run.
        strict: Fail on inconclusive results.
        strict_data: Refuse a baseline that was measured on other data.
        json: JSON output, in full precision.
    """
    from berryeval.cli.app import EXIT_FAILED, EXIT_PASSED
    from berryeval.cli.gate import print_verdicts
    from berryeval.cli.output import console, print_json
    from berryeval.workflows import compare_with_baseline

    judged = compare_with_baseline(run, baseline, strict=strict, strict_data=strict_data)
    record, verdicts, good = judged.record, judged.verdicts, judged.passed
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


def _describe(baseline: Baseline) -> dict[str, object]:
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
