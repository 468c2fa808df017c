"""Reports: HTML, Markdown, LaTeX, CSV, JSON, JUnit and TREC exports, and values over time.

>>> from berryeval.reports import EXPORTERS
>>> EXPORTERS.get("junit").endings
('.xml',)
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.reports.differences import (
        MIXED,
        ComparedBenchmark,
        MovedHit,
        MovedQuery,
        collect_group_notes,
        collect_notes,
        displayed_rows,
        explain_change,
        group_by_pair,
        has_mixed,
        rows_by_group,
        summarize_findings,
    )
    from berryeval.reports.exporters.csv import format_csv
    from berryeval.reports.exporters.github import publish as publish_summary
    from berryeval.reports.exporters.github import render as render_summary
    from berryeval.reports.exporters.json import is_report, read_runs
    from berryeval.reports.exporters.latex import escape as escape_latex
    from berryeval.reports.exporters.markdown import escape as escape_markdown
    from berryeval.reports.exports import (
        EXPORTERS,
        OutputFile,
        find_format,
        is_folder,
        write_files,
        write_in_format,
    )
    from berryeval.reports.html.failures import values_by_query
    from berryeval.reports.html.gallery import draw_benchmark, draw_comparison, draw_scores
    from berryeval.reports.html.page import (
        report_script,
        report_style,
        view_comparison,
        view_report,
        view_trend,
    )
    from berryeval.reports.html.rankings import (
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
    from berryeval.reports.sections import (
        Report,
        Section,
        System,
        collect_texts,
        find_highest_grade,
    )
    from berryeval.reports.stage_tables import list_stage_tables
    from berryeval.reports.tables import (
        Cell,
        Table,
        best_of,
        build_differences_table,
        build_scores_table,
        format_outcomes,
        is_best,
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
