"""Databases that this project did not create, filled with the chunks of the corpus.

Each function returns the options of a provider that searches it. Columns have the names that the
databases of others may have, and vectors are made by `wordllama`.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import psycopg

from berryeval.providers.base import searchable_text
from berryeval.providers.embedders.base import build_embedder, embed_texts
from tests.providers.corpus import CHUNKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.data.records import Chunk

COLUMNS = {
    "id": "slug", "text": "body", "document": "page", "section": "heading", "metadata": ["lang"],
}  # fmt: skip


def rows(chunks: Sequence[Chunk]) -> list[dict[str, Any]]:
    """Return the chunks as rows; those without content have no vector."""
    vectors = embed_texts(build_embedder("wordllama"), [searchable_text(one) for one in chunks])
    return [
        {
            "slug": chunk.id, "body": searchable_text(chunk), "page": chunk.doc_id,
            "heading": " > ".join(chunk.section), "lang": "en",
            "vector": vector.tolist() if vector.any() else None,
        }
        for chunk, vector in zip(chunks, vectors, strict=True)
    ]  # fmt: skip


@cache
def corpus_rows() -> list[dict[str, Any]]:
    return rows(CHUNKS)


def checksum(folder: Path) -> dict[str, str]:
    """Return the hash of every file below a folder, and the names of the folders."""
    return {
        str(path.relative_to(folder)): (
            path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest()
        )
        or "folder"
        for path in sorted(folder.rglob("*"))
    }


def sqlite(folder: Path, given: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A table, its FTS5 table and a column of vectors."""
    import numpy as np

    file = folder / "kb.db"
    connection = apsw.Connection(str(file))
    connection.execute(
        "CREATE TABLE notes (number INTEGER PRIMARY KEY, slug TEXT COLLATE NOCASE, body TEXT, "
        "page TEXT, heading TEXT, lang TEXT, embedding BLOB);"
        "CREATE VIRTUAL TABLE notes_words USING fts5(body, content='notes', "
        "content_rowid='number', tokenize='porter unicode61')"
    )
    with connection:
        connection.executemany(
            "INSERT INTO notes (slug, body, page, heading, lang, embedding) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (
                (*list(row.values())[:5], row["vector"] and np.float32(row["vector"]).tobytes())
                for row in given
            ),
        )
        connection.execute("INSERT INTO notes_words (notes_words) VALUES ('rebuild')")
    connection.close()
    existing = {"table": "notes", "words": "notes_words", "vector": "embedding", **COLUMNS}
    return {"path": str(file), "existing": existing}


def sqlite_vec0(file: str) -> None:
    """Add a vec0 table with the vectors of the notes."""
    connection = apsw.Connection(file)
    connection.enable_load_extension(True)
    connection.load_extension(import_module("sqlite_vec").loadable_path())
    connection.execute(
        "CREATE VIRTUAL TABLE nearby USING vec0(embedding float[256]);"
        "INSERT INTO nearby (rowid, embedding) "
        "SELECT number, embedding FROM notes WHERE embedding IS NOT NULL"
    )
    connection.close()


def lancedb(folder: Path, given: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A table with a full-text index."""
    import lancedb
    import pyarrow as pa
    from lancedb.index import FTS

    fields = [(name, pa.string()) for name in given[0] if name != "vector"]
    schema = pa.schema([*fields, ("vector", pa.list_(pa.float32(), 256))])
    table = lancedb.connect(str(folder)).create_table(
        "notes", pa.Table.from_pylist(list(given), schema)
    )
    table.create_index("body", config=FTS(language="English"))
    return {
        "path": str(folder),
        "existing": {"table": "notes", "vector": "vector", **COLUMNS},
    }


def chroma(folder: Path, given: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A collection whose entries have their own ids and texts."""
    import chromadb

    client: Any = chromadb.PersistentClient(
        str(folder), settings=chromadb.config.Settings(anonymized_telemetry=False)
    )
    collection = client.create_collection(
        "notes", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    given = [row for row in given if row["vector"]]
    collection.add(
        ids=[row["slug"] for row in given],
        embeddings=[row["vector"] for row in given],
        documents=[row["body"] for row in given],
        metadatas=[{name: row[name] for name in ("page", "heading", "lang")} for row in given],
    )
    client.close()
    existing = {key: value for key, value in COLUMNS.items() if key not in {"id", "text"}}
    return {"path": str(folder), "existing": {"collection": "notes", **existing}}


def fill_qdrant(client: Any, given: Sequence[dict[str, Any]], distance: str = "Cosine") -> None:
    """Create a collection whose payload has the ids, nested as some frameworks nest them."""
    from qdrant_client import models

    client.create_collection(
        "notes", vectors_config=models.VectorParams(size=256, distance=models.Distance(distance))
    )
    client.upload_collection(
        "notes", vectors=[row["vector"] for row in given if row["vector"]],
        payload=[
            {"body": row["body"], "metadata": {n: v for n, v in row.items() if n != "vector"}}
            for row in given if row["vector"]
        ],
    )  # fmt: skip


QDRANT = {
    "collection": "notes", "id": "metadata.slug", "text": "body", "document": "metadata.page",
    "section": "metadata.heading", "metadata": ["metadata.lang"],
}  # fmt: skip


def qdrant(folder: Path, given: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A folder of the local mode."""
    from qdrant_client import QdrantClient

    client = QdrantClient(path=str(folder))
    fill_qdrant(client, given)
    client.close()
    return {"path": str(folder), "existing": QDRANT}


def postgres(dsn: str, given: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A table in its own schema, and a role that may only SELECT."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS kb CASCADE")
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute("CREATE SCHEMA kb")
        connection.execute(
            'CREATE TABLE kb."Notes 5%" (slug text, body text, page text, heading text[], '
            "lang text, embedding vector(256), words tsvector "
            "GENERATED ALWAYS AS (to_tsvector('english', body)) STORED)"
        )
        with connection.cursor() as cursor:
            cursor.executemany(
                'INSERT INTO kb."Notes 5%%" VALUES (%s, %s, %s, %s, %s, %s)',
                [
                    (row["slug"], row["body"], row["page"], row["heading"].split(" > "),
                     row["lang"], row["vector"] and str(row["vector"]))
                    for row in given
                ],
            )  # fmt: skip
        connection.execute(
            "DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN END $$"
        )
        connection.execute("GRANT USAGE ON SCHEMA kb TO reader")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA kb TO reader")
    existing = {"table": "kb.Notes 5%", "vector": "embedding", **COLUMNS}
    return {"dsn": psycopg.conninfo.make_conninfo(dsn, user="reader"), "existing": existing}


def postgres_state(dsn: str) -> dict[str, Any]:
    """Return a hash of all rows of all tables with their versions, and what the catalogs count."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        tables = connection.execute(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables "
            "WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
        ).fetchall()
        hashed = "string_agg(xmin::text || x::text, ',' ORDER BY ctid)"
        found: dict[str, Any] = {
            name: connection.execute(
                f"SELECT count(*), md5({hashed}) FROM {name} AS x"  # noqa: S608 - its own names
            ).fetchone()
            for (name,) in tables
        }
        for name in ("pg_class", "pg_proc", "pg_type", "pg_namespace", "pg_roles", "pg_extension"):
            found[name] = connection.execute(f"SELECT count(*) FROM {name}").fetchone()  # noqa: S608
        connection.execute("SELECT pg_stat_force_next_flush()")
        found["written"] = connection.execute(
            "SELECT relname, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables ORDER BY 1"
        ).fetchall()
        return found


def cluster(flavour: str, given: Sequence[dict[str, Any]]) -> tuple[Any, dict[str, Any]]:
    """Return a server with an index of notes, and the option to search it."""
    from tests.providers.search_cluster import Cluster, Index

    kind = {"elasticsearch": ("dense_vector", "dims"), "opensearch": ("knn_vector", "dimension")}
    name, length = kind[flavour]
    keyword = {"type": "keyword"}
    fields = {
        "body": {"type": "text", "analyzer": "english"}, "slug": keyword, "lang": keyword,
        "page": keyword, "heading": keyword, "embedding": {"type": name, length: 256},
    }  # fmt: skip
    documents = {
        f"id-{row['slug']}": {
            **{key: value for key, value in row.items() if key != "vector"},
            **({"embedding": row["vector"]} if row["vector"] else {}),
        }
        for row in given
    }
    index = Index(fields, {}, documents, documents)
    existing = {"index": "notes", "vector": "embedding", **COLUMNS}
    return Cluster(flavour, {"notes": index, "other": Index({}, {})}), existing
