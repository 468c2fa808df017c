"""`--options NAME=VALUE`: what the loader of a format takes, as `options` of berryeval.yaml."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

__all__ = ["LoaderOptions", "read_options"]

LoaderOptions = Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")]


def read_options(texts: list[str] | None) -> dict[str, Any]:
    """The options by name: a value in brackets is a list, every other is a text.

    >>> read_options(["corpus=docs", "categories=[1, 4]"])
    {'corpus': 'docs', 'categories': [1, 4]}
    """
    from berryeval.errors import ConfigurationError
    from berryeval.pipeline.settings import read_pairs

    if texts is not None and not texts:
        msg = "--options has no value; give it as NAME=VALUE, or leave it out"
        raise ConfigurationError(msg)
    given = texts or []
    pairs = read_pairs(given, "--options")
    names = [text.partition("=")[0].strip() for text in given]
    twice = next((name for name in pairs if names.count(name) > 1), None)
    if twice is not None:
        msg = f"--options: {twice!r} is given twice; give it once"
        raise ConfigurationError(msg)
    return {name: _value(name, text) for name, text in pairs.items()}


def _value(name: str, text: str) -> Any:
    if not text.startswith("["):
        return text
    import yaml

    from berryeval.errors import ConfigurationError

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        msg = f"--options: {name} must be a list like [1, 4] or a text, found {text!r:.80}"
        raise ConfigurationError(msg) from None
