"""The pool: pairs to judge, blind and shuffled, and the rankings that they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from berryeval._internal.files import replace_file
from berryeval._internal.json import encode_json_line, read_json_object
from berryeval._internal.serial import JsonRecord, Reader, open_field, strip_schema_version
from berryeval.data import Anchor
from berryeval.judging.ledger import key_of
from berryeval.runs import array_reader

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike

SCHEMA_VERSION: Final = 1
POOL: Final = "pool.json"  # in the folder of the ledger


def make_pair_id(query_id: str, target: Anchor) -> str:
    """Return the id of a pair, the same in every pool."""
    text = "\0".join(key_of(query_id, target))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]


@dataclass(frozen=True)
class Pair(JsonRecord):
    """A query and a passage to judge.

    Attributes:
        id: Id of the pair.
        query_id: Id of the query.
        target: What to judge.
        text: The passage; empty if unknown.
        name: Document and headings of the passage.
        before: Text before the passage.
        after: Text after the passage.
        probability: Probability with which the pair was drawn.
    """

    readers: ClassVar[Mapping[str, Reader]] = {"Anchor": Anchor.from_json}

    id: str
    query_id: str
    target: Anchor
    text: str = ""
    name: str = ""
    before: str = ""
    after: str = ""
    probability: float = 1.0
    extra: Mapping[str, Any] = open_field(repr=False)


@dataclass(frozen=True)
class Pool(JsonRecord):
    """Pairs to judge, in the order in which judges see them.

    Attributes:
        benchmark: Where the benchmark is, as it was given.
        content_hash: Hash of the benchmark when the pairs were pooled.
        strategy: How the pairs were chosen.
        depth: Number of hits of each ranking that were looked at.
        seed: Random seed of the order, and of what was drawn.
        pairs: The pairs.
        rankings: By system and query, what stands at each rank: the id of a pair, or the grade that
            is known already, or null for a hit that counts as not judged and is not in the pool.
            Judges never see it.
        known: By query, the grades of all targets that the benchmark knows, highest first.
    """

    readers: ClassVar[Mapping[str, Reader]] = {"tuple[Pair, ...]": array_reader(Pair)}

    benchmark: str
    content_hash: str
    strategy: str
    depth: int
    seed: int
    pairs: tuple[Pair, ...] = ()
    rankings: Mapping[str, Any] = open_field()
    known: Mapping[str, Any] = open_field()
    extra: Mapping[str, Any] = open_field(repr=False)

    def write(self, path: PathLike) -> None:
        """Write the pool to a file."""
        with replace_file(path) as stream:
            stream.write(encode_json_line({"schema_version": SCHEMA_VERSION, **self.to_json()}))
            stream.write(b"\n")

    @classmethod
    def read(cls, path: PathLike) -> Pool:
        """Read a pool from a file."""
        data = read_json_object(path)
        return cls.from_json(
            strip_schema_version(data, str(path), "a pool", SCHEMA_VERSION), str(path)
        )
