"""`berryeval results export` and `berryeval results import`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from berryeval.cli.results_options import Flag, read_filters
from berryeval.io.visible import visible


def export(
    run: str | None = None,
    /,
    *,
    output: Annotated[str | None, Parameter(name=["--output", "-o"])] = None,
    all: str | None = None,  # noqa: A002 - its name
    benchmark: str | None = None,
    since: str | None = None,
    store: str | None = None,
    json: Flag = False,
) -> None:
    """Write the whole record of a run as JSON: every answer, every score, to the bit.

    Example: berryeval results export latest -o latest.json

    Args:
        run: Its name or the beginning of it, its folder, `latest`, or `latest~1`.
        output: The file; stdout unless given. A name that ends in .gz is packed.
        all: A folder, to which every run of the store is written as a file of its own.
        benchmark: With --all: only runs on this benchmark.
        since: With --all: only runs from then on.
        store: Where runs are remembered, if not .berryeval/results.db.
        json: Print where the files are as JSON; a record that would go to stdout is in it.
    """
    from berryeval.cli.logs import error_screen, log_level, log_lines
    from berryeval.cli.output import print_document
    from berryeval.errors import ConfigurationError
    from berryeval.io.words import counted
    from berryeval.pipeline.find_run import find_record
    from berryeval.pipeline.folder import write_text_file
    from berryeval.pipeline.remember import opened_store, store_place
    from berryeval.pipeline.transfer import export_all

    if (run is None) == (all is None):
        msg = "name one RUN (or latest), or give a folder with --all"
        raise ConfigurationError(msg)
    if all is not None:
        with opened_store(store_place(store)) as opened:
            filters = read_filters(benchmark, None, since)
            written = [
                {"run": name, "path": str(path)}
                for name, path in export_all(opened, Path(all), filters)
            ]
        _say(written, f"{counted(len(written), 'run')} written to {all}", json=json)
        return
    with log_lines(error_screen(), log_level(quiet=False, verbose=False)):
        record = find_record(run or "", store)
    if output is not None:
        write_text_file(Path(output), record.dumps())
        _say([{"run": record.id, "path": output}], f"written to {output}", json=json)
    elif json:
        _say([{"run": record.id, "path": None, "record": record.to_json()}], "", json=True)
    else:
        print_document(f"{record.dumps()}\n")


def _say(runs: list[dict[str, Any]], text: str, *, json: bool) -> None:
    """Print what was exported, for people or for machines."""
    from berryeval.cli.output import print_json

    if json:
        print_json("results export", {"runs": runs})
    else:
        print(visible(text))


def import_(
    *paths: str,
    replace: Flag = False,
    store: str | None = None,
    json: Flag = False,
) -> int:
    """Put runs into the store: folders of runs, what lies below a folder, exported files.

    Example: berryeval results import .berryeval/runs

    Args:
        paths: Folders or files; .berryeval/runs unless given.
        replace: Where the store has the same run with other content, take that of the file.
        store: Where runs are remembered, if not .berryeval/results.db.
        json: Print JSON.
    """
    from berryeval.cli.app import EXIT_PASSED, EXIT_USAGE
    from berryeval.cli.output import print_json
    from berryeval.pipeline.folder import RUNS
    from berryeval.pipeline.remember import opened_store, store_place
    from berryeval.pipeline.transfer import import_runs, problems_of, record_files

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
        print_json("results import", {"runs": runs})
    if not any(one.problem for one in found):
        return EXIT_PASSED
    if not json:
        raise problems_of(found)
    print(visible(f"error: {problems_of(found)}"), file=sys.stderr)
    return EXIT_USAGE
