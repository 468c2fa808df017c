"""Packs: the rules that a benchmark brings along for what is relevant in it."""

from berryeval.relevance.packs.base import (
    BoundPack,
    KnowsFiles,
    Labels,
    Pack,
    PackCorpus,
    PackRules,
    Part,
    rules_hash,
)
from berryeval.relevance.packs.sealing import PACKS, check_sealed, find_pack

__all__ = [
    "PACKS",
    "BoundPack",
    "KnowsFiles",
    "Labels",
    "Pack",
    "PackCorpus",
    "PackRules",
    "Part",
    "check_sealed",
    "find_pack",
    "rules_hash",
]
