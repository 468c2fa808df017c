"""Providers: everything that can be searched. A new one is one file and one line in `PROVIDERS`."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.providers.answers import (
        Answer,
        WrongBatchError,
        as_hits,
        check_batch,
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
        describe_provider,
    )
    from berryeval.providers.embedders.base import EMBEDDERS
    from berryeval.providers.ranking import Disorder, find_disorder, has_moved_ties
    from berryeval.providers.web import JsonServer
else:
    __getattr__, __dir__ = open_door(__name__)
