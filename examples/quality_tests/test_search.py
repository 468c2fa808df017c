"""Quality tests of a search: run with `pytest examples/quality_tests --eval`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from berryeval.pytest_plugin.evaluation import Evaluation

RULES = Path(__file__).with_name("berryeval.yaml")
pytestmark = pytest.mark.eval


def test_the_search_is_good_enough(evaluation: Evaluation) -> None:
    """The rules of berryeval.yaml hold."""
    result = evaluation.run("technical-docs", providers=["bm25"])
    evaluation.check(result, RULES)


def test_larger_chunks_do_not_hurt(evaluation: Evaluation) -> None:
    """Other chunks may be used where they are no worse than this."""
    result = evaluation.run("technical-docs", providers=["bm25:fixed-400"])
    evaluation.check(result, {"nDCG@10": 0.38, "RR": 0.7})


def test_both_find_something_for_every_query(evaluation: Evaluation) -> None:
    """The run of the first test is used again: equal arguments, one run."""
    result = evaluation.run("technical-docs", providers=["bm25"])
    assert result["bm25"].outcomes == {"ok": len(result.queries)}
