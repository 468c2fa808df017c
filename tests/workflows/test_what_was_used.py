"""The record names what a run used: its chunker, and the versions of its libraries."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from importlib import metadata
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
import tests.workflows.scripted  # noqa: F401 - registers the provider
from berryeval.chunkers.catalogue import CHUNKERS
from berryeval.data.records import Anchor, Document, Judgment, Query
from berryeval.errors import DataError
from berryeval.providers.catalogue import PROVIDERS
from berryeval.workflows.library_versions import find_versions
from berryeval.workflows.plan import ProviderSpec
from berryeval.workflows.rescoring import rescore_by_benchmark, save_rescored
from berryeval.workflows.run_finder import find_run
from berryeval.workflows.run_folder import RunFolder
from berryeval.workflows.systems import Candidate, Source, check_comparable
from tests.workflows.worlds import benchmark, plan_of, results_of

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.workflows.run_finder import FoundRun

TEXT = "Apples are red. Pears are green. Plums are blue. Figs are brown. Limes are sour."
SPEC = {"type": "bm25", "name": "bm25", "chunker": ""}


def suggesting(folder: Path, chunker: str) -> str:
    """Build a benchmark of one long text with judged parts that suggests a chunker."""
    made = be.Benchmark(
        "fruit",
        documents=(Document("d", TEXT), Document("e", "Nothing of it.")),
        queries=(Query("q0", "green pears"), Query("q1", "sour limes")),
        judgments=(
            Judgment("q0", Anchor(document="d", quote="Pears are green."), 1),
            Judgment("q1", Anchor(document="d", quote="Limes are sour."), 1),
        ),
        metadata={"chunker": chunker},
    )
    shutil.rmtree(folder / "fruit", ignore_errors=True)
    be.write_benchmark(made, folder / "fruit")
    return str(folder / "fruit")


def run_of(tmp_path: Path, chunker: str = "fixed-20", *, older: bool = False) -> FoundRun:
    """Run the suggested chunker; an older version does not record it."""
    source = suggesting(tmp_path, chunker)
    results_of(plan_of(source, SPEC, metrics=["nDCG@5"]), tmp_path / "run")
    if older:
        file = tmp_path / "run" / "run.json"
        data = json.loads(file.read_text(encoding="utf-8"))
        del data["benchmarks"][0]["providers"][0]["chunker"]
        file.write_text(json.dumps(data), encoding="utf-8")
    return find_run(str(tmp_path / "run"))


def test_the_chunker_of_the_benchmark_is_recorded(tmp_path: Path) -> None:
    source = suggesting(tmp_path, "fixed-20")
    specs: list[dict[str, Any]] = [SPEC, {**SPEC, "name": "own", "chunker": "whole"}]
    broken = {"type": "scripted", "name": "b", "chunker": "", "options": {"index_fault": "raise"}}
    found = results_of(plan_of(source, *specs, broken), tmp_path / "run")
    assert {name: one.record.chunker for name, one in found.items()} == {
        "bm25": "fixed-20", "own": "whole", "b": "fixed-20",
    }  # fmt: skip
    made = be.load_benchmark(source)
    shutil.rmtree(source)
    bare = replace(
        made,
        documents=(),
        metadata={},
        judgments=tuple(Judgment(f"q{n}", Anchor(document="d"), 1) for n in range(2)),
    )
    be.write_benchmark(bare, source)
    other = {"type": "scripted", "name": "s", "chunker": ""}  # it needs no documents
    assert results_of(plan_of(source, other), tmp_path / "bare")["s"].record.chunker == ""


@pytest.mark.parametrize("older", [False, True])
def test_a_run_is_judged_again_by_the_chunker_it_used(tmp_path: Path, older: bool) -> None:
    """Even if the benchmark suggests another one now."""
    found = run_of(tmp_path, older=older)
    suggesting(tmp_path, "whole")
    (part,) = rescore_by_benchmark(found, ["nDCG@5", "RR@5"])
    before = found.record["fruit"]["bm25"].scores
    assert before is not None
    assert part.scores["bm25"].per_query("nDCG@5") == before.per_query("nDCG@5")
    assert (part.notes, part.differing) == ((), ())
    save_rescored(found, [part], None)
    after = find_run(str(tmp_path / "run")).record["fruit"]["bm25"].scores
    assert after is not None
    assert after.metrics == ("nDCG@5", "RR@5")


def test_nothing_is_saved_if_recorded_metrics_differ(tmp_path: Path) -> None:
    """An older record alone does not name its chunker."""
    found = replace(run_of(tmp_path, older=True), folder=None)
    suggesting(tmp_path, "whole")
    (part,) = rescore_by_benchmark(found, ["AP"])
    assert part.differing == ("bm25",)
    assert any("differ from the recorded values" in note for note in part.notes)
    with pytest.raises(DataError, match="those of bm25 differ: nothing was saved"):
        save_rescored(found, [part], str(tmp_path / "runs.db"))
    assert not (tmp_path / "runs.db").exists()


@pytest.mark.parametrize(
    ("chunkers", "warning"),
    [
        (("section", "section"), ""),
        (("fixed-100-tokens", "fixed-tokens-100"), ""),
        (
            ("section", "fixed-400"),
            "documents were not chunked alike (a: section, b: fixed-400)",
        ),
        (
            ("", "whole"),
            "not have been chunked alike (a: as the benchmark suggested, b: whole)",
        ),
        (("theirs-1", "theirs-2"), "were not chunked alike (a: theirs-1, b: theirs-2)"),
    ],
)
def test_different_chunkers_are_a_warning(
    tmp_path: Path, chunkers: tuple[str, str], warning: str
) -> None:
    found = run_of(tmp_path)
    part = found.record["fruit"]
    both = [
        Candidate(label, Source(label, found.record), part, replace(part["bm25"], chunker=chunker))
        for label, chunker in zip("ab", chunkers, strict=True)
    ]
    told = [text for text in check_comparable(both) if "chunked alike" in text]
    assert bool(told) == bool(warning)
    assert warning in "".join(told)


@pytest.mark.parametrize(
    ("now", "warning"), [("fixed-20", ""), ("whole", "were not chunked alike")]
)
def test_the_folder_of_an_older_run_names_its_chunker(
    tmp_path: Path, now: str, warning: str
) -> None:
    run_of(tmp_path, older=True)
    source = Source.find(str(tmp_path / "run"))
    part = source.run["fruit"]
    newer = replace(part["bm25"], chunker=now)
    both = [
        Candidate("a", source, part, part["bm25"]),
        Candidate("b", Source("b", source.run), part, newer),
    ]
    told = [text for text in check_comparable(both) if "chunked alike" in text]
    assert bool(told) == bool(warning)
    assert warning in "".join(told)


def test_a_run_that_asks_nothing_keeps_its_versions(tmp_path: Path) -> None:
    source = benchmark(tmp_path, 3)
    failing = {"type": "scripted", "name": "s", "options": {"faults": {"q1": "raise"}}}
    plan = plan_of(source, {"type": "bm25"}, failing)
    results_of(plan, tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    made = folder.read_record()
    assert made.versions["bm25s"] == metadata.version("bm25s")
    old = {**made.versions, "bm25s": "0.0.1", "gone": "1"}
    folder.write_record(replace(made, versions=old))
    results_of(plan, tmp_path / "run")
    assert folder.read_record().versions == old
    results_of(plan, tmp_path / "run", retry_errors=True)
    assert folder.read_record().versions == {**made.versions, "gone": "1"}


def test_a_damaged_record_is_rewritten(tmp_path: Path) -> None:
    plan = plan_of(benchmark(tmp_path, 3), {"type": "bm25"})
    results_of(plan, tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    made = folder.read_record()
    folder.record_file.write_text("{", encoding="utf-8")
    results_of(plan, tmp_path / "run")
    assert folder.read_record().versions == made.versions


@pytest.mark.parametrize(
    ("spec", "chunker", "packages"),
    [
        ({"type": "bm25"}, "section", ["bm25s", "snowballstemmer"]),
        ({"type": "run-file", "options": {"path": "x"}}, "whole", []),
        ({"type": "http"}, "", ["httpx"]),
        ({"type": "opensearch", "options": {"embedder": "openai"}}, "", ["httpx"]),
        ({"type": "dense"}, "chonkie-token-100", ["chonkie", "wordllama"]),
        ({"type": "sqlite"}, "", ["apsw", "sqlite-vec", "wordllama"]),
        ({"type": "sqlite", "options": {"mode": "text"}}, "", ["apsw"]),
        (
            {"type": "sqlite", "options": {"mode": "vector"}},
            "",
            ["apsw", "sqlite-vec", "wordllama"],
        ),
        ({"type": "lance", "options": {"mode": "text"}}, "", ["lancedb"]),
        ({"type": "pgvector", "options": {"mode": "text"}}, "", ["psycopg"]),
        ({"type": "opensearch"}, "", ["httpx"]),
        ({"type": "opensearch", "options": {"mode": "hybrid"}}, "", ["httpx", "wordllama"]),
        ({"type": "hybrid"}, "", ["bm25s", "snowballstemmer", "wordllama"]),
        (
            {"type": "hybrid", "options": {"providers": ["bm25", {"type": "http"}]}},
            "",
            ["bm25s", "httpx", "snowballstemmer"],
        ),
        (
            {
                "type": "hybrid",
                "options": {"providers": ["dense"], "options": {"dense": {"embedder": "openai"}}},
            },
            "",
            ["httpx"],
        ),
        ({"type": "dense", "options": {"embedder": "of-somebody"}}, "", []),
        (
            {"type": "rerank", "options": {"provider": "sqlite", "reranker": {"type": "http"}}},
            "",
            ["apsw", "httpx", "sqlite-vec", "wordllama"],
        ),
    ],
)
def test_versions_cover_only_libraries_in_use(
    spec: dict[str, Any], chunker: str, packages: list[str]
) -> None:
    found = find_versions([ProviderSpec.model_validate(spec)], [chunker])
    assert list(found) == ["berryeval", "python", *sorted(["numpy", *packages])]


def test_loaded_libraries_are_listed_for_custom_providers() -> None:
    import bm25s  # noqa: F401 - loads it

    assert "bm25s" in find_versions([ProviderSpec.model_validate("callable")])


def test_every_provider_and_chunker_has_its_libraries() -> None:
    from berryeval.providers.embedders.base import EMBEDDERS
    from berryeval.workflows import library_versions as versions

    # Other tests may have registered their own.
    ours = {name for name in PROVIDERS if PROVIDERS.get(name).__module__.startswith("berryeval.")}
    # what they search with
    of_others = {"callable", "langchain", "llamaindex", "haystack", "dspy"}
    assert ours - of_others == set(versions._PROVIDERS)
    assert set(EMBEDDERS) == set(versions._EMBEDDERS)
    assert set(versions._CHUNKERS) == set(CHUNKERS) - {"fixed", "sentence", "section", "whole"}
