"""What `berryeval trec-eval` prints: trec_eval's lines, computed by the engine.

Where trec_eval 10 stops (a topic that the run lacks, without `-c`), we do as trec_eval 9 did and
leave the topic out. docs/trec_eval.md lists every difference.
"""

from berryeval.trec_eval.columns import Column, choose, columns
from berryeval.trec_eval.report import Report
from berryeval.trec_eval.scoring import FORMATS, Settings, needs_table, read_judgments, score

__all__ = [
    "FORMATS",
    "Column",
    "Report",
    "Settings",
    "choose",
    "columns",
    "needs_table",
    "read_judgments",
    "score",
]
