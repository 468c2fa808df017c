"""Inputs with random changes, to every reader: each is read, or refused with a message."""

from __future__ import annotations

import copy
import json
import os
import random
import zlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import berryeval as be
from berryeval._internal.secrets import parse_address
from berryeval.benchmarks.loading import bundled_folder
from berryeval.chunkers import parse_chunker
from berryeval.data import Qrels
from berryeval.data.records import Document
from berryeval.reports import build_trend_lines
from berryeval.runner.journal import JournalReader
from berryeval.runs import RunRecord, open_store
from berryeval.workflows import find_run, set_baseline, write_report
from berryeval.workflows.settings import build_plan
from tests.torture.trials import BUG, ODD, Tally, call, mutate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

INPUTS = 3000  # of one trial, which takes some seconds
SLOW = {
    "golden set": 800,
    "names in reports": 8,
    "record": 500,
    "values of a record": 60,
    "values of a baseline": 400,
    "values of a golden set": 200,
    "command line": 300,
}

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


def _use(content: bytes, folder: Path) -> None:
    """Read a changed record, then do one of the things that can be done with a record."""
    (folder / "run.json").write_bytes(content)
    record = find_run(str(folder / "run.json")).record
    kinds = ("json", "junit", "csv", "markdown", "latex", "html", "github", "trec")
    lines = (
        ("runs", "show", "run.json", "--worst"),
        ("gate", "run.json", "--baseline", "baseline.json"),
        ("compare", "run.json", "run.json"),
        ("baseline", "diff", "run.json", "--baseline", "baseline.json"),
    )
    use = zlib.crc32(content) % (len(kinds) + 3 + len(lines))
    if use < len(kinds):
        write_report(record, folder / f"report.{kinds[use]}", format=kinds[use])
        return
    if use < len(kinds) + 3:
        _store(record, folder)
        return
    set_baseline(str(folder / "run.json"), folder / "baseline.json")
    arguments = lines[use - len(kinds) - 3]
    words = [str(folder / one) if one.endswith(".json") else one for one in arguments]
    code, said = call(*words, "--json")
    if BUG in said or code not in {0, 1, 2, 3}:
        raise ArithmeticError(f"{' '.join(arguments)}: exit {code}: {said[-300:]}")


def _store(record: RunRecord, folder: Path) -> None:
    with open_store(folder / "runs.db") as store:
        added = store.add(record, replace_content=True).id
        if store.get(added).dumps() != replace(record, id=added).dumps():
            raise ArithmeticError("the store returns another record")
        store.list_runs()
        followed: Any = ({"metric": "nDCG@10"}, {"latency": "p95"}, {"cost": "usd"})
        for options in followed:
            build_trend_lines(store.trend(**options, tag="model"))
        store.delete([added])


def _read_baseline(content: bytes, folder: Path) -> None:
    (folder / "baseline.json").write_bytes(content)
    code, said = call("baseline", "show", str(folder / "baseline.json"))
    if BUG in said or code not in {0, 2}:
        raise ArithmeticError(f"exit {code}: {said[-300:]}")


COMMAND_LINES = (
    b"runs list --since 30d --limit 3 --metrics nDCG@10",
    b"runs trend nDCG@10 --until 2026-02-21 --latency p95",
    b"runs show latest~1 --worst 3",
    b"runs prune --keep 3 --older-than 2w --dry-run",
    b"runs export latest --format csv",
    b"eval fruit --providers bm25:fixed-100 --metrics RR -k 5 --limit 2 --dry-run --tags a=b",
    b"compare latest latest~1 --metrics RR",
    b"list metrics ndcg",
    b"score q.trec r.trec -m P@5",
)
COMMAND_PARTS = [
    *(b"-", b"--", b"--json", b"=", b"~", b"9" * 5000, b"-1", b"1e999", b"nan", b"\xff"),
    *(b"\xed\xa0\x80", b"latest", b"0d", b"9" * 18 + b"w", b"'", b'"', b"[", b"{", b":", b"/"),
    *(b"\x00", b"@", b",", b" "),
]  # fmt: skip


def _run_command(content: bytes, folder: Path) -> None:
    os.chdir(folder)
    words = content.decode(errors="surrogateescape").split(" ")
    if "eval" in words and not {"--dry-run"} & set(words):
        return
    code, said = call(*words)
    if BUG in said or code not in {0, 1, 2, 3}:
        raise ArithmeticError(f"exit {code}: {said[-300:]}")


VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1e308, -0.0, 10**18, 10**30, -(10**400), 0.1, float("inf")),
    *("", "x", "\ud800", "\0", "=1+1", "9" * 60, "é" * 3000, "nan", "2026-13-45", "a\nb", "[x](y)"),
    *([], {}, [[]], [None], {"": None}, {"a": [1, {"b": []}]}, [{}] * 3, ["a", 1], {"1": 2}),
)


def change_json(chance: random.Random, content: bytes) -> bytes:
    """Return a JSON text with one to three values or names replaced by odd ones."""
    data = json.loads(content)
    for _ in range(chance.randint(1, 3)):
        place: Any = data
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = chance.choice(keys)
            inner = place[key]
            if isinstance(inner, dict | list) and inner and chance.randrange(10):
                place = inner
                continue
            kind = chance.choice(("delete", "rename", "repeat", "replace", "replace"))
            if kind == "delete":
                del place[key]
            elif kind == "rename" and isinstance(place, dict):
                place[str(chance.choice(VALUES))[:50]] = place.pop(key)
            elif kind == "repeat" and isinstance(place, list):
                place.append(copy.deepcopy(place[key]))
            else:
                place[key] = copy.deepcopy(chance.choice(VALUES))
            break
    return json.dumps(data).encode()


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
        ("values of a record", ((out / "run.json").read_bytes(),), _use),
        ("values of a baseline", ((shared / "intact" / "baseline.json").read_bytes(),),
         _read_baseline),
        ("values of a golden set", (queries,), _read_file("golden-set.json", be.load_benchmark)),
        ("command line", COMMAND_LINES, _run_command),
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
    for _ in range(SLOW.get(name, INPUTS)):
        parts = {"metric name": METRIC_PARTS, "command line": COMMAND_PARTS}.get(name, ODD)
        change = change_json if name.startswith("values") else partial(mutate, parts=parts)
        content = change(chance, chance.choice(seeds))
        tally.counts["inputs"] += 1
        tally.counts[f"inputs: {name}"] += 1
        before = len(tally.broken)
        with tally.expect_only_our_errors(name):
            read(content, folder)
        if len(tally.broken) > before:
            tally.broken[-1] += f" for {content[:300]!r}"
    return tally
