"""Other evaluation tools by their own names, computed by this engine: only the import changes.

    from berryeval.compat import pytrec_eval
    from berryeval.compat import ir_measures
    from berryeval.compat import ranx
    from berryeval.compat.beir import EvaluateRetrieval

Each module has the names, types and numbers of its peer, also where the peer is wrong.
docs/migrating.md says where that is, what is not covered, and the native way.

    >>> from berryeval.compat import pytrec_eval
    >>> evaluator = pytrec_eval.RelevanceEvaluator({"q1": {"d1": 1}}, {"recip_rank"})
    >>> evaluator.evaluate({"q1": {"d1": 0.5, "d2": 0.9}})
    {'q1': {'recip_rank': 0.5}}
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.compat import beir, ir_measures, pytrec_eval, ranx

    __all__ = [
        "beir",
        "ir_measures",
        "pytrec_eval",
        "ranx",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)
