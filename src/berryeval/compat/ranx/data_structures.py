"""`Qrels` and `Run` of ranx: mutable dicts for the caller, columns for the engine.

Rows become columns when an object is built, and a dict only when the caller reads one. Queries are
shown sorted by id and documents by number, highest first; equal numbers keep the given order, where
ranx leaves their order to chance.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, KeysView, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from berryeval import data
from berryeval._internal.files import replace_file
from berryeval._internal.optional import import_optional
from berryeval.compat.lenient_scorer import plain_rows
from berryeval.compat.ranx.comparison_report import (  # noqa: F401 - offered here, as in ranx
    FrozensetDict,
    OptimizationReport,
    Report,
)
from berryeval.compat.ranx.ranx_files import (
    RejectedInputError,
    get_file_kind,
    noticing_a_missing_file,
    read_lz4,
    read_parquet,
    read_trec,
    write_lz4,
)
from berryeval.data import QueryTable, write_trec
from berryeval.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    import pandas as pd

    from berryeval._internal.files import PathLike
    from berryeval.data import Kind

Rows: TypeAlias = dict[str, dict[str, Any]]
T = TypeVar("T", data.Qrels, data.Run)


def table_of(rows: Mapping[str, Mapping[str, float]], kind: Kind) -> QueryTable:
    """Return the columns of rows; a bool counts as 0 or 1, as in ranx."""
    try:
        return QueryTable.from_dict(rows, kind=kind)
    except DataError:
        return QueryTable.from_dict(plain_rows(rows), kind=kind)


class _Rows(Generic[T]):
    """Numbers of documents by query, as a dict, as columns, or as both."""

    kind: ClassVar[Kind]

    def __init__(self, rows: Mapping[str, Mapping[str, float]] | None, name: str | None) -> None:
        self._dict: Rows | None = {} if rows is None else None
        self._columns: T | None = None
        self._in_order = False  # the rows of the dict
        self._shared = False  # the dict with the caller, who may change it at any time
        self.sorted = rows is not None
        self.name = name
        if rows is not None:
            self._take(table_of(rows, self.kind))

    def _wrap(self, table: QueryTable) -> T:
        raise NotImplementedError

    def _take(self, table: QueryTable) -> None:
        """Replace all rows."""
        self._columns = self._wrap(table)
        self._dict, self._shared, self.sorted = None, False, True

    @property
    def columns(self) -> T:
        """The rows as BerryEval's own `Qrels` or `Run`."""
        if self._columns is not None:
            return self._columns
        columns = self._wrap(table_of(self._dict or {}, self.kind))
        if not self._shared:
            self._columns = columns
        return columns

    def _rows(self) -> Rows:
        """Return the rows as a dict, in order once they have been sorted."""
        if self._dict is None:
            numbers = self.columns.to_dict()
            self._dict, self._in_order = self._convert(numbers), False
        if self.sorted and not self._in_order:
            rows = self._dict
            self._dict = {query: _order(rows[query]) for query in sorted(rows)}
            self._in_order, self._shared = True, False
        return self._dict

    def _convert(self, rows: dict[str, dict[str, float]]) -> Rows:
        return rows

    def _share(self) -> Rows:
        """Return the dict itself; columns are built anew from now on."""
        rows = self._rows()
        self._columns, self._shared = None, True
        return rows

    def _replace(self, rows: Rows) -> None:
        self._dict, self._columns = rows, None
        self._shared, self._in_order = True, True

    def keys(self) -> KeysView[str]:
        """Return the ids of the queries."""
        if self._dict is None:
            return dict.fromkeys(sorted(self.columns.table.queries)).keys()
        return self._rows().keys()

    def get_query_ids(self) -> list[str]:
        """Return the ids of the queries as a list."""
        return list(self.keys())

    def get_doc_ids_and_scores(self) -> list[dict[str, Any]]:
        """Return the rows of each query."""
        return [dict(row) for row in self._rows().values()]

    def _number(self, value: Any) -> Any:
        return float(value)

    def add_score(self, q_id: str, doc_id: str, score: float) -> None:
        """Set the number of one document."""
        self._rows().setdefault(q_id, {})[doc_id] = self._number(score)
        self._columns, self._in_order, self.sorted = None, False, False

    def add(self, q_id: str, doc_ids: Iterable[str], scores: Iterable[float]) -> None:
        """Set all documents of a query."""
        self.add_multi([q_id], [doc_ids], [scores])

    def add_multi(
        self,
        q_ids: Iterable[str],
        doc_ids: Iterable[Iterable[str]],
        scores: Iterable[Iterable[float]],
    ) -> None:
        """Set all documents of several queries."""
        found = self._rows()
        for query, documents, numbers in zip(q_ids, doc_ids, scores, strict=True):
            row = zip(documents, map(self._number, numbers), strict=True)
            try:
                found[query] = dict(row)
            except ValueError as error:
                raise DataError(
                    f"query {query!r} needs a number for each document: {error}"
                ) from None
        self._columns, self._in_order, self.sorted = None, False, True

    add_and_sort = add_multi

    def sort(self) -> None:
        """Sort the queries by id and their documents by number, highest first."""
        self._in_order, self.sorted = False, True

    def to_typed_list(self) -> list[npt.NDArray[np.float64]]:
        """Return an array of (hash of the id, number) for each query, for `ranx.metrics`."""
        self.sorted = True
        return to_arrays(self._rows().values())

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return `{query: {document: number}}`."""
        return defaultdict(dict, {query: dict(row) for query, row in self._rows().items()})

    def to_dataframe(self) -> pd.DataFrame:
        """Return a pandas frame with the columns q_id, doc_id and score."""
        pandas = import_optional("pandas", "to_dataframe")
        rows = self._rows()
        columns = {
            "q_id": [query for query, row in rows.items() for _ in row],
            "doc_id": [document for row in rows.values() for document in row],
            "score": [number for row in rows.values() for number in row.values()],
        }
        return pandas.DataFrame(columns)

    def save(self, path: PathLike | None = None, kind: str | None = None) -> None:
        """Write a file of this kind, by default run.json or qrels.json; the suffix decides."""
        path = f"{self.kind}.json" if path is None else path
        kind = self._file_kind(path, kind)
        self.sorted = True
        if kind == "json":
            text = json.dumps(self._rows(), indent=2, ensure_ascii=False)
            with replace_file(path) as stream:
                stream.write(text.encode())
        elif kind == "lz4":
            write_lz4(self._rows(), path)
        elif kind == "parquet":
            self.to_dataframe().to_parquet(path, index=False)
        else:
            table = QueryTable.from_dict(self._rows(), kind=self.kind)
            write_trec(table, path, self.kind, self.name or "run", drop_empty=True)

    def _file_kind(self, path: PathLike, kind: str | None) -> str:
        return get_file_kind(path, kind)

    @property
    def size(self) -> int:
        """Number of queries."""
        return len(self)

    def __len__(self) -> int:
        return len(self.columns if self._dict is None else self._dict)

    def __getitem__(self, q_id: str) -> dict[str, Any]:
        return dict(self._rows()[q_id])

    def __repr__(self) -> str:
        return repr(self._rows())


class Qrels(_Rows[data.Qrels]):
    """Judgments: whole grades of documents by query."""

    kind: ClassVar[Kind] = "qrels"

    def __init__(
        self, qrels: Mapping[str, Mapping[str, float]] | None = None, name: str | None = None
    ) -> None:
        super().__init__(qrels, name)

    def _wrap(self, table: QueryTable) -> data.Qrels:
        return data.Qrels(table)

    def _convert(self, rows: dict[str, dict[str, float]]) -> Rows:
        return {
            query: {document: int(grade) for document, grade in row.items()}
            for query, row in rows.items()
        }

    def _take(self, table: QueryTable) -> None:
        super()._take(table)
        grades = table.values
        if (grades != np.floor(grades)).any():
            row = int(np.argmax(grades != np.floor(grades)))
            raise DataError(
                f"the Qrels of ranx hold whole grades, and {table.documents[row]!r} has "
                f"{float(grades[row])!r}; berryeval.Qrels and a plain dict keep fractions"
            )

    def _number(self, value: Any) -> int:
        return int(value)

    @property
    def qrels(self) -> Rows:
        """The rows as `{query: {document: grade}}`; changes to the dict count."""
        return self._share()

    @qrels.setter
    def qrels(self, rows: Rows) -> None:
        self._replace(rows)

    def set_relevance_level(self, rel_lvl: int = 1) -> None:
        """Subtract `rel_lvl - 1` from all grades, so that 1 is the lowest relevant grade."""
        table = self.columns.table
        self._take(replace(table, values=table.values - (rel_lvl - 1)))

    def _file_kind(self, path: PathLike, kind: str | None) -> str:
        found = get_file_kind(path, kind)
        if found == "lz4":
            raise RejectedInputError(f"{path}: judgments are written as json, trec, gz or parquet")
        return found

    @staticmethod
    def from_dict(d: Mapping[str, Mapping[str, float]]) -> Qrels:
        """Build judgments from `{query: {document: grade}}`."""
        return Qrels(d)

    @staticmethod
    def _of(table: QueryTable) -> Qrels:
        found = Qrels()
        found._take(data.Qrels(table).flat)
        return found

    @staticmethod
    def from_file(path: PathLike, kind: str | None = None) -> Qrels:
        """Read a JSON, TREC (also compressed) or Parquet file; by default the suffix decides."""
        kind = get_file_kind(path, kind)
        if kind == "parquet":
            return Qrels.from_parquet(path)
        with noticing_a_missing_file(path):
            if kind == "json":
                return Qrels._of(data.Qrels.from_json(path).table)
            return Qrels._of(read_trec(path, "qrels"))

    @staticmethod
    def from_df(
        df: pd.DataFrame, q_id_col: str = "q_id", doc_id_col: str = "doc_id",
        score_col: str = "score",
    ) -> Qrels:  # fmt: skip
        """Convert a frame with a row for each judgment."""
        columns: Any = {"query": q_id_col, "document": doc_id_col, "grade": score_col}
        return Qrels._of(data.Qrels.from_frame(df, **columns).table)

    @staticmethod
    def from_parquet(
        path: PathLike, q_id_col: str = "q_id", doc_id_col: str = "doc_id",
        score_col: str = "score", pd_kwargs: Mapping[str, Any] | None = None,
    ) -> Qrels:  # fmt: skip
        """Read a Parquet file with a row for each judgment."""
        if pd_kwargs:
            return Qrels.from_df(read_parquet(path, pd_kwargs), q_id_col, doc_id_col, score_col)
        columns: Any = {"query": q_id_col, "document": doc_id_col, "grade": score_col}
        with noticing_a_missing_file(path):
            return Qrels._of(data.Qrels.from_parquet(path, **columns).table)

    @staticmethod
    def from_ir_datasets(dataset_id: str) -> Qrels:
        """Load the judgments of a dataset of ir_datasets."""
        package = import_optional("ir_datasets", "Qrels.from_ir_datasets")
        return Qrels(package.load(dataset_id).qrels_dict(), name=dataset_id)


class Run(_Rows[data.Run]):
    """A run: scores of documents by query, and what `evaluate` found for them.

    Attributes:
        metadata: Notes of the caller.
        scores: Values by metric and query.
        mean_scores: Mean values by metric.
        std_scores: Standard deviations by metric.
    """

    kind: ClassVar[Kind] = "run"

    def __init__(
        self, run: Mapping[str, Mapping[str, float]] | None = None, name: str | None = None
    ) -> None:
        super().__init__(run, name)
        self.metadata: dict[str, Any] = {}
        self.scores: defaultdict[str, dict[str, np.float64]] = defaultdict(dict)
        self.mean_scores: dict[str, np.floating[Any]] = {}
        self.std_scores: dict[str, np.floating[Any]] = {}

    def _wrap(self, table: QueryTable) -> data.Run:
        return data.Run(table)

    @property
    def run(self) -> Rows:
        """The rows as `{query: {document: score}}`; changes to the dict count."""
        return self._share()

    @run.setter
    def run(self, rows: Rows) -> None:
        self._replace(rows)

    def make_comparable(self, qrels: Qrels) -> Run:
        """Add an empty ranking for each judged query that is missing, and drop the other queries.

        The run itself changes, as in ranx.
        """
        table, judged = self.columns.table, set(qrels.keys())
        places = [place for place, query in enumerate(table.queries) if query in judged]
        missing = sorted(judged.difference(table.queries))
        if missing or len(places) < len(table.queries):
            kept = table.take(np.array(places, dtype=np.int64))
            empty = QueryTable.from_dict({query: {} for query in missing}, kind="run")
            self._take(QueryTable.joined([kept, empty]))
        self.sort()
        return self

    @staticmethod
    def from_dict(d: Mapping[str, Mapping[str, float]], name: str | None = None) -> Run:
        """Build a run from `{query: {document: score}}`."""
        return Run(d, name)

    @staticmethod
    def from_table(table: QueryTable, name: str | None) -> Run:
        """Build a run from columns."""
        found = Run(name=name)
        found._take(table)
        return found

    @staticmethod
    def from_file(path: PathLike, kind: str | None = None, name: str | None = None) -> Run:
        """Read a JSON, TREC (also compressed), LZ4 or Parquet file; by default the suffix decides.

        The default name of a TREC run is the tag of its last line.
        """
        kind = get_file_kind(path, kind)
        if kind == "parquet":
            return Run.from_parquet(path, name=name)
        with noticing_a_missing_file(path):
            if kind == "json":
                return Run.from_table(data.Run.from_json(path).table, name)
            if kind == "lz4":
                return Run(read_lz4(path), name)
            table = read_trec(path, "run")
        return Run.from_table(
            table, name if name is not None else str(table.labels.get("tag", "run"))
        )

    @staticmethod
    def from_df(
        df: pd.DataFrame, q_id_col: str = "q_id", doc_id_col: str = "doc_id",
        score_col: str = "score", name: str | None = None,
    ) -> Run:  # fmt: skip
        """Convert a frame with a row for each retrieved document."""
        columns: Any = {"query": q_id_col, "document": doc_id_col, "score": score_col}
        return Run.from_table(data.Run.from_frame(df, **columns).table, name)

    @staticmethod
    def from_parquet(
        path: PathLike, q_id_col: str = "q_id", doc_id_col: str = "doc_id",
        score_col: str = "score", pd_kwargs: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> Run:  # fmt: skip
        """Read a Parquet file with a row for each retrieved document."""
        if pd_kwargs:
            frame = read_parquet(path, pd_kwargs)
            return Run.from_df(frame, q_id_col, doc_id_col, score_col, name)
        columns: Any = {"query": q_id_col, "document": doc_id_col, "score": score_col}
        with noticing_a_missing_file(path):
            return Run.from_table(data.Run.from_parquet(path, **columns).table, name)

    @staticmethod
    def from_ranxhub(id: str) -> Run:  # noqa: A002 - the name in ranx
        """Reject: BerryEval downloads nothing from ranxhub."""
        raise ConfigurationError(
            f"ranxhub is not supported, so {id!r} cannot be downloaded; save the run with ranx "
            "as TREC or Parquet, and read that file with Run.from_file or berryeval.Run.load"
        )


def to_arrays(rows: Iterable[Mapping[str, float]]) -> list[npt.NDArray[np.float64]]:
    """Return an array of (hash of the id, number) for each query, highest number first."""
    return [
        np.array(
            [(hash(document), number) for document, number in _order(row).items()],
            dtype=np.float64,
        ).reshape(len(row), 2)
        for row in rows
    ]


def _order(row: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(row.items(), key=lambda pair: -pair[1]))


# In ranx these are modules, as in `from ranx.data_structures.run import get_file_kind`.
sys.modules.update({f"{__name__}.{part}": sys.modules[__name__] for part in ("qrels", "run")})
