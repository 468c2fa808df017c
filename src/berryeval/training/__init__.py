"""Metrics that add up over the batches of a training loop, on the device of the model.

`MetricAccumulator` takes arrays of ids. The classes named Retrieval… are those of
`torchmetrics.retrieval`, with the same arguments and values, and without a loop over the queries:
only the import changes.
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.training.accumulator import MetricAccumulator
    from berryeval.training.retrieval import (
        RetrievalAUROC,
        RetrievalFallOut,
        RetrievalHitRate,
        RetrievalMAP,
        RetrievalMRR,
        RetrievalNormalizedDCG,
        RetrievalPrecision,
        RetrievalPrecisionRecallCurve,
        RetrievalRecall,
        RetrievalRecallAtFixedPrecision,
        RetrievalRPrecision,
    )

    __all__ = [
        "MetricAccumulator",
        "RetrievalAUROC",
        "RetrievalFallOut",
        "RetrievalHitRate",
        "RetrievalMAP",
        "RetrievalMRR",
        "RetrievalNormalizedDCG",
        "RetrievalPrecision",
        "RetrievalPrecisionRecallCurve",
        "RetrievalRPrecision",
        "RetrievalRecall",
        "RetrievalRecallAtFixedPrecision",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)
