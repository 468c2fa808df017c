"""Which measures lie between 0 and 1, so that a limit beyond is a slip."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["lies_within_one"]

_WITHIN_ONE: Final = frozenset(
    {
        "AP",
        "AllFound",
        "AvgIPrec",
        "Bpref",
        "CharIoU",
        "ERR",
        "F1",
        "FileR",
        "FileRR",
        "GMAP",
        "GMBpref",
        "IPrec",
        "Judged",
        "P",
        "R",
        "RR",
        "Rprec",
        "SetAP",
        "SetF",
        "SetP",
        "SetR",
        "StRecall",
        "Success",
        "TokenP",
        "TokenR",
        "Unjudged",
        "alpha_nDCG",
        "nDCG",
    }
)


def lies_within_one(measure: str) -> bool:
    """Whether every value of the measure, by its canonical name, lies between 0 and 1.

    False where that is not known, as of a measure of your own.

    >>> lies_within_one("nDCG@10"), lies_within_one("DCG@10")
    (True, False)
    """
    return re.split(r"[(@]", measure, maxsplit=1)[0] in _WITHIN_ONE
