"""Judgments and runs as tables, and the file formats they come in."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.data.formats.csv_rows import read_header, read_rows
    from berryeval.data.formats.frames import read_parquet_columns, read_parquet_rows
    from berryeval.data.formats.layouts import (
        DOCUMENT,
        QUERY,
        QUESTION,
        VALUE,
        choose_column,
        choose_columns,
        find_column,
    )
    from berryeval.data.formats.trec import FaultyLine, RawRow, read_table, table_from_text
    from berryeval.data.judged import (
        STRATEGIES,
        TOKEN_THRESHOLD,
        JudgedHit,
        JudgedRanking,
        Strategy,
        SubtopicHit,
        SubtopicRanking,
        judge_subtopics,
        select_answered,
    )
    from berryeval.data.load import find_beir_qrels, is_text_file, load_table, read_raw_rows
    from berryeval.data.qrels import Qrels
    from berryeval.data.records import (
        SECTION_SEPARATOR,
        Anchor,
        Chunk,
        Document,
        Hit,
        Judgment,
        Need,
        Query,
        Section,
        content_hash,
        split_section,
    )
    from berryeval.data.run import DEFAULT_RULE, RankingRule, Run
    from berryeval.data.scopes import (
        DOC_ID,
        Scope,
        ScopeIndex,
        ScopeLabels,
        format_scope,
        is_in_scope,
        read_field,
        read_property,
        scope_fields,
        scope_values,
        unknown_field,
    )
    from berryeval.data.spans import (
        Passage,
        Shared,
        Size,
        Span,
        SpanIndex,
        SpanRanking,
        TokenCounter,
        Wanted,
        count_tokens,
    )
    from berryeval.data.table import Kind, QueryTable, StringColumn
else:
    __getattr__, __dir__ = open_door(__name__)
