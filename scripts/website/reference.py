"""The table of generated pages, and the page that lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from scripts.website.commands import render_commands, render_example
from scripts.website.formats import render_exporters, render_loaders
from scripts.website.python import DOORS, page_of, python_pages
from scripts.website.settings import render_configuration, render_http

INDEX: Final = """\
# Reference

Everything with a name, generated from the code; the examples ran when the site was built.

- [Metrics](../metrics.md): formula, source, the names that other tools use, and an example
- [Providers](../providers.md) and [chunkers](../chunkers.md): options and an example each
- [Loaders](loaders.md) and [exporters](exporters.md): every format that is read and written
- [Commands](commands.md): every option, and a session
- [Configuration](configuration.md): every setting of `berryeval.yaml`
- [HTTP API](http.md): every route of `berryeval serve`
- Python: {python}
- [Conventions](../conventions.md): ties, missing queries, unjudged documents

"""


def render_index() -> str:
    """Return the page that lists the others."""
    links = (f"[`{door}`]({page_of(door).removeprefix('reference/')})" for door in DOORS)
    return INDEX.format(python=", ".join(links)) + render_example("score")


PAGES: Final[dict[str, Callable[[], str]]] = {
    "reference/index.md": render_index,
    "reference/commands.md": render_commands,
    "reference/configuration.md": render_configuration,
    "reference/exporters.md": render_exporters,
    "reference/http.md": render_http,
    "reference/loaders.md": render_loaders,
    **python_pages(),
}
