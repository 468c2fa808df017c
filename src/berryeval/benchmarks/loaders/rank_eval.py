"""Elasticsearch and OpenSearch: the body of a `_rank_eval` request.

`requests`, each with an `id`, `ratings` (`{"_index", "_id", "rating"}`) and a `request`, or a
`template_id` with `params`. The text of a query is the one string that its request or its params
hold (`query_string` and `query` first); where there are several, the id is the text. The request
stays in the metadata. A document is its `_id`; where the ratings speak of several indices,
`_index/_id`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks.build import Ratings
from berryeval.benchmarks.documents import read_corpus
from berryeval.benchmarks.loaders.catalogue import Loader
from berryeval.data import Query

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval._internal.files import PathLike
    from berryeval._internal.json import Node
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.loading import Source


_WORDS: Final = ("query_string", "query", "q", "text")


def load(source: Source, *, corpus: PathLike | None = None) -> Benchmark:
    """Read the file.

    Args:
        source: the file.
        corpus: a file or folder with the documents.
    """
    ratings = Ratings(source)
    read_corpus(ratings, corpus)
    requests = source.json["requests"].items()
    indices = {
        index.text()
        for request in requests
        for rating in request["ratings"].items()
        if (index := rating.get("_index")) is not None
    }
    if len(indices) > 1:
        ratings.remark(f"{source.name}: {len(indices)} indices: a document is its _index/_id")
    for request in requests:
        _add(ratings, request, several=len(indices) > 1)
    return ratings.benchmark(metadata=source.json.besides("requests"))


def _add(ratings: Ratings, request: Node, *, several: bool) -> None:
    identity = request["id"].id()
    metadata = request.besides("id", "ratings")
    query = Query(identity, _text(metadata) or identity, metadata=metadata)
    ratings.query(query, request.where)
    for rating in request["ratings"].items():
        document, index = rating["_id"].id(), rating.get("_index")
        if several and index is not None:
            document = f"{index.text()}/{document}"
        grade, rest = rating["rating"].number(), rating.besides("_id", "rating")
        ratings.rate(identity, document, grade, rating.where, extra=rest)


def _text(metadata: dict[str, Any]) -> str:
    """What the user typed, if that can be told."""
    params = metadata.get("params")
    if isinstance(params, dict):
        for name in _WORDS:
            if isinstance(params.get(name), str):
                return str(params[name])
    request = metadata.get("request")
    searched = request.get("query") if isinstance(request, dict) else None
    strings = list(dict.fromkeys(_strings(searched)))
    return strings[0] if len(strings) == 1 else ""


def _strings(value: Any) -> Iterator[str]:
    """The strings of a query, but not those that only say how to search."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in {"fields", "type", "operator", "default_operator", "analyzer", "path"}:
                yield from _strings(item)


LOADER = Loader(
    summary="Elasticsearch rank_eval request",
    signs="a .json file with requests that have ratings",
    recognises=lambda source: (
        source.json_has("requests")
        and isinstance(source.json.value["requests"], list)
        and any(request.has("ratings") for request in source.json["requests"].items())
    ),
    load=load,
)
