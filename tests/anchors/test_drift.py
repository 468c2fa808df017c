"""Tests of drift: judgments that no longer resolve, and their repair."""

from __future__ import annotations

import json

import pytest

from berryeval.anchors.location import Ambiguity, Drift, repair
from berryeval.anchors.targets import Targets
from berryeval.data.records import Anchor, Document, Judgment, content_hash

OLD = """# Guide

## Installation

The installer copies all files into the home directory of the user.
"""
NEW = """# Guide

## Installing

The setup program copies all files into the home folder of the current user.
"""
DOCUMENTS = [Document("guide", NEW), Document("other", "Nothing to see.")]
PASSAGE = "The installer copies all files into the home directory of the user."


def drift_of(anchor: Anchor) -> Drift:
    """Return the drift of this anchor."""
    (drift,) = Targets.locate([Judgment("q", anchor, 1)], DOCUMENTS).drift
    return drift


def test_rewritten_passage_is_suggested() -> None:
    drift = drift_of(Anchor(document="guide", quote=PASSAGE, extra={"by": "ann"}))
    assert drift.reason == f"'guide' does not contain the quote {PASSAGE!r}"
    assert "copies all files into the home" in drift.nearest
    assert 0.6 <= drift.ratio < 0.85
    assert drift.repaired
    assert drift.repaired.quote == drift.nearest == NEW[drift.repaired.start : drift.repaired.end]
    assert drift.repaired.document_hash == content_hash(NEW)
    assert drift.repaired.extra == {"by": "ann"}


def test_renamed_section_is_suggested() -> None:
    drift = drift_of(Anchor(document="guide", section=("Guide", "Installation")))
    assert drift.reason == (
        "'guide' has no section 'Guide > Installation'; the closest is 'Guide > Installing'"
    )
    assert drift.nearest.startswith("## Installing The setup program")
    assert drift.repaired == Anchor(
        document="guide", section=("Guide", "Installing"), document_hash=content_hash(NEW)
    )


def test_renamed_document_is_suggested() -> None:
    """It is found by its hash, or by a quote that only one document contains."""
    by_hash = drift_of(Anchor(document="manual", start=0, end=7, document_hash=content_hash(NEW)))
    assert by_hash.reason == "there is no document 'manual'; 'guide' has the same text"
    assert by_hash.repaired == Anchor(
        document="guide", start=0, end=7, document_hash=content_hash(NEW)
    )
    by_quote = drift_of(Anchor(document="manual", quote="nothing  to see"))
    assert by_quote.reason == "there is no document 'manual'; 'other' has the quote"
    assert by_quote.repaired
    assert by_quote.repaired.document == "other"
    assert by_quote.repaired.quote == "Nothing to see"


@pytest.mark.parametrize(
    ("anchor", "nearest"),
    [
        (Anchor(document="guide", start=0, end=7, document_hash="sha256:0"), "# Guide"),
        (Anchor(document="guide", start=0, end=9999), " ".join(NEW.split())[:79] + "…"),
        (Anchor(document="guide", start=5000, end=9999), ""),
        (Anchor(document="guide", start=3, end=99, unit="lines"), "## Installing The setup"),
        (Anchor(document="guide", start=98, end=99, unit="lines"), ""),
        (Anchor(document="guide", quote="quite another thing, with no word of it"), ""),
        (Anchor(document="other", section=("Guide",)), ""),
        (Anchor(document="gone", quote="copies"), "copies"),
        (Anchor(document="gone", quote="e"), ""),
        (Anchor(document="gone"), ""),
    ],
)
def test_current_text_is_shown_if_there_is_no_suggestion(anchor: Anchor, nearest: str) -> None:
    drift = drift_of(anchor)
    assert drift.reason
    assert drift.nearest.startswith(nearest)
    assert bool(drift.nearest) == bool(nearest)


def test_repaired_judgments_resolve() -> None:
    judgments = [
        Judgment("q1", Anchor(document="guide", quote=PASSAGE), 2, group="g", note="by hand"),
        Judgment("q1", Anchor(document="other", quote="see"), 1),
        Judgment("q2", Anchor(document="guide", section=("Installation",)), 3),
        Judgment("q2", Anchor(document="gone"), 1),
    ]
    drift = Targets.locate(judgments, DOCUMENTS).drift
    assert [one.judgment for one in drift] == [judgments[0], judgments[2], judgments[3]]
    repaired = repair(judgments, drift)
    assert repaired[1] == judgments[1]
    assert repaired[3] == judgments[3]
    assert repaired[0].target.quote in NEW
    assert (repaired[0].grade, repaired[0].group, repaired[0].note) == (2, "g", "by hand")
    again = Targets.locate(repaired, DOCUMENTS)
    assert [one.judgment for one in again.drift] == [judgments[3]]
    for target in [*again.of("q1"), *again.of("q2")[:1]]:
        assert all(len(member.spans) == 1 for member in target.members)
    assert repair(judgments, drift, least=1.0) == judgments


def test_repaired_section_with_an_ambiguous_path_is_named_by_its_id() -> None:
    documents = [Document("d", "# Uses\nfirst\n# Uses\nsecond\n")]
    judgment = Judgment("q", Anchor(document="d", section=("Use",)), 1)
    (drift,) = Targets.locate([judgment], documents).drift
    assert drift.repaired
    assert drift.repaired.section == ("uses",)
    assert not Targets.locate(repair([judgment], [drift]), documents).ambiguous


def test_drift_round_trips_through_json() -> None:
    drift = drift_of(Anchor(document="gone", quote="nothing to see"))
    data = drift.to_json()
    assert Drift.from_json(json.loads(json.dumps(data))) == drift
    assert data["judgment"]["target"] == {"document": "gone", "quote": "nothing to see"}
    assert data["repaired"]["document"] == "other"
    assert set(data) == {"judgment", "reason", "nearest", "ratio", "repaired"}
    ambiguity = Ambiguity("quote", "fish", ("d", "e"), "q1")
    assert Ambiguity.from_json(ambiguity.to_json()) == ambiguity
