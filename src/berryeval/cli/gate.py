"""`berryeval gate`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from berryeval.cli.app import EXIT_FAILED, EXIT_PASSED, is_quiet
from berryeval.cli.flags import STDOUT, Flag, Output, Several
from berryeval.cli.logs import error_screen
from berryeval.cli.output import (
    console,
    print_document,
    print_indented,
    print_json,
    print_line,
    render_text,
)

if TYPE_CHECKING:
    from rich.console import Console

    from berryeval.gates import Status, Verdict
    from berryeval.reports import Report
    from berryeval.workflows import JudgedRun


ON_GITHUB: Final = "GITHUB_ACTIONS"  # "true" in every step of a workflow
_STYLES: Final[dict[Status, str]] = {"pass": "green", "fail": "bold red", "inconclusive": "yellow"}


def gate(  # noqa: PLR0913 - the options of the command
    run: str = "latest",
    /,
    *,
    config: str | None = None,
    baseline: str | None = None,
    fail_below: Several = None,
    max_drop: Several = None,
    strict: Flag = False,
    strict_data: Flag = False,
    self_check: Flag = False,
    judged_by: str | None = None,
    ledger: str | None = None,
    export: Several = None,
    output: Output = None,
    json: Flag = False,
) -> int:
    """Judge a run by rules: thresholds, and drops against a baseline.

    Rules come from the configuration file (`gate` and `thresholds`) and from options. With a
    baseline but no rule about drops, any significant drop of a metric fails. Exits with 1 if a
    rule fails; an inconclusive rule fails only with --strict, or with
    `on_inconclusive: fail`. In GitHub Actions the command adds
    to the step summary and annotates failures.

    Args:
        run: A run folder, its run.json, the name of a run, or `latest`.
        config: Configuration file, or none; default: ./berryeval.yaml if it exists.
        baseline: Reference for drops: a file of `berryeval baseline set`, or a run.
        fail_below: Lowest accepted value of a metric: --fail-below recall@10=0.80.
        max_drop: Largest accepted drop below the baseline: --max-drop nDCG@10=0.01.
        strict: Fail on inconclusive rules.
        strict_data: Refuse a baseline that was measured on other data.
        self_check: Estimate how often the drop rules raise a false alarm on this data.
        judged_by: Model judge: judge metrics by its judgments of all queries, corrected by those of
            people of some; the baseline is then a run.
        ledger: Folder or store with these judgments; default: beside the benchmark.
        export: Formats to write, with verdicts: --export junit markdown (list exporters).
        output: Folder for --export; default: the run folder. - prints the file of one format, and
            the verdicts on stderr.
        json: JSON output, in full precision.
    """
    from berryeval.reports import Report
    from berryeval.workflows import judge_run, read_limits

    formats = _read_formats(export, output)
    judged = judge_run(
        run,
        config=config,
        baseline=baseline,
        fail_below=read_limits(fail_below, "--fail-below", "recall@10=0.80"),
        max_drop=read_limits(max_drop, "--max-drop", "nDCG@10=0.01"),
        strict=strict,
        strict_data=strict_data,
        self_check=self_check,
        judged_by=judged_by or "",
        ledger=ledger,
    )
    report = Report.of(
        [judged.record], verdicts=judged.verdicts, note=judged.note, strict=judged.strict
    )
    # Formats that cannot go to stdout are rejected first; a write error later hides no verdict.
    files = _write_files(report, formats, STDOUT) if output == STDOUT else None
    if not json:
        screen = error_screen() if output == STDOUT else console()
        _print(screen, report, judged)
    if files is None:
        files = _write_files(report, formats, output or judged.folder)
    if json:
        data = {
            "run": judged.record.id,
            "passed": judged.passed,
            "strict": judged.strict,
            "note": judged.note,
            "verdicts": [one.to_dict() for one in judged.verdicts],
            "self_check": judged.self_check.to_dict() if judged.self_check else None,
            "power": judged.power.to_dict() if judged.power else None,
            "files": files,
        }
        print_json("gate", data)
    for one in files if not json else ():
        if "text" in one:
            print_document(one["text"], one["format"])
        else:
            print_line(f"{one['format']}: {one['path']}")
    _publish_on_github(report, to_stderr=json or output == STDOUT)
    return EXIT_PASSED if judged.passed else EXIT_FAILED


def print_verdicts(
    screen: Console, verdicts: Sequence[Verdict], note: str = "", *, strict: bool = False
) -> None:
    """Print a line per verdict, by benchmark and provider, below an optional note.

    Failing verdicts, with `strict` also inconclusive ones, name the queries that fell.
    """
    if note and not is_quiet():
        screen.print(note)
    by_owner: dict[tuple[str, str], list[Verdict]] = {}
    for one in verdicts:
        by_owner.setdefault((one.benchmark, one.provider), []).append(one)
    for (benchmark, provider), found in by_owner.items():
        screen.print(f"{provider} on {benchmark}", style="bold")
        for one in found:
            group = f" [{one.group}]" if one.group else ""
            style = _STYLES[one.status]
            print_indented(screen, f"{one.status.upper()}{group}  {one.sentence}", 2, style=style)
            for line in one.fallen if one.status == "fail" or strict else ():
                space = len(line) - len(line.lstrip())
                print_indented(screen, line.lstrip(), 4 + space)


def _print(screen: Console, report: Report, judged: JudgedRun) -> None:
    screen.print(f"gate on {report.runs[0].id}")
    screen.print()
    print_verdicts(screen, report.verdicts, report.note, strict=judged.strict)
    counts = Counter(one.status for one in report.verdicts)
    shown = ", ".join(f"{counts[name]} {name}" for name in _STYLES if counts[name])
    end = "passed" if judged.passed else "failed"
    why = " (strict: inconclusive rules fail)" if judged.strict and counts["inconclusive"] else ""
    style = "bold green" if judged.passed else "bold red"
    screen.print()
    screen.print(f"gate {end}: {shown}{why}", style=style)
    if judged.self_check is not None:
        screen.print(f"self-check: {judged.self_check.sentence}")
    if judged.power is not None and not is_quiet():
        screen.print(f"power: {judged.power.sentence}")


def _read_formats(export: list[str] | None, output: str | None) -> list[str]:
    from berryeval.errors import ConfigurationError
    from berryeval.metrics import split_names
    from berryeval.reports import EXPORTERS

    names = list(dict.fromkeys(split_names(export or [])))
    if output and not names:
        raise ConfigurationError(
            "--output is the folder of --export; add the formats, as in --export junit markdown"
        )
    for name in names:
        EXPORTERS.get(name)
    if output == STDOUT and len(names) > 1:
        raise ConfigurationError(
            f"{' and '.join(names)} would both go to stdout; give a folder with --output"
        )
    return names


def _write_files(
    report: Report, formats: Sequence[str], folder: Path | str
) -> list[dict[str, str]]:
    from berryeval.reports import write_in_format

    if folder == STDOUT:
        return [{"format": name, "text": render_text(report, name)} for name in formats]
    return [
        {"format": name, "path": str(path)}
        for name in formats
        for path in write_in_format(report, name, f"{folder}{os.sep}")
    ]


def _publish_on_github(report: Report, *, to_stderr: bool) -> None:
    """Add to the step summary and print annotations, in a step of GitHub Actions.

    Args:
        report: Run with its verdicts.
        to_stderr: Whether stdout is in use; the runner reads annotations on stderr too.
    """
    if os.environ.get(ON_GITHUB) != "true":
        return
    from berryeval.reports import publish_summary, render_summary

    text = publish_summary(report)
    print(
        render_summary(report) if text is None else text,
        end="",
        file=sys.stderr if to_stderr else sys.stdout,
        flush=True,
    )
