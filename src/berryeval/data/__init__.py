"""Judgments and runs as tables, and the file formats they come in.

>>> from berryeval.data import Qrels, Run
>>> Qrels.from_dict({"q1": {"d1": 2, "d2": 1}}).to_dict()
{'q1': {'d1': 2.0, 'd2': 1.0}}
>>> run = Run.from_dict({"q1": {"d3": 0.9, "d1": 0.9}}, name="bm25")
>>> run.name, len(run)
('bm25', 1)
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.data.formats.batches import ParquetPart, cut_blocks, find_coded, read_part
    from berryeval.data.formats.csv_rows import read_header, read_rows
    from berryeval.data.formats.frames import (
        read_parquet_columns,
        read_parquet_rows,
        table_from_frame,
    )
    from berryeval.data.formats.layouts import (
        DOCUMENT,
        QUERY,
        QUESTION,
        VALUE,
        choose_column,
        choose_columns,
        find_column,
    )
    from berryeval.data.formats.trec import (
        FaultyLine,
        RawRow,
        format_trec,
        read_table,
        table_from_text,
        write_trec,
    )
    from berryeval.data.judged import (
        STRATEGIES,
        TOKEN_THRESHOLD,
        JudgedHit,
        JudgedRanking,
        Strategy,
        SubtopicHit,
        SubtopicRanking,
        judge_all,
        judge_documents,
        judge_subtopics,
        select_answered,
    )
    from berryeval.data.load import find_beir_qrels, is_text_file, load_table, read_raw_rows
    from berryeval.data.qrels import Qrels
    from berryeval.data.record_file import (
        HELD,
        RecordFile,
        as_sequence,
        collect_records,
        find_repeated,
        index_records,
    )
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
    from berryeval.data.row_sources import RowSource, open_rows
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
    from berryeval.data.sorting import sort_blocks
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
    from berryeval.data.table import Kind, QueryTable, StringColumn, describe

    __all__ = [
        "DEFAULT_RULE",
        "DOCUMENT",
        "DOC_ID",
        "HELD",
        "QUERY",
        "QUESTION",
        "SECTION_SEPARATOR",
        "STRATEGIES",
        "TOKEN_THRESHOLD",
        "VALUE",
        "Anchor",
        "Chunk",
        "Document",
        "FaultyLine",
        "Hit",
        "JudgedHit",
        "JudgedRanking",
        "Judgment",
        "Kind",
        "Need",
        "ParquetPart",
        "Passage",
        "Qrels",
        "Query",
        "QueryTable",
        "RankingRule",
        "RawRow",
        "RecordFile",
        "RowSource",
        "Run",
        "Scope",
        "ScopeIndex",
        "ScopeLabels",
        "Section",
        "Shared",
        "Size",
        "Span",
        "SpanIndex",
        "SpanRanking",
        "Strategy",
        "StringColumn",
        "SubtopicHit",
        "SubtopicRanking",
        "TokenCounter",
        "Wanted",
        "as_sequence",
        "choose_column",
        "choose_columns",
        "collect_records",
        "content_hash",
        "count_tokens",
        "cut_blocks",
        "describe",
        "find_beir_qrels",
        "find_coded",
        "find_column",
        "find_repeated",
        "format_scope",
        "format_trec",
        "index_records",
        "is_in_scope",
        "is_text_file",
        "judge_all",
        "judge_documents",
        "judge_subtopics",
        "load_table",
        "open_rows",
        "read_field",
        "read_header",
        "read_parquet_columns",
        "read_parquet_rows",
        "read_part",
        "read_property",
        "read_raw_rows",
        "read_rows",
        "read_table",
        "scope_fields",
        "scope_values",
        "select_answered",
        "sort_blocks",
        "split_section",
        "table_from_frame",
        "table_from_text",
        "unknown_field",
        "write_trec",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)
