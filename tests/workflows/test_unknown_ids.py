"""Ids that the benchmark does not have: counted, explained, cured, and never a quiet zero."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval.cli.app import build_app, run
from berryeval.data.records import Anchor, Document, Hit, Judgment, Query
from berryeval.errors import BerryEvalError, ConfigurationError, RunFailedError
from berryeval.relevance.foreign_ids import IdRules, explain_ids, find_cure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES = ("argparse", "asyncio", "csv", "json", "zlib")
QUERIES = tuple(Query(f"q-{name}", f"how do I use {name}") for name in NAMES)
JUDGMENTS = tuple(Judgment(f"q-{name}", Anchor(document=name), 1) for name in NAMES)
LIBRARY = be.Benchmark(
    "library",
    documents=tuple(Document(name, f"# {name}\n\nAll about {name}.") for name in NAMES),
    queries=QUERIES,
    judgments=JUDGMENTS,
)


def finder(change: Callable[[str], str]) -> Callable[[str, int], list[str]]:
    """Return a search that finds the right document under a changed id."""

    def search(text: str, k: int) -> list[str]:
        wanted = text.rsplit(maxsplit=1)[-1]
        return [change(name) for name in sorted(NAMES, key=lambda one: one != wanted)][:k]

    return search


def run_one(change: Callable[[str], str], benchmark: Any = LIBRARY, **spec: Any) -> Any:
    """Run the search with these settings of the provider."""
    provider = {"type": "callable", "name": "s", "options": {"function": finder(change)}, **spec}
    return be.run_benchmark(benchmark, [provider], ["RR"], k=3)["s"]


CHANGES: list[tuple[Callable[[str], str], str, Any]] = [
    (
        lambda name: f"{name}.md",
        "'argparse.md' returned; the benchmark has 'argparse'",
        "extension",
    ),
    (lambda name: f"docs/{name}", "'docs/argparse' returned", "path"),
    (lambda name: f"/srv/docs/{name}.rst", "'/srv/docs/argparse.rst'", ["path", "extension"]),
    (str.upper, "'ARGPARSE' returned", "case"),
    (lambda name: f"{name}_chunk_3", "'argparse_chunk_3' returned", "chunk"),
    (lambda name: f"v2:{name}", "'v2:argparse' returned", "v2:"),
]


@pytest.mark.parametrize(
    ("change", "example", "cure"), CHANGES, ids=[str(one[2]) for one in CHANGES]
)
def test_wrong_ids_fail_the_provider_and_name_the_cure(
    change: Callable[[str], str], example: str, cure: Any
) -> None:
    """The suggested line is right: with it, the same search is perfect."""
    failed = run_one(change)
    assert failed.failure.startswith("none of 15 retrieved ids is in the benchmark, so there is no")
    assert example in failed.failure
    words = [cure] if isinstance(cure, str) else cure
    suggested = failed.failure.partition("(strip: [")[2].partition("]")[0]
    assert [word.strip("'") for word in suggested.split(", ")] == words
    with pytest.raises(RunFailedError, match="none of 15 retrieved ids"):
        _ = failed.scores
    assert failed.record.unknown_ids["count"] == 15
    cured = run_one(change, strip=cure)
    assert (cured.failure, cured.warnings) == ("", ())
    assert cured.scores.mean["RR"] == 1.0


def test_a_map_of_ids_cures_anything(tmp_path: Path) -> None:
    numbers = {name: str(number) for number, name in enumerate(NAMES)}
    failed = run_one(numbers.__getitem__)
    assert "'0', '4', '3'" in failed.failure or "'0', '1', '2'" in failed.failure
    assert "is it a search over other documents? If not, map the ids (id_map)" in failed.failure
    back = {number: name for name, number in numbers.items()}
    assert run_one(numbers.__getitem__, id_map=back).scores.mean["RR"] == 1.0
    file = tmp_path / "ids.json"
    file.write_text(json.dumps(back), encoding="utf-8")
    assert run_one(numbers.__getitem__, id_map=str(file)).scores.mean["RR"] == 1.0
    file.write_text('{"0": 7}', encoding="utf-8")
    with pytest.raises(BerryEvalError, match=r"'0' must map to an id, found 7"):
        run_one(numbers.__getitem__, id_map=str(file))


def test_a_removed_document_that_a_stale_index_still_finds_is_not_relevant() -> None:
    kept = tuple(one for one in LIBRARY.documents if one.id != "csv")
    whole = run_one(str)
    stale = run_one(str, replace(LIBRARY, documents=kept))
    assert whole.scores.mean["RR"] == 1.0
    assert stale.scores.mean["RR"] == pytest.approx(1 - 1 / len(LIBRARY.queries))
    words = "retrieved ids are not in the benchmark, and cannot be relevant: 'csv' returned;"
    assert [words in one for one in stale.warnings].count(True) == 1
    assert stale.record.unknown_ids["count"] == 3


@pytest.mark.parametrize(("levels", "said"), [(49, False), (50, True), (60, True), (3000, True)])
def test_metadata_nested_too_deep_is_a_warning(levels: int, said: bool) -> None:
    inner: Any = "x"
    for _ in range(levels):
        inner = [inner]

    def search(text: str, k: int) -> list[Hit]:
        deep = {"a": {"b": "..."}, "in": inner} if "csv" in text else {"in": ["..."]}
        return [Hit(name, metadata=deep) for name in finder(str)(text, k)]

    one = {"type": "callable", "options": {"function": search}}
    (found,) = be.run_benchmark(LIBRARY, [one], ["RR"], k=3).providers
    words = "returned metadata nested deeper than 50 levels in 1 query; what is deeper was left out"
    assert found.warnings == ((words,) if said else ())


def test_no_cure_is_made_of_a_masked_id() -> None:
    assert find_cure(["fig-***"], ["fig"]) == ((), "", "")
    said = "'fig-***' returned; the benchmark has 'fig'; is it a search over other documents?"
    assert explain_ids(["fig-***"], ["fig"]) == said
    assert find_cure(["fig-***", "fig.md"], ["fig"]) == (("extension",), "fig.md", "fig")


def test_some_wrong_ids_are_a_warning_also_beside_a_gate() -> None:
    result = run_one(lambda name: name if name != "csv" else "csv.md")
    assert result.failure == ""
    (warning,) = result.warnings
    assert warning == (
        "3 of 15 retrieved ids are not in the benchmark, and cannot be relevant: 'csv.md' returned;"
        " the benchmark has 'csv'; the ids have a file extension (strip: [extension])"
    )
    one = {"type": "callable", "options": {"function": finder(lambda name: name[:4])}}
    mixed = be.run_benchmark(LIBRARY, [one], ["RR"], thresholds={"RR": 0.1})
    (verdict,) = mixed.verdicts
    assert verdict.status == "pass"
    assert verdict.sentence.endswith("; 10 of 25 retrieved ids are not in the benchmark")


def test_a_gate_over_wrong_ids_fails() -> None:
    provider = {"type": "callable", "name": "s", "options": {"function": finder(str.upper)}}
    result = be.run_benchmark(
        LIBRARY, [provider], ["RR"], gate={"rules": [{"latency": "p95", "at_most": 60}]}
    )
    (verdict,) = result.verdicts
    assert verdict.status == "fail"
    assert "none of 25 retrieved ids is in the benchmark" in verdict.sentence


def test_the_commands_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    be.write_benchmark(LIBRARY, tmp_path / "library")
    ranked = {f"q-{name}": {f"{name}.md": 1.0} for name in NAMES}
    be.Run.from_dict(ranked, name="mine").to_trec("mine.trec")
    text = (
        "benchmarks: [library]\nproviders:\n- type: run-file\n  name: mine\n"
        "  options: {path: mine.trec}\nstore: none\n"
    )
    (tmp_path / "berryeval.yaml").write_text(text, encoding="utf-8")
    assert run(build_app(), ["eval", "-o", "wrong", "--export", "html", "markdown"]) == 3
    said = " ".join(capsys.readouterr().out.split())
    cause = "'argparse.md' returned; the benchmark has 'argparse'"
    assert (
        f"failed: mine: none of 5 retrieved ids is in the benchmark, so there is no score: {cause}"
        in said
    )
    assert "--resume" not in said
    for file in ("*.md", "*.html"):
        (report,) = (tmp_path / "wrong").rglob(file)
        shown = html.unescape(report.read_text(encoding="utf-8").replace("\\", ""))
        assert cause in shown
    record = json.loads((tmp_path / "wrong" / "run.json").read_bytes())
    assert record["benchmarks"][0]["providers"][0]["unknown_ids"]["count"] == 5
    assert run(build_app(), ["eval", "-o", "json", "--json"]) == 3
    (part,) = json.loads(capsys.readouterr().out)["data"]["benchmarks"]
    (found,) = part["providers"]
    assert (found["scores"], found["unknown_ids"]["examples"][0]) == (None, "argparse.md")
    (tmp_path / "berryeval.yaml").write_text(
        text.replace("  name: mine\n", "  name: mine\n  strip: extension\n"), encoding="utf-8"
    )
    assert run(build_app(), ["eval", "-o", "right"]) == 0
    capsys.readouterr()


JUDGED_ONLY = be.Benchmark("judged", documents=(), queries=QUERIES, judgments=JUDGMENTS)


def test_a_benchmark_of_judgments_alone_knows_only_what_is_judged() -> None:
    """Unjudged documents are normal there; ids of which none is judged are not."""
    rightly = run_one(
        lambda name: name if name != "csv" else "a-document-without-judgment", JUDGED_ONLY
    )
    assert (rightly.failure, rightly.record.unknown_ids) == ("", {})
    other = run_one(lambda name: f"x{len(name)}", JUDGED_ONLY)
    assert other.failure == ""
    assert other.scores.mean["RR"] == 0
    assert (
        "is judged for any query, so the scores say nothing about the search" in other.warnings[0]
    )
    wrong = run_one(lambda name: f"{name}.md", JUDGED_ONLY)
    assert "'argparse.md' returned; the benchmark has 'argparse'" in wrong.failure
    assert run_one(lambda name: f"{name}.md", JUDGED_ONLY, strip=[".md"]).scores.mean["RR"] == 1.0


def test_hits_that_match_by_document_or_text_have_ids_of_their_own() -> None:
    def search(text: str, k: int) -> list[Hit]:
        wanted = text.rsplit(maxsplit=1)[-1]
        ranked = sorted(NAMES, key=lambda one: one != wanted)
        return [Hit(f"uuid-{n}", doc_id=name) for n, name in enumerate(ranked[:k])]

    one = be.run_benchmark(LIBRARY, {"s": search}, ["RR"])["s"]
    assert (one.failure, one.record.unknown_ids, one.scores.mean["RR"]) == ("", {}, 1.0)


def test_foreign_hits_judged_by_words_are_not_counted() -> None:
    def search(text: str, k: int) -> list[Hit]:
        return [Hit(f"uuid-{n}", text=text) for n in range(k)]

    one = be.run_benchmark("rag-template", {"s": search}, ["RR"])["s"]
    assert (one.failure, one.record.unknown_ids) == ("", {})


@pytest.mark.parametrize("provider", ["bm25", "bm25:fixed-400", "bm25:whole"])
def test_bundled_providers_have_no_unknown_ids(provider: str) -> None:
    for benchmark in ("technical-docs", "rag-template"):
        one = be.run_benchmark(benchmark, [provider], ["RR"], limit=10)[provider]
        assert one.record.unknown_ids == {}


def test_ids_that_the_benchmark_has_are_never_rewritten() -> None:
    rules = IdRules({"a": "b"}, ("chunk", "extension"), {"MED-14", "MED", "x.md"})
    assert [rules.rename(one) for one in ("MED-14", "x.md", "a", "MED-14#2", "other.md")] == [
        "MED-14", "x.md", "b", "MED-14", "other.md"
    ]  # fmt: skip


def test_longer_ids_of_the_benchmark_need_a_map() -> None:
    assert explain_ids(["argparse"], {"docs/argparse.md"}) == (
        "'argparse' returned; the benchmark has 'docs/argparse.md'; return these ids, or map yours "
        "(id_map)"
    )


def test_nested_folders_find_their_own_partner() -> None:
    known = {"a/x": 1, "b/x": 1}
    cure, theirs, ours = find_cure(["/srv/a/x.md"], known)
    assert (cure, theirs, ours) == (("/srv/", "extension"), "/srv/a/x.md", "a/x")
    assert IdRules(strip=cure, known=known).rename("/srv/b/x.md") == "b/x"
    assert find_cure(["a/x"], {"/srv/a/x.md": 1, "/srv/b/x.md": 1}) == ((), "a/x", "/srv/a/x.md")


@pytest.mark.parametrize(
    ("strip", "message"),
    [
        ("Extension", r"strip.*found 'Extension'; did you mean 'extension'\?"),
        (["path", "extensions"], r"strip.*found 'extensions'; did you mean 'extension'\?"),
        ("", r"strip.*a text at the beginning or end of ids, found ''"),
    ],
)
def test_misspelt_words_to_strip_are_refused(strip: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        run_one(str, strip=strip)


def test_a_text_to_strip_that_no_id_has_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    assert run_one(lambda name: f"v2:{name}", strip=["v2:", "bogus"]).scores.mean["RR"] == 1.0
    (line,) = (one.getMessage() for one in caplog.records if "strip" in one.getMessage())
    assert line.startswith("s: strip: no id outside the benchmark begins or ends with 'bogus'")


PARTS = replace(
    LIBRARY,
    judgments=tuple(
        Judgment(f"q-{name}", Anchor(document=name, section=(name,)), 1) for name in NAMES
    ),
)


def ask_for_parts(hit: Callable[[str], Hit]) -> Any:
    """Run a search of the benchmark whose judgments are of sections."""

    def search(text: str, k: int) -> list[Hit]:
        return [hit(name) for name in NAMES if text][:k]

    return be.run_benchmark(PARTS, {"s": search}, ["RR"], k=5)["s"]


NO_PLACE = (
    "none of 25 hits has a text, a section or a position, and the judgments are of parts of "
    "documents, so nothing can be relevant; return them beside the document"
)
NO_DOCUMENT = (
    "none of 25 hits is in a document of the benchmark, so nothing can be relevant: "
    "'page-argparse' is the document of one, and the benchmark has 'argparse'; return these ids as "
    "documents, or none"
)


@pytest.mark.parametrize(
    ("hit", "warning"),
    [
        (lambda name: Hit(f"row-{name}", 0.0, doc_id=name), NO_PLACE),
        (lambda name: Hit(name, 0.0, doc_id=f"page-{name}"), NO_DOCUMENT),
    ],
)
def test_hits_whose_place_cannot_be_known_are_no_quiet_zero(
    hit: Callable[[str], Hit], warning: str
) -> None:
    """Known ids do not suffice where parts of documents are judged, and a warning says so."""
    result = ask_for_parts(hit)
    assert result.scores.mean["RR"] == 0.0
    assert list(result.record.warnings) == [warning]
    found = {query.id: [hit(name) for name in NAMES] for query in PARTS.queries}
    assert be.evaluate_hits(PARTS, found, ["RR"]).notes == (warning,)


@pytest.mark.parametrize(
    "hit",
    [
        lambda name: Hit(f"row-{name}", 0.0, doc_id=name, text=f"All about {name}."),
        lambda name: Hit(f"row-{name}", 0.0, doc_id=name, text="something else"),
        lambda name: Hit(f"row-{name}", 0.0, doc_id=name, section=(name,)),
        lambda name: Hit(name, 0.0),
    ],
)
def test_hits_with_a_place_are_not_warned_about(hit: Callable[[str], Hit]) -> None:
    """A text, a section or the id of a whole document gives a hit its place."""
    assert not ask_for_parts(hit).record.warnings
