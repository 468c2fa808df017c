"""Documents and sections that are nearly the same, and which queries tell them apart."""

from __future__ import annotations

import pytest

from berryeval.benchmarks.benchmark import Benchmark
from berryeval.benchmarks.checks.catalogue import CHECKS
from berryeval.benchmarks.checks.subject import Subject
from berryeval.benchmarks.loading import bundled_benchmarks, load_benchmark
from berryeval.data.records import Anchor, Document, Judgment, Query

BODY = (
    "Green tea steeps for three minutes in water of eighty degrees, which is well below the point "
    "at which it boils, and is then poured slowly over the leaves, or else it gets bitter at once."
)
OTHER = "Beans are ground, then brewed with water that nearly boils, under some pressure."
QUERY = Query("q1", "How hot should tea be?")


def page(number: int, body: str) -> Document:
    """A page with a section of its own, and one with this text."""
    own = f"Page {number} begins with words that no other has: {hash_words(number)}."
    return Document(f"page{number}", f"# Start\n\n{own}\n\n## Tea\n\n{body}\n")


def hash_words(number: int) -> str:
    """Forty words that other numbers do not have."""
    return " ".join(f"w{number}x{place}" for place in range(40))


def section(document: str) -> Anchor:
    """The section that all pages have."""
    return Anchor(document=document, section=("Start", "Tea"))


def found(
    check: str, documents: tuple[Document, ...], *targets: Anchor, grade: float = 1
) -> list[tuple[str, str]]:
    """Severity and message of what the check finds, with these targets relevant to one query."""
    judgments = tuple(Judgment("q1", target, grade) for target in targets)
    subject = Subject(Benchmark("drinks", documents, (QUERY,), judgments))
    return [(one.severity, one.message) for one in CHECKS.get(check)(subject)]


def sections(
    body: str, *targets: Anchor, earlier: str = BODY, grade: float = 1
) -> list[tuple[str, str]]:
    """What is found in two pages with these texts."""
    return found(
        "near-duplicate sections", (page(1, earlier), page(2, body)), *targets, grade=grade
    )


def test_a_judgment_on_one_of_two_is_a_warning() -> None:
    """Both are named, how much they are alike, and the query."""
    assert sections(BODY.replace("at once", "soon"), section("page1")) == [
        (
            "warning",
            (
                "the section 'page2#tea' is nearly the same (0.91) as 'page1#tea'; "
                "to query 'q1' only the second is relevant"
            ),
        )
    ]
    ((severity, message),) = sections(BODY, section("page2"))
    assert severity == "warning"
    assert message.endswith("the same as 'page1#tea'; to query 'q1' only the first is relevant")


@pytest.mark.parametrize(
    "targets",
    [
        (),
        (section("page1"), section("page2")),
        (Anchor(document="page1"), section("page2")),
        (Anchor(document="page1", quote="water of eighty degrees"), section("page2")),
    ],
)
def test_what_no_judgment_tells_apart_is_good_to_know(targets: tuple[Anchor, ...]) -> None:
    """Nothing is wrong yet where both are relevant, by whichever target, or none is."""
    assert sections(BODY, *targets) == [
        ("info", "the section 'page2#tea' is the same as 'page1#tea'")
    ]


def test_not_relevant_is_the_same_as_not_judged() -> None:
    """A grade of 0 on one of two changes no score."""
    assert [severity for severity, _ in sections(BODY, section("page1"), grade=0)] == ["info"]


def test_case_space_and_punctuation_do_not_matter() -> None:
    """That is said, as the texts are not the same to the letter."""
    changed = BODY.upper().replace(" ", "  \n").replace(",", ";")
    ((_, message),) = sections(changed)
    assert message == "the section 'page2#tea' is the same words as 'page1#tea'"


def test_other_and_short_texts_are_no_twins() -> None:
    """Half of the text in common is not enough, nor are a few words, though the same."""
    assert not sections(BODY[: len(BODY) // 2] + OTHER)
    assert not sections("See the manual.", earlier="See the manual.")


def test_sections_of_documents_that_are_alike_are_not_told_again() -> None:
    """The documents are reported, once; a text without headings is a document."""
    one, two = page(1, BODY), page(1, BODY)
    pages = (one, Document("copy", two.text))
    assert not found("near-duplicate sections", pages)
    assert found("near-duplicate documents", pages, section("page1")) == [
        (
            "warning",
            "the document 'copy' is the same as 'page1'; to query 'q1' only the second is relevant",
        )
    ]
    plain = (Document("a", BODY), Document("b", BODY))
    assert not found("near-duplicate sections", plain)
    assert len(found("near-duplicate documents", plain)) == 1


def test_a_document_may_hold_the_section_of_another() -> None:
    """A page that is one section, and a section of a longer page."""
    pages = (page(1, BODY), Document("note", f"## Tea\n\n{BODY}\n"))
    ((severity, message),) = found("near-duplicate sections", pages, Anchor(document="note"))
    assert severity == "warning"
    assert message.startswith("the section 'note#tea' is the same as 'page1#tea'; to query")


@pytest.mark.parametrize("name", bundled_benchmarks())
def test_no_false_alarm_on_what_is_bundled(name: str) -> None:
    """Neither documents nor sections of theirs are twins."""
    subject = Subject(load_benchmark(name))
    for check in ("near-duplicate documents", "near-duplicate sections"):
        assert not list(CHECKS.get(check)(subject))
