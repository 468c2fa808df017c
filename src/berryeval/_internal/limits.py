"""Limits on what is read, each with a default and a variable that raises it.

They stop small inputs that would grow without end: compressed files, answers of servers, endless
generators of hits, YAML aliases. Each is enforced while reading.
"""

from __future__ import annotations

import os
from typing import Any, Final, NamedTuple

from berryeval.errors import ConfigurationError, DataError

_MEGABYTE: Final = 1_000_000


class Limit(NamedTuple):
    """A limit, with the environment variable that replaces its default."""

    variable: str
    default: int

    @property
    def value(self) -> int:
        """The number in force."""
        text = os.environ.get(self.variable, "").strip()
        if not text:
            return self.default
        if not text.isdecimal() or not 0 < int(text[:10]) < 10**9:
            raise ConfigurationError(
                f"{self.variable} must be a whole number from 1 to 999999999 (or unset), "
                f"found {text!r:.40}"
            )
        return int(text)

    @property
    def size(self) -> int:
        """The number of bytes of a limit in MB."""
        return self.value * _MEGABYTE

    def check(self, size: int, name: str) -> None:
        """Raise a DataError if this many bytes of a pipe or device are too many."""
        if size > self.size:
            raise DataError(
                f"{name}: more than {self.value:,} MB, from a pipe or device; {self.advice}"
            )

    @property
    def advice(self) -> str:
        """How to raise it."""
        return f"set {self.variable} to allow more"


UNPACKED_MB: Final = Limit("BERRYEVAL_MAX_UNPACKED_MB", 64)
PIPE_MB: Final = Limit("BERRYEVAL_MAX_PIPE_MB", 2_000)
WHOLE_MB: Final = Limit("BERRYEVAL_MAX_WHOLE_MB", 64)
SORT_MB: Final = Limit("BERRYEVAL_MAX_SORT_MB", 1_000)
ANSWER_MB: Final = Limit("BERRYEVAL_MAX_ANSWER_MB", 32)
HITS: Final = Limit("BERRYEVAL_MAX_HITS", 10_000)
YAML_NODES: Final = Limit("BERRYEVAL_MAX_YAML_NODES", 100_000)
STUCK_THREADS: Final = Limit("BERRYEVAL_MAX_STUCK_THREADS", 64)


_SPARE_HITS: Final = 10  # times k: repeats are dropped, and scores may decide against the order


def most_hits(k: int) -> int:
    """Return the number of hits to read of the answer to a query for `k`."""
    return max(HITS.value, _SPARE_HITS * k)


class Unpacked:
    """The size of decompressed data, counted piece by piece.

    Up to `UNPACKED_MB` are always allowed, beyond that `ratio` times the compressed size.
    """

    def __init__(self, name: str, packed: int, ratio: int) -> None:
        self._size = 0
        self._name = name
        self._packed = packed
        self._most = max(UNPACKED_MB.size, ratio * packed)

    def count(self, piece: bytes) -> bytes:
        """Count a piece and return it; raise a DataError beyond the limit."""
        self.expect(len(piece))
        self._size += len(piece)
        return piece

    def expect(self, size: int) -> None:
        """Raise a DataError if this many further bytes exceed the limit."""
        if self._size + size > self._most:
            raise DataError(
                f"{self._name}: {self._packed:,} compressed bytes grow to more than "
                f"{self._most // _MEGABYTE:,} MB; {UNPACKED_MB.advice}"
            )


def check_yaml(node: Any) -> None:
    """Reject a composed YAML document that is too large once its aliases are replaced.

    A value that contains itself would have no end.
    """
    sizes: dict[int, int] = {}
    unfinished: set[int] = set()
    most = YAML_NODES.value
    waiting = [(node, False)]
    while waiting:
        one, is_done = waiting.pop()
        value = getattr(one, "value", ())
        inner = [] if isinstance(value, str) else _list_inner(value)
        if is_done:
            unfinished.remove(id(one))
            sizes[id(one)] = 1 + sum(sizes[id(child)] for child in inner)
            if sizes[id(one)] > most:
                raise DataError(f"more than {most:,} values, aliases replaced; {YAML_NODES.advice}")
        elif id(one) in unfinished:
            line = one.start_mark.line + 1
            raise DataError(f"line {line}: a value contains itself; remove the alias inside it")
        elif id(one) not in sizes:
            unfinished.add(id(one))
            waiting.append((one, True))
            waiting += [(child, False) for child in inner]


def _list_inner(value: Any) -> list[Any]:
    return [one for item in value for one in (item if isinstance(item, tuple) else (item,))]
