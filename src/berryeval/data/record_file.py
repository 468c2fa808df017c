"""`RecordFile`: the documents or chunks of a large corpus, in a temporary file.

A corpus of up to `HELD` characters stays in memory. A larger one is written to an unnamed file in
the temporary folder (`TMPDIR`) and read on access: about 50 bytes of memory are left per record.
"""

from __future__ import annotations

import pickle  # only of what this process has written itself
import tempfile
import threading
import weakref
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, overload

import numpy as np

from berryeval.data.records import Chunk, Document
from berryeval.errors import DataError

if TYPE_CHECKING:
    import numpy.typing as npt

HELD: Final = 16 * 2**20  # characters of texts
_BLOCK: Final = 256  # records that are read or written together

R = TypeVar("R", Document, Chunk)


def collect_records(records: Iterable[R]) -> list[R] | RecordFile[R]:
    """Return the records as a list, or as a file if their texts are large."""
    held: list[R] = []
    size, rest = 0, iter(records)
    for record in rest:
        held.append(record)
        size += len(record.text)
        if size > HELD:
            return RecordFile(chain(held, rest))
    return held


def index_records(records: Iterable[R], field: str = "id") -> Mapping[str, R]:
    """Return the records by their ids, or by another field; the last of several with the same."""
    found = _unwrap(records)
    if isinstance(found, RecordFile):
        return found.index_by(field)
    return {getattr(record, field): record for record in found}


def _unwrap(records: Iterable[R]) -> Iterable[R]:
    """Return what a sequence holds that is read when it is first needed."""
    found: Iterable[R] = getattr(records, "held", records)
    return found


def as_sequence(records: Iterable[R]) -> Sequence[R]:
    """Return records that can be read again; a sequence stays as it is."""
    return records if isinstance(records, Sequence) else list(records)


def find_repeated(records: Sequence[R]) -> tuple[int, int] | None:
    """Return the first place with an id that occurred before, after the place of that."""
    found = _unwrap(records)
    if isinstance(found, RecordFile):
        return found.find_repeated()
    first: dict[str, int] = {}
    for place, record in enumerate(records):
        if (before := first.setdefault(record.id, place)) != place:
            return before, place
    return None


class RecordFile(Sequence[R]):
    """Records that are read from a temporary file on access; more can be appended.

    The file is removed with this object, or when the process ends.
    """

    def __init__(self, records: Iterable[R] = ()) -> None:
        with _explaining():
            self._file: Any = tempfile.TemporaryFile(prefix="berryeval-", buffering=0)  # noqa: SIM115 - closed below
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        self._ends = array("Q", [0])
        self._hashes = array("q")  # of the ids
        self._waiting: list[bytes] = []
        # An index refers to the file: it is not kept here, or the file would stay with both.
        self._indexes: weakref.WeakValueDictionary[str, RecordIndex[R]] = (
            weakref.WeakValueDictionary()
        )
        for record in records:
            self.append(record)

    def append(self, record: R) -> None:
        """Add a record."""
        try:
            written = pickle.dumps(record, protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            raise DataError(
                f"{record.id!r:.80} cannot be written to a temporary file, as a large corpus must: "
                f"{error}"
            ) from error
        self._waiting.append(written)
        self._ends.append(self._ends[-1] + len(written))
        self._hashes.append(hash(record.id))
        self._indexes.clear()
        if len(self._waiting) >= _BLOCK:
            self._write()

    def _write(self) -> None:
        with self._lock, _explaining():
            left = memoryview(b"".join(self._waiting))
            self._file.seek(0, 2)
            while left:
                left = left[self._file.write(left) :]
            self._waiting.clear()

    def __len__(self) -> int:
        return len(self._hashes)

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> list[R]: ...
    def __getitem__(self, index: int | slice) -> R | list[R]:
        places = range(len(self))[index]
        if isinstance(places, int):
            return self._read(places, places + 1)[0]
        if places.step == 1:
            return self._read(places.start, places.stop)
        return [self[place] for place in places]

    def __iter__(self) -> Iterator[R]:
        for start in range(0, len(self), _BLOCK):
            yield from self._read(start, min(start + _BLOCK, len(self)))

    def _read(self, start: int, stop: int) -> list[R]:
        if self._waiting:
            self._write()
        if start >= stop:
            return []
        first = self._ends[start]
        with self._lock, _explaining():
            self._file.seek(first)
            data = memoryview(self._read_bytes(self._ends[stop] - first))
        ends = [end - first for end in self._ends[start : stop + 1]]
        return [pickle.loads(data[at:end]) for at, end in pairwise(ends)]  # noqa: S301 - our own

    def _read_bytes(self, size: int) -> bytes:
        data: bytes = self._file.read(size)
        while len(data) < size:
            more = self._file.read(size - len(data))
            if not more:
                raise OSError("the temporary file was cut")
            data += more
        return data

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequence)
            and len(self) == len(other)
            and all(one == two for one, two in zip(self, other, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def index_by(self, field: str = "id") -> RecordIndex[R]:
        """Return the records by a field."""
        found = self._indexes.get(field)
        if found is None:
            hashes = self._hashes
            if field != "id":
                hashes = array("q", (hash(getattr(record, field)) for record in self))
            found = RecordIndex(self, field, np.frombuffer(hashes, np.int64))
            self._indexes[field] = found
        return found

    def find_repeated(self) -> tuple[int, int] | None:
        """Return the first place with an id that occurred before, after the place of that."""
        index = self.index_by()
        found = [list(index.find(self[place].id)) for place in index.list_alike()]
        return min(((one[0][0], one[1][0]) for one in found if len(one) > 1), key=max, default=None)


class RecordIndex(Mapping[str, R], Generic[R]):
    """Records by a field: the sorted hashes of its values, as this process computes them."""

    def __init__(self, records: RecordFile[R], field: str, hashes: npt.NDArray[np.int64]) -> None:
        self._records: RecordFile[R] = records
        self._field = field
        self._order = np.argsort(hashes, kind="stable")
        self._hashes = array("q", hashes[self._order].tobytes())

    def find(self, name: str) -> Iterator[tuple[int, R]]:
        """Yield the records with this value, each after its place."""
        wanted = hash(name)
        start = bisect_left(self._hashes, wanted)
        while start < len(self._hashes) and self._hashes[start] == wanted:
            place = int(self._order[start])
            record = self._records[place]
            if getattr(record, self._field) == name:
                yield place, record
            start += 1

    def list_alike(self) -> list[int]:
        """Return a place for each hash that occurs several times."""
        hashes = np.frombuffer(self._hashes, np.int64)
        alike: list[int] = self._order[1:][hashes[1:] == hashes[:-1]].tolist()
        return alike

    def __getitem__(self, key: str) -> R:
        found = deque(self.find(key), maxlen=1)
        if not found:
            raise KeyError(key)
        return found[0][1]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and any(True for _ in self.find(key))

    def __iter__(self) -> Iterator[str]:
        return (getattr(record, self._field) for record in self._records)

    def __len__(self) -> int:
        return len(self._hashes)


@contextmanager
def _explaining() -> Iterator[None]:
    """Turn a full disk into one line that says what to do."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"a large corpus cannot be kept in {tempfile.gettempdir()} "
            f"({error.strerror or error}); make room there, or name another folder with TMPDIR"
        ) from None
