"""Providers: things that can be searched. A new one is one file and one line in `PROVIDERS`."""

from berryeval.providers.answers import Answer
from berryeval.providers.base import Provider
from berryeval.providers.table import PROVIDERS, make_provider

__all__ = ["PROVIDERS", "Answer", "Provider", "make_provider"]
