"""Relevance: who decides what is relevant to a query: judgments, a pack, or the words."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.relevance.hits import (
        STRATEGIES,
        TOKEN_THRESHOLD,
        Details,
        Rankings,
        Strategy,
        checked_id,
        cutoff_of,
        strategy_counts,
        strategy_used,
    )
    from berryeval.relevance.matching import IdMatch, IdMatcher
    from berryeval.relevance.options import RelevanceOptions
    from berryeval.relevance.packs.base import BoundPack, Labels, PackCorpus, find_pack
    from berryeval.relevance.tiers import ANSWER_FIELDS, Judgeable, Judged, Relevance, explicit_ids
else:
    __getattr__, __dir__ = open_door(__name__)
