"""`berryeval report`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.text import visible
from berryeval.cli.flags import STDOUT, Flag, Formats, Output, Quiet
from berryeval.cli.output import build_files

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.reports import OutputFile, Report


DEFAULT_FORMAT: Final = "html"


def report(
    *runs: str,
    format: Formats = None,  # noqa: A002 - its name
    output: Output = None,
    title: str = "",
    label: str = "",
    json: Flag = False,
    quiet: Quiet = False,
) -> None:
    """Write one or several runs as a report.

    Examples: berryeval report latest --format markdown, or berryeval report A B -o quality.html

    Args:
        runs: Folders, files or names of runs, latest, or reports that were written as JSON.
        format: Names of `berryeval list exporters`; without, what the ending of --output says, or
            html.
        output: A file or a folder; - is stdout. Without, html goes to the folder of the run, csv to
            BERRYEVAL_EVAL_DIR, and the others to stdout.
        title: The title of the report.
        label: Takes the place of BENCHMARK-PROVIDER in the names of files.
        json: Print where the files are as JSON; what would go to stdout is in it as text.
        quiet: Print nothing but a report that goes to stdout.
    """
    from berryeval.cli.logs import error_screen, log_level, log_lines
    from berryeval.cli.output import print_json
    from berryeval.errors import ConfigurationError
    from berryeval.workflows import named_report

    if not runs:
        msg = "no run to report on; give its folder or name, or latest"
        raise ConfigurationError(msg)
    names = _formats(format or [], output)
    with log_lines(error_screen(), log_level(quiet=quiet, verbose=False)):
        made, folder = named_report(runs, title)
    files = [
        build_files(made, name, label, to_stdout=_to_stdout(name, output)) for name in names
    ]  # all formats are made before one is written: a wrong one stops all
    found = []
    for name, own in zip(names, files, strict=True):
        done = _done(made, name, own, output, folder)
        found += done
        if not json:
            _say(done, quiet=quiet)
    if json:
        print_json("report", {"title": made.title, "files": found})


def _say(done: list[dict[str, Any]], *, quiet: bool) -> None:
    """Print a text, or where the files are."""
    from berryeval.cli.output import print_document

    for one in done:
        if "text" in one:
            print_document(one["text"])
        elif not quiet:
            print(visible(f"{one['format']}: {one['path']}"))


def _formats(given: list[str], output: str | None) -> list[str]:
    """The formats to write, all of them known, and no two for one place."""
    from berryeval.errors import ConfigurationError
    from berryeval.reports import EXPORTERS, format_of, is_folder
    from berryeval.workflows import read_list

    listed = read_list("formats", given, "--format") if given else []
    names = list(dict.fromkeys(map(EXPORTERS.canonical, listed)))
    if not names:
        one_file = output not in (None, STDOUT) and not is_folder(str(output))
        names = [format_of(str(output)) if one_file else DEFAULT_FORMAT]
    homes = [EXPORTERS.get(name).home if output is None else "" for name in names]
    if len(names) > 1 and output is not None and (output == STDOUT or not is_folder(output)):
        msg = f"{len(names)} formats do not go into one file; give a folder with --output"
        raise ConfigurationError(msg)
    if homes.count("stdout") > 1:
        msg = f"{' and '.join(names)} would both go to stdout; give a folder with --output"
        raise ConfigurationError(msg)
    return names


def _to_stdout(name: str, output: str | None) -> bool:
    from berryeval.reports import EXPORTERS

    return output == STDOUT or (output is None and EXPORTERS.get(name).home == "stdout")


def _done(
    made: Report, name: str, files: list[OutputFile], output: str | None, folder: Path
) -> list[dict[str, Any]]:
    """Write a format: its files by path, or as text if they go to stdout."""
    from berryeval.reports import EXPORTERS, write_files

    publish = EXPORTERS.get(name).publish
    left = publish(made) if publish is not None and output is None else None
    if left is not None:
        return [{"format": name, "text": left}]
    if _to_stdout(name, output):
        return [{"format": name, "text": files[0].text}]
    paths = write_files(files, name, output, beside=folder)
    return [{"format": name, "path": str(path)} for path in paths]
