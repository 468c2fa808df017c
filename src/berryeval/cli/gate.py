"""`berryeval gate`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from berryeval._internal.text import visible
from berryeval.cli.app import EXIT_FAILED, EXIT_PASSED
from berryeval.cli.flags import STDOUT, Flag, Output, Several
from berryeval.cli.logs import is_quiet
from berryeval.cli.output import render_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console

    from berryeval.gates import Gate, SelfCheck, Status, Verdict
    from berryeval.reports import Report


_STYLES: Final[dict[Status, str]] = {"pass": "green", "fail": "bold red", "inconclusive": "yellow"}


def gate(
    run: str = "latest",
    /,
    *,
    config: str | None = None,
    baseline: str | None = None,
    fail_below: Several = None,
    max_drop: Several = None,
    strict: Flag = False,
    self_check: Flag = False,
    export: Several = None,
    output: Output = None,
    json: Flag = False,
) -> int:
    """Judge a run by rules: thresholds, and drops against a baseline.

    The rules are those of the configuration file (its `gate` and `thresholds`) and those of flags.
    Where a baseline is given and no rule is about drops, any significant fall of a metric fails.
    Exits with 1 if a rule fails; one that cannot be decided lets the run pass unless --strict.
    In a step of GitHub Actions it adds to the summary, and notes what failed.

    Example: berryeval gate latest --baseline berryeval-baseline.json --max-drop nDCG@10=0.01

    Args:
        run: A run folder, its run.json, the name of a run, or `latest`.
        config: The configuration file; ./berryeval.yaml if there is one.
        baseline: What drops are measured against: a file of `berryeval baseline set`, or a run.
        fail_below: The least value of a metric: --fail-below recall@10=0.80.
        max_drop: How much a metric may fall below the baseline: --max-drop nDCG@10=0.01.
        strict: Fail where a rule cannot be decided.
        self_check: Show how often the rules about drops raise a false alarm on this data.
        export: Write the run with its verdicts: --export junit markdown (list exporters).
        output: The folder for --export; the folder of the run unless given. - prints the file of
            one format, and the verdicts on stderr.
        json: Print JSON, in full precision.
    """
    from pathlib import Path

    from berryeval.cli.logs import error_screen
    from berryeval.cli.output import console, print_document, print_json
    from berryeval.reports import Report
    from berryeval.workflows import (
        NO_RULE,
        find_run,
        no_drop_rules,
        passed,
        self_checked,
        verdicts_of,
    )

    formats = asked_formats(export, output)
    found = find_run(run)
    record, folder = found.record, found.folder or Path()
    rules = asked_gate(config, baseline, fail_below, max_drop)
    verdicts = verdicts_of(rules, record, named=run)
    checked = self_checked(rules, record, strict=strict) if self_check else None
    good = passed(verdicts, strict=strict)
    note = NO_RULE if no_drop_rules(rules) else ""
    report = Report.of([record], verdicts=verdicts, note=note)
    # What cannot go to stdout is refused first; a file that cannot be written hides no verdict.
    files = write_files(report, formats, STDOUT) if output == STDOUT else None
    if not json:
        screen = error_screen() if output == STDOUT else console()
        _print(screen, report, checked, good=good, strict=strict)
    if files is None:
        files = write_files(report, formats, output or folder)
    if json:
        data = {
            "run": record.id,
            "passed": good,
            "strict": strict,
            "note": note,
            "verdicts": [one.to_dict() for one in verdicts],
            "self_check": checked.to_dict() if checked else None,
            "files": files,
        }
        print_json("gate", data)
    for one in files if not json else ():
        if "text" in one:
            print_document(one["text"])
        else:
            print(visible(f"{one['format']}: {one['path']}"))
    publish_on_github(report, quietly=json or output == STDOUT)
    return EXIT_PASSED if good else EXIT_FAILED


def asked_gate(
    config: str | None,
    baseline: str | None,
    fail_below: list[str] | None,
    max_drop: list[str] | None,
) -> Gate:
    """The gate of the configuration file and of flags; one without rules is refused."""
    from berryeval.errors import ConfigurationError
    from berryeval.workflows import configured_gate, gate_with, read_limits, with_baseline

    found = gate_with(
        configured_gate(config),
        read_limits(fail_below, "--fail-below", "recall@10=0.80"),
        read_limits(max_drop, "--max-drop", "nDCG@10=0.01"),
    )
    found = with_baseline(found, baseline)
    if not found.rules and not found.baseline:
        msg = (
            "there are no rules; give some with --fail-below or --max-drop, or as `gate` in "
            "berryeval.yaml, or a --baseline below which nothing may fall"
        )
        raise ConfigurationError(msg)
    return found


def print_verdicts(screen: Console, verdicts: Sequence[Verdict], note: str = "") -> None:
    """A line per verdict, by benchmark and provider; above them what is to be known of them all."""
    from berryeval.cli.output import print_indented

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


def _print(
    screen: Console, report: Report, checked: SelfCheck | None, *, good: bool, strict: bool
) -> None:
    from collections import Counter

    screen.print(f"gate on {report.runs[0].id}")
    screen.print()
    print_verdicts(screen, report.verdicts, report.note)
    counts = Counter(one.status for one in report.verdicts)
    shown = ", ".join(f"{counts[name]} {name}" for name in _STYLES if counts[name])
    end = "passed" if good else "failed"
    why = " (strict: what cannot be decided fails)" if strict and counts["inconclusive"] else ""
    screen.print()
    screen.print(f"gate {end}: {shown}{why}", style="bold green" if good else "bold red")
    if checked is not None:
        screen.print(f"self-check: {checked.sentence}")


# The files of `berryeval gate`, and what it tells GitHub.

ON_GITHUB: Final = "GITHUB_ACTIONS"  # "true" in every step of a workflow


def asked_formats(export: list[str] | None, output: str | None) -> list[str]:
    """The formats to write, all of them known."""
    from berryeval.errors import ConfigurationError
    from berryeval.metrics import split_names
    from berryeval.reports import EXPORTERS

    names = list(dict.fromkeys(split_names(export or [])))
    if output and not names:
        msg = "--output is where --export writes to; say what: --export junit markdown"
        raise ConfigurationError(msg)
    for name in names:
        EXPORTERS.get(name)
    if output == STDOUT and len(names) > 1:
        msg = f"{' and '.join(names)} would both go to stdout; give a folder with --output"
        raise ConfigurationError(msg)
    return names


def write_files(report: Report, formats: Sequence[str], folder: Path | str) -> list[dict[str, str]]:
    """Write the run and its verdicts in these formats, into one folder, or as text for stdout."""
    from berryeval.reports import write_in_format

    if folder == STDOUT:
        return [{"format": name, "text": render_text(report, name)} for name in formats]
    return [
        {"format": name, "path": str(path)}
        for name in formats
        for path in write_in_format(report, name, f"{folder}{os.sep}")
    ]


def publish_on_github(report: Report, *, quietly: bool) -> None:
    """In a step of a workflow: add to its summary, and print notes about what failed.

    Args:
        report: the run with its verdicts.
        quietly: stdout is for something else; the runner reads stderr as well.
    """
    if os.environ.get(ON_GITHUB) != "true":
        return
    from berryeval.reports import publish, render

    text = publish(report)
    print(
        render(report) if text is None else text,
        end="",
        file=sys.stderr if quietly else sys.stdout,
        flush=True,
    )
