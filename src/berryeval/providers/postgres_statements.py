"""The statements of the provider `postgres`: by words, by vectors, and both fused by rank.

Equal scores are ordered by one rule everywhere: the higher id comes first, by its bytes.
"""

from __future__ import annotations

from typing import Final

__all__ = ["statement"]

# Any of the words may match: the rank says how well. `plainto_tsquery` alone would ask for all. An
# `&` between two lexemes stands behind a closing quote; one inside of a lexeme stays.
_WORDS: Final = (
    "regexp_replace(plainto_tsquery(%(language)s::regconfig, %(text)s)::text, "
    r"'(''(?:[^'']|'''')*'') & ', '\1 | ', 'g')::tsquery"
)
_BY_TEXT: Final = """
    SELECT place, id, ts_rank_cd(words, asked, %(normalisation)s) AS score
    FROM {table}, (SELECT {words} AS asked) AS question
    WHERE words @@ asked
    ORDER BY score DESC, id COLLATE "C" DESC LIMIT {depth}"""
_BY_VECTOR: Final = """
    SELECT place, id, 1 - (embedding {distance} %(vector)s::{kind}) AS score
    FROM {table} WHERE embedding IS NOT NULL AND %(vector)s::{kind} IS NOT NULL
    ORDER BY score DESC, id COLLATE "C" DESC LIMIT {depth}"""
# The index gives the nearest only to a query that asks for nothing but the nearest.
_BY_INDEX: Final = """
    SELECT place, id, 1 - distance AS score FROM (
        SELECT place, id, embedding {distance} %(vector)s::{kind} AS distance
        FROM {table} WHERE embedding IS NOT NULL AND %(vector)s::{kind} IS NOT NULL
        ORDER BY embedding {distance} %(vector)s::{kind} LIMIT {depth}
    ) AS nearest"""
_FUSED: Final = """
    WITH by_text AS (
        SELECT place, id, row_number() OVER (ORDER BY score DESC, id COLLATE "C" DESC) AS rank
        FROM ({by_text}) AS t
    ), by_vector AS (
        SELECT place, id, row_number() OVER (ORDER BY score DESC, id COLLATE "C" DESC) AS rank
        FROM ({by_vector}) AS v
    )
    SELECT place, coalesce(by_text.id, by_vector.id) AS id,
           coalesce(1::float8 / (%(k)s + by_text.rank), 0)
         + coalesce(1::float8 / (%(k)s + by_vector.rank), 0) AS score
    FROM by_text FULL JOIN by_vector USING (place)"""
_BEST: Final = """
    SELECT place, score FROM ({found}) AS found
    ORDER BY score DESC, id COLLATE "C" DESC LIMIT {limit}"""


def statement(
    mode: str,
    table: str,
    *,
    vectors_in: str = "",
    approximate: bool = False,
    depth: int,
    limit: int,
) -> str:
    """The one that answers a query.

    Args:
        mode: "text", "vector" or "hybrid".
        table: its quoted name.
        vectors_in: the quoted schema of pgvector; it need not be in the search path.
        approximate: leave the nearest vectors to the index.
        depth: how many hits of each kind are looked at.
        limit: how many come back.
    """
    table, vectors_in = (name.replace("%", "%%") for name in (table, vectors_in))
    by_text = _BY_TEXT.format(table=table, words=_WORDS, depth=depth)
    by_vector = (_BY_INDEX if approximate else _BY_VECTOR).format(
        table=table,
        depth=depth,
        kind=f"{vectors_in}.vector",
        distance=f"OPERATOR({vectors_in}.<=>)",
    )
    found = {
        "text": by_text,
        "vector": by_vector,
        "hybrid": _FUSED.format(by_text=by_text, by_vector=by_vector),
    }[mode]
    return _BEST.format(found=found, limit=limit)
