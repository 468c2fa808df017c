"""Relevance: who decides what is relevant to a query: judgments, a pack, or the words."""

from berryeval.relevance.ids import IdMatch, IdMatcher
from berryeval.relevance.options import RelevanceOptions
from berryeval.relevance.tiers import Judgeable, Judged, Relevance

__all__ = ["IdMatch", "IdMatcher", "Judgeable", "Judged", "Relevance", "RelevanceOptions"]
