"""`ir_datasets:NAME`: a dataset of the package ir_datasets, such as `beir/scifact/test`.

What is not in the cache of ir_datasets (`~/.ir_datasets`, or `IR_DATASETS_HOME`) is downloaded by
it. The corpus is read when it is first needed, and not at all with `documents="none"`, for systems
that have their own index.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.optional import import_optional
from berryeval._internal.validate import nearest
from berryeval.benchmarks.loading import Loader, NamedSource, Source
from berryeval.benchmarks.named_data import (
    JUDGED,
    NONE,
    Grade,
    LazyDocuments,
    build_named,
    check_selection,
)
from berryeval.data import Document, Query
from berryeval.errors import BerryEvalError, DataError

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import Benchmark

PREFIX: Final = "ir_datasets"
_TEXTS: Final = ("text", "title", "query", "question", "description")


def load(
    source: Source,
    *,
    queries: str = JUDGED,
    documents: str = "all",
    field: str | None = None,
) -> Benchmark:
    """Load the dataset.

    Args:
        source: Name of the dataset.
        queries: "judged" for the queries with judgments, "all" for every query.
        documents: "all" or "none".
        field: Fields of a query that form its text, such as "title+description".
    """
    check_selection(queries, documents)
    if not isinstance(source, NamedSource):
        raise DataError(f"{source.name}: expected a name such as {PREFIX}:beir/scifact/test")
    dataset = _find(source)
    _require_parts(source, dataset)

    def read_documents(judged: Sequence[str]) -> LazyDocuments:
        return LazyDocuments(
            source.name,
            lambda: _read_documents(source, dataset),
            judged,
            lambda: _count_documents(source, dataset),
        )

    return build_named(
        source,
        _read_queries(source, dataset, field),
        _read_grades(source, dataset),
        read_documents if documents != NONE and dataset.has_docs() else None,
        wanted=queries,
    )


def _find(source: NamedSource) -> Any:
    library = import_optional("ir_datasets", f"{source.name}", extra="datasets")
    try:
        return library.load(source.reference)
    except KeyError:
        names = list(library.registry)
    near = nearest(source.reference, names) or [
        name for name in names if name.startswith(source.reference)
    ]
    hint = f"did you mean {' or '.join(map(repr, near[:3]))}? " if near else ""
    raise DataError(
        f"{source.name}: ir_datasets {library.__version__} has no dataset "
        f"{source.reference!r:.80}; {hint}`ir_datasets list` shows all {len(names)}"
    )


def _require_parts(source: NamedSource, dataset: Any) -> None:
    """Reject a dataset without queries or judgments, and name those below it that have both."""
    lacking = [
        what
        for what, has in (("queries", dataset.has_queries), ("judgments", dataset.has_qrels))
        if not has()
    ]
    if not lacking:
        return
    import ir_datasets

    below = [
        name
        for name in ir_datasets.registry
        if name.startswith(f"{source.reference}/")
        and all(
            hasattr(ir_datasets.registry[name], f"{one}_handler") for one in ("queries", "qrels")
        )
    ]
    hint = f"; these have: {', '.join(below[:5])}" if below else ""
    raise DataError(f"{source.name}: has no {' and no '.join(lacking)}{hint}")


@contextmanager
def _reading(source: NamedSource) -> Iterator[None]:
    """Turn errors of ir_datasets, also of its downloads, into one line that says what to do."""
    from ir_datasets import log

    logger: logging.Logger = log.easy().logger()  # sets its own level when it is first used
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    except BerryEvalError:
        raise
    except Exception as error:
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise DataError(
            f"{source.name}: cannot be read ({type(error).__name__}: {reason:.80}); if it is not "
            "in the cache, download it once where there is a network, with `ir_datasets export "
            f"{source.reference} queries` and `... docs`, and copy ~/.ir_datasets"
        ) from error
    finally:
        logger.setLevel(level)


def _read_queries(
    source: NamedSource, dataset: Any, field: str | None
) -> Iterator[tuple[Query, str]]:
    with _reading(source):
        for found in dataset.queries_iter():
            yield _build_query(source, found._asdict(), found, field), source.name


def _build_query(
    source: NamedSource, fields: dict[str, Any], found: Any, field: str | None
) -> Query:
    if field:
        names = field.split("+")
        for name in names:
            if name not in fields:
                there = ", ".join(one for one in fields if one != "query_id")
                raise DataError(f"{source.name}: queries have no {name!r}; their fields: {there}")
        text = " ".join(str(fields[name]) for name in names)
    else:
        own = found.default_text() if hasattr(found, "default_text") else ""
        names = [name for name in _TEXTS if fields.get(name)][:1]
        text = own or str(fields[names[0]] if names else "")
    description = fields.get("description")
    skipped = {"query_id", "description", *names}
    return Query(
        str(fields["query_id"]),
        text.strip(),
        description=description if isinstance(description, str) else "",
        metadata={
            name: value
            for name, value in fields.items()
            if name not in skipped and isinstance(value, str | int | float) and value != text
        },
    )


def _read_grades(source: NamedSource, dataset: Any) -> Iterator[Grade]:
    with _reading(source):
        for row in dataset.qrels_iter():
            group = str(getattr(row, "subtopic_id", "") or "")
            yield Grade(str(row.query_id), str(row.doc_id), float(row.relevance), group)


def _count_documents(source: NamedSource, dataset: Any) -> int | None:
    """Return the number of documents, if the cache knows it."""
    with _reading(source):
        found = dataset.docs_count() if hasattr(dataset, "docs_count") else None
    return int(found) if found else None


def _read_documents(source: NamedSource, dataset: Any) -> Iterator[Document]:
    with _reading(source):
        for found in dataset.docs_iter():
            has_text = hasattr(found, "default_text")
            text = found.default_text() if has_text else getattr(found, "text", "")
            title, url = getattr(found, "title", ""), getattr(found, "url", "")
            yield Document(
                str(found.doc_id),
                str(text).strip(),
                title=title if isinstance(title, str) else "",
                source=url if isinstance(url, str) else "",
            )


LOADER = Loader(
    summary="dataset of ir_datasets",
    signs="a name such as ir_datasets:beir/scifact/test",
    recognises=lambda _: False,
    load=load,
    prefixes=(PREFIX,),
)
