"""Inputs with random changes, to every reader: each is read, or refused with a message."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import berryeval as be
from berryeval._internal.secrets import parse_address
from berryeval.benchmarks.loading import bundled_folder
from berryeval.chunkers import parse_chunker
from berryeval.data import Qrels
from berryeval.data.records import Document
from berryeval.runner.journal import JournalReader
from berryeval.runs import RunRecord
from berryeval.workflows import find_run, write_report
from berryeval.workflows.settings import build_plan
from tests.torture.trials import ODD, Tally, mutate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

INPUTS = 400  # of one trial

QRELS = b"".join(b"q%d 0 d%d %d\n" % (n // 3, n, n % 3) for n in range(12))
RUN = b"".join(b"q%d Q0 d%d %d %.2f tag\n" % (n // 3, n, n % 3 + 1, 9 - n / 7) for n in range(12))
TABLE = b'question,doc_id,grade\nWhat is a pear?,d1,2\n,d2,1\n"Figs, or plums?",d3,1\n'
TOPICS = (
    b"<top>\n<num> Number: 301\n<title> pears and figs\n<desc> Description:\nWhere?\n</top>\n"
    b'<topic number="2"><query>plums</query></topic>\n'
)
DOCUMENTS = (
    b"<DOC>\n<DOCNO> d1 </DOCNO>\n<TITLE>Pear</TITLE>\n<TEXT>\nA <b>pear</b>.\n</TEXT>\n</DOC>\n"
)
MARKDOWN = (
    b"---\ntitle: T\n---\n# Pears\n\nText with [a link](x.md#y) and `code`.\n\n## Figs {#fig}\n\n"
    b"```py\n# no heading\n```\n\n- item\n\nPlums\n=====\n\n<!-- c -->\n"
)
JSON_LINES = b'{"_id": "d1", "title": "Pear", "text": "A pear."}\n{"_id": "d2", "text": "A fig."}\n'
SETTINGS = (
    b"benchmarks: [technical-docs]\nproviders:\n  - bm25\n  - {type: http, name: h, options: {url: "
    b"'https://host/search', headers: {x-key: '${KEY:-none}'}}}\nmetrics: [nDCG@10, P(rel=2)@5]\n"
    b"k: 10\nlimit: 5\ntags: {model: a}\nrun: {timeout: 2.5, concurrency: 3}\ngate:\n  rules:\n"
    b"    - {metric: nDCG@10, at_least: 0.5, confidence: 0.9}\nexport: [csv]\n"
)
ADDRESSES = (
    b"postgresql://app:secret%40x@db.example:5432/prod?sslmode=require",
    b"host=db port=5432 dbname='a b' password=x",
    b"postgresql://[::1]:5432/x",
)
METRICS = (
    b"nDCG(gain=exp,cutoff=5)@10",
    b"ndcg_cut_10",
    b"P(rel=2)@5",
    b"RBP(p=0.8)",
    b"recall_at_10",
)
METRIC_PARTS = [
    b"@",
    b"(",
    b")",
    b"=",
    b",",
    b"rel=",
    b"_",
    b"-1",
    b"1e9",
    b"9" * 40,
    b"{",
    b"nDCG",
    b".",
]


def _read_text(read: Callable[[str], Any]) -> Callable[[bytes, Path], Any]:
    return lambda content, _: read(content.decode(errors="surrogateescape"))


def _read_file(name: str, read: Callable[[Path], Any]) -> Callable[[bytes, Path], Any]:
    def write_and_read(content: bytes, folder: Path) -> None:
        (folder / name).write_bytes(content)
        read(folder / name)

    return write_and_read


def _score(content: bytes, folder: Path) -> None:
    """Score a changed run against changed judgments; values stay within their range."""
    (folder / "run.trec").write_bytes(content)
    (folder / "qrels.trec").write_bytes(QRELS)
    scores = be.evaluate(
        Qrels.from_trec(folder / "qrels.trec"), be.Run.from_trec(folder / "run.trec"), ["AP", "P@5"]
    )
    wrong = [value for value in scores.mean.values() if not 0 <= value <= 1]
    if wrong:
        raise ArithmeticError(f"a score of {wrong[0]}")


def _read_journal(path: Path) -> None:
    with JournalReader(path) as journal:
        for query in journal.outcomes:
            journal.ranking(query)


def _plan(path: Path) -> None:
    build_plan({}, path)


def _report(record: str) -> Callable[[bytes, Path], None]:
    """Return a function that writes every report of a record with other names in it."""

    def write(content: bytes, folder: Path) -> None:
        name = json.dumps(content.decode(errors="replace")[:300])
        text = record
        for old in ("function", "fruit", "number 7", "d5"):
            text = text.replace(f'"{old}"', name)
        changed = RunRecord.from_json(json.loads(text), "record")
        for kind in ("json", "junit", "csv", "markdown", "latex", "html", "github"):
            write_report(changed, folder / f"report.{kind}", format=kind)
        ET.parse(folder / "report.junit")  # noqa: S314 - our own file
        json.loads((folder / "report.json").read_text(encoding="utf-8"))

    return write


def _find(content: bytes, folder: Path) -> None:
    (folder / "run.json").write_bytes(content)
    find_run(str(folder / "run.json"))


Target = tuple[str, tuple[bytes, ...], "Callable[[bytes, Path], Any]"]


def list_targets(shared: Path) -> list[Target]:
    """Return the readers, with intact inputs of each."""
    out = shared / "whole" / "out"
    golden = (bundled_folder("spring-boot") / "golden-set.json").read_bytes()
    queries = (
        json.dumps(json.loads(golden)["queries"][:2]).encode() if b'"queries"' in golden else golden
    )
    return [
        ("metric name", METRICS, _read_text(be.parse_metric)),
        ("address", ADDRESSES, _read_text(lambda text: parse_address("dsn", text))),
        ("chunker name", (b"fixed-100-20", b"sentence", b"section"), _read_text(parse_chunker)),
        ("run in TREC", (RUN,), _score),
        ("judgments in TREC", (QRELS,), _read_file("q.trec", Qrels.from_trec)),
        ("table", (TABLE,), _read_file("t.csv", be.load_benchmark)),
        ("topics", (TOPICS,), _read_file("topics.xml", be.load_benchmark)),
        ("golden set", (queries,), _read_file("golden-set.json", be.load_benchmark)),
        ("documents", (DOCUMENTS, JSON_LINES, MARKDOWN), _read_documents),
        ("Markdown", (MARKDOWN,), _chunk),
        ("configuration", (SETTINGS,), _read_file("berryeval.yaml", _plan)),
        ("names in reports", (b"plain name",), _report((out / "run.json").read_text())),
        ("record", ((out / "run.json").read_bytes(),), _find),
        ("journal", tuple(_start(path) for path in sorted(out.rglob("results.jsonl"))),
         _read_file("results.jsonl", _read_journal)),
    ]  # fmt: skip


def _start(path: Path) -> bytes:
    return b"".join(path.read_bytes().splitlines(keepends=True)[:4])


def _read_documents(content: bytes, folder: Path) -> None:
    kind = "jsonl" if content.startswith(b"{") else "trec" if content.startswith(b"<") else "md"
    corpus = folder / "corpus"
    corpus.mkdir(exist_ok=True)
    (corpus / f"d.{kind}").write_bytes(content)
    (folder / "w.csv").write_bytes(TABLE)
    try:
        be.load_benchmark(folder / "w.csv", corpus=str(corpus))
    finally:
        (corpus / f"d.{kind}").unlink()


def _chunk(content: bytes, _: Path) -> None:
    document = Document("d", content.decode(errors="replace"))
    for name in ("section", "sentence", "fixed-20-5"):
        for chunk in parse_chunker(name).chunk(document):
            if (
                document.text[chunk.start : chunk.end].strip() != chunk.text.strip()
                and chunk.start is not None
            ):
                raise ArithmeticError(f"{name}: a chunk that is not its place in the text")


def try_once(chance: random.Random, folder: Path, shared: Path) -> Tally:
    """Feed one reader with changed inputs."""
    tally = Tally()
    name, seeds, read = chance.choice(list_targets(shared))
    for _ in range(INPUTS):
        parts = METRIC_PARTS if name == "metric name" else ODD
        content = mutate(chance, chance.choice(seeds), parts)
        tally.counts["inputs"] += 1
        tally.counts[f"inputs: {name}"] += 1
        before = len(tally.broken)
        with tally.expect_only_our_errors(name):
            read(content, folder)
        if len(tally.broken) > before:
            tally.broken[-1] += f" for {content[:300]!r}"
    return tally
