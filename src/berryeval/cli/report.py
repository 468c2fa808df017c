"""`berryeval report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval.cli.flags import STDOUT, Flag, Formats, Output, Quiet
from berryeval.cli.output import build_files

if TYPE_CHECKING:
    from berryeval.reports import OutputFile, Report


DEFAULT_FORMAT: Final = "html"


def report(
    *runs: str,
    format: Formats = None,  # noqa: A002 - the name of the option
    output: Output = None,
    title: str = "",
    label: str = "",
    json: Flag = False,
    quiet: Quiet = False,
) -> None:
    """Write a report on one or several runs.

    Args:
        runs: Runs: folders, files, names or `latest`; or reports in JSON.
        format: Names of `berryeval list exporters`; default: the ending of --output, or html.
        output: File or folder; - for stdout. Default: html goes to the run folder, csv to
            BERRYEVAL_EVAL_DIR or the run folder, other formats to stdout. For a tracker: its
            address (mlflow) or project (wandb).
        title: Title of the report.
        label: Replacement for BENCHMARK-PROVIDER in file names.
        json: Paths of the files as JSON; text that would go to stdout is included.
        quiet: No output except a report that goes to stdout.
    """
    from berryeval.cli.logs import error_screen, log_level, log_lines
    from berryeval.cli.output import print_json
    from berryeval.errors import ConfigurationError
    from berryeval.reports import EXPORTERS
    from berryeval.workflows import build_report

    if not runs:
        raise ConfigurationError("no run to report on; give its folder or name, or latest")
    names = _read_formats(format or [], output)
    with log_lines(error_screen(), log_level(quiet=quiet)):
        built, folder = build_report(runs, title)
    files = [
        []
        if EXPORTERS.get(name).track
        else build_files(built, name, label, to_stdout=_goes_to_stdout(name, output))
        for name in names
    ]  # all formats are built before one is written: an error stops all
    found = []
    for name, own in zip(names, files, strict=True):
        written = _track(built, name, output, label) or _write(built, name, own, output, folder)
        found += written
        if not json:
            _print(written, quiet=quiet)
    if json:
        print_json("report", {"title": built.title, "files": found})


def _print(written: list[dict[str, Any]], *, quiet: bool) -> None:
    from berryeval.cli.output import print_document, print_line

    for one in written:
        if "text" in one:
            print_document(one["text"], one["format"])
        elif not quiet:
            print_line(one["place"] if "place" in one else f"{one['format']}: {one['path']}")


def _read_formats(given: list[str], output: str | None) -> list[str]:
    """Read the formats to write; reject unknown ones and two for one place."""
    from berryeval.errors import ConfigurationError
    from berryeval.reports import EXPORTERS, find_format, is_folder
    from berryeval.workflows import read_list

    listed = read_list("formats", given, "--format") if given else []
    names = list(dict.fromkeys(map(EXPORTERS.canonical, listed)))
    if not names:
        one_file = output not in (None, STDOUT) and not is_folder(str(output))
        names = [find_format(str(output)) if one_file else DEFAULT_FORMAT]
    trackers = [name for name in names if EXPORTERS.get(name).track]
    if trackers and output is not None and (len(names) > 1 or output == STDOUT):
        raise ConfigurationError(
            f"--output is the place of {trackers[0]}, which writes no file; give it alone"
        )
    homes = [EXPORTERS.get(name).home if output is None else "" for name in names]
    if len(names) > 1 and output is not None and (output == STDOUT or not is_folder(output)):
        raise ConfigurationError(
            f"{len(names)} formats do not fit in one file; give a folder with --output"
        )
    if homes.count("stdout") > 1:
        raise ConfigurationError(
            f"{' and '.join(names)} would both go to stdout; give a folder with --output"
        )
    return names


def _goes_to_stdout(name: str, output: str | None) -> bool:
    from berryeval.reports import EXPORTERS

    return output == STDOUT or (output is None and EXPORTERS.get(name).home == "stdout")


def _track(report: Report, name: str, place: str | None, label: str) -> list[dict[str, Any]]:
    """Log the report to a tracker, if the format is one, at the place that --output names."""
    from berryeval.reports import EXPORTERS

    track = EXPORTERS.get(name).track
    return [{"format": name, "place": track(report, place or "", label)}] if track else []


def _write(
    report: Report, name: str, files: list[OutputFile], output: str | None, folder: Path
) -> list[dict[str, Any]]:
    from berryeval.reports import EXPORTERS, write_files

    publish = EXPORTERS.get(name).publish
    text = publish(report) if publish is not None and output is None else None
    if text is not None:
        return [{"format": name, "text": text}]
    if _goes_to_stdout(name, output):
        return [{"format": name, "text": files[0].text}]
    paths = write_files(files, name, output, beside=folder)
    return [{"format": name, "path": str(path)} for path in paths]
