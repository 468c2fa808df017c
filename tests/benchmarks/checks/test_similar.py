"""Texts that are nearly the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from berryeval.benchmarks.checks.finding import words_of
from berryeval.benchmarks.checks.subject import Alike, alike

texts = st.lists(st.lists(st.sampled_from("abcd"), max_size=8).map(" ".join), max_size=14)


def runs(text: str, length: int) -> set[tuple[str, ...]]:
    """The shingles of a text, plainly."""
    words = words_of(text)
    count = max(1, len(words) - length + 1) if words else 0
    return {tuple(words[at : at + length]) for at in range(count)}


def share(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    """How much of both is in both."""
    return len(one & other) / len(one | other) if one and other else 0.0


def slowly(found: list[str], length: int, least: float) -> list[Alike]:
    """Each text compared with all earlier ones that are like none before them."""
    sets = [runs(text, length) for text in found]
    kept: list[int] = []
    said = []
    for place, one in enumerate(sets):
        same = next((other for other in range(place) if one and sets[other] == one), None)
        best = max((share(one, sets[other]) for other in kept), default=0.0)
        if same is not None:
            said.append(Alike(place, same, 1.0))
        elif best >= least:
            other = next(other for other in kept if share(one, sets[other]) == best)
            said.append(Alike(place, other, best))
        else:
            kept.append(place)
    return said


@given(found=texts, length=st.integers(1, 6), least=st.sampled_from([0.5, 0.8, 1.0]))
def test_the_same_as_comparing_each_with_each(found: list[str], length: int, least: float) -> None:
    """Which texts are like an earlier one, and how much, is what the slow way says."""
    quick = [(one.place, one.share) for one in alike(found, length, least)]
    assert quick == [(one.place, one.share) for one in slowly(found, length, least)]


def test_words_not_their_spelling() -> None:
    """Case and punctuation do not matter, order does."""
    assert list(alike(["One two, three!", "one TWO three"], 2, 0.8)) == [Alike(1, 0, 1.0)]
    assert not list(alike(["one two three four", "four three two one"], 2, 0.8))


def test_many_copies_are_no_trouble() -> None:
    """Thousands of texts that are all alike: each is compared with few."""
    plate = "the same text for everyone with enough words in it to be a page " * 5
    found = list(alike([f"{plate} {number}" for number in range(3_000)], 3, 0.8))
    assert [one.place for one in found] == list(range(1, 3_000))
    assert {one.earlier for one in found} == {0}
