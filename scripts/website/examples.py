"""Examples for the pages of metrics and providers, run when the site is built."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import yaml

from berryeval._internal.validate import reject_unknown
from berryeval.metrics.catalogue import definitions
from berryeval.providers import PROVIDERS, build_provider, describe_provider
from berryeval.workflows.plan import Plan
from scripts.website.markdown import code

if TYPE_CHECKING:
    from berryeval.metrics.base import Definition

METRICS: Final = """
## The examples

One query is judged on two subtopics, and a run has found four documents: `d1` of grade 2, `d5`
which nobody judged, `d3` of grade 1, and `d2` of grade 0. It has missed `d4`, of grade 1.

"""
SETUP: Final = """\
import berryeval as be, tempfile
from berryeval.data import Anchor, Chunk, Document, Hit, Judgment, Query
file = tempfile.NamedTemporaryFile("w", suffix=".qrels")
lines = ["q1 1 d1 2", "q1 1 d2 0", "q1 2 d3 1", "q1 2 d4 1"]
print(*lines, sep="\\n", file=file, flush=True)
qrels = be.Qrels.from_trec(file.name)
run = {"q1": {"d1": 0.9, "d5": 0.8, "d3": 0.7, "d2": 0.6}}
def score(metric):
    return round(*be.evaluate(qrels, run, [metric]).mean.values(), 4)

"""
PASSAGES: Final = """
Metrics of passages read texts: two sentences were retrieved, and the second is wanted.

"""
PASSAGES_SETUP: Final = """\
text = "Water boils at 100 degrees. Ice melts at 0 degrees."
wanted = Judgment("q1", Anchor(document="water", quote="Ice melts at 0 degrees"), 1)
queries = (Query("q1", "When does ice melt?"),)
physics = be.Benchmark("physics", (Document("water", text),), queries, (wanted,))
chunks = [Chunk("a", "water", text[:27], 0, 27), Chunk("b", "water", text[28:], 28, 51)]
hits = [Hit(one.id, doc_id="water", start=one.start, end=one.end) for one in chunks]
def score_passages(metric):
    return round(*be.evaluate_hits(physics, {"q1": hits}, [metric], chunks=chunks).mean.values(), 4)

"""
VALUES: Final = {"cutoff": 3, "recall": 0.5, "mult": 0.5, "max_rel": 2}
_SECTION: Final = re.compile(r"^(#{2,3}) ([^\n]+)\n(.*?)(?=^#{2,3} |\Z)", re.MULTILINE | re.DOTALL)


def show_session(source: str) -> str:
    """Return lines of Python as they are typed."""
    lines = source.rstrip("\n").splitlines()
    return "\n".join(
        f"... {line}".rstrip() if line[:1] in {"", " "} else f">>> {line}" for line in lines
    )


def add_metric_examples(page: str) -> str:
    """Add an example to every metric of the page."""
    known: dict[str, Any] = {}
    exec(SETUP + PASSAGES_SETUP, known)  # noqa: S102 - the lines above
    defined = definitions()

    def add(section: re.Match[str]) -> str:
        definition = defined[section[2]]
        function = "score_passages" if definition.kind == "spans" else "score"
        call = f'{function}("{_example_of(definition)}")'
        value = eval(call, known)  # noqa: S307 - the line above
        return f"{section[0].rstrip()}\n\n{code(f'>>> {call}{chr(10)}{value!r}', 'pycon')}\n"

    head, first, rest = page.partition("\n## ")
    sessions = [code(f"{show_session(one)}\n...", "pycon") for one in (SETUP, PASSAGES_SETUP)]
    return f"{head}{METRICS}{sessions[0]}{PASSAGES}{sessions[1]}{_SECTION.sub(add, first + rest)}"


def _example_of(definition: Definition) -> str:
    needed = [one.name for one in definition.parameters if one.required or one.name == "cutoff"]
    return str(definition(**{name: VALUES.get(name, 1) for name in needed}))


# Options of each provider that somebody would set, as in berryeval.yaml.
PROVIDER_OPTIONS: Final = {
    "bm25": "{k1: 0.9, b: 0.4, stemmer: english}",
    "dense": "{embedder: wordllama, feedback: 3}",
    "hybrid": "{providers: [bm25, dense], weights: [1, 0.6], fusion: scores}",
    "rerank": "{provider: bm25, reranker: cross-encoder, depth: 50}",
    "postgres": "{dsn: 'postgresql://me@localhost/app', mode: hybrid}",
    "sqlite": "{mode: text}",
    "lancedb": "{mode: vector}",
    "chroma": "{ef_search: 200}",
    "qdrant": "{url: 'http://localhost:6333'}",
    "elasticsearch": "{url: 'http://localhost:9200', mode: text, analyzer: english}",
    "http": "{url: 'http://localhost:8000/search', body: {q: '{query}', size: '{k}'}, hits: found}",
    "callable": "{function: 'my_search:search'}",
    "langchain": "{retriever: 'my_search:retriever', k_argument: k}",
    "llamaindex": "{retriever: 'my_search:retriever'}",
    "haystack": "{retriever: 'my_search:pipeline'}",
    "dspy": "{retriever: 'my_search:retriever'}",
    "run-file": "{path: bm25.run}",
}


def add_provider_examples(page: str) -> str:
    """Add an entry of `berryeval.yaml` to every provider; each is checked."""

    def add(section: re.Match[str]) -> str:
        name = section[2]
        if name not in PROVIDERS:
            return section[0]
        options = PROVIDER_OPTIONS.get(name, "{}")
        example = f"providers:\n  - type: {name}\n    options: {options}\n"
        _check_provider(example)
        return f"{section[0].rstrip()}\n\n{code(example, 'yaml')}\n"

    return _SECTION.sub(add, page)


def _check_provider(example: str) -> None:
    """Check the options; build what is installed and names no file or module of the reader."""
    plan = Plan.model_validate({"benchmarks": ["rag-template"], **yaml.safe_load(example)})
    found = plan.providers[0]
    facts = describe_provider(found.type)
    reject_unknown(found.type, found.options, [one.name for one in facts.options])
    if facts.installed and not {"function", "retriever", "path"} & set(found.options):
        build_provider(found.type, found.options)


ENRICHED: Final[dict[str, Callable[[str], str]]] = {
    "metrics.md": add_metric_examples,
    "providers.md": add_provider_examples,
}
