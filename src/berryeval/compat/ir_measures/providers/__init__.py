"""Providers: the conventions with which a measure can be computed."""

from berryeval.compat.ir_measures.providers.base import (
    Evaluator,
    Provider,
    register,
    registry,
)
from berryeval.compat.ir_measures.providers.engine import (
    AccuracyProvider,
    CompatProvider,
    CwlEvalProvider,
    GdevalProvider,
    JudgedProvider,
    MsMarcoProvider,
    PyNdEvalProvider,
    PytrecEvalProvider,
    RanxProvider,
    TrectoolsProvider,
)
from berryeval.compat.ir_measures.providers.evaluators import CwlMetric
from berryeval.compat.ir_measures.providers.pipeline import (
    FallbackProvider,
)
from berryeval.compat.ir_measures.providers.runtime import (
    RuntimeProvider,
    define,
    define_byquery,
)

__all__ = [  # for `import *`
    "AccuracyProvider",
    "CompatProvider",
    "CwlEvalProvider",
    "CwlMetric",
    "Evaluator",
    "FallbackProvider",
    "GdevalProvider",
    "JudgedProvider",
    "MsMarcoProvider",
    "Provider",
    "PyNdEvalProvider",
    "PytrecEvalProvider",
    "RanxProvider",
    "RuntimeProvider",
    "TrectoolsProvider",
    "define",
    "define_byquery",
    "register",
    "registry",
]
