"""Reports: runs as HTML, Markdown, LaTeX, CSV, JSON, JUnit and TREC, and values over time."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.reports.differences import (
        FINDINGS,
        MIXED,
        ComparedBenchmark,
        MovedHit,
        MovedQuery,
        finding,
        group_notes,
        group_rows,
        has_mixed,
        notes_on,
        pairs_of,
        shown_rows,
        summary,
        why,
    )
    from berryeval.reports.exporters.github import publish, render
    from berryeval.reports.exporters.json import holds_report, read_runs
    from berryeval.reports.exports import (
        EXPORTERS,
        OutputFile,
        format_of,
        is_folder,
        write_files,
        write_in_format,
    )
    from berryeval.reports.legends import (
        INTERVAL_NAME,
        build_legend,
        describe_interval,
        describe_test,
        format_verdict,
    )
    from berryeval.reports.sections import Report, Section, System
    from berryeval.reports.tables import (
        Cell,
        Column,
        Table,
        build_differences_table,
        build_groups_table,
        build_scores_table,
        build_verdicts_table,
        format_outcomes,
        result_keys,
    )
    from berryeval.reports.trend import TrendLine, trend_lines, trend_text, write_trend
else:
    __getattr__, __dir__ = open_door(__name__)
