"""Whole jobs: the only package that knows every stage."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.workflows.baselines import compare_with_baseline, find_baseline, set_baseline
    from berryeval.workflows.config import check_model
    from berryeval.workflows.evaluation import (
        Evaluation,
        Provider,
        as_list,
        evaluate,
        run_benchmark,
    )
    from berryeval.workflows.file_scores import FileScores, score_files
    from berryeval.workflows.history import (
        Imported,
        check_imported,
        choose_store,
        export_runs,
        import_runs,
        open_history,
        prune_runs,
    )
    from berryeval.workflows.plan import DEFAULT_METRICS, Plan, ProviderSpec
    from berryeval.workflows.provider_run import Listener
    from berryeval.workflows.reporting import (
        Exported,
        build_report,
        judge_report,
        write_baseline_page,
        write_report,
    )
    from berryeval.workflows.rescoring import Rescored, Rescoring, rescore
    from berryeval.workflows.run_comparison import compare_runs
    from berryeval.workflows.run_finder import FoundRun, find_record, find_run
    from berryeval.workflows.run_folder import RunRequest, config_hash, plan_run, write_text_file
    from berryeval.workflows.run_result import (
        BenchmarkResult,
        ProviderResult,
        WorstQuery,
        worst_queries,
    )
    from berryeval.workflows.settings import read_limits, read_list, read_pairs
    from berryeval.workflows.starter import QUESTIONS, write_starting_files
    from berryeval.workflows.verdicts import (
        add_limits,
        find_failing,
        has_passed,
        judge_record,
        judge_run,
        read_gate,
        replace_baseline,
    )
else:
    __getattr__, __dir__ = open_door(__name__)
