"""A report with names, texts and failures that could break an export format."""

from __future__ import annotations

from functools import cache

import berryeval as be
from berryeval.data.records import Query
from berryeval.gates import Verdict
from berryeval.reports.sections import Report
from berryeval.runs.answers import AnswerRecord, HitRecord, MissedTarget
from berryeval.runs.record import STANDARD, BenchmarkRecord, ProviderRecord, RunRecord
from berryeval.runs.stages import Latency

QUERIES = (
    Query("q1", '=HYPERLINK("http://x.invalid", "tea")', category="factual"),
    Query("q2", 'How hot,\nand "why"?', category="@conceptual"),
    Query("q3", "Ist Kaffee größer als ☕?", category="factual"),
    Query("q4", "-1 + 1", category=""),
)
QRELS = {"q1": {"tea#1": 2, "tea#2": 1}, "q2": {"tea#2": 1}, "q3": {"cup": 3}, "q4": {"none": 1}}
RUNS = {
    "bm25": {
        "q1": {"tea#1": 9.25, "cup": 1e-07, "tea#2": -0.5},
        "q2": {"+tea": 2.0, "tea#2": 1.0},
        "q3": {"cup": 0.1 + 0.2},
        "q4": {},
    },
    "our|search_v2 <b>": {
        "q1": {"cup": 3.0, "tea#1": 2.0},
        "q2": {"tea#2": 1.0},
        "q3": {"tea#1": 1.0},
        "q4": {"tea#1": 1.0},
    },
}
WARNING = "returned 2 hits more than once; *the first* counts | @someone"
FAILURE = "no answer from http://search.invalid:\n\x1b[31mrefused\x1b[0m"


def _answers(name: str) -> tuple[AnswerRecord, ...]:
    found = []
    for query, hits in RUNS[name].items():
        grades = QRELS[query]
        missed = [MissedTarget(doc, grade) for doc, grade in grades.items() if doc not in hits]
        records = tuple(
            HitRecord(doc, score, None if doc == "+tea" else grades.get(doc, 0))
            for doc, score in hits.items()
        )
        found.append(
            AnswerRecord(query, "ok" if hits else "empty", records, tuple(missed), latency=0.25)
        )
    return tuple(found)


@cache
def provider(name: str, *, warnings: tuple[str, ...] = ()) -> ProviderRecord:
    """Return a provider that answered."""
    everything = be.evaluate(QRELS, {q: dict(hits) for q, hits in RUNS[name].items()}, [
        "nDCG@10", "RR", *STANDARD
    ])  # fmt: skip
    return ProviderRecord(
        name,
        "bm25",
        scores=everything.only(["nDCG@10", "RR"]),
        standard=everything.only(STANDARD),
        answers=_answers(name),
        outcomes={"empty": 1, "ok": 3} if name == "bm25" else {"ok": 4},
        latency=Latency(0.0123, 0.045, 0.1, 0.25),
        warnings=warnings,
    )


def run_of(*providers: ProviderRecord, name: str = "drinks", second: int = 0) -> RunRecord:
    """Return a run of these providers."""
    part = BenchmarkRecord(name, "sha256:0123", 20, QUERIES, providers)
    created = f"2026-02-21T14:30:{second:02}+01:00"
    return RunRecord(f"2026-02-21T14-30-{second:02}-{name}", created, (part,), {"k": 20},
                     "sha256:abc", {"berryeval": "0.1.0", "python": "3.12.1"})  # fmt: skip


def plain_run() -> RunRecord:
    """Return a run of one provider that answered."""
    return run_of(provider("bm25"))


def hard_run() -> RunRecord:
    """Return a run of three providers: one failed, one has an odd name."""
    failed = ProviderRecord("broken", "http", outcomes={"error": 1}, failure=FAILURE)
    odd = provider("our|search_v2 <b>", warnings=(WARNING,))
    return run_of(provider("bm25"), odd, failed)


VERDICTS = (
    Verdict("pass", "RR >= 0.5", "RR of bm25 on drinks is 0.625, at least 0.5", "drinks", "bm25",
            metric="RR", value=0.625, limit=0.5),
    Verdict("fail", "nDCG@10 >= 0.9", "50 % below, as it seems:\nfar & away", "drinks", "bm25",
            group="category=factual", metric="nDCG@10", value=0.5, limit=0.9),
    Verdict("inconclusive", "RR no worse", "the data cannot tell", "drinks", "our|search_v2 <b>"),
)  # fmt: skip


def hard_report() -> Report:
    """Return the report of the hard run, with verdicts."""
    return Report.of([hard_run()], title="Drinks & <b>more</b>, 100 %", verdicts=VERDICTS)
