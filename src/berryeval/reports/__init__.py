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

    # Former names, until every package uses the new ones.
    from berryeval.reports.differences import collect_group_notes as group_notes
    from berryeval.reports.differences import collect_notes as notes_on
    from berryeval.reports.differences import displayed_rows as shown_rows
    from berryeval.reports.differences import explain_change as why
    from berryeval.reports.differences import group_by_pair as pairs_of
    from berryeval.reports.differences import rows_by_group as group_rows
    from berryeval.reports.differences import summarize_findings as summary
    from berryeval.reports.exporters.github import publish, render
    from berryeval.reports.exporters.github import publish as publish_summary
    from berryeval.reports.exporters.github import render as render_summary
    from berryeval.reports.exporters.json import is_report, read_runs
    from berryeval.reports.exporters.json import is_report as holds_report
    from berryeval.reports.exports import (
        EXPORTERS,
        OutputFile,
        find_format,
        is_folder,
        write_files,
        write_in_format,
    )
    from berryeval.reports.exports import find_format as format_of
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
    from berryeval.reports.trend import TrendLine, build_trend_lines, render_trend, write_trend
    from berryeval.reports.trend import build_trend_lines as trend_lines
    from berryeval.reports.trend import render_trend as trend_text
else:
    __getattr__, __dir__ = open_door(__name__)
