"""A table from whatever holds one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from berryeval.errors import DataError
from berryeval.io import trec
from berryeval.io.columns import table_from_arrays
from berryeval.io.files import STDIN, PathLike, plain_suffix
from berryeval.tables import VALUE_OF, Kind, QueryTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.io.trec_rows import FaultyLine, RawRow

__all__ = ["default_values", "is_text_file", "load_table", "raw_rows"]

_PARQUET = {".parquet", ".pq"}
_JSON_LINES = {".jsonl", ".ndjson"}


def load_table(
    source: Any,
    kind: Kind,
    names: Mapping[str, str],
    *,
    lenient: bool = False,
    split: str | None = None,
) -> QueryTable:
    """The table of a dict, path, frame, or array of ids.

    Args:
        source: `{query: {document: number}}`; the path of a TREC, TSV, JSON, JSON lines or
            Parquet file, or, for qrels, of a BEIR folder; a frame of pandas, polars or any Arrow
            producer; a 2-D array.
        kind: what it holds.
        names: which columns of a frame, Parquet or JSON lines file to take, by role.
        lenient: leave out faulty rows and count them, rather than stop at the first.
        split: which file of a BEIR folder.
    """
    if isinstance(source, Mapping):
        return QueryTable.from_dict(source, kind=kind)
    if isinstance(source, str | os.PathLike):
        return _read(source, kind, names, lenient=lenient, split=split)
    if isinstance(source, np.ndarray):
        return table_from_arrays(source, default_values(source, kind), None, kind, lenient=lenient)
    from berryeval.io.frames import is_frame, table_from_frame

    if is_frame(source):
        return table_from_frame(source, kind, names, lenient=lenient)
    msg = (
        f"{'judgments' if kind == 'qrels' else 'a run'} can be a dict "
        f"{{query: {{document: {VALUE_OF[kind]}}}}}, a path, a frame (pandas, polars, Arrow) or a "
        f"2-D array of ids; found {type(source).__name__} {source!r:.80}"
    )
    raise DataError(msg)


def default_values(ids: np.ndarray[Any, Any], kind: Kind) -> np.ndarray[Any, Any]:
    """The numbers of ids that come without: grade 1, or scores that keep the order."""
    if kind == "qrels" or ids.ndim != 2:  # noqa: PLR2004 - the caller checks the shape
        return np.ones(ids.shape)
    return np.broadcast_to(np.arange(ids.shape[1], 0, -1, dtype=np.float64), ids.shape)


def is_text_file(path: PathLike) -> bool:
    """Whether this is to be read as text, a row per line."""
    if os.fspath(path) == STDIN:
        return True
    return plain_suffix(path) not in {".json", *_JSON_LINES, *_PARQUET} and not _is_folder(path)


def raw_rows(path: PathLike, kind: Kind) -> Iterator[RawRow | FaultyLine] | None:
    """The lines of a file as they stand, faulty ones too; None for one that is not of lines."""
    if is_text_file(path):
        from berryeval.io.trec_rows import read_rows

        return read_rows(path, kind)
    if plain_suffix(path) in _JSON_LINES:
        from berryeval.io.json_lines import read_json_rows

        return read_json_rows(path, kind, {})
    return None


def _is_folder(path: PathLike) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - a path that no system takes is no error here


def _read(
    path: PathLike, kind: Kind, names: Mapping[str, str], *, lenient: bool, split: str | None
) -> QueryTable:
    if kind == "qrels" and _is_folder(path):
        path = beir_qrels(Path(path), split)
    if plain_suffix(path) == ".json":
        from berryeval.io.json_file import read_json

        return read_json(path, kind, lenient=lenient)
    if plain_suffix(path) in _JSON_LINES:
        from berryeval.io.json_lines import read_json_lines

        return read_json_lines(path, kind, names, lenient=lenient)
    if plain_suffix(path) in _PARQUET:
        from berryeval.io.frames import read_parquet

        return read_parquet(path, kind, names, lenient=lenient)
    return trec.read_table(path, kind, lenient=lenient)


def beir_qrels(folder: Path, split: str | None = None) -> Path:
    """The judgments of a BEIR folder: `qrels/<split>.tsv`, of the test split unless told."""
    found = {
        path.name.split(".")[0]: path
        for path in sorted((folder / "qrels").glob("*.tsv*"))
        if plain_suffix(path) == ".tsv"
    }
    wanted = split or ("test" if "test" in found or len(found) != 1 else next(iter(found)))
    if wanted in found:
        return found[wanted]
    there = ", ".join(path.name for path in found.values()) or "none"
    msg = (
        f"{folder}: is a directory, expected a file, or a BEIR folder with qrels/{wanted}.tsv; "
        f"found {there}"
    )
    raise DataError(msg)
