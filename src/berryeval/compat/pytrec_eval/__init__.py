"""The names of pytrec_eval (pytrec_eval-terrier 0.5), with the numbers of trec_eval 9.0.8.

Scores are compared as float32, and equal ones by document id, highest bytes first.
"""

from berryeval.compat.pytrec_eval.relevance_evaluator import (
    RelevanceEvaluator,
    compute_aggregated_measure,
    parse_qrel,
    parse_run,
    supported_measures,
    supported_nicknames,
)

__version__ = "0.5.11"  # the version of pytrec_eval-terrier with these names

__all__ = [  # for `import *`
    "RelevanceEvaluator",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]
