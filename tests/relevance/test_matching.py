"""Tests of matching hits of other systems to judged ids."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import berryeval as be
from berryeval.data.records import Anchor, Chunk, Document, Hit, Judgment, Query
from berryeval.relevance.matching import IdMatch, IdMatcher, contains, split_path

REST = "spring-boot/web/rest-controllers#creating-rest-controller"
ERRORS = "spring-boot/web/rest-controllers#handling-errors"
DATA = "spring-boot/data/repositories#creating-rest-controller"
IDS = [REST, ERRORS, DATA, "spring-boot/actuator"]
matcher = IdMatcher(IDS)


def from_url(url: str, *section: str) -> Hit:
    """Create a hit with an address and a section."""
    return Hit("af12", section=section, metadata={"url": url})


@pytest.mark.parametrize(
    ("hit", "expected", "how"),
    [
        (Hit(REST), REST, "id"),
        (from_url("Spring-Boot/Web/rest-controllers.md#Creating_REST_Controller"), REST, "exact"),
        (Hit("x", doc_id="/spring-boot/web/rest-controllers/", section=("Web", "Handling errors")),
         ERRORS, "exact"),
        (from_url("https://host/spring-boot/web/rest-controllers.html#handling-errors"),
         ERRORS, "exact"),
        (from_url("https://docs.spring.io/spring-boot/actuator/index.html?v=3"),
         "spring-boot/actuator", "exact"),
        (from_url("https://host/en/3.2/spring-boot/web/rest-controllers.html", "Handling errors"),
         ERRORS, "contained"),
        (from_url("https://host/docs/spring-boot/web/rest-controllers/v3#handling-errors"),
         ERRORS, "contained"),
        (from_url("https://host/docs/spring-boot/web/rest-controllers", "Guide",
                  "On creating REST controller beans"), REST, "contained"),
        (from_url("https://host/docs/spring-boot/actuator", "Endpoints"),
         "spring-boot/actuator", "contained"),
        (Hit("x", metadata={"source": "docs/spring-boot/data/repositories.adoc",
                            "section": "Data > Creating REST controller"}), DATA, "contained"),
        (Hit("x", metadata={"url": "docs/spring-boot/data/repositories",
                            "section_path": "Data > Creating REST controller"}), DATA, "contained"),
        (Hit("x", metadata={"url": "spring-boot/web/rest-controllers",
                            "sectionPath": ["Web", "Handling errors"]}), ERRORS, "exact"),
        (Hit("x", metadata={"url": "spring-boot/web/rest-controllers",
                            "section_path": "web/handling-errors"}), ERRORS, "exact"),
        (Hit.from_json({"id": "x", "section_path": "web/handling-errors",
                        "metadata": {"url": "spring-boot/web/rest-controllers"}}), ERRORS, "exact"),
    ],
)  # fmt: skip
def test_hit_matches_by_source_and_section(hit: Hit, expected: str, how: str) -> None:
    assert matcher.match(hit) == IdMatch(expected, how)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "hit",
    [
        Hit("af12"),
        Hit("af12", section=("Creating REST controller",)),
        from_url("https://host/spring-boot/web/rest-controllers.html"),
        from_url("https://host/spring-boot/web/rest-controllers.html", "Testing"),
        from_url("https://host/spring-boot/web/other-rest-controllers.html", "Handling errors"),
        from_url("https://host/boot/web/rest-controllers.html", "Handling errors"),
        from_url("https://host/my-spring-boot/web/rest-controllers", "Handling errors"),
        from_url("https://host/a/spring-boot/web/rest-controllers", "Mishandling errors"),
        from_url("https://host/a/spring-boot/web/rest-controllers", "Errors"),
        Hit("af12", metadata={"url": 17, "section": None}),
        Hit(REST.upper()),
        Hit(f"{REST}-in-kotlin"),
        Hit(f"https://host/{REST}"),
        Hit("spring-boot/actuator/endpoints"),
        Hit("af12", doc_id="Spring-Boot/Actuator"),
        Hit("af12", doc_id="en/spring-boot/actuator"),
    ],
)
def test_partial_segments_and_words_do_not_match(hit: Hit) -> None:
    assert matcher.match(hit) == IdMatch()


def test_inner_section_precedes_the_outer_one() -> None:
    both = IdMatcher(["guide/web#errors", "guide/web#handling"])
    hit = from_url("https://host/guide/web", "Errors", "Handling")
    assert both.match(hit).id == "guide/web#handling"
    below = from_url("https://host/guide/web", "Errors", "Handling", "By hand")
    assert both.match(below).id == "guide/web#handling"


def test_longest_path_matches() -> None:
    nested = IdMatcher(["web/rest#setup", "guide/web/rest#setup"])
    assert nested.match(from_url("https://host/x/guide/web/rest", "Setup")).id == (
        "guide/web/rest#setup"
    )


@pytest.mark.parametrize(
    ("ids", "hit"),
    [
        (["a/b#set-up", "A/b#set_up"], from_url("https://host/a/b", "Set up")),
        (["a/b#set-up", "c/d#set-up"], from_url("https://host/a/b/c/d", "Set up")),
        (["a/b#set-up", "a/b#up-here"], from_url("https://host/x/a/b", "Set up here")),
    ],
)
def test_tie_matches_no_id_and_is_reported(ids: list[str], hit: Hit) -> None:
    match = IdMatcher(ids).match(hit)
    assert (match.id, match.how) == ("", "tie")
    assert sorted(match.choices) == sorted(ids)


def test_plain_ids_match_only_unchanged() -> None:
    plain = IdMatcher(["12", "rest-controllers"])
    assert plain.match(Hit("12")).how == "id"
    assert plain.match(from_url("https://host/rest-controllers/12")) == IdMatch()


@pytest.mark.parametrize(
    ("judged", "returned"),
    [
        ("guide#install", "guide#install-on-windows"),
        ("car/Tea/Green", "car/Tea/Green/History"),
        ("idx/aB3x", "idx/Ab3X"),
        ("src/readme.md", "src/readme.txt"),
        ("a/b", "z/a/b"),
        ("https://h.org/a/b", "https://h.org/z/a/b"),
    ],
)
def test_similar_ids_do_not_match(judged: str, returned: str) -> None:
    benchmark = be.Benchmark(
        "test", (), (Query("q", "?"),), (Judgment("q", Anchor(chunk=judged), 1),)
    )
    assert be.evaluate({"q": {judged: 1}}, {"q": {returned: 1.0}}, ["R@1"]).mean["R@1"] == 0.0
    assert be.evaluate_hits(benchmark, {"q": [returned]}, ["R@1"]).mean["R@1"] == 0.0
    assert be.evaluate_hits(benchmark, {"q": [judged]}, ["R@1"]).mean["R@1"] == 1.0


def test_known_section_or_chunk_is_not_renamed() -> None:
    text = "# Guide\n\n## Install\n\nRun.\n\n## Install on Windows\n\nClick.\n"
    address = {"url": "https://h/x/guide", "section": "Install on Windows"}
    windows = Hit("guide#install-on-windows", metadata=address)
    judged = (Judgment("q", Anchor(chunk="guide#install"), 1),)
    queries = (Query("q", "?"),)
    known = be.Benchmark("test", (Document("guide", text),), queries, judged)
    assert be.evaluate_hits(known, {"q": [windows]}, ["R@1"]).mean["R@1"] == 0.0
    chunks = [
        Chunk("guide#install", "guide", "Run.", 20, 24), Chunk("c2", "guide", "Click.", 50, 56)
    ]  # fmt: skip
    near = Hit("c2", metadata={"url": "https://h/guide#install"})
    found = be.evaluate_hits(known, {"q": [near]}, ["R@1"], chunks=chunks)
    assert found.mean["R@1"] == 0.0


def test_hit_is_compared_only_with_its_own_query() -> None:
    hit = Hit("7", metadata={"url": "https://h.org/docs/page.html#x"})
    queries = (Query("q1", "?"), Query("q2", "?"))
    first = Judgment("q1", Anchor(chunk="docs/page"), 1)
    more = [Judgment("q2", Anchor(chunk=one), 1) for one in ("docs/page#x", "Docs/page")]
    more += [Judgment("q2", Anchor(document="docs/page", section=("x",)), 1)]
    benchmark = be.Benchmark("test", (), queries, (first, *more))
    scores = be.evaluate_hits(benchmark, {"q1": [hit]}, ["R@1"])
    assert scores.per_query("R@1")["q1"] == 1.0
    assert scores.notes == ()


def test_ties_are_noted_in_scores() -> None:
    ids = ("a/b#set-up", "c/d#set-up")
    benchmark = be.Benchmark(
        "test", (), (Query("q", "?"),), tuple(Judgment("q", Anchor(chunk=one), 1) for one in ids)
    )
    doubtful = from_url("https://host/a/b/c/d", "Set up")
    clear = Hit("h2", -1.0, metadata={"url": "https://host/c/d", "section": "Set up"})
    scores = be.evaluate_hits(benchmark, {"q": [doubtful, clear]}, ["R@2", "RR"])
    assert scores.mean == {"R@2": 0.5, "RR": 0.5}
    assert scores.notes == (
        "query 'q': hit 'af12' is ambiguous: a/b#set-up or c/d#set-up; it counts as none of them",
    )


def test_two_chunks_of_one_section_count_once() -> None:
    benchmark = be.Benchmark(
        "test", (), (Query("q", "?"),), (Judgment("q", Anchor(chunk=REST), 2),)
    )
    url = "https://host/spring-boot/web/rest-controllers"
    hits = [
        Hit(str(n), -float(n), section=("Creating REST controller",), metadata={"url": url})
        for n in range(3)
    ]
    scores = be.evaluate_hits(benchmark, {"q": hits}, ["R@3", "P@3", "nDCG@3", "Judged@3"])
    assert dict(scores.mean) == {"R@3": 1.0, "P@3": 1 / 3, "nDCG@3": 1.0, "Judged@3": 1.0}


parts = st.sampled_from(["a", "b", "c"])
paths = st.lists(parts, min_size=1, max_size=4).map("/".join)


@given(st.lists(paths, min_size=1, max_size=6, unique=True), paths)
def test_containment_agrees_with_a_comparison_of_all_paths(ids: list[str], address: str) -> None:
    judged = [f"{path}#s" for path in ids]
    inside = [
        one for one, path in zip(judged, ids, strict=True)
        if contains(split_path(address), split_path(path))
    ]  # fmt: skip
    longest = max((len(split_path(one)) for one in inside), default=0)
    best = sorted(one for one in inside if len(split_path(one)) == longest)
    match = IdMatcher(judged).match(Hit("x", section=("s",), metadata={"url": address}))
    found = [match.id] if match.id else sorted(match.choices)
    assert found == ([f"{address}#s"] if address in ids else best)
