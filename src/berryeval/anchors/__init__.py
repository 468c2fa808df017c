"""Anchors: where a judgment's target stands in a text, and which chunks cover it."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.anchors.corpus import Corpus, as_hash
    from berryeval.anchors.coverage import CoverageRule, anchor_of
    from berryeval.anchors.drift import Ambiguity, Drift, Located, repair
    from berryeval.anchors.location import locate
    from berryeval.anchors.markdown import parse_sections, slug
    from berryeval.anchors.quotes import Normalised, normalise
    from berryeval.anchors.resolution import Resolution, resolve
    from berryeval.anchors.targets import Credit, Join, Target, Targets, credited, judged_ranking
else:
    __getattr__, __dir__ = open_door(__name__)
