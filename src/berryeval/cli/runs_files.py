"""`berryeval runs export` and `berryeval runs import`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.text import visible
from berryeval.cli.options import STDOUT, Flag, Format, Output
from berryeval.cli.output import text_of
from berryeval.cli.runs_list import read_filters

if TYPE_CHECKING:
    from berryeval.runs import RunRecord, Store


RECORD: Final = "json"  # the record itself, not a report of it


def export(
    run: str | None = None,
    /,
    *,
    output: Output = None,
    format: Format = None,  # noqa: A002 - its name
    all: str | None = None,  # noqa: A002 - its name
    benchmark: str | None = None,
    since: str | None = None,
    store: str | None = None,
    json: Flag = False,
) -> None:
    """Write the whole record of a run as JSON: every answer, every score, to the bit.

    Another ending or format writes a report of it, as `berryeval report` does.

    Examples: berryeval runs export latest -o latest.json, or ... -o latest.csv

    Args:
        run: Its name or the beginning of it, its folder, `latest`, or `latest~1`.
        output: The file; stdout (-) unless given. A name that ends in .gz is packed.
        format: json for the record, or another name of `berryeval list exporters`; what the ending
            of --output says unless given.
        all: A folder, to which every run of the store is written as a file of its own.
        benchmark: With --all: only runs on this benchmark.
        since: With --all: only runs from then on.
        store: Where runs are remembered, if not .berryeval/results.db.
        json: Print where the files are as JSON; a record that would go to stdout is in it.
    """
    from berryeval._internal.text import counted
    from berryeval.cli.logs import error_screen, log_level, log_lines
    from berryeval.cli.output import print_document
    from berryeval.errors import ConfigurationError
    from berryeval.workflows import (
        export_all,
        find_record,
        opened_store,
        store_place,
        write_text_file,
    )

    if (run is None) == (all is None):
        msg = "name one RUN (or latest), or give a folder with --all"
        raise ConfigurationError(msg)
    if all is not None:
        if format is not None or output is not None:
            owner = "--output" if format is None else "--format"
            msg = f"--all writes the records of runs into its folder; {owner} is for one RUN"
            raise ConfigurationError(msg)
        with opened_store(store_place(store)) as opened:
            filters = read_filters(benchmark, None, since)
            written = [
                {"run": name, "path": str(path)}
                for name, path in export_all(opened, Path(all), filters)
            ]
        _say(written, f"{counted(len(written), 'run')} written to {all}", json=json)
        return
    wanted = _format(output, format)
    with log_lines(error_screen(), log_level(quiet=False, verbose=False)):
        record = find_record(run or "", store)
    if output == STDOUT:
        output = None
    if wanted != RECORD:
        _report(record, wanted, output, json=json)
    elif output is not None:
        write_text_file(Path(output), record.dumps())
        _say([{"run": record.id, "path": output}], f"written to {output}", json=json)
    elif json:
        _say([{"run": record.id, "path": None, "record": record.to_json()}], "", json=True)
    else:
        print_document(f"{record.dumps()}\n")


def _format(output: str | None, given: str | None) -> str:
    """What to write: the record, or the exporter that the format or the ending names."""
    from berryeval._internal.files import plain_suffix
    from berryeval.reports import EXPORTERS, format_of

    if given is not None:
        EXPORTERS.get(given)
        return EXPORTERS.canonical(given)
    if output is None or output == STDOUT or not plain_suffix(output):
        return RECORD
    return format_of(output)


def _report(record: RunRecord, name: str, output: str | None, *, json: bool) -> None:
    """Write the run as `berryeval report` does; to stdout unless there is a file."""
    from berryeval.cli.output import print_document
    from berryeval.reports import Report, write_in_format
    from berryeval.workflows import judged

    made = judged(Report.of([record]))
    if output is None:
        text = text_of(made, name)
        if json:
            _say([{"run": record.id, "path": None, "text": text}], "", json=True)
        else:
            print_document(text)
        return
    paths = list(map(str, write_in_format(made, name, output)))
    runs = [{"run": record.id, "path": path} for path in paths]
    _say(runs, f"written to {', '.join(paths)}", json=json)


def _say(runs: list[dict[str, Any]], text: str, *, json: bool) -> None:
    """Print what was exported, for people or for machines."""
    from berryeval.cli.output import print_json

    if json:
        print_json("runs export", {"runs": runs})
    else:
        print(visible(text))


def import_(
    *paths: str,
    replace: Flag = False,
    store: str | None = None,
    json: Flag = False,
) -> int:
    """Put runs into the store: folders of runs, what lies below a folder, exported files.

    Example: berryeval runs import .berryeval/runs

    Args:
        paths: Folders or files; .berryeval/runs unless given.
        replace: Where the store has the same run with other content, take that of the file.
        store: Where runs are remembered, if not .berryeval/results.db.
        json: Print JSON.
    """
    from berryeval.cli.app import EXIT_PASSED, EXIT_USAGE
    from berryeval.cli.output import print_json
    from berryeval.workflows import (
        RUNS,
        import_runs,
        opened_store,
        problems_of,
        record_files,
        store_place,
    )

    files, found = record_files(paths or (str(RUNS),))
    if not files:
        raise problems_of(found)
    with opened_store(store_place(store), make=True) as opened:
        for one in import_runs(opened, files, replace=replace):
            found.append(one)
            if one.problem or json:
                continue
            hint = "; --replace takes the content of the file" if one.how == "differs" else ""
            print(visible(f"{one.id}: {one.how}{hint}"))
    if json:
        runs = [
            {"file": str(one.file), "run": one.id, "how": one.how, "problem": one.problem}
            for one in found
        ]
        print_json("runs import", {"runs": runs})
    if not any(one.problem for one in found):
        return EXIT_PASSED
    if not json:
        raise problems_of(found)
    print(visible(f"error: {problems_of(found)}"), file=sys.stderr)
    return EXIT_USAGE


# `berryeval runs prune`.

SHOWN: Final = 10  # names


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
    """Forget old runs. Folders of runs stay: `runs import` brings them back.

    Example: berryeval runs prune --keep 100 --older-than 90d

    Args:
        keep: Keep the newest so many.
        older_than: Forget those that are older: 90d, 12h, 2w. With --keep, only if both say so.
        benchmark: Look only at runs on this benchmark.
        dry_run: Show what would go.
        yes: Do not ask.
        store: Where runs are remembered, if not .berryeval/results.db.
        json: Print JSON; nobody is asked, so it wants --yes or --dry-run.
    """
    from berryeval._internal.text import counted, read_age
    from berryeval.workflows import opened_store, store_place, to_prune

    age = None if older_than is None else read_age(older_than, "--older-than")
    with opened_store(store_place(store)) as opened:
        names = to_prune(opened, read_filters(benchmark), keep=keep, older_than=age)
        if json:
            _as_json(opened, names, dry_run=dry_run, yes=yes)
            return
        if not names:
            print("no run is to go")
            return
        more = f"\n  ... and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        print(f"{counted(len(names), 'run')} of {opened.shown}:")
        print("\n".join(f"  {visible(name)}" for name in names[:SHOWN]) + more, flush=True)
        if dry_run:
            print("dry run: nothing was deleted")
        elif yes or _agreed():
            print(f"{counted(opened.delete(names), 'run')} deleted")
        else:
            print("nothing was deleted")


def _as_json(store: Store, names: list[str], *, dry_run: bool, yes: bool) -> None:
    """Delete them if that was said, and print which."""
    from berryeval.cli.output import print_json
    from berryeval.errors import ConfigurationError

    if names and not (dry_run or yes):
        msg = "nothing was deleted: --json asks nobody; say --yes or --dry-run"
        raise ConfigurationError(msg)
    deleted = 0 if dry_run or not names else store.delete(names)
    print_json("runs prune", {"store": store.shown, "runs": names, "deleted": deleted})


def _agreed() -> bool:
    """Ask; where nobody can answer, say how to go on."""
    from berryeval.errors import ConfigurationError

    if sys.stdin is None or not sys.stdin.isatty():
        msg = "nothing was deleted: nobody is here to be asked; say --yes"
        raise ConfigurationError(msg)
    print("delete them? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
