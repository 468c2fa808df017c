"""`berryeval list providers`, as a table and as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress

from berryeval.errors import ConfigurationError
from berryeval.providers.catalogue import PROVIDERS, build_provider


def listed(*flags: str) -> str:
    """What the command prints, in a process that knows only the bundled providers."""
    command = [sys.executable, "-m", "berryeval", "list", "providers", *flags]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "400"}
    )
    return done.stdout


def bundled() -> list[str]:
    """The names of the providers that come with us; tests of other things add their own."""
    return [name for name in PROVIDERS if PROVIDERS.get(name).__module__.startswith("berryeval.")]


def test_providers_are_listed_in_a_table() -> None:
    lines = listed().splitlines()
    assert lines[0].split() == ["provider", "other", "names", "installed", "what", "options"]
    assert [line.split()[0] for line in lines[1:]] == bundled()
    (chroma,) = [line for line in lines if line.startswith("chroma ")]
    assert " ".join(chroma.split()) == (
        "chroma chromadb yes Vectors in an embedded Chroma database, in a temporary collection. "
        "path='', ef_search=100, ef_construction=100, max_neighbors=16, "
        "embedder='wordllama', embedder_options={}, existing={}"
    )


def test_providers_are_listed_as_json() -> None:
    envelope = json.loads(listed("--json"))
    assert envelope["command"] == "list providers"
    found = {facts["name"]: facts for facts in envelope["data"]["providers"]}
    assert list(found) == bundled()
    assert found["dense"] == {
        "name": "dense",
        "aliases": [],
        "summary": "Nearest chunks by cosine similarity of embeddings.",
        "options": [
            {
                "name": "embedder",
                "required": False,
                "default": "wordllama",
                "description": "Name of the embedder.",
            },
            {
                "name": "embedder_options",
                "required": False,
                "default": {},
                "description": "Options of the embedder.",
            },
            {
                "name": "feedback",
                "required": False,
                "default": 0,
                "description": "Number of top chunks towards which the query vector is moved; "
                "0 for none.",
            },
        ],
        "extra": "dense",
        "installed": True,
        "missing": [],
    }
    for name, facts in found.items():
        assert facts["installed"] or facts["missing"] == ["sentence_transformers"], name
        options = {option["name"]: option["default"] for option in facts["options"]}
        with suppress(ConfigurationError):  # some cannot be made without an address
            build_provider(name, options).close()
