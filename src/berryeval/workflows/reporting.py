"""From runs to reports, and reports to files."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.gates import Gate
from berryeval.reports import EXPORTERS, Report, format_of, write_in_format
from berryeval.runs import RunRecord
from berryeval.workflows.config import check_model
from berryeval.workflows.gate import gate_with, verdicts_of
from berryeval.workflows.run_finder import find_report
from berryeval.workflows.run_result import BenchmarkResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from berryeval._internal.files import PathLike


log = logging.getLogger("berryeval")
Reported: TypeAlias = Report | RunRecord | BenchmarkResult | str | Path


def joined(reports: Sequence[Report], title: str = "") -> Report:
    """One report of several: the same run counts once; a single one keeps its title."""
    runs: list[RunRecord] = []
    for report in reports:
        runs += [run for run in report.runs if run not in runs]
    verdicts = [verdict for report in reports for verdict in report.verdicts]
    own = reports[0].title if len(reports) == 1 else ""
    compared = [one for report in reports for one in report.compared]
    return Report.of(runs, title=title or own, verdicts=verdicts, compared=compared)


def judged(report: Report) -> Report:
    """The report with the verdicts of the rules that its only run was made with.

    Those of several runs would be hard to tell apart; rules whose baseline is gone are not judged.
    """
    if report.verdicts or len(report.runs) != 1:
        return report
    (run,) = report.runs
    try:
        gate: Gate = check_model(Gate, run.plan.get("gate") or {}, None)
        least = run.plan.get("thresholds") or {}
        verdicts = verdicts_of(gate_with(Gate(), least, {}), run) if least else []
        verdicts += verdicts_of(gate, run) if gate.rules or gate.baseline else []
    except BerryEvalError as error:
        log.warning("the rules of the run %s are not judged again: %s", run.id, error)
        return report
    return replace(report, verdicts=tuple(verdicts))


def named_report(names: Sequence[str], title: str = "") -> tuple[Report, Path]:
    """The report of the runs of these names, and the folder it belongs to.

    One run has its own folder; several, and one that has none, belong where we are.
    """
    found = [find_report(name) for name in names]
    folder = found[0][1] if len(found) == 1 else None
    return judged(joined([report for report, _ in found], title)), folder or Path()


def write_report(
    runs: Reported | Sequence[Reported],
    path: PathLike,
    format: str | None = None,  # noqa: A002 - its name
    *,
    title: str = "",
    label: str = "",
) -> list[Path]:
    """Write one or several runs as a report, and return the paths of its files.

        >>> import tempfile, berryeval as be
        >>> result = be.run_benchmark("rag-template", ["bm25"], ["nDCG@5"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path] = be.write_report(result, f"{folder}/quality.md")
        ...     path.read_text(encoding="utf-8").splitlines()[0]
        '## Retrieval quality: rag-template'

    Args:
        runs: what `run_benchmark` returned, a record, a report, the name or folder of a run, or a
            list of such.
        path: a file, or a folder. Formats of several files (csv) add to the name of a file what
            each of them is.
        format: a name of `berryeval list exporters`; the ending of `path` says it otherwise.
        title: of the report.
        label: takes the place of the usual one in names of files.
    """
    given: list[Any] = list(runs) if isinstance(runs, list | tuple) else [runs]
    if not given:
        msg = "no run to report on; expected what run_benchmark returned, or the name of a run"
        raise ConfigurationError(msg)
    report = judged(joined([_report_of(one) for one in given], title))
    return write_in_format(report, format or format_of(path), path, label=label)


def _report_of(source: Any) -> Report:
    if isinstance(source, Report):
        return source
    if isinstance(source, RunRecord):
        return Report.of([source])
    if isinstance(source, BenchmarkResult):
        return Report.of([source.whole_run])
    if isinstance(source, str | Path):
        return find_report(str(source))[0]
    msg = f"expected a result, a record, a report, or a name, found {type(source).__name__}"
    raise ConfigurationError(msg)


@dataclass(frozen=True)
class Exported:
    """What became of a report in one format: its files, what to print, or why there is nothing."""

    format: str
    paths: tuple[Path, ...] = ()
    text: str = ""
    problem: str = ""


def export(report: Report, names: Iterable[str], folder: Path) -> list[Exported]:
    """Write a run in these formats: into its folder, or where the format has one for itself.

    What cannot be written is told, not raised: the run itself is safe.
    """
    return [_exported(report, name, folder) for name in names]


def _exported(report: Report, name: str, folder: Path) -> Exported:
    publish = EXPORTERS.get(name).publish
    try:
        left = publish(report) if publish is not None else None
        if left is not None:
            return Exported(name, text=left)
        paths = write_in_format(report, name, beside=folder)
    except BerryEvalError as error:
        return Exported(name, problem=str(error))
    return Exported(name, tuple(paths))
