"""Near-duplicate documents and sections."""

from __future__ import annotations

import pytest

from berryeval.benchmarks import CHECKS, Benchmark, Subject
from berryeval.benchmarks.loading import bundled_benchmarks, load_benchmark
from berryeval.data.records import Anchor, Document, Judgment, Query

BODY = (
    "Green tea steeps for three minutes in water of eighty degrees, which is well below the point "
    "at which it boils, and is then poured slowly over the leaves, or else it gets bitter at once."
)
OTHER = "Beans are ground, then brewed with water that nearly boils, under some pressure."
QUERY = Query("q1", "How hot should tea be?")


def page(number: int, body: str) -> Document:
    """Build a page with a unique section and one with this text."""
    own = f"Page {number} begins with words that no other has: {hash_words(number)}."
    return Document(f"page{number}", f"# Start\n\n{own}\n\n## Tea\n\n{body}\n")


def hash_words(number: int) -> str:
    """Return forty words that are unique to the number."""
    return " ".join(f"w{number}x{place}" for place in range(40))


def section(document: str) -> Anchor:
    return Anchor(document=document, section=("Start", "Tea"))


def found(
    check: str, documents: tuple[Document, ...], *targets: Anchor, grade: float = 1
) -> list[tuple[str, str]]:
    """Return severity and message of the findings, with these targets relevant to a query."""
    judgments = tuple(Judgment("q1", target, grade) for target in targets)
    subject = Subject(Benchmark("drinks", documents, (QUERY,), judgments))
    return [(one.severity, one.message) for one in CHECKS.get(check)(subject)]


def sections(
    body: str, *targets: Anchor, earlier: str = BODY, grade: float = 1
) -> list[tuple[str, str]]:
    """Return the findings for two pages with these texts."""
    return found(
        "near-duplicate sections", (page(1, earlier), page(2, body)), *targets, grade=grade
    )


def test_a_judgment_on_one_of_two_twins_is_a_warning() -> None:
    assert sections(BODY.replace("at once", "soon"), section("page1")) == [
        (
            "warning",
            (
                "section 'page2#tea' is nearly identical (0.91) to 'page1#tea'; "
                "only the second is relevant to query 'q1'"
            ),
        )
    ]
    ((severity, message),) = sections(BODY, section("page2"))
    assert severity == "warning"
    assert message.endswith("identical to 'page1#tea'; only the first is relevant to query 'q1'")


@pytest.mark.parametrize(
    "targets",
    [
        (),
        (section("page1"), section("page2")),
        (Anchor(document="page1"), section("page2")),
        (Anchor(document="page1", quote="water of eighty degrees"), section("page2")),
    ],
)
def test_twins_judged_alike_are_a_note(targets: tuple[Anchor, ...]) -> None:
    assert sections(BODY, *targets) == [("info", "section 'page2#tea' is identical to 'page1#tea'")]


def test_grade_zero_counts_as_not_judged() -> None:
    assert [severity for severity, _ in sections(BODY, section("page1"), grade=0)] == ["info"]


def test_twins_may_differ_in_case_space_and_punctuation() -> None:
    changed = BODY.upper().replace(" ", "  \n").replace(",", ";")
    ((_, message),) = sections(changed)
    assert message == "section 'page2#tea' is word for word the same as 'page1#tea'"


def test_different_and_short_texts_are_not_twins() -> None:
    assert not sections(BODY[: len(BODY) // 2] + OTHER)
    assert not sections("See the manual.", earlier="See the manual.")


def test_sections_of_similar_documents_are_not_reported_again() -> None:
    one, two = page(1, BODY), page(1, BODY)
    pages = (one, Document("copy", two.text))
    assert not found("near-duplicate sections", pages)
    assert found("near-duplicate documents", pages, section("page1")) == [
        (
            "warning",
            "document 'copy' is identical to 'page1'; only the second is relevant to query 'q1'",
        )
    ]
    plain = (Document("a", BODY), Document("b", BODY))
    assert not found("near-duplicate sections", plain)
    assert len(found("near-duplicate documents", plain)) == 1


def test_a_document_may_repeat_the_section_of_another() -> None:
    pages = (page(1, BODY), Document("note", f"## Tea\n\n{BODY}\n"))
    ((severity, message),) = found("near-duplicate sections", pages, Anchor(document="note"))
    assert severity == "warning"
    assert message.startswith("section 'note#tea' is identical to 'page1#tea'; only the first")


@pytest.mark.parametrize("name", bundled_benchmarks())
def test_bundled_benchmarks_have_no_twins(name: str) -> None:
    subject = Subject(load_benchmark(name))
    for check in ("near-duplicate documents", "near-duplicate sections"):
        assert not list(CHECKS.get(check)(subject))
