"""Whole jobs: the only package that knows every stage."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.workflows.baselines import NO_RULE, differences, no_drop_rules, write_baseline
    from berryeval.workflows.benchmarking import Provider, listed, run_benchmark
    from berryeval.workflows.config import check_model
    from berryeval.workflows.evaluation import Listener, failed_queries, failed_runs, run_plan
    from berryeval.workflows.file_scores import FileScores, score_files
    from berryeval.workflows.gate import (
        baseline_for,
        check_gate,
        closing,
        configured_gate,
        find_baseline,
        gate_with,
        passed,
        say_missed,
        self_checked,
        verdicts_of,
        with_baseline,
    )
    from berryeval.workflows.history import (
        Remembered,
        export_all,
        import_runs,
        opened_store,
        problems_of,
        record_files,
        remember,
        store_place,
        to_prune,
    )
    from berryeval.workflows.plan import DEFAULT_METRICS, Plan, ProviderSpec
    from berryeval.workflows.reporting import Exported, export, judged, named_report, write_report
    from berryeval.workflows.rescoring import (
        Rescored,
        rescored_by_benchmark,
        rescored_by_qrels,
        save_rescored,
    )
    from berryeval.workflows.run_comparison import Options, compare_runs, compared
    from berryeval.workflows.run_finder import FoundRun, find_record, find_run
    from berryeval.workflows.run_folder import (
        RUNS,
        RunFolder,
        config_hash,
        folder_for,
        resumed,
        write_text_file,
    )
    from berryeval.workflows.run_result import (
        BenchmarkResult,
        ProviderResult,
        WorstQuery,
        worst_queries,
    )
    from berryeval.workflows.selection import check_property, chosen_queries, load_benchmarks
    from berryeval.workflows.settings import PATIENCE, planned, read_limits, read_list, read_pairs
    from berryeval.workflows.starter import QUESTIONS, write_starting_files
    from berryeval.workflows.systems import Source, sources_of
else:
    __getattr__, __dir__ = open_door(__name__)
