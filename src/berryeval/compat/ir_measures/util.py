"""Records, readers of TREC files, parsers of measures, and conversions between forms of input."""

from __future__ import annotations

import ast
import gzip
import io
import itertools
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np

from berryeval._internal.optional import import_optional
from berryeval.compat import pytrec_eval as trec_names
from berryeval.compat.ir_measures.measures import base, catalogue
from berryeval.compat.pytrec_eval.relevance_evaluator import holds_ints
from berryeval.data import table_from_text
from berryeval.errors import DataError
from berryeval.scoring import TupleRows

if TYPE_CHECKING:
    from typing_extensions import Self

    from berryeval.compat.ir_measures.measures.base import Measure
    from berryeval.data import QueryTable


class Qrel(NamedTuple):
    """A judgment; `iteration` is the subtopic of diversity measures."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class ScoredDoc(NamedTuple):
    """A document of a run."""

    query_id: str
    doc_id: str
    score: float


class Metric(NamedTuple):
    """The value of a measure for one query."""

    query_id: str
    measure: Measure
    value: float


class CalcResults(NamedTuple):
    """Aggregated values by measure, or one of them, and the values of all queries."""

    aggregated: Any
    per_query: list[Metric]


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old} is deprecated; use {new}", DeprecationWarning, stacklevel=3)


class GenericQrel(Qrel):
    """The old name of `Qrel`."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Warn, and build the record."""
        _warn("GenericQrel", "Qrel")
        return super().__new__(cls, *args, **kwargs)


class GenericScoredDoc(ScoredDoc):
    """The old name of `ScoredDoc`."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Warn, and build the record."""
        _warn("GenericScoredDoc", "ScoredDoc")
        return super().__new__(cls, *args, **kwargs)


class TrecRows(Iterator[Any]):
    """Iterate over the rows of a TREC file; a calculation reads an untouched file as a whole."""

    def __init__(self, file: Any, kind: str) -> None:
        self._file = file
        self._kind = kind
        self._rows: Iterator[Any] | None = None

    def __next__(self) -> Any:
        if self._rows is None:
            self._rows = self._read_lines()
        return next(self._rows)

    def _read_lines(self) -> Iterator[Any]:
        for line in self._read_text().splitlines():
            if not line.strip():
                continue
            if self._kind == "run":
                query, _, document, _, score, _ = line.split()
                yield ScoredDoc(query, document, float(score))
            else:
                query, iteration, document, grade = line.split()
                yield Qrel(query, document, int(grade), iteration)

    def _read_text(self) -> str:
        if hasattr(self._file, "read"):
            text = self._file.read()
            return text.decode() if isinstance(text, bytes) else str(text)
        path = os.fspath(self._file)
        if "\n" in path:
            return str(path)
        opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)  # noqa: SIM115, PTH123
        with opened as file:
            return str(file.read())

    def read_table(self) -> QueryTable | None:
        """Return all rows and leave none; None if they must be read in turn."""
        if self._rows is not None:
            return None
        text = self._read_text()
        self._file = io.StringIO(text)
        kind: Any = self._kind
        try:
            table = table_from_text(np.frombuffer(text.encode(), np.uint8), kind, "the TREC file")
        except DataError:
            return None
        if kind == "qrels" and not holds_ints(table.values):
            return None
        self._rows = iter(())
        return table


def as_dict(
    rows: dict[str, dict[str, Any]] | TupleRows | QueryTable, number: type = float
) -> dict[str, dict[str, Any]]:
    """Convert rows to `{query: {document: value}}`; values of a table are of the type `number`."""
    if isinstance(rows, dict):
        return rows
    if isinstance(rows, TupleRows):
        return rows.group()
    bounds = rows.offsets.tolist()
    documents = list(rows.documents)
    values = rows.values.astype(np.int64 if number is int else np.float64).tolist()
    return {
        query: dict(zip(documents[start:end], values[start:end], strict=True))
        for query, start, end in zip(rows.queries, bounds, bounds[1:], strict=False)
    }


def read_trec_qrels(file: Any) -> Iterator[Qrel]:
    """Read judgments from an open file, a path (also .gz), or text with line breaks."""
    return TrecRows(file, "qrels")


def read_trec_run(file: Any) -> Iterator[ScoredDoc]:
    """Read a run from an open file, a path (also .gz), or text with line breaks."""
    return TrecRows(file, "run")


def parse_trec_qrels(file: Any) -> Iterator[Qrel]:
    """Read judgments; the old name of `read_trec_qrels`."""
    _warn("parse_trec_qrels", "read_trec_qrels")
    return read_trec_qrels(file)


def parse_trec_run(file: Any) -> Iterator[ScoredDoc]:
    """Read a run; the old name of `read_trec_run`."""
    _warn("parse_trec_run", "read_trec_run")
    return read_trec_run(file)


class _Converter:
    """Judgments or a run in one form of input, as any other."""

    record: ClassVar[Any]
    what: ClassVar[str]
    number: ClassVar[type]

    def __init__(self, rows: Any, strict: bool = True) -> None:
        self._rows = rows
        self.strict = strict  # whether a frame needs all columns
        self._form: tuple[str, str | None] | None = None

    @property
    def _required(self) -> tuple[str, ...]:
        return tuple(
            name for name in self.record._fields if name not in self.record._field_defaults
        )

    def predict_type(self) -> tuple[str, str | None]:
        """Return the form of the input, and an error for an unknown one."""
        if self._form is None:
            self._form = self._find_form()
        return self._form

    def _find_form(self) -> tuple[str, str | None]:
        rows = self._rows
        if isinstance(rows, dict):
            return "dict_of_dict", None
        if hasattr(rows, "itertuples"):
            missing = [name for name in self._required if name not in rows.columns]
            if missing and self.strict:
                found = list(rows.columns)
                return "UNKNOWN", f"DataFrame missing columns: {missing} (found {found})"
            return "pd_dataframe", None
        if isinstance(rows, TrecRows) and rows._rows is None:  # noqa: SLF001 - untouched
            return "namedtuple_iter", None
        if not hasattr(rows, "__iter__"):
            return "UNKNOWN", (
                f"unexpected format; please provide either: (1) an iterable of namedtuples (fields "
                f"{self._required}, e.g., from ir_measures.{self.record.__name__}); (2) a pandas "
                f"DataFrame with columns {self._required}; or (3) a dict-of-dict"
            )
        return self._check_first()

    def _check_first(self) -> tuple[str, str | None]:
        if isinstance(self._rows, list | tuple):
            first = next(iter(self._rows), None)
        else:
            iterator = iter(self._rows)
            first = next(iterator, None)
            self._rows = itertools.chain(() if first is None else (first,), iterator)
        if first is None:
            return "namedtuple_iter", None
        if not isinstance(first, tuple) or not hasattr(first, "_fields"):
            return "UNKNOWN", "iterable not a namedtuple iterator"
        missing = [name for name in self._required if name not in first._fields]
        if missing:
            found = list(first._fields)
            return "UNKNOWN", f"namedtuple iter missing fields: {missing} (found {found})"
        self._places = [first._fields.index(name) for name in self._required]
        return "namedtuple_iter", None

    def _reject(self) -> None:
        form, error = self.predict_type()
        if form == "UNKNOWN":
            raise DataError(f"unknown {self.what} format: {error}")

    def tee(self, count: int) -> list[Any]:
        """Return as many converters of the same rows."""
        if self.predict_type()[0] == "namedtuple_iter":
            return [type(self)(rows) for rows in itertools.tee(self._rows, count)]
        return [self] * count

    def as_dict_of_dict(self) -> dict[str, dict[str, Any]]:
        """Return `{query: {document: value}}`; the last value of a document counts."""
        return as_dict(self.as_rows(), self.number)

    def as_rows(self) -> dict[str, dict[str, Any]] | TupleRows | QueryTable:
        """Return the rows in the form that is read fastest."""
        form, _ = self.predict_type()
        self._reject()
        rows = self._rows
        if form == "dict_of_dict":
            return dict(rows) if type(rows) is not dict else rows
        if form == "pd_dataframe":
            columns = [rows[name].tolist() for name in self._required]
            return TupleRows(list(zip(*columns, strict=True)), (0, 1, 2))
        if isinstance(rows, TrecRows):
            table = rows.read_table()
            return TupleRows(list(rows), (0, 1, 2)) if table is None else table
        query, document, value = getattr(self, "_places", (0, 1, 2))
        return TupleRows(rows if type(rows) is list else list(rows), (query, document, value))

    def as_namedtuple_iter(self) -> Iterator[Any]:
        """Yield a record per row."""
        form, _ = self.predict_type()
        self._reject()
        rows = self._rows
        if form == "namedtuple_iter":
            yield from rows
        elif form == "dict_of_dict":
            for query, row in rows.items():
                yield from (self.record(query, document, value) for document, value in row.items())
        else:
            names = [name for name in self.record._fields if name in rows.columns]
            columns = [rows[name].tolist() for name in names]
            yield from (self.record(*row) for row in zip(*columns, strict=True))

    def as_pd_dataframe(self) -> Any:
        """Return a pandas frame."""
        form, _ = self.predict_type()
        if form == "pd_dataframe":
            return self._rows
        frame = import_optional("pandas", "a measure that is defined on frames").DataFrame
        rows = list(self.as_namedtuple_iter())
        return frame(rows) if rows else frame([], columns=list(self.record._fields))


class QrelsConverter(_Converter):
    """Judgments in any form."""

    record = Qrel
    what = "qrels"
    number = int

    @property
    def qrels(self) -> Any:
        """The rows."""
        return self._rows

    def as_pd_dataframe(self) -> Any:
        """Return a pandas frame with the column `iteration`."""
        frame = super().as_pd_dataframe()
        return frame if "iteration" in frame.columns else frame.assign(iteration="0")


class RunConverter(_Converter):
    """A run in any form."""

    record = ScoredDoc
    what = "run"
    number = float

    @property
    def run(self) -> Any:
        """The rows."""
        return self._rows

    def as_sorteddict(self) -> dict[str, list[ScoredDoc]]:
        """Return the documents of each query, best first; ties stay in the given order."""
        found: dict[str, list[ScoredDoc]] = {}
        for row in self.as_namedtuple_iter():
            found.setdefault(row.query_id, []).append(row)
        return {query: _best_first(rows) for query, rows in found.items()}

    def as_sorted_namedtuple_iter(self) -> Iterator[ScoredDoc]:
        """Yield the documents of each run of rows with the same query, best first."""
        for _, rows in itertools.groupby(self.as_namedtuple_iter(), lambda row: row.query_id):
            yield from _best_first(rows)


def _best_first(rows: Iterable[ScoredDoc]) -> list[ScoredDoc]:
    return sorted(rows, key=lambda row: row.score, reverse=True)


_FORMAT: Final = "problem parsing measure {}; must be in format Measure(k1=v1, k2=v2)@c"


def parse_measure(measure: str | Measure) -> Measure:
    """Parse a measure such as `P(rel=2)@5`."""
    if isinstance(measure, base.Measure):
        return measure
    try:
        node: Any = ast.parse(measure, mode="eval").body
        chosen = {}
        at = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            at, node = ast.literal_eval(node.right), node.left
        if isinstance(node, ast.Call):
            if node.args:
                raise ValueError("args must be named")  # noqa: TRY301 - one message for all
            chosen = {str(one.arg): ast.literal_eval(one.value) for one in node.keywords}
            node = node.func
    except (SyntaxError, ValueError) as error:
        raise ValueError(_FORMAT.format(f"{measure!r}: {error}")) from None
    if not isinstance(node, ast.Name):
        raise ValueError(_FORMAT.format(f"{measure!r}: unexpected expression"))  # noqa: TRY004
    if node.id not in base.registry:
        raise NameError(
            f"measure not found: {node.id}; berryeval.evaluate has more metrics: docs/metrics.md"
        )
    found = base.registry[node.id]
    if at is not None:
        chosen[found.AT_PARAM] = at
    return found(**chosen)


_CUTOFFS: Final = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
# The measure of each name of trec_eval, with the parameter that its numbers mean.
_TREC: Final[dict[str, tuple[Any, str, tuple[Any, ...]]]] = {
    "ndcg": (catalogue.nDCG, "", ()),
    "P": (catalogue.P, "cutoff", _CUTOFFS),
    "map_cut": (catalogue.AP, "cutoff", _CUTOFFS),
    "set_map": (catalogue.SetAP, "", ()),
    "set_P": (catalogue.SetP, "", ()),
    "infAP": (catalogue.infAP, "", ()),
    "bpref": (catalogue.Bpref, "", ()),
    "num_rel_ret": (catalogue.NumRelRet, "", ()),
    "recip_rank": (catalogue.RR, "", ()),
    "recall": (catalogue.R, "cutoff", _CUTOFFS),
    "set_recall": (catalogue.SetR, "", ()),
    "set_relative_P": (catalogue.SetRelP, "", ()),
    "num_ret": (catalogue.NumRet, "", ()),
    "num_rel": (catalogue.NumRel, "", ()),
    "ndcg_cut": (catalogue.nDCG, "cutoff", _CUTOFFS),
    "Rprec": (catalogue.Rprec, "", ()),
    "num_q": (catalogue.NumQ, "", ()),
    "map": (catalogue.AP, "", ()),
    "success": (catalogue.Success, "cutoff", (1, 5, 10)),
    "set_F": (catalogue.SetF, "beta", (1.0,)),
    "iprec_at_recall": (catalogue.IPrec, "recall", tuple(number / 10 for number in range(11))),
}
_NUMBERS: Final = re.compile(r"[._]([0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*)")


def parse_trec_measure(measure: str) -> list[Measure]:
    """Return the measures of a name of trec_eval, such as `map`, `P_5,10` and `official`."""
    nickname = trec_names.supported_nicknames.get(measure)
    if nickname is not None:
        known = [name for name in sorted(nickname) if name in _TREC]
        return [one for name in known for one in parse_trec_measure(name)]
    name, numbers = measure, ""
    for prefix in () if measure in _TREC else _TREC:
        match = _NUMBERS.fullmatch(measure.removeprefix(prefix))
        if match and measure.startswith(prefix):
            name, numbers = prefix, match[1]
    if name not in _TREC:
        raise ValueError(
            f"no measure of ir_measures for the trec_eval name {measure!r}; "
            f"berryeval.evaluate(qrels, run, [{measure!r}]) computes every metric of trec_eval"
        )
    found, parameter, default = _TREC[name]
    if not parameter:
        if numbers:
            raise ValueError(f"unknown argument for {measure}: {numbers}")
        return [found]
    number = found.SUPPORTED_PARAMS[parameter].dtype
    chosen = [number(text) for text in numbers.split(",")] if numbers else default
    return [found(**{parameter: one}) for one in chosen]


def convert_trec_name(measure: str) -> list[Measure]:
    """Return the measures of a name of trec_eval; the old name of `parse_trec_measure`."""
    _warn("convert_trec_name", "parse_trec_measure")
    return parse_trec_measure(measure)
