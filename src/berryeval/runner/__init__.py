"""Ask a provider every query, with retries, timeouts and a journal that survives a crash."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.runner.asking import index_and_ask
    from berryeval.runner.attempts import Policy, Progress
    from berryeval.runner.journal import Answers, Journal, remove_texts
    from berryeval.runner.outcome import (
        FAILED,
        NO_ANSWER,
        Ranking,
        StageRanking,
        count_failed,
    )
    from berryeval.runner.telemetry import Tracer, Tracing, open_tracer, trace
else:
    __getattr__, __dir__ = open_door(__name__)
