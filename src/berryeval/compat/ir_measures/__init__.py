"""The names of ir_measures 0.4: measures as objects, computed by this engine.

A measure is computed with the conventions of the provider that ir_measures would choose for it, and
`ir_measures.pytrec_eval`, `ir_measures.msmarco` and the others choose one by name.
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import name_ways
from berryeval.compat.ir_measures import measures, providers, util
from berryeval.compat.ir_measures.measures import *  # noqa: F403 - they are listed there
from berryeval.compat.ir_measures.providers import (
    CwlMetric,
    Evaluator,
    Provider,
    define,
    define_byquery,
)
from berryeval.compat.ir_measures.providers.engine import (
    accuracy,
    compat,
    cwl_eval,
    gdeval,
    judged,
    msmarco,
    pyndeval,
    pytrec_eval,
    ranx,
    trectools,
)
from berryeval.compat.ir_measures.providers.pipeline import DefaultPipeline
from berryeval.compat.ir_measures.providers.runtime import runtime
from berryeval.compat.ir_measures.util import (
    CalcResults,
    GenericQrel,
    GenericScoredDoc,
    Metric,
    Qrel,
    ScoredDoc,
    convert_trec_name,
    parse_measure,
    parse_trec_measure,
    parse_trec_qrels,
    parse_trec_run,
    read_trec_qrels,
    read_trec_run,
)

__version__ = "0.4.3"  # the version of ir_measures with these names

calc = DefaultPipeline.calc
calc_aggregate = DefaultPipeline.calc_aggregate
calc_ctxt = DefaultPipeline.calc_ctxt
evaluator = DefaultPipeline.evaluator
iter_calc = DefaultPipeline.iter_calc
run_inputs = DefaultPipeline.run_inputs
qrel_inputs = DefaultPipeline.qrel_inputs

__all__ = [  # for `import *`
    "CalcResults",
    "CwlMetric",
    "DefaultPipeline",
    "Evaluator",
    "GenericQrel",
    "GenericScoredDoc",
    "Metric",
    "Provider",
    "Qrel",
    "ScoredDoc",
    "__version__",
    "accuracy",
    "calc",
    "calc_aggregate",
    "calc_ctxt",
    "compat",
    "convert_trec_name",
    "cwl_eval",
    "define",
    "define_byquery",
    "evaluator",
    "gdeval",
    "iter_calc",
    "judged",
    "measures",
    "msmarco",
    "parse_measure",
    "parse_trec_measure",
    "parse_trec_qrels",
    "parse_trec_run",
    "providers",
    "pyndeval",
    "pytrec_eval",
    "ranx",
    "read_trec_qrels",
    "read_trec_run",
    "runtime",
    "trectools",
    "util",
]
__all__ += [name for name in measures.__all__ if name not in {"register", "registry"}]

if not TYPE_CHECKING:
    __getattr__ = name_ways(
        __name__,
        {
            "bin": "use the command berryeval score",
            "lazylibs": "import pandas itself",
        },
    )
