"""Fusion of runs: one ranking from the rankings of several systems.

>>> from berryeval.fusion import fuse
>>> runs = [{"q": {"a": 9.0, "b": 8.0}}, {"q": {"b": 0.7, "c": 0.5}}]
>>> list(fuse(runs, method="rrf").to_dict()["q"])
['b', 'a', 'c']
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.fusion.methods import METHODS, count_weights, find_method, list_weights
    from berryeval.fusion.model import (
        FusionModel,
        check_scores,
        find_relevant,
        fuse,
        load_runs,
        train_fusion,
    )
    from berryeval.fusion.query_fusion import reciprocal_ranks, scale_min_max, sum_points
    from berryeval.fusion.recipe import NORMS, PROFILES, Recipe
    from berryeval.fusion.table_fusion import align_queries, find_queries, fuse_tables
    from berryeval.fusion.training import RelevantRanks

    __all__ = [
        "METHODS",
        "NORMS",
        "PROFILES",
        "FusionModel",
        "Recipe",
        "RelevantRanks",
        "align_queries",
        "check_scores",
        "count_weights",
        "find_method",
        "find_queries",
        "find_relevant",
        "fuse",
        "fuse_tables",
        "list_weights",
        "load_runs",
        "reciprocal_ranks",
        "scale_min_max",
        "sum_points",
        "train_fusion",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)
