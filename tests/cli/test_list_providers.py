"""`berryeval list providers`: every provider, for people and for machines."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from berryeval.cli.app import build_app, run
from berryeval.errors import ConfigurationError
from berryeval.providers import PROVIDERS, make_provider

if TYPE_CHECKING:
    import pytest


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    """A line per provider: names, whether it is installed, what it is, options."""
    assert run(build_app(), ["list", "providers"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["provider", "other", "names", "installed", "what", "options"]
    assert [line.split()[0] for line in lines[1:]] == list(PROVIDERS)
    (chroma,) = [line for line in lines if line.startswith("chroma ")]
    assert " ".join(chroma.split()) == (
        "chroma chromadb yes Vectors in an embedded Chroma, in a collection that is deleted at the "
        "end. path='', embedder='wordllama', embedder_options={}, ef_search=100, "
        "ef_construction=100, max_neighbors=16"
    )


def test_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The same facts in the envelope; what it says can be used as it is."""
    assert run(build_app(), ["list", "providers", "--json"]) == 0
    envelope = json.loads(capsys.readouterr().out)
    assert envelope["command"] == "list providers"
    found = {facts["name"]: facts for facts in envelope["data"]["providers"]}
    assert list(found) == list(PROVIDERS)
    assert found["dense"] == {
        "name": "dense",
        "aliases": [],
        "summary": "Every chunk and every query a vector; the hits are the nearest by angle.",
        "options": [
            {
                "name": "embedder",
                "required": False,
                "default": "wordllama",
                "description": "who makes vectors of texts.",
            },
            {
                "name": "embedder_options",
                "required": False,
                "default": {},
                "description": "what the embedder is made with.",
            },
            {
                "name": "feedback",
                "required": False,
                "default": 0,
                "description": "how many of the best chunks the query is moved towards; "
                "0 for none.",
            },
        ],
        "extra": "dense",
        "installed": True,
        "missing": [],
    }
    for name, facts in found.items():
        assert facts["installed"] or name == "llamaindex"  # 200 MB that the tests do without
        options = {option["name"]: option["default"] for option in facts["options"]}
        with suppress(ConfigurationError):  # some cannot be made without an address
            make_provider(name, options).close()
