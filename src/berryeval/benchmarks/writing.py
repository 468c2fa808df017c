"""`write_benchmark`: write a benchmark in BerryEval's own format."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from berryeval._internal.files import plain_suffix, replace_file
from berryeval._internal.json import encode_json_line
from berryeval.benchmarks.benchmark import ABOUT, about_of
from berryeval.benchmarks.loaders.own import TYPE
from berryeval.benchmarks.loading import JSON_LINES
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.benchmarks.benchmark import Benchmark


_FILES: Final = (ABOUT, "documents.jsonl", "queries.jsonl", "judgments.jsonl")


def write_benchmark(
    benchmark: Benchmark, path: PathLike, *, files: Mapping[str, str] | None = None
) -> None:
    """Write a folder, or one file if the path ends in .jsonl; both load back equal.

    Files are written to a temporary place and moved at the end, so a failure leaves nothing. An
    existing folder must be empty or contain only a benchmark in this format. `files` are further
    texts of the folder by name, such as its datasheet.
    """
    name = os.fspath(path)
    is_file = plain_suffix(path) in JSON_LINES
    if is_file and files:
        raise DataError(f"{name}: a file has no place for {min(files)!r}; write a folder instead")
    try:
        if is_file:
            _write_file(benchmark, path)
        else:
            _write_folder(benchmark, Path(os.path.realpath(path)), files or {})
    except OSError as error:
        raise DataError(f"{name}: cannot be written ({error.strerror or error})") from None
    except DataError:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{name}: the benchmark cannot be written as JSON ({error})") from None


def _write_file(benchmark: Benchmark, path: PathLike) -> None:
    kinds = {
        "document": benchmark.documents,
        "query": benchmark.queries,
        "judgment": benchmark.judgments,
    }
    with replace_file(path) as stream:
        stream.write(encode_json_line({TYPE: "metadata", **about_of(benchmark)}) + b"\n")
        for kind, records in kinds.items():
            for record in records:
                line = record.to_json()
                if TYPE in line:
                    raise DataError(f"a {kind} has its own field {TYPE!r}; write a folder instead")
                stream.write(encode_json_line({TYPE: kind, **line}) + b"\n")


def _write_folder(benchmark: Benchmark, target: Path, files: Mapping[str, str]) -> None:
    place = _temporary_path(target)
    try:
        _check_replaceable(target, (*_FILES, *files))
        place.mkdir(parents=True)
        with replace_file(place / ABOUT) as stream:
            about = json.dumps(about_of(benchmark), indent=2, ensure_ascii=True, allow_nan=False)
            stream.write(f"{about}\n".encode())
        for kind in ("documents", "queries", "judgments"):
            with replace_file(place / f"{kind}.jsonl") as stream:
                for record in getattr(benchmark, kind):
                    stream.write(encode_json_line(record.to_json()) + b"\n")
        for name, text in files.items():
            with replace_file(place / name) as stream:
                stream.write(text.encode(errors="backslashreplace"))
        _replace(target, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _temporary_path(target: Path) -> Path:
    return target.with_name(f".berryeval-{secrets.token_hex(8)}.tmp")


def _check_replaceable(target: Path, known: Iterable[str]) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise DataError(f"{target}: is a file; expected a folder")
    strangers = sorted({path.name for path in target.iterdir()} - set(known))
    if strangers:
        raise DataError(
            f"{target}: contains {strangers[0]!r}, which is not part of a benchmark; choose "
            "another folder"
        )


def _replace(target: Path, place: Path) -> None:
    """Replace the old folder; it is deleted only after the new one is in place."""
    if not target.exists():
        place.rename(target)
        return
    old = _temporary_path(target)
    target.rename(old)
    try:
        place.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
