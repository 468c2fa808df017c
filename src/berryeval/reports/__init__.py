"""Reports: HTML, Markdown, LaTeX, CSV, JSON, JUnit and TREC exports, and values over time."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.reports.differences import (
        FINDINGS,
        MIXED,
        ComparedBenchmark,
        MovedHit,
        MovedQuery,
        collect_group_notes,
        collect_notes,
        displayed_rows,
        explain_change,
        finding,
        group_by_pair,
        has_mixed,
        rows_by_group,
        summarize_findings,
    )
    from berryeval.reports.exporters.csv import format_csv
    from berryeval.reports.exporters.github import publish as publish_summary
    from berryeval.reports.exporters.github import render as render_summary
    from berryeval.reports.exporters.json import is_report, read_runs
    from berryeval.reports.exporters.markdown import escape as escape_markdown
    from berryeval.reports.exports import (
        EXPORTERS,
        OutputFile,
        find_format,
        is_folder,
        write_files,
        write_in_format,
    )
    from berryeval.reports.html.page import (
        report_script,
        report_style,
        view_comparison,
        view_report,
        view_trend,
    )
    from berryeval.reports.html.pairs import (
        SystemPair,
        list_pairs,
        render_charts,
        render_moved,
        render_tables,
        render_verdict,
    )
    from berryeval.reports.html.rankings import (
        SharedTarget,
        collect_wanted,
        drop_heading,
        shade_grade,
    )
    from berryeval.reports.html.svg import warm_up
    from berryeval.reports.html.typography import build_environment
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
    from berryeval.reports.trend import (
        TrendLimit,
        TrendLine,
        build_trend_lines,
        render_trend,
        write_trend,
    )
else:
    __getattr__, __dir__ = open_door(__name__)
