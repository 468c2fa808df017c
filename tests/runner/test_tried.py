"""The number of attempts in error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data.records import Query
from berryeval.errors import ProviderError
from berryeval.providers.catalogue import build_provider
from berryeval.runner.asking import ask_all
from berryeval.runner.attempts import Policy

if TYPE_CHECKING:
    from berryeval.runner.outcome import Ranking


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ProviderError("busy", passing=True), "ProviderError: busy (tried 3 times)"),
        (ConnectionRefusedError("nobody"), "ConnectionRefusedError: nobody (tried 3 times)"),
        (ValueError("wrong"), "ValueError: wrong"),
    ],
)
def test_an_error_reports_the_number_of_attempts_once(error: Exception, expected: str) -> None:
    def search(text: str, k: int) -> Any:
        assert text
        assert k
        raise error

    rankings: list[Ranking] = []
    policy = Policy(attempts=3, first_wait=0.0, warm_up=0, error_budget=1.0)
    ask_all(build_provider(search), [Query("q", "text")], 5, rankings.append, policy)
    assert [one.error for one in rankings] == [expected]
