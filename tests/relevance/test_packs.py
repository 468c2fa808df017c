"""Packs: rules under a name, a version and a hash, which no configuration may change."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval._internal.registry import Registry
from berryeval.data.records import Hit, Query
from berryeval.errors import ConfigurationError
from berryeval.relevance.options import RelevanceOptions
from berryeval.relevance.packs.base import (
    PACKS,
    Labels,
    Pack,
    PackCorpus,
    check_sealed,
    find_pack,
    rules_hash,
)
from berryeval.relevance.tiers import Relevance

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
    """Relevant is what is long, and nobody says how many there are."""

    name = "long-hits"
    version = "2"
    seals: frozenset[Part] = frozenset({"relevance", "prompts"})
    rules: Mapping[str, Any] = {"long": 5}
    labels = Labels(grades=None)
    doubts: Sequence[str] = ()

    def bound(self, corpus: PackCorpus) -> LongHits:  # noqa: ARG002 - any corpus
        """The same."""
        return self

    def rules_for(self, query: Query) -> LongHits:  # noqa: ARG002 - any query
        """The same."""
        return self

    def covered(self, hit: Hit) -> Mapping[str, float]:
        """A label of its own for every long hit."""
        return {hit.text: 1.0} if len(hit.text) > 5 else {}


@pytest.fixture
def long_hits(monkeypatch: pytest.MonkeyPatch) -> Pack:
    """A pack that is registered for one test."""
    monkeypatch.setattr(PACKS, "_homes", dict(PACKS._homes))
    return PACKS.register("long-hits")(LongHits())


def ask(pack: str, **metadata: Any) -> be.Benchmark:
    """A benchmark of one query, with a pack."""
    return be.Benchmark("test", (), (Query("q", "?", metadata=metadata),), pack=pack)


@pytest.mark.parametrize("name", ["locomo", "longmemeval", "code-retrieval", "generic"])
def test_bundled_packs_are_complete(name: str) -> None:
    """Each has a name, a version, what it seals, and rules whose hash is known."""
    pack = find_pack(name)
    assert pack.name == name
    assert pack.seals == (frozenset() if name == "generic" else {"relevance"})
    assert rules_hash(pack) == HASHES[name], "a rule changed: so must the version and this hash"


def test_the_hash_is_that_of_what_is_said() -> None:
    """It does not depend on the order of fields, and changes with every rule."""
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
def test_what_is_sealed_cannot_be_configured(configuration: dict[str, Any], key: str) -> None:
    """The error names the pack, the key, and what to do."""
    message = rf"the pack 'long-hits' \(version 2\) seals {key.partition('.')[0]}: '{key}' cannot"
    with pytest.raises(ConfigurationError, match=message + r".*Remove it"):
        check_sealed(LongHits(), configuration)


def test_what_is_not_sealed_can() -> None:
    """Scoring here; and everything with the generic pack."""
    check_sealed(LongHits(), {"scoring": {"model": "x"}, "k": 5})
    check_sealed(find_pack("generic"), {"relevance": {"threshold": 0.5}, "prompts": "x"})


def test_a_sealed_pack_refuses_options_of_relevance() -> None:
    """However they are given; those that change nothing are no change."""
    asked = ask("locomo", evidence=["D1:1"])
    with pytest.raises(ConfigurationError, match=r"'relevance.threshold' cannot be set"):
        be.evaluate_hits(asked, {"q": ["D1:1"]}, ["RR"], relevance={"threshold": 0.3})
    with pytest.raises(ConfigurationError, match=r"'relevance.coverage' cannot be set"):
        Relevance.of(asked, RelevanceOptions(coverage=0.9))
    assert Relevance.of(asked, RelevanceOptions()).strategy_of("q") == "pack"


def test_the_generic_pack_leaves_the_decision_to_others() -> None:
    """It owns nothing, so the words decide, by a threshold that may be chosen."""
    asked = ask("generic", answer="a b c d e")
    hits = {"q": [Hit("h", text="a x y z")]}
    assert be.evaluate_hits(asked, hits, ["RR"]).mean["RR"] == 0.0
    lower = be.evaluate_hits(asked, hits, ["RR"], relevance={"threshold": 0.2})
    assert lower.mean["RR"] == 1.0
    assert lower.strategies == ("token-fallback",)
    assert lower.details("RR").threshold == 0.2
    nothing = find_pack("generic").bound(PackCorpus()).rules_for(asked.queries[0])
    assert nothing.covered(hits["q"][0]) == {}


def test_a_pack_of_ones_own_decides(long_hits: Pack) -> None:
    """Without labels, what was found is all there is; a repeat gains nothing."""
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


def test_scores_say_by_which_rules() -> None:
    """Name, version and hash go with them, to JSON and back; without a pack there is nothing."""
    scores = be.evaluate_hits(ask("locomo", evidence=["D1:1"]), {"q": ["D1:1"]}, ["RR"])
    assert scores.pack == f"locomo@2 {HASHES['locomo']}"
    assert be.Scores.from_dict(scores.to_dict()) == scores != replace(scores, pack="")
    assert be.evaluate_hits(ask("generic"), {}, ["RR"]).pack == ""
    assert scores.summary()["pack"] == scores.pack


def test_versions_can_be_asked_for(long_hits: Pack) -> None:
    """A result is only repeated by the rules that gave it."""
    assert find_pack("long-hits@2") is long_hits
    with pytest.raises(ConfigurationError, match="is here in version 2, asked for was 1"):
        Relevance.of(ask("long-hits@1"))


def test_an_unknown_pack_is_an_error_that_suggests() -> None:
    """As everything that is known by name."""
    with pytest.raises(ConfigurationError, match="unknown pack 'locmo'; did you mean 'locomo'"):
        Relevance.of(ask("locmo"))


def test_what_is_no_pack_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point may name anything."""
    monkeypatch.setattr(PACKS, "_homes", {**PACKS._homes, "broken": object()})
    with pytest.raises(ConfigurationError, match="'broken' must have name, version, rules, bound"):
        find_pack("broken")


def test_packs_come_from_entry_points() -> None:
    """Of the group that the registry of packs reads."""
    assert isinstance(PACKS, Registry)
    assert PACKS.kind == "pack"
    assert list(PACKS)[:4] == ["locomo", "longmemeval", "code-retrieval", "generic"]
