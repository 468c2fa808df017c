"""An index that exists: the option `existing`, how its rows become hits, and its readers.

All engines use the same words. A reader never writes: each engine's module says how.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from berryeval._internal.plain import show
from berryeval._internal.text import name_some
from berryeval._internal.validate import nearest, reject_unknown, require_choice, suggest
from berryeval.data import DOC_ID, Hit, RankingRule, scope_values, split_section
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.answers import READERS, read_id_at, read_number
from berryeval.providers.base import encode_id

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np
    import numpy.typing as npt

    from berryeval.data import Query

    Vector: TypeAlias = npt.NDArray[np.float32]


# Fields of a hit, by the option that names their column.
_HIT_FIELDS: Final = {"text": "text", "document": "doc_id", "start": "start", "end": "end"}
COLUMNS: Final = ("id", *_HIT_FIELDS, "section")
EVERY_ENGINE: Final = (*COLUMNS, "vector", "metadata", "scope", "where")
DISTANCES: Final = ("cosine", "l2", "dot")
COUNTED: Final = 100_000  # rows; more are not counted, because that takes long in large tables
_SHOWN: Final = 20  # names listed in a message
_EXTRA: Final = 10  # hits fetched beyond k, as a few often tie for the last place
_GROWTH: Final = 4
_MOST: Final = 10_000  # hits fetched for the sake of ties; the limit of Elasticsearch


@dataclass(frozen=True)
class ExistingIndex:
    """The option `existing` of a provider.

    Attributes:
        owner: Name of the provider.
        kind: What the engine calls an index: "table", "collection" or "index".
        name: Name of the index; may be empty if there is a query.
        columns: Column or field by what it holds: id, text, document, section, start, end; "" for
            the engine's own id.
        vector: Column of the vectors.
        words: Full-text index of the texts.
        metadata: Columns that become the metadata of hits.
        scope: Column by the field of a query's scope that it is filtered by.
        where: Condition on the rows to search, as the engine writes it; None for all.
        query: The user's own query, as SQL or as a JSON body; None for none.
        score: Column of the score in the answer to that query.
        distance: Distance of vectors: "cosine", "l2" or "dot".
    """

    owner: str
    kind: str
    name: str
    columns: Mapping[str, str]
    vector: str = ""
    words: str = ""
    metadata: tuple[str, ...] = ()
    scope: Mapping[str, str] = field(default_factory=dict)
    where: Any = None
    query: Any = None
    score: str = ""
    distance: str = "cosine"

    @classmethod
    def read(
        cls, owner: str, given: object, *, kind: str, more: Collection[str] = ()
    ) -> ExistingIndex:
        """Check the option; `more` are the parts that only some engines have."""
        what = f"existing of {owner}"
        if not isinstance(given, Mapping):
            raise ConfigurationError(
                f"{what} must map names to values, such as {{{kind}: NAME, id: id}}, "
                f"found {type(given).__name__}"
            )
        reject_unknown(what, map(str, given), (kind, *EVERY_ENGINE, *more))
        for name in (kind, *COLUMNS, "vector", "words", "score", "distance"):
            _require_name(f"{name} in {what}", given.get(name, ""))
        made = cls(
            owner, kind, given.get(kind, ""),
            # A row of a table has no id of its own, other than an entry of a collection.
            {"id": "id" if kind == "table" else ""}
            | {name: given[name] for name in COLUMNS if given.get(name)},
            metadata=tuple(_read_names(f"metadata in {what}", given.get("metadata", []))),
            scope=_read_scope(f"scope in {what}", given),
            **{name: given[name] for name in _OPTIONAL if given.get(name)},
        )  # fmt: skip
        require_choice(f"distance in {what}", made.distance, DISTANCES)
        if not made.name and (made.query is None or kind == "index"):
            raise ConfigurationError(f"{what} needs the name of the {kind} that is to be searched")
        if made.query is not None:
            made._reject_beside_query()
        return made

    def _reject_beside_query(self) -> None:
        for name in ("vector", "words", "where", "scope"):
            if getattr(self, name) and not (name == "scope" and set(self.scope) == {DOC_ID}):
                raise ConfigurationError(
                    f"existing of {self.owner} has a query, which decides itself what is searched; "
                    f"leave out {name}, or write it into the query"
                )

    def error(self, words: str) -> ConfigurationError:
        """Return an error about this option."""
        return ConfigurationError(f"existing of {self.owner}: {words}")

    def require_known(self, what: str, name: str, known: Collection[str]) -> None:
        """Reject a name that the engine does not have, and list what is there."""
        if name not in known:
            raise self.error(f"there is no {what} {name!r}; {suggest_some(name, known)}")

    def require_columns(self, known: Collection[str], word: str = "column") -> None:
        """Reject columns that the index does not have."""
        for name in (*self.read_columns(), *self.scope.values()):
            self.require_column(name, known, word)

    def require_column(self, name: str, known: Collection[str], word: str = "column") -> None:
        """Reject a column that the index does not have."""
        if name not in known:
            raise self.error(
                f"the {self.kind} {self.name!r} has no {word} {name!r}; "
                f"{suggest_some(name, known, listed='it has')}"
            )

    def require_mode(self, mode: str, *, text: bool = True, vector: bool = True) -> None:
        """Reject a mode whose columns are not named."""
        for wanted, word, named in (("text", "text or words", text), ("vector", "vector", vector)):
            if mode in {wanted, "hybrid"} and not named:
                other = "vector" if wanted == "text" else "text"
                raise self.error(
                    f"mode {mode!r} searches {wanted}s; name their column as {word}, or set "
                    f"mode: {other}"
                )

    def read_columns(self) -> list[str]:
        """Return the columns to read, each once."""
        return [name for name in dict.fromkeys((*self.columns.values(), *self.metadata)) if name]

    def filters(self, query: Query) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the columns to filter by the scope of a query, each with the values it may have."""
        for name, column in self.scope.items():
            if name in query.scope:
                yield column, scope_values(query.scope, name)

    def read_hit(self, get: Callable[[str], Any], score: Any) -> Hit:
        """Return a row as a hit; `get` returns the value of a column, None if it has none."""
        values: dict[str, Any] = {}
        for name, key in _HIT_FIELDS.items():
            value = get(self.columns[name]) if name in self.columns else None
            if value is not None:
                values[key] = READERS[key](_as_text(value), self.columns[name])
        column = self.columns.get("section", "")
        section = _read_section(get(column), column) if column else ()
        metadata = {name: get(name) for name in self.metadata}
        column = self.columns["id"]
        number = 0.0 if score is None else read_number(score, self.score or "score")
        name = read_id_at(_as_text(get(column)), column or "id")
        return Hit(name, number, section=section, metadata=metadata, **values)

    def read_answer(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Hit]:
        """Return the rows of the user's own query as hits.

        Columns named as the options are read without being named there. Without a score, the order
        of the rows counts.
        """
        for name in (*self.read_columns(), *filter(None, [self.score])):
            if name not in names:
                raise self.error(
                    f"the query returns no column {name!r}, only {', '.join(names)}; write "
                    f"SELECT ... AS {name}, or name the column"
                )
        score = self.score or ("score" if "score" in names else "")
        columns = {name: name for name in COLUMNS if name in names} | dict(self.columns)
        whole = replace(self, columns=columns, score=score)
        values = [dict(zip(names, row, strict=True)) for row in rows]
        if score and any(row[score] is None for row in values):
            raise ProviderError(f"the query of {self.owner} returned a row whose {score!r} is NULL")
        return [whole.read_hit(row.get, row[score] if score else None) for row in values]


_OPTIONAL: Final = ("vector", "words", "where", "query", "score", "distance")


def suggest_some(name: str, known: Collection[str], *, listed: str = "there are") -> str:
    """Suggest the closest names, or list some of them: a database may have thousands."""
    names = sorted(known)
    if len(names) <= _SHOWN or nearest(name, names):
        return suggest(name, names, listed=listed)
    return f"{listed} {name_some(names, _SHOWN)}"


def _require_name(what: str, value: object) -> None:
    if not isinstance(value, str):
        raise ConfigurationError(f"{what} must be a name, found {show(value)}")


def _read_names(what: str, given: object) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ConfigurationError(f"{what} must be a list of names, found {show(given)}")
    for name in given:
        _require_name(what, name)
    return list(given)


def _read_scope(what: str, given: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns of scopes; that of `doc_id` is the column of documents by default."""
    scope = given.get("scope", {})
    if not isinstance(scope, Mapping):
        raise ConfigurationError(f"{what} must map fields to columns, found {show(scope)}")
    for name, column in scope.items():
        _require_name(f"{name} of {what}", column)
    known = {DOC_ID: given["document"]} if given.get("document") else {}
    return {**known, **{str(name): column for name, column in scope.items()}}


def _as_text(value: Any) -> Any:
    """Return a UUID as text."""
    return str(value) if isinstance(value, UUID) else value


def _read_section(value: Any, column: str) -> tuple[str, ...]:
    """Return headings: an array of texts, also as JSON, or one text such as "Web > Set up"."""
    if isinstance(value, str) and value.startswith("["):
        with suppress(ValueError):
            value = json.loads(value)
    if value is None or isinstance(value, str):
        return split_section(value or "")
    if isinstance(value, Sequence) and all(isinstance(part, str) for part in value):
        return tuple(value)
    raise ProviderError(f"in {column!r} expected headings as text, found {show(value)}")


@dataclass(frozen=True)
class IndexFacts:
    """What a reader found when it opened an index: rows and dimensions of vectors, if known."""

    rows: int | None = None
    dimensions: int = 0


class IndexReader(ABC):
    """Searches one existing index, from several threads, and never writes."""

    def __init__(self, existing: ExistingIndex) -> None:
        self.existing = existing

    @property
    def asks_vectors(self) -> bool | None:
        """Whether the user's own query has the vector; None if the mode decides."""
        return None

    @abstractmethod
    def open(self, mode: str) -> IndexFacts:
        """Check that the index, its columns and their types are there."""

    def search_text(self, query: Query, k: int) -> list[Hit]:  # noqa: ARG002 - not every engine has it
        """Return the `k` best hits by full text, with all ties for the last place in order."""
        raise self.existing.error("has no full text to search")

    @abstractmethod
    def search_vector(self, query: Query, vector: Vector, k: int) -> list[Hit]:
        """Return the `k` nearest hits."""

    def search_own(self, query: Query, vector: Vector | None, k: int) -> list[Hit]:  # noqa: ARG002 - not every engine has it
        """Return the hits of the user's own query."""
        raise self.existing.error("has no query of its own")

    def close(self) -> None:  # noqa: B027 - optional
        """Release connections and copies."""


def rank_found(hits: Sequence[Hit], k: int) -> list[Hit]:
    """Return the `k` best hits in ranking order: score, then id, both descending."""
    order = RankingRule(depth=k).order(
        [encode_id(hit.id) for hit in hits], [hit.score for hit in hits]
    )
    return [hits[place] for place in order]


def fetch_ranked(k: int, fetch: Callable[[int], list[Hit]]) -> list[Hit]:
    """Fetch the `k` best hits from an engine that cuts a ranking anywhere among equal scores.

    `fetch` is asked for more hits until all ties for the last place are included.
    """
    count = max(min(k + _EXTRA, _MOST), k)
    found = fetch(count)
    while len(found) == count < _MOST and found[k - 1].score == found[-1].score:
        count = min(count * _GROWTH, _MOST)
        found = fetch(count)
    return rank_found(found, k)


def require_path(owner: str, path: str, *, folder: bool = True) -> Path:
    """Return the path of an existing database; engines would create one that is missing."""
    place = Path(path).expanduser()
    if not path:
        raise ConfigurationError(f"existing of {owner} needs a path: where its database is")
    if not (place.is_dir() if folder else place.is_file()):
        what = "folder" if folder else "file"
        raise ConfigurationError(f"existing of {owner}: there is no {what} {str(place)!r}")
    return place


_SQLITE: Final = b"SQLite format 3\x00"


def copy_folder(source: Path, owner: str) -> Path:
    """Copy the folder of an engine that writes to what it opens; return the temporary copy.

    SQLite files are copied by SQLite, which waits for writers; locks are left out.
    """
    target = Path(tempfile.mkdtemp(prefix=f"berryeval-{owner}-"))
    try:
        for file in sorted(source.rglob("*")):
            copied = target / file.relative_to(source)
            if file.is_dir():
                copied.mkdir(parents=True, exist_ok=True)
            elif file.name != ".lock" and not file.name.endswith(("-wal", "-shm", "-journal")):
                _copy_file(file, copied)
    except (OSError, sqlite3.Error) as error:
        remove_copy(target)
        raise ProviderError(f"{owner}: {source} cannot be copied to be searched: {error}") from None
    return target


def _copy_file(source: Path, target: Path) -> None:
    with source.open("rb") as file:
        is_sqlite = file.read(len(_SQLITE)) == _SQLITE
    if not is_sqlite:
        shutil.copyfile(source, target)
        return
    address = f"{source.resolve().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(address, uri=True)) as before,
        closing(sqlite3.connect(target)) as after,
    ):
        before.backup(after)


def remove_copy(folder: Path | None) -> None:
    """Remove a temporary copy."""
    if folder is not None:
        with suppress(OSError):
            shutil.rmtree(folder)
