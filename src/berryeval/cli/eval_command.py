"""What `berryeval eval` does: plan, run, print, and the exit code."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from berryeval.cli.app import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_RUN_FAILED
from berryeval.cli.eval_view import View, worst_of
from berryeval.cli.logs import error_screen, log_level, log_lines
from berryeval.cli.progress import progress_on
from berryeval.cli.score import split_names
from berryeval.errors import ConfigurationError
from berryeval.pipeline.remember import remember, store_place
from berryeval.pipeline.resume import folder_for, resumed
from berryeval.pipeline.run import failed_queries, failed_runs, run_plan
from berryeval.pipeline.settings import PATIENCE, planned, read_pairs
from berryeval.pipeline.thresholds import read_thresholds, say_missed, verdicts

if TYPE_CHECKING:
    from berryeval.pipeline.folder import RunFolder
    from berryeval.pipeline.plan import Plan
    from berryeval.pipeline.run import BenchmarkResult

_FLAGS: Final = {"measures": "metrics", "thresholds": "fail-below"}


@dataclass(frozen=True)
class Asked:
    """What the command line asks for: settings by the names of the plan, None if not given."""

    settings: dict[str, Any]
    config: str | None = None
    output: str | None = None
    resume: str | None = None
    retry_errors: bool = False
    store: str | None = None

    def planned(self) -> tuple[Plan, RunFolder]:
        """The plan, and the folder it goes to."""
        settings = self._read()
        if self.resume is None:
            if self.retry_errors and self.output is None:
                msg = "--retry-errors needs --resume FOLDER, which says whose errors"
                raise ConfigurationError(msg)
            plan = planned(settings, self.config)
            return plan, folder_for(plan, self.output)
        fixed = [name for name, value in settings.items() if value and name not in PATIENCE]
        given = [*fixed, *(["output"] if self.output else [])]
        if given and given != ["thresholds"]:
            flag = next(_FLAGS.get(name, name) for name in given if name != "thresholds")
            msg = f"--resume takes the plan from its folder; leave out --{flag}"
            raise ConfigurationError(msg)
        plan, folder = resumed(
            self.resume, {name: settings[name] for name in PATIENCE}, self.config
        )
        return plan.model_copy(
            update={"thresholds": settings["thresholds"] or plan.thresholds}
        ), folder

    def _read(self) -> dict[str, Any]:
        """The settings with lists of words made into what they mean."""
        given = dict(self.settings)
        given["measures"] = split_names(given.get("measures") or [])
        given["filter"] = read_pairs(given.get("filter") or [], "--filter")
        given["thresholds"] = read_thresholds(given.get("thresholds") or [], "--fail-below")
        return given


@dataclass(frozen=True)
class Shown:
    """What the command line wants to see."""

    by: str | None = None
    worst: int | None = None
    baseline_doc: str | None = None
    json: bool = False
    quiet: bool = False
    verbose: bool = False


def run_eval(asked: Asked, shown: Shown) -> int:
    """Do it, and return the exit code."""
    level = log_level(quiet=shown.quiet, verbose=shown.verbose)
    if shown.worst is not None and shown.worst < 1:
        msg = f"--where-it-fails must be 1 or more, found {shown.worst}"
        raise ConfigurationError(msg)
    plan, folder = asked.planned()
    place = store_place(asked.store, asked.config)
    screen = error_screen()
    with log_lines(screen, level):
        try:
            with progress_on(screen, hidden=shown.quiet) as listener:
                results = run_plan(plan, folder, retry_errors=asked.retry_errors, listener=listener)
        except KeyboardInterrupt:
            if not folder.manifest_file.exists():
                raise
            _say(f"interrupted; to go on: berryeval eval --resume {folder.path}")
            return EXIT_INTERRUPTED
        if results[0].run is not None:
            remember(results[0].run, place, folder.path)
        return _show(plan, folder, results, shown)


def _show(plan: Plan, folder: RunFolder, results: list[BenchmarkResult], shown: Shown) -> int:
    found = verdicts(results, plan.thresholds)
    view = View(
        plan,
        folder,
        results,
        found,
        by=shown.by,
        worst=worst_of(plan, results, shown.worst) if shown.worst else {},
    )
    if shown.json:
        view.print_json()
    else:
        from berryeval.cli.eval_output import print_view

        print_view(view, quiet=shown.quiet)
    if shown.baseline_doc:
        from berryeval.pipeline.baseline import write_baseline

        write_baseline(shown.baseline_doc, plan, results)
        if not shown.json and not shown.quiet:
            print(f"baseline written to {shown.baseline_doc}")
    sys.stdout.flush()
    met = say_missed(found)
    if failed_runs(results) or failed_queries(results):
        return EXIT_RUN_FAILED
    return 0 if met else EXIT_FAILED


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
