"""Datasets of ir_datasets and the Hugging Face Hub, by the real packages, without a network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import datasets
import ir_datasets
import pytest

import berryeval as be
from berryeval.benchmarks import find_named
from berryeval.benchmarks.named_data import LazyDocuments
from berryeval.cli.app import build_app
from berryeval.cli.app import run as run_command
from berryeval.errors import BerryEvalError, ConfigurationError, DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENTS = {
    "d1": "Steep green tea at 80 degrees.",
    "d2": "Grind coffee beans shortly before brewing.",
    "d3": "Cocoa needs milk and patience.",
}
QUERIES = {"q1": "green tea degrees", "q2": "grind beans", "q3": "not judged"}
GRADES = [("q1", "d1", 2), ("q1", "d2", 0), ("q2", "d2", 1)]


def write_tsv(path: Path, rows: Any) -> str:
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), "utf-8")
    return str(path)


@pytest.fixture
def register(tmp_path: Path) -> Iterator[Any]:
    """A function that registers a small dataset in ir_datasets."""
    names = []

    def add(name: str, documents: Any = DOCUMENTS, grades: Any = GRADES, queries: Any = QUERIES):  # type: ignore[no-untyped-def] # noqa: ANN202
        folder = tmp_path / name.replace("/", "-")
        folder.mkdir()
        qrels = folder / "qrels"
        qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g in grades), "utf-8")
        dataset = ir_datasets.create_dataset(
            write_tsv(folder / "docs.tsv", documents.items()),
            write_tsv(folder / "queries.tsv", queries.items()) if queries else None,
            str(qrels) if grades else None,
        )
        ir_datasets.registry.register(name, dataset)
        names.append(name)
        return f"ir_datasets:{name}"

    yield add
    for name in names:
        del ir_datasets.registry._registered[name]


def test_a_dataset_of_ir_datasets_is_loaded_by_name(register: Any) -> None:
    """Queries and judgments load at once, the corpus when it is first needed."""
    found = be.load_benchmark(register("tests/tiny"))
    assert found.name == "tests-tiny"
    assert {query.id: query.text for query in found.queries} == {
        "q1": QUERIES["q1"], "q2": QUERIES["q2"],
    }  # fmt: skip
    grades = [(one.query_id, one.target.document, one.grade) for one in found.judgments]
    assert grades == GRADES
    assert "a query is skipped, without judgments" in found.remarks[0]
    assert isinstance(found.documents, LazyDocuments)
    assert not found.documents.is_loaded
    assert "documents not read" in repr(found)
    assert {one.id: one.text for one in found.documents} == DOCUMENTS
    assert found.documents.is_loaded


def test_all_queries_and_no_documents_can_be_chosen(register: Any) -> None:
    name = register("tests/options")
    found = be.load_benchmark(name, queries="all", documents="none")
    assert (len(found.queries), found.documents) == (3, ())
    with pytest.raises(ConfigurationError, match="documents must be"):
        be.load_benchmark(name, documents="some")


def test_a_dataset_is_evaluated(register: Any, tmp_path: Path) -> None:
    result = be.run_benchmark(register("tests/eval"), ["bm25"], ["RR"], folder=tmp_path / "run")
    scores = result.record.providers[0].scores
    assert scores is not None
    assert scores.mean["RR"] == 1.0


def test_a_configuration_file_names_a_dataset(register: Any, tmp_path: Path) -> None:
    """The name is not taken for a path beside the file."""
    name = register("tests/config")
    config = tmp_path / "berryeval.yaml"
    config.write_text(f"benchmarks: ['{name}']\nproviders: [bm25]\nmetrics: [RR]\n", "utf-8")
    words = ["eval", "--config", str(config), "--output", str(tmp_path / "run"), "--quiet"]
    assert run_command(build_app(), words) == 0
    assert (tmp_path / "run" / "run.json").exists()


def test_fields_of_topics_can_be_chosen(register: Any) -> None:
    """The title is the query; the description and the other fields are kept."""
    plain = register("tests/plain").partition(":")[2]

    class Topics(ir_datasets.formats.BaseQueries):  # type: ignore[misc]
        def queries_iter(self) -> Any:
            yield ir_datasets.formats.TrecQuery("q1", "tea", "How is tea made?", "Green only.")

        def queries_cls(self) -> Any:
            return ir_datasets.formats.TrecQuery

    base = ir_datasets.load(plain)
    ir_datasets.registry.register(
        "tests/topics", ir_datasets.Dataset(Topics(), base.qrels_handler(), base.docs_handler())
    )
    try:
        first = be.load_benchmark("ir_datasets:tests/topics").queries[0]
        assert (first.text, first.description) == ("tea", "How is tea made?")
        assert first.metadata == {"narrative": "Green only."}
        both = be.load_benchmark("ir_datasets:tests/topics", field="title+description").queries[0]
        assert both.text == "tea How is tea made?"
        with pytest.raises(DataError, match=r"no 'name'; their fields: title, description"):
            be.load_benchmark("ir_datasets:tests/topics", field="name")
    finally:
        del ir_datasets.registry._registered["tests/topics"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("beir/scifactt/test", "has no dataset 'beir/scifactt/test'; did you mean 'beir/scifact/t"),
        ("zzz", "`ir_datasets list` shows all"),
        ("beir/scifact", r"has no judgments; these have: beir/scifact/test, beir/scifact/train"),
    ],
)
def test_unknown_and_incomplete_names_are_errors(name: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        be.load_benchmark(f"ir_datasets:{name}")


def test_a_download_that_fails_is_one_line(tmp_path: Path) -> None:
    """Not the log of ir_datasets: the proxy of this process refuses every connection."""
    away = {"IR_DATASETS_HOME": str(tmp_path), "https_proxy": "http://127.0.0.1:9"}
    script = """
import berryeval as be
try:
    be.load_benchmark("ir_datasets:beir/scifact/test")
except be.errors.DataError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **away},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "cannot be read (" in done.stdout
    assert "download it once where there is a network" in done.stdout
    assert not done.stderr


def test_a_dataset_without_queries_or_judgments_is_an_error(register: Any) -> None:
    with pytest.raises(DataError, match="has no queries and no judgments"):
        be.load_benchmark(register("tests/bare", grades=(), queries={}))
    with pytest.raises(DataError, match="none of 1 query is judged: 'q1', 'q2' judged; the"):
        be.load_benchmark(register("tests/other", queries={"x9": "tea"}))


def test_judged_documents_outside_the_corpus_are_reported(
    register: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A warning if some are missing, an error if all are."""
    some = be.load_benchmark(register("tests/some", {"d1": "Tea.", "d3": "Cocoa."}))
    assert len(list(some.documents)) == 2
    assert "1 of 2 judged documents are not in the corpus, such as 'd2'" in caplog.text
    none = be.load_benchmark(register("tests/none", {"x1": "Tea."}))
    with pytest.raises(DataError, match="none of 2 judged documents is in the corpus"):
        list(none.documents)


@pytest.mark.parametrize("name", ["ir_datasets:", "hf:", "mteb: "])
def test_a_prefix_alone_is_no_name(name: str) -> None:
    assert not find_named(name)
    with pytest.raises(BerryEvalError, match=f"; datasets are named as {name.strip()}NAME"):
        be.load_benchmark(name)


def test_a_misspelt_prefix_is_suggested() -> None:
    with pytest.raises(DataError, match="datasets are named as ir_datasets:NAME"):
        be.load_benchmark("ir-datasets:beir/scifact/test")


# The layout of MTEB and BEIR on the Hugging Face Hub.

CORPUS = [{"_id": name, "title": "", "text": text} for name, text in DOCUMENTS.items()]
TOPICS = [{"_id": name, "text": text} for name, text in QUERIES.items()]
QRELS = [{"query-id": q, "corpus-id": d, "score": float(g)} for q, d, g in GRADES]
README = """---
configs:
- config_name: default
  data_files:
  - split: test
    path: judged/test-*
- config_name: corpus
  data_files:
  - split: corpus
    path: texts/corpus-*
- config_name: queries
  data_files: questions.parquet
---
# A small dataset
"""


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    datasets.Dataset.from_list(rows).to_parquet(str(path))


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


def write_repository(folder: Path) -> None:
    """Write a repository whose files have other names, which its README lists."""
    write_parquet(folder / "texts/corpus-00000-of-00002.parquet", CORPUS[:2])
    write_parquet(folder / "texts/corpus-00001-of-00002.parquet", CORPUS[2:])
    write_parquet(folder / "judged/test-00000-of-00001.parquet", QRELS)
    write_parquet(folder / "questions.parquet", TOPICS)
    (folder / "README.md").write_text(README, "utf-8")


def write_plain(folder: Path) -> None:
    write_parquet(folder / "corpus/corpus-00000-of-00001.parquet", CORPUS)
    write_parquet(folder / "queries/queries-00000-of-00001.parquet", TOPICS)
    write_parquet(folder / "data/test-00000-of-00001.parquet", QRELS)
    write_parquet(folder / "data/train-00000-of-00001.parquet", QRELS[:1])


def write_json(folder: Path) -> None:
    write_lines(folder / "corpus.jsonl", CORPUS)
    write_lines(folder / "queries.jsonl", TOPICS)
    write_lines(folder / "qrels/test.jsonl", QRELS)


def write_saved(folder: Path) -> None:
    parts = {"corpus": CORPUS, "queries": TOPICS}
    tables = {name: datasets.Dataset.from_list(rows) for name, rows in parts.items()}
    datasets.DatasetDict(tables).save_to_disk(str(folder))
    judged = datasets.DatasetDict({"test": datasets.Dataset.from_list(QRELS)})
    judged.save_to_disk(str(folder / "default"))


@pytest.mark.parametrize("write", [write_repository, write_plain, write_json, write_saved])
def test_a_folder_with_the_layout_is_recognized_and_loaded(write: Any, tmp_path: Path) -> None:
    write(tmp_path / "tiny")
    found = be.load_benchmark(tmp_path / "tiny")
    assert [query.id for query in found.queries] == ["q1", "q2"]
    assert [(j.query_id, j.target.document, j.grade) for j in found.judgments] == GRADES
    assert isinstance(found.documents, LazyDocuments)
    assert not found.documents.is_loaded
    assert {one.id: one.text for one in found.documents} == DOCUMENTS


def test_splits_are_chosen_by_name(tmp_path: Path) -> None:
    write_plain(tmp_path)
    assert len(be.load_benchmark(tmp_path, split="train").judgments) == 1
    with pytest.raises(DataError, match="no split 'dev'; there are test, train; choose one with"):
        be.load_benchmark(tmp_path, split="dev")


def test_a_corpus_of_which_a_part_is_missing_is_an_error(tmp_path: Path) -> None:
    write_repository(tmp_path)
    (tmp_path / "texts/corpus-00001-of-00002.parquet").unlink()
    with pytest.raises(DataError, match="found 1 of 2 parts; the copy is incomplete"):
        list(be.load_benchmark(tmp_path, format="hf").documents)


def test_a_missing_configuration_is_an_error(tmp_path: Path) -> None:
    write_plain(tmp_path)
    for file in (tmp_path / "queries").iterdir():
        file.unlink()
    with pytest.raises(DataError, match="has no queries; expected the configuration queries, fo"):
        be.load_benchmark(tmp_path, format="hf")


def test_a_folder_of_subsets_is_recognized_and_names_them(tmp_path: Path) -> None:
    """Configurations such as `en-corpus` need a subset, and no format."""
    for subset, topics in (("de", TOPICS[:1]), ("en", TOPICS)):
        write_lines(tmp_path / f"{subset}-corpus/corpus.jsonl", CORPUS)
        write_lines(tmp_path / f"{subset}-queries/queries.jsonl", topics)
        write_lines(tmp_path / f"{subset}-qrels/test.jsonl", QRELS)
    found = be.load_benchmark(tmp_path, subset="en")
    assert [query.id for query in found.queries] == ["q1", "q2"]
    with pytest.raises(DataError, match=r"has no judgments; .*; choose a subset of de, en: subset"):
        be.load_benchmark(tmp_path)
    with pytest.raises(DataError, match=r"expected the configuration fr-default .*: subset=de"):
        be.load_benchmark(tmp_path, subset="fr")


def test_titles_are_part_of_the_text(tmp_path: Path) -> None:
    write_json(tmp_path)
    write_lines(tmp_path / "corpus.jsonl", [{"_id": "d1", "title": "Tea", "text": "Green."}])
    first = be.load_benchmark(tmp_path).documents[0]
    assert (first.title, first.text) == ("Tea", "Tea Green.")


def run(script: str, **environment: str) -> str:
    """Run Python in a new process, since the packages read these variables when imported."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": "", **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Retrying" not in done.stderr  # which takes half a minute
    return done.stdout


ASK = """
import berryeval as be
import datasets, huggingface_hub
before = huggingface_hub.constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE
from berryeval.errors import BerryEvalError
for name in ("mteb:tiny", "hf:tests/arrow", "hf:tests/none"):
    try:
        found = be.load_benchmark(name)
        shown = repr(found)
        print(shown, sorted(one.id for one in found.documents))
    except BerryEvalError as error:
        print(error)
print(before == (huggingface_hub.constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE))
"""


@pytest.mark.parametrize(
    "environment", [{"HF_HUB_OFFLINE": "1"}, {"HF_ENDPOINT": "http://127.0.0.1:1"}], ids=str
)
def test_datasets_are_found_in_the_local_caches_without_a_network(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """In that of the Hub and that of `datasets`; what is in neither says at once what to do.

    The settings of the packages are afterwards as they were.
    """
    hub = tmp_path / "hub/datasets--mteb--tiny"
    commit = "0123456789abcdef0123456789abcdef01234567"
    write_repository(hub / "snapshots" / commit)
    (hub / "refs").mkdir()
    (hub / "refs/main").write_text(commit, "utf-8")
    write_repository(tmp_path / "arrow")
    cache = str(tmp_path / "datasets")
    for name in ("corpus", "queries", "default"):
        datasets.load_dataset_builder(
            str(tmp_path / "arrow"), name, cache_dir=cache
        ).download_and_prepare()
    (tmp_path / "datasets/arrow").rename(tmp_path / "datasets/tests___arrow")
    shown = run(ASK, HF_HOME=str(tmp_path), HF_DATASETS_CACHE=cache, **environment).splitlines()
    loaded = "documents not read, 2 queries, 3 judgments) ['d1', 'd2', 'd3']"
    assert shown[0] == f"Benchmark('tiny', {loaded}"
    assert shown[1] == f"Benchmark('tests-arrow', {loaded}"
    assert shown[2] == (
        "hf:tests/none: 'tests/none' is not in the local cache, and the Hub cannot be reached; "
        "download it once where there is a network, with `hf download tests/none --repo-type "
        "dataset`, or pass a folder that has a copy"
    )
    assert shown[3] == "True"


CACHED = """
import sys
from pathlib import Path
import berryeval as be
from berryeval.errors import BerryEvalError
from ir_datasets.datasets.beir import BeirTitleDoc
from ir_datasets.indices import PickleLz4FullStore

home = Path({home!r}) / "beir" / "scifact"
found = be.load_benchmark("ir_datasets:beir/scifact/test")
print(found)
try:
    list(found.documents)
except BerryEvalError as error:
    print(error)
docs = [BeirTitleDoc("d1", "Steep it.", "Green tea"), BeirTitleDoc("d2", "Grind.", "Coffee")]
store = home / "docs.pklz4"
PickleLz4FullStore(store, lambda: iter(docs), BeirTitleDoc, "doc_id", ["doc_id"]).build()
found = be.load_benchmark("ir_datasets:beir/scifact/test")
print(len(found.documents), found.documents[0].text)
"""


def test_queries_and_judgments_in_the_cache_need_neither_corpus_nor_network(
    tmp_path: Path,
) -> None:
    """`beir/scifact/test` as ir_datasets caches it; its corpus is missing at first."""
    home = tmp_path / "beir/scifact"
    write_lines(home / "queries.json", TOPICS)
    write_tsv(home / "test.qrels", [("query-id", "corpus-id", "score"), *GRADES])
    (home / "irds_version.txt").write_text("v2", "utf-8")
    proxy = {"HTTPS_PROXY": "http://127.0.0.1:9", "IR_DATASETS_HOME": str(tmp_path)}
    shown = run(CACHED.format(home=str(tmp_path)), **proxy).splitlines()
    assert shown[0] == "Benchmark('beir-scifact-test', documents not read, 2 queries, 3 judgments)"
    assert shown[1].startswith("ir_datasets:beir/scifact/test: cannot be read (")
    assert "download it once where there is a network" in shown[1]
    assert shown[2] == "2 Green tea Steep it."


def test_a_missing_package_names_the_extra() -> None:
    script = """
import sys
sys.modules["ir_datasets"] = sys.modules["datasets"] = sys.modules["huggingface_hub"] = None
import berryeval as be
from berryeval.errors import BerryEvalError
for name in ("ir_datasets:antique/test", "hf:mteb/scifact"):
    try:
        be.load_benchmark(name)
    except BerryEvalError as error:
        print(error)
"""
    assert run(script).splitlines() == [
        'ir_datasets:antique/test needs ir_datasets: pip install "ir_datasets>=0.5.9"',
        'hf:mteb/scifact needs datasets: pip install "datasets>=3.0"',
    ]
