"""`berryeval validate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.cli.app import EXIT_FAILED
from berryeval.cli.flags import Flag, Format, Several
from berryeval.cli.inspect import read_options

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark, Report


_LISTED: Final = 5  # findings of a check, without --all
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
    """Check a benchmark for faults that make its numbers wrong or doubtful.

    Exits with 1 if there are errors, with 2 if the benchmark cannot be read.

    Args:
        benchmark: A bundled benchmark, or a file or folder in a known format.
        format: Benchmark format, if it cannot be detected.
        options: Options of the format (`berryeval list formats`): --options corpus=docs split=dev.
        all: Every finding, not only the first five of each kind.
        json: JSON output, with every finding.
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
        _print(loaded, report, None if all else _LISTED)
    return 0 if report.passed else EXIT_FAILED


def _print(benchmark: Benchmark, report: Report, most: int | None) -> None:
    from berryeval._internal.text import pluralize
    from berryeval.cli.output import console, print_indented

    screen = console()
    sizes = [
        pluralize(len(benchmark.documents), "document"),
        pluralize(len(benchmark.queries), "query"),
        pluralize(len(benchmark.judgments), "judgment"),
    ]
    screen.print(f"{benchmark.name}: {', '.join(sizes)}")
    for (severity, check), findings in report.by_check().items():
        screen.print()
        screen.print(f"{severity}: {check} ({len(findings)})", style=_STYLES[severity])
        for finding in findings[:most]:
            print_indented(screen, finding.where, 2, style="bold")
            print_indented(screen, finding.message, 4)
            if finding.advice:
                print_indented(screen, f"→ {finding.advice}", 4, style="dim")
        if most is not None and len(findings) > most:
            screen.print(f"  … and {len(findings) - most} more; --all shows them")
    names = {"error": "error", "warning": "warning", "info": "note"}
    screen.print()
    screen.print(", ".join(pluralize(report.counts[key], name) for key, name in names.items()))
