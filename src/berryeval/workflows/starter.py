"""What `berryeval init` writes: a commented configuration, and a table of questions to fill in."""

from __future__ import annotations

import csv
import io
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
# What `berryeval eval` does here. Flags win over BERRYEVAL_* variables, these over this file.
# Everything in it: berryeval eval --help; names: berryeval list providers|metrics|chunkers|formats

# What is measured on: a bundled benchmark (berryeval list benchmarks), a file or folder in any
# format of `berryeval list formats`, or a mapping with the options of the format.
benchmarks:
{benchmarks}

# What is compared. A chunker after the colon says how documents are cut; without one, by section.
providers:
  - bm25
  - bm25:fixed-400
{dense}
  # Anything with options is a mapping. ${{NAME}} is filled in from the environment, and is never
  # written to results or logs.
  # - name: our postgres
  #   type: postgres
  #   chunker: sentence-200
  #   options:
  #     dsn: ${{DATABASE_URL}}
  #     mode: hybrid

metrics: [nDCG@10, P@5, R@10, RR]

# k: 20                   # hits per query; else 20, or the largest cutoff of the metrics
# limit: 10               # the first queries only, to try things out
# filter: {{category: factual}}
# seed: 0

# Exit code 1 if a provider is below:
# thresholds:
#   R@10: 0.80

# How patient the run is:
# run:
#   concurrency: 4        # queries at once
#   timeout: 30           # seconds per attempt
#   attempts: 3           # per query, where an error may pass
#   error_budget: 0.5     # the share of queries that may fail before the run is given up
"""
_DENSE: Final = """\
  # Vectors, and both fused: pip install 'berryeval[dense]'
  # - dense
  # - hybrid
"""


_ITS_CORPUS: Final = """\
    # Where the documents are that the questions are about: a folder, or a file of JSON lines.
    # Without them there is nothing to index: only a system that has its own finds something.
    # options: {corpus: ./docs}"""


@dataclass(frozen=True)
class Written:
    """Which files were written, and whether they hold questions to be replaced."""

    files: tuple[Path, ...]
    has_examples: bool


def write_starting_files(corpus: Path | None, *, force: bool = False) -> Written:
    """Write `berryeval.yaml` here, and for a corpus without questions a table of them.

    Args:
        corpus: a folder of documents, or a benchmark; without, a bundled one is used.
        force: replace files that are there.
    """
    has_examples = False
    benchmarks = "  - technical-docs"
    files: dict[Path, str] = {}
    if corpus is not None:
        if not corpus.exists():
            msg = f"{corpus}: no such file or folder"
            raise DataError(msg)
        known = _format_of(corpus)
        if known and "corpus" in options_of(LOADERS.get(known)):
            benchmarks = f"  - source: {_quoted(corpus)}\n{_ITS_CORPUS}"
        elif known:
            benchmarks = f"  - {_quoted(corpus)}"
        else:
            has_examples = True
            benchmarks = (
                f"  - source: {QUESTIONS}\n    format: csv\n    options:\n"
                f"      corpus: {_quoted(corpus)}"
            )
            files[Path(QUESTIONS)] = _questions(corpus)
    schema = Path(".berryeval") / SCHEMA_FILE
    config = _CONFIG.format(
        schema=schema.as_posix(), benchmarks=benchmarks, dense=_DENSE.rstrip("\n")
    )
    files = {Path(CONFIG_NAME): config, **files}
    _refuse_to_replace(files, force=force)
    files[schema] = schema_text()  # always that of the installed version
    for path, text in files.items():
        write_text_file(path, text.removesuffix("\n"))
    return Written(tuple(files), has_examples)


def _format_of(path: Path) -> str:
    """The format of a benchmark; empty if it is none."""
    try:
        return detect_format(Source(path))
    except DataError:
        return ""


def _quoted(path: Path) -> str:
    """A path as YAML reads it, also one with odd characters or the name of a bundled benchmark."""
    text = path.as_posix()
    text = text if "/" in text else f"./{text}"
    return text if text.replace("/", "").replace(".", "").isalnum() else f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _questions(corpus: Path) -> str:
    """A table with the titles of some documents as questions, to be replaced by real ones."""
    builder = BenchmarkBuilder(Source(corpus))
    read_corpus(builder, corpus)  # as `eval` will
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["query_id", "question", "doc_id", "grade", "category"])
    for number, document in enumerate(builder.documents[:_EXAMPLES], start=1):
        title = document.title or document.id.rpartition("/")[2].replace("-", " ")
        writer.writerow([f"q{number}", title, document.id, 1, "example"])
    return table.getvalue()


def _refuse_to_replace(files: dict[Path, str], *, force: bool) -> None:
    there = next((path for path in files if path.exists()), None)
    if there and not force:
        msg = f"{there}: is there already; --force replaces it"
        raise ConfigurationError(msg)
