"""What people read and other programs take: one report, many formats."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.reports.differences import (
        MIXED,
        ComparedBenchmark,
        MovedHit,
        MovedQuery,
        cells_of,
        finding,
        group_rows,
        has_family,
        has_mixed,
        notes_of,
        notes_on,
        pairs_of,
        summary,
        titles_of,
        why,
    )
    from berryeval.reports.exporters.github import publish, render
    from berryeval.reports.exporters.json import holds_report, read_runs
    from berryeval.reports.files import (
        EXPORTERS,
        OutputFile,
        format_of,
        is_folder,
        write_files,
        write_in_format,
    )
    from berryeval.reports.report import Report, Section, System
    from berryeval.reports.tables import (
        OF_A_VALUE,
        best_value,
        how_tested,
        interval_text,
        interval_words,
        is_best,
        legend_of,
        outcomes,
        shown_rows,
        verdict_line,
    )
    from berryeval.reports.trend import TrendLine, trend_lines, trend_text, write_trend
else:
    __getattr__, __dir__ = open_door(__name__)
