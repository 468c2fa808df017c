"""Tests of packs: versions, hashes and sealed options."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval._internal.registry import Registry
from berryeval.data.records import Hit, Query
from berryeval.errors import ConfigurationError
from berryeval.relevance.packs.base import (
    PACKS,
    Labels,
    Pack,
    PackCorpus,
    check_sealed,
    find_pack,
    rules_hash,
)
from berryeval.relevance.strategies import Relevance, RelevanceOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval.relevance.packs.base import Part

HASHES = {
    "locomo": "sha256:66a59ed7d522c0984ed95e57f92f69ffb98ae9d35c5c6457b7b4007dbd73eeba",
    "longmemeval": "sha256:bbbf413ec1f0853054dcca08b2b7d21732240e836e3740337a33a10cb3ebe7f8",
    "code-retrieval": "sha256:1ccb0382e4c22f9c718b0fa77814da1f32640e0d415d2031319284ea3836b21c",
    "generic": "sha256:38ccb91bb162da0af9fc3ccae9563cac86dd95af4e86bf531ce66825d9a9e013",
}


class LongHits:
    """A pack for which long hits are relevant and the total is unknown."""

    name = "long-hits"
    version = "2"
    seals: frozenset[Part] = frozenset({"relevance", "prompts"})
    rules: Mapping[str, Any] = {"long": 5}
    labels = Labels(grades=None)
    doubts: Sequence[str] = ()

    def bound(self, corpus: PackCorpus) -> LongHits:  # noqa: ARG002 - any corpus
        return self

    def rules_for(self, query: Query) -> LongHits:  # noqa: ARG002 - any query
        return self

    def covered(self, hit: Hit) -> Mapping[str, float]:
        return {hit.text: 1.0} if len(hit.text) > 5 else {}


@pytest.fixture
def long_hits(monkeypatch: pytest.MonkeyPatch) -> Pack:
    """Register a pack for one test."""
    monkeypatch.setattr(PACKS, "_homes", dict(PACKS._homes))
    return PACKS.register("long-hits")(LongHits())


def ask(pack: str, **metadata: Any) -> be.Benchmark:
    """Create a benchmark of one query with a pack."""
    return be.Benchmark("test", (), (Query("q", "?", metadata=metadata),), pack=pack)


@pytest.mark.parametrize("name", ["locomo", "longmemeval", "code-retrieval", "generic"])
def test_bundled_packs_are_complete(name: str) -> None:
    pack = find_pack(name)
    assert pack.name == name
    assert pack.seals == (frozenset() if name == "generic" else {"relevance"})
    assert rules_hash(pack) == HASHES[name], "a rule changed: so must the version and this hash"


def test_hash_depends_on_the_rules_and_not_on_their_order() -> None:
    one, other, third = LongHits(), LongHits(), LongHits()
    one.rules, other.rules, third.rules = {"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1, "b": 3}
    assert rules_hash(one) == rules_hash(other) != rules_hash(third)
    other.version = "3"
    assert rules_hash(one) != rules_hash(other)


@pytest.mark.parametrize(
    ("configuration", "key"),
    [
        ({"relevance": {"threshold": 0.5}}, "relevance.threshold"),
        ({"relevance.threshold": 0.5}, "relevance.threshold"),
        ({"k": 5, "prompts": {"answer": {"text": "Hi"}}}, "prompts.answer.text"),
        ({"relevance": None}, "relevance"),
    ],
)
def test_sealed_option_is_rejected(configuration: dict[str, Any], key: str) -> None:
    message = rf"the pack 'long-hits' \(version 2\) seals {key.partition('.')[0]}: '{key}' cannot"
    with pytest.raises(ConfigurationError, match=message + r".*Remove it"):
        check_sealed(LongHits(), configuration)


def test_option_that_is_not_sealed_is_accepted() -> None:
    check_sealed(LongHits(), {"scoring": {"model": "x"}, "k": 5})
    check_sealed(find_pack("generic"), {"relevance": {"threshold": 0.5}, "prompts": "x"})


def test_sealed_pack_rejects_relevance_options() -> None:
    asked = ask("locomo", evidence=["D1:1"])
    with pytest.raises(ConfigurationError, match=r"'relevance.threshold' cannot be set"):
        be.evaluate_hits(asked, {"q": ["D1:1"]}, ["RR"], relevance={"threshold": 0.3})
    with pytest.raises(ConfigurationError, match=r"'relevance.coverage' cannot be set"):
        Relevance(asked, RelevanceOptions(coverage=0.9))
    assert Relevance(asked, RelevanceOptions()).strategy_of("q") == "pack"


def test_generic_pack_leaves_relevance_to_words() -> None:
    asked = ask("generic", answer="a b c d e")
    hits = {"q": [Hit("h", text="a x y z")]}
    assert be.evaluate_hits(asked, hits, ["RR"]).mean["RR"] == 0.0
    lower = be.evaluate_hits(asked, hits, ["RR"], relevance={"threshold": 0.2})
    assert lower.mean["RR"] == 1.0
    assert lower.strategies == ("token-fallback",)
    assert lower.details("RR").threshold == 0.2
    nothing = find_pack("generic").bound(PackCorpus()).rules_for(asked.queries[0])
    assert nothing.covered(hits["q"][0]) == {}


def test_registered_pack_decides_relevance(long_hits: Pack) -> None:
    assert find_pack("long-hits") is long_hits
    hits = [
        Hit("a", 3.0, text="short"), Hit("b", 2.0, text="long enough"),
        Hit("c", 1.0, text="long enough"), Hit("d", 0.5, text="another long one"),
    ]  # fmt: skip
    scores = be.evaluate_hits(ask("long-hits"), {"q": hits}, ["R@4", "P@4", "RR", "CharIoU"])
    assert scores.strategies == ("pack",)
    assert scores.mean["R@4"] == 1.0
    assert scores.mean["P@4"] == 0.5
    assert scores.mean["RR"] == 0.5
    assert scores.mean["CharIoU"] == 27 / (27 + 5 + 11)


def test_scores_record_the_rules() -> None:
    scores = be.evaluate_hits(ask("locomo", evidence=["D1:1"]), {"q": ["D1:1"]}, ["RR"])
    assert scores.pack == f"locomo@2 {HASHES['locomo']}"
    assert be.Scores.from_dict(scores.to_dict()) == scores != replace(scores, pack="")
    assert be.evaluate_hits(ask("generic"), {}, ["RR"]).pack == ""
    assert scores.summary()["pack"] == scores.pack


def test_pack_version_can_be_required(long_hits: Pack) -> None:
    assert find_pack("long-hits@2") is long_hits
    with pytest.raises(ConfigurationError, match="has version 2, requested 1"):
        Relevance(ask("long-hits@1"))


def test_unknown_pack_suggests_the_closest() -> None:
    with pytest.raises(ConfigurationError, match="unknown pack 'locmo'; did you mean 'locomo'"):
        Relevance(ask("locmo"))


def test_entry_point_that_is_not_a_pack_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PACKS, "_homes", {**PACKS._homes, "broken": object()})
    with pytest.raises(ConfigurationError, match="'broken' must have name, version, rules, bound"):
        find_pack("broken")


def test_packs_come_from_entry_points() -> None:
    assert isinstance(PACKS, Registry)
    assert PACKS.kind == "pack"
    assert list(PACKS)[:4] == ["locomo", "longmemeval", "code-retrieval", "generic"]
