"""BerryEval: exact, fast evaluation of retrieval.

The innermost APIs are `berryeval.metrics` (integer ids in NumPy arrays) and
`berryeval.metrics.lists` (lists of string ids with graded judgments).
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
