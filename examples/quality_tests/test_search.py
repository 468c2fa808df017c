"""Quality tests of a search: run with `pytest examples/quality_tests --eval`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from berryeval.pytest_plugin.quality import Evaluation

RULES = Path(__file__).with_name("berryeval.yaml")
pytestmark = pytest.mark.eval


def test_the_search_is_good_enough(evaluation: Evaluation) -> None:
    """Check the rules of berryeval.yaml."""
    result = evaluation.run("technical-docs", providers=["bm25"])
    evaluation.check(result, RULES)


def test_larger_chunks_do_not_hurt(evaluation: Evaluation) -> None:
    """Check the lowest scores for other chunks."""
    result = evaluation.run("technical-docs", providers=["bm25:fixed-400"])
    evaluation.check(result, {"nDCG@10": 0.38, "RR": 0.7})


def test_both_find_something_for_every_query(evaluation: Evaluation) -> None:
    """Reuses the run of the first test: equal arguments run once."""
    result = evaluation.run("technical-docs", providers=["bm25"])
    assert result["bm25"].outcomes == {"ok": len(result.queries)}
