"""What is kept of a run: everything that reports, comparisons and gates need, in one record."""

from berryeval.results.answer import AnswerRecord, HitRecord, MissedTarget, Passage
from berryeval.results.answer_columns import AnswerColumns, AnswersBuilder
from berryeval.results.asked import Asked
from berryeval.results.latency import Latency
from berryeval.results.record import SCHEMA_VERSION, BenchmarkRecord, ProviderRecord, RunRecord

__all__ = [
    "SCHEMA_VERSION",
    "AnswerColumns",
    "AnswerRecord",
    "AnswersBuilder",
    "Asked",
    "BenchmarkRecord",
    "HitRecord",
    "Latency",
    "MissedTarget",
    "Passage",
    "ProviderRecord",
    "RunRecord",
]
