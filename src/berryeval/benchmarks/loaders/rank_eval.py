"""Elasticsearch and OpenSearch: the body of a `_rank_eval` request.

The text of a query is the only string in its request or params (`query_string` and `query` first);
if there are several, the id is the text. The request stays in the metadata.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks.benchmark import Benchmark, RatingsBuilder
from berryeval.benchmarks.documents import read_corpus
from berryeval.benchmarks.loading import Loader, Source
from berryeval.data import Query

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval._internal.json import Node


_WORDS: Final = ("query_string", "query", "q", "text")


def load(source: Source, *, corpus: PathLike | None = None) -> Benchmark:
    """Load the file; `corpus` is a file or folder with the documents."""
    builder = RatingsBuilder(source)
    read_corpus(builder, corpus)
    requests = source.json["requests"].items()
    indices = {
        index.text()
        for request in requests
        for rating in request["ratings"].items()
        if (index := rating.get("_index")) is not None
    }
    if len(indices) > 1:
        builder.add_remark(f"{source.name}: {len(indices)} indices, so document ids are _index/_id")
    for request in requests:
        _add_request(builder, request, several=len(indices) > 1)
    return builder.build(metadata=source.json.besides("requests"))


def _add_request(builder: RatingsBuilder, request: Node, *, several: bool) -> None:
    identity = request["id"].id()
    metadata = request.besides("id", "ratings")
    query = Query(identity, _find_text(metadata) or identity, metadata=metadata)
    builder.add_query(query, request.where)
    for rating in request["ratings"].items():
        document, index = rating["_id"].id(), rating.get("_index")
        if several and index is not None:
            document = f"{index.text()}/{document}"
        grade, rest = rating["rating"].number(), rating.besides("_id", "rating")
        builder.add_rating(identity, document, grade, rating.where, extra=rest)


def _find_text(metadata: dict[str, Any]) -> str:
    """Return the user's query, or "" if it cannot be determined."""
    params = metadata.get("params")
    if isinstance(params, dict):
        for name in _WORDS:
            if isinstance(params.get(name), str):
                return str(params[name])
    request = metadata.get("request")
    searched = request.get("query") if isinstance(request, dict) else None
    strings = list(dict.fromkeys(_find_strings(searched)))
    return strings[0] if len(strings) == 1 else ""


def _find_strings(value: Any) -> Iterator[str]:
    """Yield the strings of a query, except search options."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _find_strings(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in {"fields", "type", "operator", "default_operator", "analyzer", "path"}:
                yield from _find_strings(item)


LOADER = Loader(
    summary="Elasticsearch rank_eval request",
    signs="a .json file with requests that have ratings",
    recognises=lambda source: source.array_has("requests", "ratings"),
    load=load,
)
