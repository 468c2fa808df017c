"""What `hybrid` fuses may be anything that can be searched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data.records import Hit
from berryeval.errors import ProviderError
from berryeval.providers.base import Provider
from berryeval.providers.hybrid import Hybrid
from tests.providers.corpus import CHUNKS, query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from berryeval.data.records import Chunk, Query


class Answers(Provider):
    """A provider with a fixed answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def search(self, query: Query, k: int) -> Any:
        assert query.text
        assert k
        return self.answer


class Later(Provider):
    """An asynchronous context manager that can be searched."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def __aenter__(self) -> Self:
        self.calls.append("enter")
        return self

    async def __aexit__(self, *_: object) -> None:
        self.calls.append("leave")

    async def index(self, chunks: Sequence[Chunk]) -> None:  # type: ignore[override]
        self.calls.append(f"index {len(chunks)}")

    async def search(self, query: Query, k: int) -> list[str]:  # type: ignore[override]
        return [query.id, "b"][:k]


@pytest.mark.parametrize("fusion", ["ranks", "scores"])
@pytest.mark.parametrize(
    "answer",
    [
        ["a", "b"],
        ("a", "b"),
        [("a", 2.0), ("b", 1.0)],
        {"b": 1.0, "a": 2.0},
        [{"id": "a", "score": 2.0}, {"id": "b", "score": 1.0}],
    ],
)
def test_answers_of_every_form_are_fused(answer: Any, fusion: str) -> None:
    expected = Hybrid([Answers([Hit("a", 2.0), Hit("b", 1.0)])], fusion=fusion)
    fused = Hybrid([Answers(answer)], fusion=fusion)
    ids = [hit.id for hit in expected.search(query("text"), 5)]
    assert [hit.id for hit in fused.search(query("text"), 5)] == ids == ["a", "b"]


def test_functions_and_asynchronous_objects_are_fused() -> None:
    later = Later()
    with Hybrid([later, lambda text, k: [text, "b"][:k]], fusion="ranks") as fused:
        fused.index(CHUNKS)
        found = [hit.id for hit in fused.search(query("text"), 5)]
    assert found[0] == "b"
    assert len(found) == 3
    assert later.calls == ["enter", f"index {len(CHUNKS)}", "leave"]


def test_an_invalid_answer_is_reported() -> None:
    with pytest.raises(ProviderError, match="expected a list of hits, found int 7"):
        Hybrid([Answers(7)]).search(query("text"), 5)
