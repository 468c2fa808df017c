"""Anchors: locate the targets of judgments in a corpus and find the chunks that cover them."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.anchors.corpus import Corpus, format_hash
    from berryeval.anchors.coverage import CoverageRule, make_anchor
    from berryeval.anchors.location import Drift, Location, locate, repair
    from berryeval.anchors.markdown import parse_sections, slug
    from berryeval.anchors.quotes import normalise
    from berryeval.anchors.targets import (
        Join,
        Target,
        Targets,
        build_ranking,
        find_credit,
        resolve,
    )
else:
    __getattr__, __dir__ = open_door(__name__)
