"""The page docs/metrics.md, written from the catalogue; run as a module it prints the page."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from berryeval.metrics.catalogue import definitions

if TYPE_CHECKING:
    from berryeval.metrics.base import Definition, Parameter


INTRODUCTION = """\
# Metrics

Every metric that BerryEval knows, written from its catalogue by `make docs`. A metric is a pure
function of one *judged ranking*: the ranks and grades of the documents that the judgments know, how
many documents were retrieved, and the grades that were there to be found. Those of passages look at
the texts instead, and only `evaluate_hits` has them ([relevance.md](relevance.md)). `rel` is the
grade from which a document counts as relevant; `judged_only=True` leaves unjudged documents out of
the ranking. Names may be written in any spelling below, in upper or lower case, with the cutoff as
in `name@10`, `name_10`, `name_at_10` or `name.10`.
"""


def markdown() -> str:
    """The whole page."""
    return INTRODUCTION + "".join(_section(definition) for definition in definitions().values())


def _section(definition: Definition) -> str:
    aliases = [alias for alias in definition.aliases if alias != definition.name]
    rows = [
        ("formula", definition.text),
        ("parameters", ", ".join(map(_parameter, definition.parameters)) or "none"),
        ("also called", ", ".join(f"`{alias}`" for alias in aliases) or "nothing else"),
        ("elsewhere", ", ".join(f"{tool}: `{name}`" for tool, name in definition.peers.items())),
        ("over queries", definition.aggregate),
        ("computed by", _computed_by(definition)),
    ]
    table = "\n".join(f"| {name} | {_cell(text)} |" for name, text in rows if text)
    documentation = inspect.getdoc(definition.formula) or ""
    return f"\n## {definition.name}\n\n{documentation}\n\n| | |\n| --- | --- |\n{table}\n"


def _computed_by(definition: Definition) -> str:
    if definition.kind == "spans":
        return "Python, by `evaluate_hits`: it looks at texts, not at grades"
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
