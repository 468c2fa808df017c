"""A small benchmark with a pool of pairs, for tests of judging together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from berryeval.benchmarks import Benchmark, write_benchmark
from berryeval.data import Anchor, Document, Query
from berryeval.judging import Pair, Pool, make_pair_id
from berryeval.web.accounts import Person

if TYPE_CHECKING:
    from berryeval.runs import Role

TEXTS = ("Green tea is steeped for two minutes.", "Black tea takes four.", "Coffee is ground.")


def write_pool(folder: Path, queries: int = 4, *, name: str = "drinks") -> Pool:
    """Write a benchmark of three documents, and a pool of all of them for every query."""
    documents = tuple(Document(f"d{n}", text, f"Page {n}") for n, text in enumerate(TEXTS))
    asked = tuple(
        Query(f"q{n}", f"How long is green tea steeped, {n}?", description="a number of minutes")
        for n in range(queries)
    )
    write_benchmark(Benchmark(name, documents, asked), folder / name)
    targets = [Anchor(document=one.id) for one in documents]
    pairs = tuple(
        Pair(make_pair_id(query.id, target), query.id, target, text, target.document)
        for query in asked
        for target, text in zip(targets, TEXTS, strict=True)
    )
    pool = Pool(name, "", "depth", 10, 0, pairs)
    place = folder / f"{name}.judged"
    place.mkdir()
    pool.write(place / "pool.json")
    return pool


class TokenAccounts:
    """People who sign in with a token that is their name."""

    key = b""
    is_stale = False

    def __init__(self, **roles: Role) -> None:
        self._people = {name: Person(name, role) for name, role in roles.items()}

    def refresh(self) -> None:
        """Do nothing: nobody is added."""

    def sign_in(self, token: str) -> Person | None:
        """Return the person of a link."""
        return self._people.get(token)

    def find_by_token(self, token: str) -> Person | None:
        """Return the person of a program."""
        return self._people.get(token)

    def open_session(self, person: Person) -> str:
        """Return the name as cookie."""
        return person.name

    def find_by_session(self, cookie: str) -> Person | None:
        """Return the person of a cookie."""
        return self._people.get(cookie)
