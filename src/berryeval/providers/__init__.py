"""Providers: things that can be searched. A new one is one file and one line in `PROVIDERS`."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.providers.answers import Answer, WrongBatchError, as_hits, one_for_each
    from berryeval.providers.base import Provider, as_cost, entering, hit_of, is_amount, leaving
    from berryeval.providers.callable import is_searched, searches, wrapper_of
    from berryeval.providers.catalogue import PROVIDERS, check_options, make_provider
    from berryeval.providers.embedders.base import EMBEDDERS
    from berryeval.providers.facts import ProviderFacts, provider_facts
    from berryeval.providers.ranking import Disorder, disorder_of, has_moved_ties
else:
    __getattr__, __dir__ = open_door(__name__)
