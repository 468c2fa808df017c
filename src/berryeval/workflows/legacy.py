"""Former names, until every command calls one function of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.gates import Baseline, Gate, judge
from berryeval.workflows.baselines import (
    _drop_rules,
    find_other_baseline,
    judge_unshared,
    metrics_of_run,
)
from berryeval.workflows.history import _file_name, _select_old, choose_store, open_place
from berryeval.workflows.reporting import build_report, judge_report
from berryeval.workflows.rescoring import rescore_by_benchmark, rescore_by_qrels
from berryeval.workflows.rescoring import save_rescored as _save_rescored
from berryeval.workflows.run_comparison import Options as _Options
from berryeval.workflows.run_comparison import _compare_sources
from berryeval.workflows.run_folder import RUNS as _RUNS
from berryeval.workflows.run_folder import write_text_file
from berryeval.workflows.systems import Source as _Source
from berryeval.workflows.systems import read_sources
from berryeval.workflows.verdicts import NO_RULE as _NO_RULE
from berryeval.workflows.verdicts import (
    _check_gate_itself,
    add_limits,
    allows_no_drop,
    has_passed,
    judge_record,
    read_gate,
    replace_baseline,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import timedelta
    from pathlib import Path

    from berryeval.gates import SelfCheck, Verdict
    from berryeval.reports import Report
    from berryeval.runs import Filters, RunRecord, Store

Options = _Options
Source = _Source
NO_RULE, RUNS, save_rescored = _NO_RULE, _RUNS, _save_rescored
configured_gate, gate_with, with_baseline = read_gate, add_limits, replace_baseline
passed, no_drop_rules, verdicts_of = has_passed, allows_no_drop, judge_record
store_place, opened_store = choose_store, open_place
named_report, judged = build_report, judge_report
rescored_by_benchmark, rescored_by_qrels = rescore_by_benchmark, rescore_by_qrels
sources_of = read_sources


def baseline_for(text: str, run: RunRecord) -> Baseline:
    """Find the baseline for a run."""
    return find_other_baseline(text, run.id, run.created)


def differences(run: RunRecord, kept: Baseline) -> list[Verdict]:
    """Judge a run as if nothing may drop."""
    rules = _drop_rules(metrics_of_run(run), kept, run.id)
    gate = Gate(baseline=kept.run).model_copy(update={"rules": rules})
    return [*judge(gate, run, kept, wanted=False), *judge_unshared(run, kept)]


def self_checked(gate: Gate, run: RunRecord, *, strict: bool = False) -> SelfCheck:
    """Estimate false alarms."""
    return _check_gate_itself(gate, run, strict=strict)


def compared(sources: Sequence[Source], options: Options, title: str = "") -> Report:
    """Compare sources."""
    return _compare_sources(sources, options, title)


def export_all(store: Store, folder: Path, filters: Filters) -> Iterator[tuple[str, Path]]:
    """Export every run."""
    for name in store.names(filters):
        path = folder / f"{_file_name(name)}.json"
        write_text_file(path, store.get(name).dumps())
        yield name, path


def to_prune(
    store: Store, filters: Filters, *, keep: int | None, older_than: timedelta | None
) -> list[str]:
    """Select old runs."""
    return _select_old(store, filters, keep, older_than)
