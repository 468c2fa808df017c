"""`berryeval runs export`, `import`, `push` and `prune`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.text import pluralize
from berryeval.cli.flags import STDOUT, Flag, Format, Output
from berryeval.cli.output import print_line, render_text
from berryeval.cli.runs_list import read_filters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.runs import Filters, RunRecord
    from berryeval.workflows import ExportedRun, Imported


_RECORD: Final = "json"  # the record itself, not a report on it
_LISTED: Final = 10  # names of runs to delete


def export(
    run: str | None = None,
    /,
    *,
    output: Output = None,
    format: Format = None,  # noqa: A002 - the name of the option
    all: str | None = None,  # noqa: A002 - the name of the option
    benchmark: str | None = None,
    since: str | None = None,
    store: str | None = None,
    json: Flag = False,
) -> int:
    """Write the complete record of a run as JSON, with every answer and score in full precision.

    Another ending or format writes a report, as `berryeval report` does.

    Args:
        run: Name of a run or the start of it, its folder, `latest`, or `latest~1`.
        output: File to write; default: stdout (-). A name that ends in .gz is compressed.
        format: json for the record, or another name of `berryeval list exporters`; default: the
            ending of --output.
        all: Folder for the records of all runs in the store, one file each; a damaged run is named
            and left out, and the exit code is 2.
        benchmark: With --all: only runs on this benchmark.
        since: With --all: earliest start.
        store: Path or PostgreSQL URL of the store; default: .berryeval/results.db.
        json: Paths of the files as JSON; a record that would go to stdout is included.
    """
    from berryeval.cli.app import EXIT_PASSED
    from berryeval.cli.logs import error_screen, log_level, log_lines
    from berryeval.cli.output import print_document
    from berryeval.errors import ConfigurationError
    from berryeval.workflows import find_run, write_text_file

    if (run is None) == (all is None):
        raise ConfigurationError("name one RUN (or latest), or give a folder with --all")
    if all is not None:
        if format is not None or output is not None:
            owner = "--output" if format is None else "--format"
            raise ConfigurationError(
                f"--all writes the records of runs into its folder; {owner} is for one RUN"
            )
        return _export_all(all, read_filters(benchmark, None, since), store, json=json)
    wanted = _choose_format(output, format)
    with log_lines(error_screen(), log_level()):
        record = find_run(run or "", store).record
    if output == STDOUT:
        output = None
    if wanted != _RECORD:
        _export_report(record, wanted, output, json=json)
    elif output is not None:
        write_text_file(Path(output), record.dumps())
        _print([{"run": record.id, "path": output}], f"written to {output}", json=json)
    elif json:
        _print([{"run": record.id, "path": None, "record": record.to_json()}], "", json=True)
    else:
        print_document(f"{record.dumps()}\n", _RECORD)
    return EXIT_PASSED


def _export_all(folder: str, filters: Filters, store: str | None, *, json: bool) -> int:
    from berryeval.workflows import export_runs

    done = export_runs(folder, filters, store)
    written = [{"run": one.run, "path": str(one.path)} for one in done if not one.problem]
    wrong = [{"run": one.run, "path": None, "problem": one.problem} for one in done if one.problem]
    _print([*written, *wrong], f"{pluralize(len(written), 'run')} written to {folder}", json=json)
    return _report_problems(done, json=json)


def _report_problems(done: Sequence[Imported | ExportedRun], *, json: bool) -> int:
    """Return the exit code; JSON was printed, so the error only goes to stderr."""
    from berryeval.cli.app import EXIT_PASSED, EXIT_USAGE
    from berryeval.errors import DataError
    from berryeval.workflows import check_problems

    try:
        check_problems(done)
    except DataError as error:
        if not json:
            raise
        print_line(f"error: {error}", sys.stderr)
        return EXIT_USAGE
    return EXIT_PASSED


def _choose_format(output: str | None, given: str | None) -> str:
    from berryeval._internal.files import plain_suffix
    from berryeval.reports import EXPORTERS, find_format

    if given is not None:
        EXPORTERS.get(given)
        return EXPORTERS.canonical(given)
    if output is None or output == STDOUT or not plain_suffix(output):
        return _RECORD
    return find_format(output)


def _export_report(record: RunRecord, name: str, output: str | None, *, json: bool) -> None:
    """Write a report as `berryeval report` does; default: to stdout."""
    from berryeval.cli.output import print_document
    from berryeval.reports import Report, write_in_format
    from berryeval.workflows import judge_report

    report = judge_report(Report.of([record]))
    if output is None:
        text = render_text(report, name)
        if json:
            _print([{"run": record.id, "path": None, "text": text}], "", json=True)
        else:
            print_document(text, name)
        return
    paths = list(map(str, write_in_format(report, name, output)))
    runs = [{"run": record.id, "path": path} for path in paths]
    _print(runs, f"written to {', '.join(paths)}", json=json)


def _print(runs: list[dict[str, Any]], text: str, *, json: bool) -> None:
    from berryeval.cli.output import print_json

    if json:
        print_json("runs export", {"runs": runs})
    else:
        print_line(text)


def import_(
    *paths: str,
    replace: Flag = False,
    store: str | None = None,
    json: Flag = False,
) -> int:
    """Add runs to the store: run folders, folders of runs, and exported files.

    A damaged file is named and left out; the others are added, and the exit code is 2.

    Args:
        paths: Folders or files; default: .berryeval/runs.
        replace: Overwrite runs of the same name that differ.
        store: Path or PostgreSQL URL of the store; default: .berryeval/results.db.
        json: JSON output.
    """
    from berryeval.cli.output import print_json
    from berryeval.workflows import import_runs

    def show(one: Imported) -> None:
        if not one.problem and not json:
            hint = "; --replace takes the content of the file" if one.how == "differs" else ""
            print_line(f"{one.id}: {one.how}{hint}")

    found = import_runs(paths, store, replace=replace, notify=show)
    if json:
        runs = [
            {"file": str(one.file), "run": one.id, "how": one.how, "problem": one.problem}
            for one in found
        ]
        print_json("runs import", {"runs": runs})
    return _report_problems(found, json=json)


def push(
    url: str,
    run: str = "latest",
    /,
    *,
    token_file: str | None = None,
    replace: Flag = False,
    store: str | None = None,
    json: Flag = False,
) -> None:
    """Send a run to a server that `berryeval serve --users` started; twice changes nothing.

    The token of a person with the role judge comes from BERRYEVAL_TOKEN or a file.

    Args:
        url: Address of the server.
        run: Name of a run or the start of it, its folder, `latest`, or `latest~1`.
        token_file: File with the token; default: the variable BERRYEVAL_TOKEN.
        replace: Overwrite a run of the same name that differs.
        store: Path or PostgreSQL URL of the store; default: .berryeval/results.db.
        json: JSON output.
    """
    from dataclasses import asdict

    from berryeval.cli.output import print_json
    from berryeval.workflows import push_run

    done = push_run(url, run, store, token_file=token_file, replace=replace)
    if json:
        print_json("runs push", asdict(done))
    else:
        print_line(f"{done.run}: {done.how}; see {done.url}")


def prune(
    *,
    keep: int | None = None,
    older_than: str | None = None,
    benchmark: str | None = None,
    dry_run: Flag = False,
    yes: Flag = False,
    store: str | None = None,
    json: Flag = False,
) -> None:
    """Delete old runs from the store; run folders stay, and `runs import` restores them.

    Args:
        keep: Number of newest runs to keep.
        older_than: Age above which runs are deleted: 90d, 12h, 2w; with --keep, both must hold.
        benchmark: Only runs on this benchmark.
        dry_run: List of the runs, without deleting them.
        yes: No confirmation.
        store: Path or PostgreSQL URL of the store; default: .berryeval/results.db.
        json: JSON output; requires --yes or --dry-run.
    """
    from berryeval._internal.text import parse_age
    from berryeval.cli.output import print_json
    from berryeval.errors import ConfigurationError
    from berryeval.workflows import prune_runs

    def confirm(place: str, names: list[str]) -> bool:
        if json and names and not (dry_run or yes):
            raise ConfigurationError(
                "nothing was deleted: --json cannot ask for confirmation; add --yes or --dry-run"
            )
        if json or not names:
            return yes and not dry_run
        print_line(f"{pluralize(len(names), 'run')} of {place}:")
        for name in names[:_LISTED]:
            print_line(f"  {name}")
        if len(names) > _LISTED:
            print_line(f"  ... and {len(names) - _LISTED} more")
        return not dry_run and (yes or _confirm())

    age = None if older_than is None else parse_age(older_than, "--older-than")
    done = prune_runs(read_filters(benchmark), store, keep=keep, older_than=age, confirm=confirm)
    if json:
        print_json("runs prune", done._asdict())
    elif not done.runs:
        print("no runs to delete")
    elif done.deleted:
        print(f"{pluralize(done.deleted, 'run')} deleted")
    else:
        print("dry run: nothing was deleted" if dry_run else "nothing was deleted")


def _confirm() -> bool:
    """Ask for confirmation; without a terminal, raise an error that names --yes."""
    from berryeval.errors import ConfigurationError

    if sys.stdin is None or not sys.stdin.isatty():
        raise ConfigurationError(
            "nothing was deleted: there is no terminal to confirm on; add --yes"
        )
    print("delete them? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
