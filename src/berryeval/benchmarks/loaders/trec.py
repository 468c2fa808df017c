"""TREC: topics, qrels, and if there is one the collection.

The topics may have any of the three classic forms. The text of a query is the `title` (or `query`)
of its topic, or the fields that `field` names, as "title+description"; the description becomes the
query's description and all other fields are kept. Numbers such as 051 are matched with 51 where the
qrels write it so. Judgments are those of the qrels, on whole documents.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from berryeval.benchmarks.corpora import read_corpus
from berryeval.benchmarks.gather import Gather
from berryeval.benchmarks.judged_rows import add_judgments
from berryeval.benchmarks.loaders import Loader
from berryeval.benchmarks.trec_topics import Topic, read_topics
from berryeval.errors import ConfigurationError, DataError
from berryeval.io import trec
from berryeval.io.json_text import read_text
from berryeval.records import Query

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.source import Source
    from berryeval.io.files import PathLike

__all__ = ["LOADER", "load"]

_TEXT: Final = ("title", "query", "question", "summary", "description")
_CORPUS: Final = ("corpus.jsonl", "documents.jsonl", "corpus", "documents", "docs")


def load(
    source: Source,
    *,
    topics: PathLike | None = None,
    qrels: PathLike | None = None,
    corpus: PathLike | None = None,
    field: str | None = None,
    encoding: str = "utf-8",
) -> Benchmark:
    """Read a folder, or a file of topics with the files that the options name.

    Args:
        source: a folder with topics* and qrels*, or the file of topics.
        topics: the file of topics in the folder.
        qrels: the file of judgments.
        corpus: the collection, a file or a folder; in a folder also found as corpus, documents or
            docs.
        field: which fields of a topic are the text of the query.
        encoding: of the collection.
    """
    topic_file = _found(source, "topics", topics)
    table = trec.read_table(_found(source, "qrels", qrels), "qrels")
    gather = Gather(source)
    judged = set(table.queries)
    for topic in read_topics(read_text(topic_file), os.fspath(topic_file)):
        where = f"{topic_file}:{topic.line}"
        gather.query(_query(topic, judged, field, where), os.fspath(topic_file), topic.line)
    add_judgments(gather, table)
    read_corpus(gather, _corpus(source, corpus), encoding=encoding)
    return gather.benchmark()


def _query(topic: Topic, judged: set[str], field: str | None, where: str) -> Query:
    names = field.split("+") if field else [next((n for n in _TEXT if n in topic.fields), "title")]
    for name in names:
        if name not in topic.fields:
            there = ", ".join(topic.fields) or "none"
            msg = f"{where}: topic {topic.id} has no {name!r}; its fields: {there}"
            raise DataError(msg)
    short = topic.id.lstrip("0")
    return Query(
        id=short if topic.id not in judged and short in judged else topic.id,
        text=" ".join(text for name in names for text in topic.fields[name]),
        description=" ".join(topic.fields.get("description", [])),
        metadata={
            name: texts if len(texts) > 1 else texts[0]
            for name, texts in topic.fields.items()
            if name not in names and name != "description"
        },
    )


def _found(source: Source, kind: str, given: PathLike | None) -> Path:
    """The file of this kind: the one that is given, or the only one in the folder."""
    if given is not None:
        return source.path / given if source.is_folder else Path(given)
    if not source.is_folder:
        if kind == "topics":
            return source.path
        msg = f"{source.name}: is a file of topics; say where the judgments are with qrels="
        raise ConfigurationError(msg)
    names = _names(source, kind)
    if len(names) == 1:
        return source.path / names[0]
    there = ", ".join(names) or "none"
    msg = f"{source.name}: expected one file {kind}*, found {there}; say which with {kind}="
    raise DataError(msg)


def _names(source: Source, kind: str) -> list[str]:
    return sorted(
        name
        for name in source.names
        if name.lower().startswith(kind) and (source.path / name).is_file()
    )


def _corpus(source: Source, given: PathLike | None) -> PathLike | None:
    if given is not None:
        return source.path / given if source.is_folder else given
    if not source.is_folder:
        return None
    there = [source.file(name) for name in _CORPUS if source.has(name)]
    if len(there) > 1:
        names = ", ".join(path.name for path in there)
        msg = f"{source.name}: found {names}; say which is the collection with corpus="
        raise DataError(msg)
    return there[0] if there else None


LOADER = Loader(
    summary="TREC topics and qrels",
    signs="files topics* and qrels* in one folder",
    recognises=lambda source: (
        source.is_folder and bool(_names(source, "topics")) and bool(_names(source, "qrels"))
    ),
    load=load,
)
