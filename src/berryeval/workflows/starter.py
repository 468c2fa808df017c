"""The files of `berryeval init`: a commented configuration, and a table of questions."""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from berryeval.benchmarks import (
    LOADERS,
    BenchmarkBuilder,
    Source,
    detect_format,
    options_of,
    read_corpus,
)
from berryeval.errors import ConfigurationError, DataError
from berryeval.workflows.config import CONFIG_NAME
from berryeval.workflows.plan import SCHEMA_FILE, schema_text
from berryeval.workflows.run_folder import write_text_file

QUESTIONS: Final = "questions.csv"
_EXAMPLES: Final = 5
_CONFIG: Final = """\
# yaml-language-server: $schema={schema}
#
# Settings of `berryeval eval`. Flags win over BERRYEVAL_* variables, variables over this file.
# All settings: berryeval eval --help; names: berryeval list providers|metrics|chunkers|formats

# Benchmarks: a bundled one (berryeval list benchmarks), a file or folder in any format of
# `berryeval list formats`, or a mapping with options of the format.
benchmarks:
{benchmarks}

# Providers to compare. A chunker follows the colon; the default splits documents by section.
providers:
  - bm25
  - bm25:fixed-400
{dense}
  # A provider with options is a mapping. ${{NAME}} is read from the environment and never written
  # to results or logs.
  # - name: our postgres
  #   type: postgres
  #   chunker: sentence-200
  #   options:
  #     dsn: ${{DATABASE_URL}}
  #     mode: hybrid

metrics: [nDCG@10, P@5, R@10, RR]

# k: 20                   # hits per query; by default 20, or the largest cutoff of the metrics
# limit: 10               # number of queries to ask, to try things out
# filter: {{category: factual}}
# tags: {{model: small}}    # reports and trends tell runs apart by them
# seed: 0

# Exit code 1 if a provider is below:
# thresholds:
#   R@10: 0.80

# Concurrency, time limits and retries:
# run:
#   concurrency: 4        # queries at once; by default 4, or 1 for providers in this process
#   timeout: 30           # seconds per attempt
#   attempts: 3           # per query, for temporary errors
#   error_budget: 0.5     # fraction of queries that may fail before the run is abandoned
"""
_DENSE: Final = """\
  # Dense vectors, and both fused; an error names the package to install:
  # - dense
  # - hybrid
"""


_CORPUS: Final = """\
    # The documents that the questions are about: a folder, or a file of JSON lines. Without them
    # nothing is indexed, and only a provider with its own documents finds something.
    # options: {corpus: ./docs}"""


@dataclass(frozen=True)
class Written:
    """The files that were written, and whether they hold example questions."""

    files: tuple[Path, ...]
    has_examples: bool
    questions: str = QUESTIONS


def write_starting_files(corpus: Path | None, *, force: bool = False) -> Written:
    """Write `berryeval.yaml`, and a table of questions for a folder of documents without any."""
    has_examples = False
    benchmarks = "  - technical-docs"
    files: dict[Path, str] = {}
    if corpus is not None:
        if not corpus.exists():
            raise DataError(f"{corpus}: no such file or folder")
        known = ""  # if it is no benchmark
        with suppress(DataError):
            known = detect_format(Source(corpus))
        if known and "corpus" in options_of(LOADERS.get(known)):
            benchmarks = f"  - source: {_quote(corpus)}\n{_CORPUS}"
        elif known:
            benchmarks = f"  - {_quote(corpus)}"
        else:
            has_examples = True
            benchmarks = (
                f"  - source: {QUESTIONS}\n    format: csv\n    options:\n"
                f"      corpus: {_quote(corpus)}"
            )
            files[Path(QUESTIONS)] = _write_questions(corpus)
    schema = Path(".berryeval") / SCHEMA_FILE
    config = _CONFIG.format(
        schema=schema.as_posix(), benchmarks=benchmarks, dense=_DENSE.rstrip("\n")
    )
    files = {Path(CONFIG_NAME): config, **files}
    existing = next((path for path in files if path.exists()), None)
    if existing and not force:
        raise ConfigurationError(f"{existing}: exists already; --force replaces it")
    files[schema] = schema_text()  # replaced by that of the installed version
    for path, text in files.items():
        write_text_file(path, text.removesuffix("\n"))
    return Written(tuple(files), has_examples)


def _quote(path: Path) -> str:
    """Quote a path for YAML; `./` tells it from the name of a bundled benchmark."""
    text = path.as_posix()
    text = text if "/" in text else f"./{text}"
    if text.replace("/", "").replace(".", "").isalnum():
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _write_questions(corpus: Path) -> str:
    """Return a table with titles of documents as example questions."""
    builder = BenchmarkBuilder(Source(corpus))
    read_corpus(builder, corpus)  # as `eval` does
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["query_id", "question", "doc_id", "grade", "category"])
    for number, document in enumerate(builder.documents[:_EXAMPLES], start=1):
        title = document.title or document.id.rpartition("/")[2].replace("-", " ")
        writer.writerow([f"q{number}", title, document.id, 1, "example"])
    return table.getvalue()
