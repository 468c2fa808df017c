"""Providers: everything that can be searched. A new one is one file and one line in `PROVIDERS`.

>>> from berryeval.data import Chunk, Query
>>> from berryeval.providers import build_provider
>>> bm25 = build_provider("bm25", {"k1": 0.9})
>>> bm25.index([Chunk("c1", "tea", "Boil water."), Chunk("c2", "tea", "Add leaves.")])
>>> [hit.id for hit in bm25.search(Query("q1", "leaves"), 1)]
['c2']
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.providers.answers import (
        Answer,
        Stage,
        WrongBatchError,
        as_hits,
        check_batch,
        find_stages,
        read_count,
        read_number,
        read_written_answer,
    )
    from berryeval.providers.base import Provider, build_hit, find_enter, find_exit, read_cost
    from berryeval.providers.bm25 import STOPWORDS, Bm25, load_stemmer
    from berryeval.providers.callable import (
        Renamed,
        find_wrapper,
        is_search_function,
        is_searchable,
    )
    from berryeval.providers.catalogue import (
        PROVIDERS,
        ProviderFacts,
        build_provider,
        describe_entry,
        describe_provider,
    )
    from berryeval.providers.chat import OPENAI, ChatModel, Message, Reply, count_most_tokens
    from berryeval.providers.embedders.base import EMBEDDERS
    from berryeval.providers.ranking import (
        Disorder,
        drop_repeated,
        find_disorder,
        has_moved_ties,
        order_hits,
    )
    from berryeval.providers.rerankers.base import RERANKERS, Reranking
    from berryeval.providers.web import JsonServer

    __all__ = [
        "EMBEDDERS",
        "OPENAI",
        "PROVIDERS",
        "RERANKERS",
        "STOPWORDS",
        "Answer",
        "Bm25",
        "ChatModel",
        "Disorder",
        "JsonServer",
        "Message",
        "Provider",
        "ProviderFacts",
        "Renamed",
        "Reply",
        "Reranking",
        "Stage",
        "WrongBatchError",
        "as_hits",
        "build_hit",
        "build_provider",
        "check_batch",
        "count_most_tokens",
        "describe_entry",
        "describe_provider",
        "drop_repeated",
        "find_disorder",
        "find_enter",
        "find_exit",
        "find_stages",
        "find_wrapper",
        "has_moved_ties",
        "is_search_function",
        "is_searchable",
        "load_stemmer",
        "order_hits",
        "read_cost",
        "read_count",
        "read_number",
        "read_written_answer",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)
