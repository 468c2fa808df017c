"""Similar texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from berryeval.benchmarks.checks.finding import words_of
from berryeval.benchmarks.checks.similarity import SimilarPair, find_similar

texts = st.lists(st.lists(st.sampled_from("abcd"), max_size=8).map(" ".join), max_size=14)


def runs(text: str, length: int) -> set[tuple[str, ...]]:
    words = words_of(text)
    count = max(1, len(words) - length + 1) if words else 0
    return {tuple(words[at : at + length]) for at in range(count)}


def share(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    """Return the Jaccard similarity."""
    return len(one & other) / len(one | other) if one and other else 0.0


def compare_all(found: list[str], length: int, least: float) -> list[SimilarPair]:
    """Compare each text with all earlier distinct texts."""
    sets = [runs(text, length) for text in found]
    kept: list[int] = []
    pairs = []
    for place, one in enumerate(sets):
        same = next((other for other in range(place) if one and sets[other] == one), None)
        best = max((share(one, sets[other]) for other in kept), default=0.0)
        if same is not None:
            pairs.append(SimilarPair(place, same, 1.0))
        elif best >= least:
            other = next(other for other in kept if share(one, sets[other]) == best)
            pairs.append(SimilarPair(place, other, best))
        else:
            kept.append(place)
    return pairs


@given(found=texts, length=st.integers(1, 6), least=st.sampled_from([0.5, 0.8, 1.0]))
def test_the_index_finds_what_comparing_all_pairs_finds(
    found: list[str], length: int, least: float
) -> None:
    quick = [(one.place, one.share) for one in find_similar(found, length, least)]
    assert quick == [(one.place, one.share) for one in compare_all(found, length, least)]


def test_similarity_ignores_case_and_punctuation() -> None:
    assert list(find_similar(["One two, three!", "one TWO three"], 2, 0.8)) == [
        SimilarPair(1, 0, 1.0)
    ]
    assert not list(find_similar(["one two three four", "four three two one"], 2, 0.8))


def test_thousands_of_copies_are_compared_quickly() -> None:
    plate = "the same text for everyone with enough words in it to be a page " * 5
    found = list(find_similar([f"{plate} {number}" for number in range(3_000)], 3, 0.8))
    assert [one.place for one in found] == list(range(1, 3_000))
    assert {one.earlier for one in found} == {0}
