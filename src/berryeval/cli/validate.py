"""`berryeval validate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.cli.app import EXIT_FAILED
from berryeval.cli.inspect import read_options
from berryeval.cli.options import Flag, Format, Several

if TYPE_CHECKING:
    from rich.console import Console

    from berryeval.benchmarks import Benchmark, Finding, Report


SHOWN: Final = 5  # findings of a check, unless all are wanted
_STYLES: Final = {"error": "bold red", "warning": "yellow", "info": "cyan"}


def validate(
    benchmark: str,
    /,
    *,
    format: Format = None,  # noqa: A002 - its name
    options: Several = None,
    all: Flag = False,  # noqa: A002 - its name
    json: Flag = False,
) -> int:
    """Check a benchmark: what makes its numbers wrong or doubtful, where, and what to do.

    Exits with 1 if there are errors, with 2 if the benchmark cannot be read.

    Args:
        benchmark: A bundled benchmark, or a file or folder in any format that can be loaded.
        format: The format, if it cannot be told from the files.
        options: What the format takes (`berryeval list formats`): --options corpus=docs split=dev.
        all: Show every finding, not only the first of each kind.
        json: Print JSON, always with every finding.
    """
    from berryeval.benchmarks import Summary, check_benchmark, load_benchmark
    from berryeval.cli.output import print_json

    loaded = load_benchmark(benchmark, format=format, **read_options(options))
    report = check_benchmark(loaded)
    if json:
        data = {
            "benchmark": loaded.name,
            "passed": report.passed,
            "counts": report.counts,
            "findings": [finding.to_json() for finding in report.findings],
            "summary": Summary.of(loaded).to_json(),
        }
        print_json("validate", data)
    else:
        _print(loaded, report, None if all else SHOWN)
    return 0 if report.passed else EXIT_FAILED


def _print(benchmark: Benchmark, report: Report, most: int | None) -> None:
    from berryeval._internal.text import counted
    from berryeval.cli.output import console

    screen = console()
    sizes = [
        counted(len(benchmark.documents), "document"),
        counted(len(benchmark.queries), "query", "queries"),
        counted(len(benchmark.judgments), "judgment"),
    ]
    screen.print(f"{benchmark.name}: {', '.join(sizes)}")
    for (severity, check), findings in report.by_check().items():
        screen.print()
        screen.print(f"{severity}: {check} ({len(findings)})", style=_STYLES[severity])
        for finding in findings[:most]:
            _print_finding(screen, finding)
        if most is not None and len(findings) > most:
            screen.print(f"  … and {len(findings) - most} more; --all shows every one")
    screen.print()
    screen.print(_verdict(report))


def _print_finding(screen: Console, finding: Finding) -> None:
    from berryeval.cli.output import print_indented

    print_indented(screen, finding.where, 2, style="bold")
    print_indented(screen, finding.message, 4)
    if finding.advice:
        print_indented(screen, f"→ {finding.advice}", 4, style="dim")


def _verdict(report: Report) -> str:
    from berryeval._internal.text import counted

    counts = report.counts
    errors, warnings = counted(counts["error"], "error"), counted(counts["warning"], "warning")
    return f"{errors}, {warnings}, {counts['info']} to know"
