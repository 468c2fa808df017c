"""Cache of embeddings in one SQLite file, by the hash of model and text.

The file `embeddings.sqlite` may be used by several processes and removed at any time. A damaged
file is replaced with a warning, and a vector with a wrong checksum is computed again. A folder that
cannot be written to costs a warning and the time to embed again.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


FILE_NAME: Final = "embeddings.sqlite"
_TABLE: Final = "vectors_1"
_CHECKSUM_BYTES: Final = 4
_BATCH_KEYS: Final = 500  # keys per statement
_BUSY_SECONDS: Final = 30.0  # seconds to wait for another writing process


def default_folder() -> str:
    """Return the user's cache folder; `BERRYEVAL_CACHE` overrides it, and turns it off if empty."""
    given = os.environ.get("BERRYEVAL_CACHE")
    if given is not None:
        return given
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return str(base / "berryeval")


def embed_with_cache(embedder: Any, texts: Sequence[str]) -> npt.NDArray[Any]:
    """Return one row per text; if the embedder has a cache, embed only the new texts."""
    folder = getattr(embedder, "cache", "")
    if folder is None:
        folder = default_folder()
    if not folder:
        return np.asarray(embedder.embed(texts))
    identity = getattr(embedder, "identity", None) or f"{type(embedder).__name__}:{embedder.model}"
    return EmbeddingCache(folder).vectors(identity, texts, embedder.embed)


class EmbeddingCache:
    """The cache in a folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.path = Path(folder) / FILE_NAME

    def vectors(
        self,
        identity: str,
        texts: Sequence[str],
        embed: Callable[[Sequence[str]], npt.NDArray[Any]],
    ) -> npt.NDArray[np.float32]:
        """Return one row per text; make those that are not cached with `embed`, and cache them."""
        start = f"{len(identity)}:{identity}"
        coded = ((start + text).encode(errors="surrogatepass") for text in texts)
        keys = [hashlib.sha256(both).digest() for both in coded]
        kept = self._read(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in kept}
        if missing:
            made = np.asarray(embed(list(missing.values())), dtype=np.float32)
            lengths = {len(vector) for vector in kept.values()} or {made.shape[1]}
            if not made.any():  # all texts are empty, so the vector length is unknown
                made = np.zeros((len(made), max(lengths)), dtype=np.float32)
            if lengths != {made.shape[1]}:  # the model has changed
                return np.asarray(embed(texts), dtype=np.float32)
            new = dict(zip(missing, made, strict=True))
            self._write({key: vector for key, vector in new.items() if vector.any()})
            kept.update(new)
        return np.stack([kept[key] for key in keys])

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, npt.NDArray[np.float32]]:
        wanted = list(dict.fromkeys(keys))

        def read(database: sqlite3.Connection) -> dict[bytes, npt.NDArray[np.float32]]:
            found: dict[bytes, npt.NDArray[np.float32]] = {}
            for start in range(0, len(wanted), _BATCH_KEYS):
                part = wanted[start : start + _BATCH_KEYS]
                marks = ",".join("?" * len(part))
                rows = database.execute(
                    f"SELECT key, vector FROM {_TABLE} WHERE key IN ({marks})",  # noqa: S608 - ours
                    part,
                )
                found.update(_unpack(rows))
            return found

        return self._try(read) or {}

    def _write(self, vectors: Mapping[bytes, npt.NDArray[np.float32]]) -> None:
        rows = [(key, _pack(vector)) for key, vector in vectors.items()]

        def write(database: sqlite3.Connection) -> None:
            with database:
                database.executemany(f"INSERT OR REPLACE INTO {_TABLE} VALUES (?, ?)", rows)  # noqa: S608 - ours

        self._try(write)

    def _try(self, work: Callable[[sqlite3.Connection], Any], *, again: bool = True) -> Any:
        """Run a function on the database; replace a damaged file once; return None on failure."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_BUSY_SECONDS)) as database:
                database.execute(
                    f"CREATE TABLE IF NOT EXISTS {_TABLE} "
                    "(key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
                )
                return work(database)
        except (sqlite3.OperationalError, OSError) as error:
            _warn(f"{self.path}: the embedding cache cannot be used ({error})")
        except sqlite3.DatabaseError as error:
            _warn(f"{self.path}: the embedding cache is damaged ({error}) and was replaced")
            # the journal first, so that it is never applied to a new file
            for name in (f"{FILE_NAME}-journal", FILE_NAME):
                with suppress(OSError):
                    (self.path.parent / name).unlink()
            return self._try(work, again=False) if again else None
        return None


def _pack(vector: npt.NDArray[np.float32]) -> bytes:
    data = np.ascontiguousarray(vector, dtype="<f4").tobytes()
    return data + zlib.crc32(data).to_bytes(_CHECKSUM_BYTES, "little")


def _unpack(rows: Iterable[Any]) -> Iterable[tuple[bytes, npt.NDArray[np.float32]]]:
    for key, packed in rows:
        data, checksum = packed[:-_CHECKSUM_BYTES], packed[-_CHECKSUM_BYTES:]
        if data and zlib.crc32(data).to_bytes(_CHECKSUM_BYTES, "little") == checksum:
            yield key, np.frombuffer(data, dtype="<f4").astype(np.float32)


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=2)


def model_identity(model: str) -> str:
    """Return the name of a model; for a folder, add a hash of the sizes and times of its files."""
    folder = Path(model)
    try:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
    except OSError:
        return model
    if not files:
        return model
    state = hashlib.sha256()
    for path in files:
        found = path.stat()
        state.update(f"{path.relative_to(folder)}:{found.st_size}:{found.st_mtime_ns}\n".encode())
    return f"{folder.resolve()}@{state.hexdigest()[:16]}"
