"""The output of trec_eval, computed by the engine.

Where trec_eval 10 stops (a topic missing from the run, without `-c`), the topic is left out, as in
trec_eval 9. docs/trec_eval.md lists all differences.
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.trec_eval.lines import Report, read_zscores
    from berryeval.trec_eval.names import (
        NICKNAMES,
        TREC_METRICS,
        Column,
        build_columns,
        parse_choices,
    )
    from berryeval.trec_eval.scoring import (
        FORMATS,
        Settings,
        needs_table,
        read_judgments,
        score_run,
    )
else:
    __getattr__, __dir__ = open_door(__name__)
