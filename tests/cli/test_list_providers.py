"""`berryeval list providers`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from berryeval.providers import PROVIDERS
from tests.cli.eval_world import berryeval

if TYPE_CHECKING:
    import pytest


def test_every_provider_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """With what it does and its options."""
    assert berryeval("list", "providers") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["provider", "what", "options"]
    assert [line.split()[0].rstrip(",") for line in lines[1:]] == list(PROVIDERS)
    assert "k1, b, " in next(line for line in lines if line.startswith("bm25"))


def test_every_provider_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The same facts in the envelope."""
    assert berryeval("list", "providers", "--json") == 0
    found = json.loads(capsys.readouterr().out)["data"]["providers"]
    assert [one["name"] for one in found] == list(PROVIDERS)
    assert all(one["what"] for one in found)
    assert "pgvector" in next(one["aliases"] for one in found if one["name"] == "postgres")
