"""Generator of docs/metrics.md from the catalogue; run as a module to print the page."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from berryeval.metrics.catalogue import definitions

if TYPE_CHECKING:
    from berryeval.metrics.base import Definition, Parameter


INTRODUCTION = """\
# Metrics

All metrics of BerryEval, generated from the catalogue by `make docs`. A metric is a pure function
of one *judged ranking*: the ranks and grades of the judged documents, the number of retrieved
documents, and the grades of all judged documents of the query. Passage metrics read the texts of
the hits instead and are available in `evaluate_hits` only ([relevance.md](relevance.md)). `rel` is
the least grade of a relevant document; `judged_only=True` removes unjudged documents from the
ranking. Every spelling below works, in upper or lower case, with a cutoff written as `name@10`,
`name_10`, `name_at_10` or `name.10`.
"""


def markdown() -> str:
    """Return the whole page."""
    return INTRODUCTION + "".join(_section(definition) for definition in definitions().values())


def _section(definition: Definition) -> str:
    aliases = [alias for alias in definition.aliases if alias != definition.name]
    rows = [
        ("formula", definition.text),
        ("parameters", ", ".join(map(_parameter, definition.parameters)) or "none"),
        ("also called", ", ".join(f"`{alias}`" for alias in aliases) or "none"),
        ("elsewhere", ", ".join(f"{tool}: `{name}`" for tool, name in definition.peers.items())),
        ("over queries", definition.aggregate),
        ("better", definition.better),
        ("computed by", _computed_by(definition)),
    ]
    table = "\n".join(f"| {name} | {_cell(text)} |" for name, text in rows if text)
    documentation = inspect.getdoc(definition.formula) or ""
    return f"\n## {definition.name}\n\n{documentation}\n\n| | |\n| --- | --- |\n{table}\n"


def _computed_by(definition: Definition) -> str:
    if definition.kind == "spans":
        return "Python, in `evaluate_hits`: it reads texts, not grades"
    return "native code and Python" if definition.native else "Python"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _parameter(parameter: Parameter) -> str:
    if parameter.required:
        return f"`{parameter.name}` (required)"
    return f"`{parameter.name}={parameter.default!r}`"


if __name__ == "__main__":
    import sys

    sys.stdout.write(markdown())
