"""The names of ranx 0.3.21, computed by BerryEval: `from berryeval.compat import ranx`.

Values follow the profile "ranx"; equal scores stay in the given order. docs/migrating.md lists what
is covered, and where ranx and BerryEval differ.
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import name_ways
from berryeval.compat.ranx import data_structures, fusion, metrics, normalization
from berryeval.compat.ranx.data_structures import Qrels, Run
from berryeval.compat.ranx.fusion import fuse, optimize_fusion
from berryeval.compat.ranx.meta import compare, evaluate, plot
from berryeval.compat.ranx.normalization import normalize

__all__ = [
    "Qrels",
    "Run",
    "compare",
    "data_structures",
    "evaluate",
    "fuse",
    "fusion",
    "metrics",
    "normalization",
    "normalize",
    "optimize_fusion",
    "plot",
]

if not TYPE_CHECKING:
    __getattr__ = name_ways(
        __name__,
        {
            "ranxhub": "save the run as TREC or Parquet; berryeval.Run.load reads both",
            "statistical_tests": "compare tests two runs or more, and so does berryeval.compare",
        },
    )
