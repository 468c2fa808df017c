"""A small benchmark with documents in folders, for retrievers of other frameworks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import berryeval as be
from berryeval.data.records import Anchor, Document, Judgment, Query

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {
    "guides/tokens": "# Tokens\n\nAccess tokens expire after one hour.\n\n## Refresh\n\n"
    "Refresh tokens live for thirty days and are revoked at logout.\n",
    "guides/limits": "# Limits\n\nThe rate limit is one hundred requests per minute and key.\n",
    "ops/backup": "# Backup\n\nBackups run every night at two and are kept for three weeks.\n",
    "ops/retry": "# Retry\n\nRetries wait twice as long each time; a request is sent again.\n",
}
QUESTIONS = {
    "guides/tokens": "refresh tokens revoked logout",
    "guides/limits": "rate limit requests minute",
    "ops/backup": "backups kept night",
    "ops/retry": "retries wait twice",
}


def handbook(*, quotes: bool = False) -> be.Benchmark:
    """Return the benchmark; judgments are of documents, or of quotes in them."""
    anchors = {
        name: Anchor(document=name, quote=TEXTS[name].strip().rpartition("\n")[2] if quotes else "")
        for name in TEXTS
    }
    return be.Benchmark(
        "handbook",
        tuple(Document(name, text) for name, text in TEXTS.items()),
        tuple(Query(f"q-{name}", text) for name, text in QUESTIONS.items()),
        tuple(Judgment(f"q-{name}", anchor, 1) for name, anchor in anchors.items()),
    )


def score(provider: Any, folder: Path, **options: Any) -> float:
    """Return the reciprocal rank of a provider on the handbook."""
    result = be.run_benchmark(handbook(**options), [provider], ["RR"], folder=folder)
    record = result.record.providers[0]
    assert not record.failure, record.failure
    assert set(record.outcomes) <= {"ok"}, record.outcomes
    assert record.scores is not None
    return record.scores.mean["RR"]


def failure(provider: Any, folder: Path) -> str:
    """Return why there are no scores."""
    result = be.run_benchmark(handbook(), [provider], ["RR"], folder=folder)
    return result.record.providers[0].failure
