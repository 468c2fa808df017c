"""Weights & Biases: a run for each provider on each benchmark, online or in an offline folder."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.optional import import_optional
from berryeval.errors import ConfigurationError
from berryeval.reports.tracking import TrackedRun, build_tracked_runs, describe_place, tracker

if TYPE_CHECKING:
    from berryeval.reports.sections import Report


PROJECT: Final = "berryeval"  # unless WANDB_PROJECT is set
NOTE: Final = "berryeval.json"  # file of a run that tells what was logged
_CONTENT: Final = "berryeval_content_hash"
# BerryEval records what a run depends on: nothing else of the machine or the program is sent.
_SILENT: Final = {
    "console": "off", "silent": True, "save_code": False, "disable_git": True,
    "disable_code": True, "host": "", "x_disable_stats": True, "x_disable_meta": True,
    "x_disable_machine_info": True, "x_save_requirements": False,
}  # fmt: skip


def track(report: Report, place: str, label: str) -> str:
    """Log the runs to a project, or ENTITY/PROJECT, and say where they are."""
    is_ours = "wandb" not in sys.modules  # else the application may have runs of its own
    wandb = import_optional("wandb", "the exporter wandb", extra="wandb")
    entity, _, project = place.rpartition("/")
    settings = wandb.Settings(**_SILENT)
    settings.update_from_system_settings()
    settings.update_from_env_vars(dict(os.environ))
    if settings.mode == "disabled":
        raise ConfigurationError("Weights & Biases is switched off (WANDB_MODE); use offline")
    offline = settings.mode in {"offline", "dryrun"}
    if not offline and wandb.run is None and not wandb.login(prompt=False):
        raise ConfigurationError(
            "Weights & Biases has no API key; run `wandb login`, or set WANDB_API_KEY, or "
            "WANDB_MODE=offline to write a folder that `wandb sync` sends later"
        )
    runs = build_tracked_runs(report, label)
    options = {
        "entity": entity or settings.entity, "project": project or settings.project or PROJECT,
        "settings": settings,
    }  # fmt: skip
    home = Path(settings.wandb_dir) if offline else None
    try:
        done = [_log(wandb, run, options, home) for run in runs]
    finally:
        if is_ours:
            wandb.teardown()  # writes everything and ends the process that it has started
    where = str(home) if home else "/".join(filter(None, (options["entity"], options["project"])))
    return describe_place("Weights & Biases", where, sum(done), len(runs))


WANDB: Final = tracker(
    "wandb", "Weights & Biases",
    "runs of Weights & Biases: settings, metrics, a table of queries, the report", track,
)  # fmt: skip


def _log(wandb: Any, run: TrackedRun, options: dict[str, Any], home: Path | None) -> bool:
    """Log one run under the id of an earlier export; return whether it changed."""
    note = _describe(run, options)
    if home is not None and _is_written(home, run, note):
        return False
    resume = "allow" if home is None else None  # a folder for later cannot be resumed
    opened = wandb.init(
        **options, id=run.key, name=run.name, group=run.identity["run_id"], job_type="berryeval",
        tags=[f"{name}={one}"[:64] for name, one in run.tags.items()], config=dict(run.params),
        resume=resume, reinit="create_new", allow_val_change=True,
    )  # fmt: skip
    code = 1  # of a run that was cut short
    try:
        changed = opened.summary.get(_CONTENT) != run.content_hash
        if changed:
            _log_values(wandb, opened, run, note)
        code = 1 if run.failure else 0
    finally:
        opened.finish(exit_code=code)
    return bool(changed)


def _log_values(wandb: Any, opened: Any, run: TrackedRun, note: str) -> None:
    columns = list(run.columns)
    table = wandb.Table(columns=columns, data=run.rows, allow_mixed_types=True)
    opened.log({**run.metrics, "queries": table})
    artifact = wandb.Artifact(f"report-{run.key}", type="report", metadata=dict(run.identity))
    for name, text in run.files.items():
        with artifact.new_file(name, mode="w", encoding="utf-8") as stream:
            stream.write(text)
    opened.log_artifact(artifact)
    Path(opened.dir, NOTE).write_text(note, encoding="utf-8")
    opened.summary.update(
        {
            "berryeval_metrics": dict(run.spellings),
            **({"berryeval_failure": run.failure} if run.failure else {}),
            _CONTENT: run.content_hash,  # last: an export cut short is done again
        }
    )


def _describe(run: TrackedRun, options: dict[str, Any]) -> str:
    """Describe a run in the note of its folder: what and whose it is, and a hash of its content."""
    about = {
        **run.identity, "entity": options["entity"] or "", "project": options["project"],
        "content_hash": run.content_hash, "spellings": dict(run.spellings),
        "metrics": dict(run.metrics),
    }  # fmt: skip
    return json.dumps(about, indent=2, ensure_ascii=False) + "\n"


def _is_written(home: Path, run: TrackedRun, note: str) -> bool:
    """Whether an offline folder holds this run as it is; one of an earlier state does not count."""
    # A second folder of one second has a number behind the id.
    notes = home.glob(f"offline-run-*-{run.key}*/files/{NOTE}")
    return any(path.read_text(encoding="utf-8") == note for path in notes)
