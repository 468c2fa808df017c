"""Anchors: where a judgment's target stands in a text, and which chunks cover it."""

from berryeval.anchors.corpus import Corpus
from berryeval.anchors.coverage import CoverageRule
from berryeval.anchors.credit import Credit, Join, Target, credited, judged_ranking
from berryeval.anchors.drift import Ambiguity, Drift, repair
from berryeval.anchors.locate import locate
from berryeval.anchors.located import Located
from berryeval.anchors.normalised import Normalised, normalise
from berryeval.anchors.place import anchor_of
from berryeval.anchors.resolve import Resolution, resolve
from berryeval.anchors.sections import parse_sections, slug
from berryeval.anchors.spans import Span, SpanIndex
from berryeval.anchors.targets import Targets

__all__ = [
    "Ambiguity",
    "Corpus",
    "CoverageRule",
    "Credit",
    "Drift",
    "Join",
    "Located",
    "Normalised",
    "Resolution",
    "Span",
    "SpanIndex",
    "Target",
    "Targets",
    "anchor_of",
    "credited",
    "judged_ranking",
    "locate",
    "normalise",
    "parse_sections",
    "repair",
    "resolve",
    "slug",
]
