"""Whole jobs: the only package that knows every stage."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.workflows.baselines import find_baseline, set_baseline
    from berryeval.workflows.evaluation import Evaluation, evaluate, run_benchmark
    from berryeval.workflows.file_scores import FileScores, score_files
    from berryeval.workflows.fused_files import FusedFiles, fuse_files
    from berryeval.workflows.fusion_search import OptimizedFusion, optimize_fusion
    from berryeval.workflows.generation import (
        Generation,
        GenerationRequest,
        generate_benchmark,
        price_generation,
    )
    from berryeval.workflows.history import (
        ExportedRun,
        Imported,
        check_problems,
        choose_store,
        export_runs,
        import_runs,
        open_history,
        prune_runs,
    )
    from berryeval.workflows.judge_agreement import Conclusions, JudgesCompared, measure_judges
    from berryeval.workflows.judge_calibration import calibrate_judge
    from berryeval.workflows.judge_desk import (
        JudgeDesk,
        OpenPool,
        PoolStatus,
        greet_judge,
        open_desk,
        open_pool,
        read_judge,
        read_status,
    )
    from berryeval.workflows.judged_data import apply_votes, find_benchmark, load_judged
    from berryeval.workflows.judging_sheets import (
        ImportedSheet,
        export_sheet,
        import_sheet,
    )
    from berryeval.workflows.model_judging import ModelJudging, ModelRequest, judge_by_model
    from berryeval.workflows.plan import Plan, name_source
    from berryeval.workflows.pooling import Pooling, PoolRequest, collect_pool, pool_runs
    from berryeval.workflows.provider_run import Listener
    from berryeval.workflows.pushing import add_pushed, push_run
    from berryeval.workflows.question_review import Reviewed, apply_review
    from berryeval.workflows.reporting import (
        build_report,
        judge_report,
        write_baseline_page,
        write_report,
    )
    from berryeval.workflows.rescoring import Rescored, rescore
    from berryeval.workflows.run_comparison import compare_runs
    from berryeval.workflows.run_finder import (
        FoundRun,
        LocatedRun,
        find_run,
        list_run_folders,
        locate_run,
    )
    from berryeval.workflows.run_folder import write_text_file
    from berryeval.workflows.run_result import BenchmarkResult, WorstQuery, worst_queries
    from berryeval.workflows.run_texts import RunTexts, WholeText, read_texts
    from berryeval.workflows.settings import (
        RunRequest,
        plan_run,
        read_limits,
        read_list,
        read_pairs,
    )
    from berryeval.workflows.starter import write_starting_files
    from berryeval.workflows.trend_limits import find_trend_limits
    from berryeval.workflows.verdicts import (
        JudgedRun,
        Rules,
        compare_with_baseline,
        judge_result,
        judge_run,
    )
else:
    __getattr__, __dir__ = open_door(__name__)
