"""Synthetic run records for the HTML report."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import berryeval as be
from berryeval.data.records import Query
from berryeval.runs.answers import AnswerRecord, HitRecord, MissedTarget, Passage
from berryeval.runs.record import BenchmarkRecord, ProviderRecord, RunRecord
from berryeval.runs.stages import Latency

METRICS = ("nDCG@10", "P@5", "RR")
SENTENCE = "A token that was used twice is taken for stolen, and the whole family is revoked. "
# Texts that break careless pages.
NASTY = (
    "<script>alert(1)</script>",
    "</style><img src=x onerror=alert(2)>",
    "\"quotes\" and 'quotes' & ampersands",
    "مرحبا بالعالم שלום",
    "😀👩‍👩‍👧 emoji",
    "nul \x00 escape \x1b half \ud83d separators \u2028 override \u202e end",
    "{{ 7 * 7 }}{% raw %}",
    "]]><!-- comment -->",
)


def grade_of(strength: float, dice: random.Random) -> float | None:
    """Draw the grade of a hit; None if unjudged."""
    if dice.random() < 0.1:
        return None
    return float(dice.choice((1, 2, 3))) if dice.random() < strength else 0.0


def answer_of(query: Query, strength: float, hits: int, dice: random.Random) -> AnswerRecord:
    """Draw a judged ranking; all queries share their passages."""
    found = tuple(
        HitRecord(
            f"guide-{query.id}#{rank}", 10.0 / (rank + 1), grade_of(strength, dice),
            again=rank == 3, passage=rank,
        )
        for rank in range(hits)
    )  # fmt: skip
    missed = (MissedTarget(f"guide-{query.id} > Tokens > Renewal", 2.0),)
    return AnswerRecord(query.id, "ok", found, missed, latency=dice.lognormvariate(-5, 0.6))


def provider(
    name: str, queries: tuple[Query, ...], strength: float, hits: int, dice: random.Random
) -> ProviderRecord:
    """Draw a provider with scores computed from its judged hits."""
    answers = tuple(answer_of(query, strength, hits, dice) for query in queries)
    ranked = {one.query_id: {hit.id: hit.score for hit in one.hits} for one in answers}
    judged = {
        one.query_id: {hit.id: int(hit.grade or 0) for hit in one.hits} | {"missed": 2}
        for one in answers
    }
    scores = be.evaluate(judged, ranked, list(METRICS)) if answers else None
    times = [one.latency for one in answers if one.latency is not None]
    return ProviderRecord(
        name, "bm25", "sections", scores=scores, answers=answers, latency=Latency.of(times),
        outcomes={"ok": len(answers)},
        curve=tuple(strength * (1 - step / 12) for step in range(11)),
    )  # fmt: skip


def run_record(
    queries: int = 12,
    strengths: tuple[float, ...] = (0.2, 0.3, 0.4, 0.5),
    *,
    hits: int = 10,
    passage: str = SENTENCE * 5,
    query_text: str = "How long is a token valid, and who renews it?",
    seed: int = 0,
    **run: Any,
) -> RunRecord:
    """Draw a run with a provider per strength."""
    dice = random.Random(seed)
    kinds, levels = ("factual", "procedural", "conceptual"), ("easy", "medium", "hard")
    asked = tuple(
        Query(f"q-{place:03}", query_text, kinds[place % 3], levels[place % 3 - 1])
        for place in range(queries)
    )
    providers = tuple(
        provider(f"system-{place}", asked, strength, hits, dice)
        for place, strength in enumerate(strengths)
    )
    passages = tuple(Passage(passage, f"guide > Tokens > Part {rank}") for rank in range(hits))
    part = BenchmarkRecord("manual", "sha256:" + "0" * 64, hits, asked, providers, passages)
    details = {"config_hash": "sha256:" + "1" * 64, "versions": {"berryeval": "0.1.0"}} | run
    return RunRecord("2026-01-02-run", "2026-01-02T03:04:05+00:00", (part,), **details)


def changed(run: RunRecord, **changes: Any) -> RunRecord:
    """Return the run with its benchmark changed."""
    return replace(run, benchmarks=(replace(run.benchmarks[0], **changes),))


def nasty_run() -> RunRecord:
    """Return a run whose texts break careless pages."""
    run = run_record(8, (0.3, 0.6))
    part = run.benchmarks[0]
    queries = tuple(
        replace(one, text=f"{text} text", category=text, difficulty=text, description=text)
        for one, text in zip(part.queries, NASTY, strict=True)
    )
    passages = tuple(Passage(text, f"a > {text}") for text in (*NASTY, *NASTY[:2]))
    providers = tuple(
        replace(
            one, name=f"{one.name} {NASTY[place]}", type=NASTY[place], chunker=NASTY[0],
            warnings=NASTY, answers=tuple(_nasty(answer) for answer in one.answers),
        )
        for place, one in enumerate(part.providers)
    )  # fmt: skip
    failed = ProviderRecord(NASTY[0] + "failed", "x", failure=" ".join(NASTY))
    run = replace(run, id=NASTY[0], versions={NASTY[0]: NASTY[2]})
    return changed(
        run, name=NASTY[0], queries=queries, passages=passages, notes=NASTY,
        providers=(*providers, failed),
    )  # fmt: skip


def _nasty(answer: AnswerRecord) -> AnswerRecord:
    hits = tuple(
        replace(hit, id=NASTY[place % 8] + str(place)) for place, hit in enumerate(answer.hits)
    )
    missed = tuple(MissedTarget(text, 1.0) for text in NASTY)
    outcome = "error" if answer.query_id.endswith(("1", "5")) else answer.outcome
    return replace(
        answer, hits=hits, missed=missed, outcome=outcome, error=NASTY[0], expected=NASTY[1],
        cost={NASTY[0]: 1.5},
    )  # fmt: skip
