"""Relevance: judge hits by judgments, by the rules of a pack, or by the expected answer.

>>> from berryeval.relevance import PACKS
>>> list(PACKS)
['locomo', 'longmemeval', 'code-retrieval', 'generic']
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.relevance.fingerprints import (
        find_differences,
        fingerprint_queries,
        fingerprint_questions,
        has_lost_targets,
    )
    from berryeval.relevance.foreign_ids import (
        PASSAGE,
        STRIPPED,
        IdRules,
        IdTally,
        UnknownIds,
        explain_ids,
    )
    from berryeval.relevance.hits import (
        Details,
        Rankings,
        check_id,
        cutoff_of,
        strategy_counts,
        strategy_used,
    )
    from berryeval.relevance.lost_targets import (
        LostTargets,
        explain_chunks,
        explain_documents,
        find_unknown_chunks,
    )
    from berryeval.relevance.matching import IdMatch, IdMatcher, split_path
    from berryeval.relevance.packs.base import (
        PACKS,
        BoundPack,
        Labels,
        Pack,
        PackCorpus,
        find_pack,
        rules_hash,
    )
    from berryeval.relevance.strategies import (
        ANSWER_FIELDS,
        ID_FIELDS,
        Judgeable,
        Judged,
        Relevance,
        RelevanceOptions,
        all_judgments,
        describe_judging,
        explicit_ids,
    )

    __all__ = [
        "ANSWER_FIELDS",
        "ID_FIELDS",
        "PACKS",
        "PASSAGE",
        "STRIPPED",
        "BoundPack",
        "Details",
        "IdMatch",
        "IdMatcher",
        "IdRules",
        "IdTally",
        "Judgeable",
        "Judged",
        "Labels",
        "LostTargets",
        "Pack",
        "PackCorpus",
        "Rankings",
        "Relevance",
        "RelevanceOptions",
        "UnknownIds",
        "all_judgments",
        "check_id",
        "cutoff_of",
        "describe_judging",
        "explain_chunks",
        "explain_documents",
        "explain_ids",
        "explicit_ids",
        "find_differences",
        "find_pack",
        "find_unknown_chunks",
        "fingerprint_queries",
        "fingerprint_questions",
        "has_lost_targets",
        "rules_hash",
        "split_path",
        "strategy_counts",
        "strategy_used",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)
