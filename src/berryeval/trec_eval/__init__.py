"""What `berryeval trec-eval` prints: trec_eval's lines, computed by the engine.

Where trec_eval 10 stops (a topic that the run lacks, without `-c`), we do as trec_eval 9 did and
leave the topic out. docs/trec_eval.md lists every difference.
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.trec_eval.lines import Report, read_zscores
    from berryeval.trec_eval.names import NICKNAMES, TREC_METRICS, Column, choose, columns
    from berryeval.trec_eval.scoring import FORMATS, Settings, needs_table, read_judgments, score
else:
    __getattr__, __dir__ = open_door(__name__)
