"""Indexes that exist are searched as they are, and nothing in them changes."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from berryeval.data.records import Query
from berryeval.errors import BerryEvalError, ConfigurationError, ProviderError
from berryeval.providers.catalogue import build_provider
from berryeval.providers.dense import Dense
from berryeval.providers.existing import suggest_some
from tests.providers import foreign
from tests.providers.corpus import CHUNKS, query
from tests.providers.loopback import loopback
from tests.providers.qdrant_server import KEY, qdrant_server
from tests.providers.test_embedders import embeddings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

    from berryeval.providers.base import Provider

ENGINES = [
    "postgres", "sqlite", "lancedb", "chroma", "qdrant", "qdrant server", "elasticsearch",
    "opensearch",
]  # fmt: skip
WITH_TEXT = [one for one in ENGINES if not one.startswith(("chroma", "qdrant"))]
FILES = ["sqlite", "lancedb", "chroma", "qdrant"]
TEMPLATES: dict[str, Any] = {
    "postgres": "SELECT slug AS id, body AS text, page AS document, 1 - (embedding <=> :vector) "
    "AS score FROM kb.\"Notes 5%\" WHERE embedding IS NOT NULL AND lang LIKE 'e%' "
    "AND :query <> '' ORDER BY embedding <=> :vector LIMIT :k",
    "sqlite": "SELECT slug AS id, notes.body AS text, page AS document, -bm25(notes_words) score "
    "FROM notes_words JOIN notes ON number = notes_words.rowid -- with ? and :words\n"
    "WHERE notes_words MATCH '\"' || replace(:query, ' ', '\" OR \"') || '\"' "
    "ORDER BY score DESC LIMIT :k;",
    "elasticsearch": {"size": "{k}", "query": {"match": {"body": {"query": "{query}"}}}},
    "opensearch": {"size": "{k}", "query": {"knn": {"embedding": {"vector": "{vector}", "k": 9}}}},
}  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")


class World(ExitStack):
    """An engine with an index of others, and what it was asked."""

    def __init__(self, engine: str, folder: Path, dsn: str) -> None:
        super().__init__()
        self.engine = engine
        self.name = engine.partition(" ")[0]
        self.folder = folder
        self.dsn = dsn
        self.options: dict[str, Any] = {}
        self.requests: Any = None
        self.server: Any = None

    def __enter__(self) -> Self:
        super().__enter__()
        given = foreign.corpus_rows()
        if self.engine in FILES:
            self.options = getattr(foreign, self.engine)(self.folder, given)
        elif self.engine == "postgres":
            self.options = foreign.postgres(self.dsn, given)
        elif self.engine == "qdrant server":
            server = self.enter_context(qdrant_server())
            foreign.fill_qdrant(server.client, given, "Dot")  # as in the provider's own tests
            self.options = {"url": server.url, "api_key": KEY, "existing": foreign.QDRANT}
            self.requests = lambda: [(method, path) for method, path, _ in server.asked]
        else:
            self.server, existing = foreign.cluster(self.engine, given)
            place = self.enter_context(loopback(self.server))
            self.options = {"url": place.url, "mode": "hybrid", "existing": existing}
            self.requests = lambda: [(one.method, one.path) for one in place.asked]
        return self

    def build(self, **changes: Any) -> Provider:
        """Return the provider; `existing` changes only the parts it names, None removes one."""
        parts = self.options["existing"] | changes.pop("existing", {})
        parts = {name: value for name, value in parts.items() if value is not None}
        return build_provider(self.name, {**self.options, **changes, "existing": parts})

    @contextmanager
    def open(self, **changes: Any) -> Iterator[Provider]:
        with self.build(**changes) as provider:
            provider.index([])
            yield provider

    def state(self) -> Any:
        return (
            foreign.postgres_state(self.dsn)
            if self.engine == "postgres"
            else (foreign.checksum(self.folder))
        )


@pytest.fixture(params=ENGINES)
def world(request: pytest.FixtureRequest, tmp_path: Path, dsn: str) -> Iterator[World]:
    with World(request.param, tmp_path, dsn) as found:
        yield found


def only(*names: str) -> pytest.MarkDecorator:
    """Run a test on some engines."""
    return pytest.mark.parametrize("world", names, indirect=True)


def test_an_index_is_searched_and_nothing_is_written(world: World) -> None:
    before = world.state()
    modes = ["text", "vector", "hybrid"] if world.engine in WITH_TEXT else [""]
    for mode in modes:
        with world.open(**({"mode": mode} if mode else {})) as provider:
            hits = provider.search(query("when do access tokens expire"), 3)
            assert hits[0].id == "tokens"
            assert hits[0].text == f"Handbook\nTokens\n{CHUNKS[0].text}"
            assert (hits[0].doc_id, hits[0].section) == ("handbook", ("Handbook", "Tokens"))
            assert list(hits[0].metadata.values()) == ["en"]
            assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
            assert not provider.needs_documents()
            (found,) = provider.existing_indexes().items()
            assert found == (f"{world.name.replace('open', 'elastic')}:{name_of(world)}", 6)
    assert world.state() == before
    if world.requests:
        assert {method for method, _ in world.requests()} <= {"GET", "POST"}
        ends = {path.rpartition("/")[2] for method, path in world.requests() if method == "POST"}
        assert ends <= {"_search", "_count", "query", "count", "scroll"}


def name_of(world: World) -> str:
    return "kb.Notes 5%" if world.engine == "postgres" else "notes"


def test_vectors_are_ranked_as_by_the_dense_provider(world: World) -> None:
    """Its chunks have the same vectors, so that ids and, where they are cosines, scores agree."""
    with Dense() as dense, world.open(**mode_of(world, "vector")) as provider:
        dense.index(CHUNKS)
        for text in ("rate limit", "restoring lost data", "thirty days"):
            expected, found = dense.search(query(text), 4), provider.search(query(text), 4)
            assert [hit.id for hit in found] == [hit.id for hit in expected]
            scores = [hit.score for hit in expected]
            if world.engine in {"elasticsearch", "opensearch"}:  # as the server gives them
                scores = [(1 + score) / 2 for score in scores]
            assert [hit.score for hit in found] == pytest.approx(scores, abs=1e-5)


def mode_of(world: World, mode: str) -> dict[str, str]:
    return {"mode": mode} if world.engine in WITH_TEXT else {}


@only("postgres", "sqlite", "elasticsearch", "opensearch")
def test_a_query_of_the_user_is_run_with_its_parameters(world: World) -> None:
    before = world.state()
    parts = dict.fromkeys(world.options["existing"], None) | {"query": TEMPLATES[world.engine]}
    if world.requests:
        parts |= {"index": "notes", "id": "slug", "text": "body", "document": "page"}
    with world.open(existing=parts) as provider:
        for text in ("access tokens expire", "tokens'; DROP TABLE notes; --", "100% {k} :k"):
            hits = provider.search(query(text), 2)
            assert len(hits) <= 2
        hits = provider.search(query("access tokens expire"), 2)
        assert (hits[0].id, hits[0].doc_id) == ("tokens", "handbook")
        assert hits[0].text.endswith(CHUNKS[0].text)
    assert world.state() == before


def test_a_condition_and_a_scope_choose_the_rows(world: World) -> None:
    field = {"qdrant": "metadata.slug", "qdrant server": "metadata.slug"}.get(world.engine, "slug")
    where: Any = "slug <> 'tokens'"
    if world.name == "qdrant":
        where = {"must_not": [{"key": field, "match": {"value": "tokens"}}]}
    elif world.engine == "chroma":
        where, field = {"lang": {"$eq": "en"}}, "heading"
    elif world.requests:
        where = {"terms": {"slug": ["limits", "backup", "pool"]}}
    asked = Query("q", "access tokens thirty days", scope={"part": ("limits", "backup")})
    if world.engine == "chroma":
        asked = replace(asked, scope={"part": ("Handbook > Limits", "Handbook > Backup")})
    changes = {"existing": {"where": where, "scope": {"part": field}}, **mode_of(world, "vector")}
    with world.open(**changes) as provider:
        assert {hit.id for hit in provider.search(asked, 9)} == {"limits", "backup"}
        everything = {hit.id for hit in provider.search(query("access tokens"), 9)}
        assert ("tokens" in everything) == (world.engine == "chroma")


def test_faults_of_the_option_are_named(world: World) -> None:
    kind = next(iter(world.options["existing"]))
    name, word = name_of(world), "field" if kind != "table" else "column"
    faults: list[tuple[dict[str, Any], str]] = [
        ({kind: "nots"}, rf"there is no {kind}.* 'nots'.*(did you mean '{name}'|{name})"),
        ({"document": "pge"}, rf"the {kind} '.*' has no {word} 'pge'; "),
        ({"metadata": ["body", "nope"]}, rf"has no {word} '\w+'"),
        ({"tablle": "x"}, r"existing of \w+ has no option 'tablle'; did you mean|it has"),
        ({"metadata": "lang"}, "metadata in existing of .* must be a list of names"),
        ({kind: 7}, f"{kind} in existing of .* must be a name, found 7"),
        ({kind: None}, f"existing of .* needs the name of the {kind} that is to be searched"),
    ]
    for change, message in faults:
        with (
            pytest.raises(ConfigurationError, match=message),
            world.open(existing=change, **mode_of(world, "vector")),
        ):
            pass


@only("qdrant", "qdrant server", "sqlite")
def test_the_closest_name_is_suggested(world: World) -> None:
    """Also inside an object of a payload, and for vectors."""
    change, closest = ({"vector": "embeding"}, "embedding")
    if world.name == "qdrant":
        change, closest = ({"id": "metadata.slog"}, "metadata.slug")
    with (
        pytest.raises(ConfigurationError, match=f"; did you mean '{closest}'"),
        world.open(existing=change, **mode_of(world, "vector")),
    ):
        pass


def test_vectors_of_another_dimension_are_an_error(world: World) -> None:
    message = r"have 256 dimensions, those of the embedder 'openai' have 64; choose the embedder"
    with loopback(embeddings) as server:
        remote = {"base_url": f"{server.url}/v1", "cache": ""}
        options = {"embedder": "openai", "embedder_options": remote, **mode_of(world, "vector")}
        with pytest.raises(ConfigurationError, match=message), world.open(**options):
            pass


def test_an_index_without_rows_is_an_error(world: World) -> None:
    where: Any = "lang = 'xx'"
    if world.name == "qdrant":
        where = {"must": [{"key": "metadata.lang", "match": {"value": "xx"}}]}
    elif world.engine == "chroma":
        where = {"lang": "xx"}
    elif world.requests:
        where = {"term": {"lang": "xx"}}
    with (
        pytest.raises(ConfigurationError, match=r"no row of the .* passes the condition where"),
        world.open(existing={"where": where}),
    ):
        pass


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("sqlite", {"stemming": False}, "stemming of sqlite is an option of the temporary index"),
        ("postgres", {"schema": "kb"}, "schema of postgres is an option of the temporary index"),
        ("lancedb", {"language": "German"}, "language of lancedb is an option of the temporary"),
        ("chroma", {"ef_search": 7}, "ef_search of chroma is an option of the temporary index"),
        ("qdrant", {"batch_size": 7}, "batch_size of qdrant is an option of the temporary index"),
        ("elasticsearch", {"prefix": "x"}, "prefix of elasticsearch is an option of the tempor"),
        ("postgres", {}, "existing of postgres needs a dsn: the address of the server"),
        ("sqlite", {}, "existing of sqlite needs a path: where its database is"),
        ("sqlite", {"path": "no.db"}, "existing of sqlite: there is no file 'no.db'"),
        ("lancedb", {"path": "none"}, "existing of lancedb: there is no folder 'none'"),
        ("chroma", {"path": "none"}, "existing of chroma: there is no folder 'none'"),
        ("chroma", {"path": "."}, r"'\.' is no folder of Chroma; it has no chroma.sqlite3"),
        ("qdrant", {"path": "."}, r"'\.' is no folder of Qdrant's local mode; it has no meta"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_are_rejected_and_nothing_is_created(
    name: str,
    options: dict[str, Any],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    word = {"chroma": "collection", "qdrant": "collection", "elasticsearch": "index"}
    existing = {word.get(name, "table"): "notes"}
    with pytest.raises(ConfigurationError, match=message):
        build_provider(name, {**options, "existing": existing})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("SELECT id FROM t LIMIT :k", "must contain :query or :vector"),
        ("SELECT id FROM t WHERE x = :query", "must contain :k, which is filled in"),
        ("SELECT ':query', id FROM t LIMIT :k -- :query", "must contain :query or :vector"),
        ("DELETE FROM t WHERE :query = :k", "must be a SELECT statement, found 'DELETE"),
        ("/* SELECT */ UPDATE t SET a = :query, b = :k", "must be a SELECT statement"),
        ("SELECT :query, :k; DELETE FROM t", "must be a single statement, found several"),
        ("SELECT :query, :k, :size", "has the parameter :size; there are query, vector, k"),
        (["SELECT"], "must be SQL, found list"),
    ],
)
@pytest.mark.parametrize("name", ["postgres", "sqlite"])
def test_a_query_that_cannot_be_run_is_rejected(name: str, template: Any, message: str) -> None:
    options = {"postgres": {"dsn": "host=nowhere"}, "sqlite": {"path": __file__}}[name]
    with pytest.raises(ConfigurationError, match=f"query in existing of {name} {message}"):
        build_provider(name, {**options, "existing": {"query": template}})


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ({"size": "{k}", "query": {"match_all": {}}}, r"must contain \{query\} or \{vector\}"),
        ({"query": {"match": {"body": "{query}"}}}, r"must contain \{k\}, such as size"),
        ("SELECT", "must be the body of a _search as a mapping, found str"),
    ],
)
def test_a_body_that_cannot_be_sent_is_rejected(template: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        build_provider("opensearch", {"existing": {"index": "notes", "query": template}})


@only("postgres", "sqlite")
def test_a_query_that_writes_fails_before_the_first_query(world: World) -> None:
    """The database itself refuses, whatever the statement looks like."""
    before = world.state()
    writes = {
        "postgres": [
            'WITH x AS (DELETE FROM kb."Notes 5%" RETURNING slug id) SELECT id, :query, :k FROM x',
            "SELECT set_config('transaction_read_only', 'off', false) AS id, :query LIMIT :k",
            'SELECT slug AS id, :query INTO kb.mine FROM kb."Notes 5%" LIMIT :k',
            'SELECT slug AS id, :query FROM kb."Notes 5%" LIMIT :k FOR UPDATE',
        ],
        "sqlite": ["WITH gone AS (SELECT :query, :k) DELETE FROM notes RETURNING slug AS id"],
    }
    for template in writes[world.engine]:
        parts = dict.fromkeys(world.options["existing"], None) | {"query": template}
        owner = {} if world.engine == "sqlite" else {"dsn": world.dsn}  # it may do anything
        with (
            pytest.raises(ProviderError, match=r"read.?only|before any query"),
            world.open(existing=parts, **owner),
        ):
            pass
    assert world.state() == before


@only("postgres")
def test_a_name_with_a_dot_is_first_a_schema_and_a_table(world: World) -> None:
    import psycopg

    try:
        with psycopg.connect(world.dsn, autocommit=True) as owner:
            owner.execute('CREATE TABLE public."kb.Notes 5%" (slug text, body text)')
        with world.open(mode="text") as provider:
            assert provider.search(query("when do access tokens expire"), 1)[0].id == "tokens"
    finally:
        with psycopg.connect(world.dsn, autocommit=True) as owner:
            owner.execute('DROP TABLE public."kb.Notes 5%"')


@only("postgres")
def test_a_condition_cannot_write_either(world: World) -> None:
    """Not even one that changes the default of its session for the statements after it."""
    import psycopg

    with psycopg.connect(world.dsn, autocommit=True) as owner:
        owner.execute("CREATE TABLE kb.written (number int)")
        owner.execute(
            "CREATE FUNCTION kb.write() RETURNS bool LANGUAGE plpgsql AS "
            "$$ BEGIN INSERT INTO kb.written VALUES (1); RETURN true; END $$"
        )
    before = world.state()
    where = (
        "set_config('default_transaction_read_only', 'off', false) = 'off' "
        "AND (current_setting('transaction_read_only') = 'on' OR kb.write())"
    )
    with world.open(existing={"where": where}, mode="text", dsn=world.dsn) as provider:
        assert provider.search(query("when do access tokens expire"), 3)
    assert world.state() == before


@only("postgres")
def test_a_condition_is_never_a_second_statement(world: World) -> None:
    """Not even where a name ends with $$, which begins a text only elsewhere."""
    import psycopg

    with psycopg.connect(world.dsn, autocommit=True) as owner:
        owner.execute("CREATE TABLE kb.dollars (id int, body text, a$$ int)")
        owner.execute("INSERT INTO kb.dollars VALUES (1, 'access tokens', 1)")
    before = world.state()
    where = (
        "a$$ = 1) LIMIT 1) AS x; COMMIT; BEGIN READ WRITE; DELETE FROM kb.dollars; COMMIT; "
        "SELECT count(*) FROM (SELECT FROM kb.dollars WHERE (a$$ = 1"
    )
    existing = {"table": "kb.dollars", "id": "id", "text": "body", "where": where}
    with pytest.raises(BerryEvalError, match="one condition"), world.open(existing=existing):
        pass
    assert world.state() == before


@only("sqlite")
def test_parameters_without_a_value_are_named(world: World) -> None:
    bare = dict.fromkeys(world.options["existing"], None)
    for parts, message in (
        ({"where": "lang = :lang"}, "where in existing of sqlite has the parameter :lang"),
        (
            {**bare, "query": "SELECT slug AS id, :query FROM notes WHERE lang = $lang LIMIT :k"},
            "the statement has the parameter 'lang', which has no value",
        ),
    ):
        with pytest.raises(ConfigurationError, match=message), world.open(existing=parts):
            pass


@only("postgres")
def test_faults_of_tables_in_postgresql_are_named(world: World) -> None:
    import psycopg

    with psycopg.connect(world.dsn, autocommit=True) as owner:
        owner.execute('CREATE TABLE kb.secret AS TABLE kb."Notes 5%"')
        owner.execute("CREATE TABLE kb.numbers (slug int, body real[], embedding vector)")
        owner.execute("CREATE TABLE kb.planned AS TABLE kb.numbers")
        owner.execute("ALTER TABLE kb.planned ALTER embedding TYPE vector(256)")
        owner.execute("INSERT INTO kb.planned (slug) VALUES (1)")
        owner.execute("GRANT SELECT ON kb.numbers, kb.planned TO reader")
    simple = dict.fromkeys(("document", "section", "metadata"))
    faults: list[tuple[dict[str, Any], str, str]] = [
        ({"table": "kb.secret"}, "text", "permission denied for table secret"),
        ({"text": "heading"}, "text", r"'heading' must be text or tsvector, found text\[\]"),
        ({"words": "body"}, "text", "the column 'body' must be tsvector, found text"),
        ({"vector": "body"}, "vector", "must be of pgvector's type vector or halfvec, found text"),
        ({"vector": None}, "hybrid", "mode 'hybrid' searches vectors; name their column as vecto"),
        ({"table": "kb.numbers", **simple}, "vector", "the column 'embedding' holds no vector"),
        ({"table": "kb.planned", **simple}, "vector", "the column 'embedding' holds no vector"),
        ({"where": "nothing = 1"}, "text", 'column "nothing" does not exist'),
        ({"where": "true; DELETE FROM x"}, "text", "where .* must be one condition without ;"),
    ]
    for change, mode, message in faults:
        with (
            pytest.raises(BerryEvalError, match=message),
            world.open(existing=change, mode=mode),
        ):
            pass
    away = {"dsn": "host=127.0.0.1 port=1"}
    with pytest.raises(ProviderError, match=r"127\.0\.0\.1:1: .*refused"), world.open(**away):
        pass


@only("postgres")
def test_an_index_of_a_table_is_used_if_approximate(world: World) -> None:
    import psycopg

    with psycopg.connect(world.dsn, autocommit=True) as owner:
        owner.execute('CREATE INDEX ON kb."Notes 5%" USING hnsw (embedding vector_cosine_ops)')
        owner.execute("CREATE INDEX ON kb.\"Notes 5%\" USING gin (to_tsvector('english', body))")
    found = []
    for changes in ({"approximate": True}, {}, {"existing": {"words": "words"}, "mode": "text"}):
        with world.open(**{"mode": "vector", **changes}) as provider:
            found.append([hit.id for hit in provider.search(query("access tokens expire"), 1)])
    assert found == [["tokens"]] * 3


@only("sqlite")
def test_tables_of_sqlite_may_be_of_any_kind(world: World) -> None:
    """An FTS5 table alone, vectors of vec0, JSON vectors, and a view."""
    file = world.options["path"]
    foreign.sqlite_vec0(file)
    with closing(apsw.Connection(file)) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE pages USING fts5(slug UNINDEXED, body, tokenize='porter');"
            "INSERT INTO pages SELECT slug, body FROM notes;"
            "CREATE VIEW texts AS SELECT slug, embedding FROM notes WHERE lang = 'en'"
        )
    plain = dict.fromkeys(world.options["existing"]) | {"id": "slug"}
    with world.open(existing={**plain, "table": "pages", "text": "body"}, mode="text") as provider:
        assert provider.search(query("access token"), 1)[0].id == "tokens"
    several: list[dict[str, Any]] = [
        {"vector": "nearby.embedding"},
        {"vector": "nearby.embedding", "where": "lang = 'en'"},
        {"vector": "embedding", "distance": "l2"},
        {**plain, "table": "texts", "vector": "embedding"},
    ]
    for parts in several:
        with world.open(existing=parts, mode="vector") as provider:
            assert provider.search(query("access tokens expire"), 1)[0].id == "tokens"
    faults: list[tuple[dict[str, Any], str]] = [
        ({"words": None}, r"'notes' is no FTS5 table; name .* words \(there are notes_words, p"),
        ({"words": "notes"}, "there is no FTS5 table 'notes'"),
        ({"vector": "body"}, "the column 'body' holds no vectors that sqlite-vec reads"),
        ({"vector": "nope.x"}, "there is no table 'nope'"),
        ({"distance": "dot"}, "sqlite-vec has the distances cosine, l2"),
        ({"id": "number", "start": "slug"}, "at the path 'slug' expected a whole number"),
    ]
    for parts, message in faults:
        with pytest.raises(BerryEvalError, match=message), world.open(existing=parts):
            pass


@only("lancedb")
def test_a_column_without_full_text_is_an_error(world: World) -> None:
    with (
        pytest.raises(ConfigurationError, match="'heading' has no full-text index; those with one"),
        world.open(existing={"text": "heading"}),
    ):
        pass
    with (
        pytest.raises(ConfigurationError, match="must be a list of fixed size, found string"),
        world.open(existing={"vector": "body"}),
    ):
        pass


@only("lancedb")
def test_a_column_of_lancedb_without_any_vector_is_an_error(world: World) -> None:
    import lancedb

    table: Any = lancedb.connect(world.options["path"]).open_table("notes")
    table.update(values_sql={"vector": "NULL"})
    with (
        pytest.raises(ConfigurationError, match="the column 'vector' holds no vector"),
        world.open(mode="vector"),
    ):
        pass


@only("lancedb")
def test_a_column_of_lancedb_may_have_blanks_in_its_name(world: World) -> None:
    import lancedb
    from lancedb.index import FTS

    table: Any = lancedb.connect(world.options["path"]).open_table("notes")
    table.drop_index("body_idx")
    table.alter_columns({"path": "body", "rename": "Body text"})
    table.create_index("Body text", config=FTS(language="English"))
    with world.open(existing={"text": "Body text"}, mode="text") as provider:
        assert provider.search(query("when do access tokens expire"), 1)[0].id == "tokens"


@only("elasticsearch", "opensearch")
def test_fields_of_a_wrong_type_are_an_error(world: World) -> None:
    for change, message in (
        ({"text": "lang"}, "the field 'lang' must be of type text .* found keyword"),
        ({"vector": "body"}, "'body' must be of type dense_vector or knn_vector, found text"),
        ({"text": None}, "mode 'hybrid' searches texts; name their column"),
        ({"where": "x"}, "where must be a mapping"),
    ):
        with pytest.raises(ConfigurationError, match=message), world.open(existing=change):
            pass


def test_hits_are_completed_from_chunks_with_the_same_id(tmp_path: Path) -> None:
    options = foreign.sqlite(tmp_path, foreign.corpus_rows())
    parts = {"table": "notes", "id": "slug", "words": "notes_words"}
    with build_provider("sqlite", {**options, "mode": "text", "existing": parts}) as provider:
        provider.index(CHUNKS)
        (hit,) = provider.search(query("access tokens"), 1)
    assert (hit.text, hit.doc_id) == (CHUNKS[0].text, CHUNKS[0].doc_id)


@only("chroma", "qdrant")
def test_the_copy_of_a_folder_is_removed(
    world: World, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the folder is used by another process, and after a fault."""
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with world.open() as first, world.open() as second:
        assert len(list(temporary.iterdir())) == 2
        assert first.search(query("tokens"), 1) == second.search(query("tokens"), 1)
    with pytest.raises(ConfigurationError), world.open(existing={"collection": "none"}):
        pass
    assert list(temporary.iterdir()) == []


@only("sqlite")
def test_rows_that_another_process_has_just_written_are_found(world: World) -> None:
    """A reader of a file in WAL mode sees them, and changes neither the file nor its log."""
    file = Path(world.options["path"])
    with closing(apsw.Connection(str(file))) as writer:
        writer.execute("PRAGMA journal_mode = wal")
        writer.execute("INSERT INTO notes (slug, body, lang) VALUES ('new', 'a zebra', 'en')")
        writer.execute("INSERT INTO notes_words (rowid, body) VALUES (7, 'a zebra')")
        log = file.with_name("kb.db-wal")
        before = file.read_bytes(), log.read_bytes()
        with world.open(mode="text") as provider:
            assert [hit.id for hit in provider.search(query("zebra"), 1)] == ["new"]
        assert (file.read_bytes(), log.read_bytes()) == before


@only("postgres")
def test_ids_may_be_of_any_type_that_has_a_text(world: World) -> None:
    import psycopg

    with psycopg.connect(world.dsn, autocommit=True) as owner:
        owner.execute(
            "CREATE VIEW kb.typed AS SELECT md5(slug)::uuid AS key, 7 AS number, body, "
            'to_jsonb(heading) AS heading, NULL::float8 AS nothing FROM kb."Notes 5%"'
        )
        owner.execute("GRANT SELECT ON kb.typed TO reader")
    parts = dict.fromkeys(world.options["existing"]) | {"table": "kb.typed", "text": "body"}
    for name, length in (("key", 36), ("number", 1)):
        named = parts | {"id": name, "document": name, "section": "heading"}
        with world.open(existing=named, mode="text") as provider:
            (hit,) = provider.search(query("access tokens"), 1)
            assert (len(hit.id), len(hit.doc_id)) == (length, length)
            assert hit.section == ("Handbook", "Tokens")
    asked = "SELECT key AS id, nothing AS score FROM kb.typed WHERE :query <> '' LIMIT :k"
    with (
        pytest.raises(ProviderError, match="returned a row whose 'score' is NULL"),
        world.open(existing=dict.fromkeys(parts) | {"query": asked}),
    ):
        pass


@only("postgres", "sqlite")
def test_a_query_must_return_the_columns_that_are_named(world: World) -> None:
    table = {"postgres": 'kb."Notes 5%"', "sqlite": "notes"}[world.engine]
    asked = f"SELECT slug, body FROM {table} WHERE body <> :query LIMIT :k"  # noqa: S608 - its name
    empty = dict.fromkeys(world.options["existing"])
    with (
        pytest.raises(ConfigurationError, match="returns no column 'id', only slug, body; write"),
        world.open(existing=empty | {"query": asked}),
    ):
        pass
    with world.open(existing=empty | {"query": asked, "id": "slug"}) as provider:
        assert len(provider.search(query("anything"), 4)) == 4


@only("qdrant server", "elasticsearch", "opensearch")
def test_a_server_that_is_away_or_refuses_is_named(world: World) -> None:
    with (
        pytest.raises(ProviderError, match=r"127\.0\.0\.1:1.*[Rr]efused") as caught,
        world.open(url="http://127.0.0.1:1"),
    ):
        pass
    assert caught.value.passing
    if world.engine == "qdrant server":
        with pytest.raises(ProviderError, match="401") as caught, world.open(api_key="wrong"):
            pass
        assert not caught.value.passing


@only("elasticsearch")
def test_an_answer_with_failed_shards_is_an_error(world: World) -> None:
    with world.open(mode="text") as provider:
        partial = {"timed_out": False, "_shards": {"failed": 1}, "hits": {"hits": []}}
        world.server.answers["_search"] = [partial, {"timed_out": True, "hits": {"hits": []}}, {}]
        for message in ("incomplete: shards failed", "ran out of time", "no hits in the answer"):
            with pytest.raises(ProviderError, match=message):
                provider.search(query("tokens"), 1)


@only("elasticsearch")
def test_a_field_that_is_only_stored_is_read(world: World) -> None:
    index = world.server.indices["notes"]
    for document in index.seen.values():
        document["origin"] = {"page": document["page"]}
    with world.open(existing={"document": "origin.page"}, mode="text") as provider:
        assert provider.search(query("access tokens"), 1)[0].doc_id == "handbook"


def test_many_names_are_not_all_listed() -> None:
    names = [f"table{number}" for number in range(3000)]
    assert suggest_some("xyz", names).endswith("table1013, table1014 and 2,980 more")
    assert suggest_some("xyz", names[:2]) == "there are table0, table1"
