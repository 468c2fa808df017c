"""Pages of the Python API: the names that a package offers, with signature and docstring."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any, Final

from berryeval._internal.registry import Registry
from scripts.website.markdown import code

# Packages that users import from, in the order of the navigation; spark and training, which need
# large packages, are described in scale.md and arrays.md.
DOORS: Final = (
    "berryeval", "berryeval.metrics", "berryeval.metrics.lists", "berryeval.data",
    "berryeval.benchmarks", "berryeval.chunkers", "berryeval.providers", "berryeval.relevance",
    "berryeval.anchors", "berryeval.fusion", "berryeval.stats", "berryeval.gates",
    "berryeval.judging", "berryeval.reports", "berryeval.compat",
)  # fmt: skip
_SECTION: Final = re.compile(r"^(Args|Attributes|Returns|Raises|Yields|Example|Examples):$")
_ENTRY: Final = re.compile(r"^ {4}(\*{0,2}[\w.]+): (.*)")


def page_of(door: str) -> str:
    """Return the path of the page of a package."""
    return f"reference/python/{door.removeprefix('berryeval.')}.md"


def python_pages() -> dict[str, Callable[[], str]]:
    """Return the pages of all packages, with what renders each."""
    return {page_of(door): partial(render_door, door) for door in DOORS}


def render_door(door: str) -> str:
    """Return the page of a package: its docstring, then every name."""
    package = import_module(door)
    names = _offered(package)
    listed = ", ".join(f"[`{name}`](#{name.lower()})" for name in names)
    parts = [f"# {door}\n\n{render_docstring(package.__doc__)}\nNames: {listed}\n"]
    parts.extend(_render_name(name, getattr(package, name)) for name in names)
    return "".join(parts)


def _offered(package: Any) -> list[str]:
    listed = getattr(package, "__all__", None) or [
        name
        for name, member in vars(package).items()
        if getattr(member, "__module__", "") == package.__name__ and not name.startswith("_")
    ]
    return sorted(listed, key=lambda name: (name.isupper(), not name[0].isupper(), name.lower()))


def _render_name(name: str, member: Any) -> str:
    title = f"\n## {name} {{#{name.lower()}}}\n\n"
    if inspect.ismodule(member):
        return f"{title}Module `{member.__name__}`: {render_docstring(member.__doc__)}"
    if not inspect.isclass(member) and not inspect.isfunction(member):
        return f"{title}{_render_constant(member)}"
    text = f"{title}{_render_signature(name, member)}\n{render_docstring(inspect.getdoc(member))}"
    if inspect.isclass(member):
        text += "".join(_render_methods(member))
    return text


def _render_constant(value: Any) -> str:
    if isinstance(value, Registry):
        return f"Registry: {', '.join(f'`{name}`' for name in value)}.\n"
    shown = repr(value)
    return f"`{shown}`\n" if len(shown) < 80 and " at 0x" not in shown else "Constant.\n"  # noqa: PLR2004 - fits a line


def _render_signature(name: str, member: Any) -> str:
    try:
        signature = inspect.signature(member)
    except (TypeError, ValueError):
        return ""
    hidden = [one for one in signature.parameters.values() if not one.name.startswith("_")]
    shown = [_render_parameter(one) for one in hidden]
    line = f"{name}({', '.join(shown)})"
    if len(line) > 88:  # noqa: PLR2004 - fits a line
        line = f"{name}(\n    " + ",\n    ".join(shown) + ",\n)"
    return code(re.sub(r" at 0x\w+", "", line), "python")


def _render_parameter(parameter: inspect.Parameter) -> str:
    """Return a parameter as it is written; annotations are texts already."""
    text = str(parameter.replace(annotation=parameter.empty, default=parameter.empty))
    if parameter.annotation is not parameter.empty:
        text += f": {parameter.annotation}"
    if parameter.default is not parameter.empty:
        text += f" = {parameter.default!r}"
    return text


def _render_methods(member: type) -> Iterator[str]:
    own = {
        name: found
        for parent in reversed(member.__mro__)
        if parent.__module__.startswith("berryeval")
        for name, found in vars(parent).items()
        if not name.startswith("_")
    }
    rows = []
    for name, found in sorted(own.items()):
        inner = getattr(found, "__func__", found)
        about = (inspect.getdoc(found) or "").partition("\n\n")[0].replace("\n", " ")
        if inspect.isfunction(inner):
            names = [
                one for one in inspect.signature(inner).parameters if one not in {"self", "cls"}
            ]
            rows.append(f"- `{name}({', '.join(names)})`: {about}\n")
        elif isinstance(found, property) or type(found).__name__ == "cached_property":
            rows.append(f"- `{name}`: {about}\n")
    if rows:
        yield "\n"
        yield from rows


def render_docstring(text: str | None) -> str:
    """Return a docstring as Markdown: sections become lists, examples become blocks of code."""
    paragraphs = re.split(r"\n\s*\n", inspect.cleandoc(text or ""))
    return "\n\n".join(map(_render_paragraph, paragraphs)).rstrip() + "\n"


def _render_paragraph(text: str) -> str:
    first, _, rest = text.partition("\n")
    if _SECTION.match(first) and rest:
        return f"**{first.strip(':')}**\n\n{_render_paragraph(rest)}"
    if ">>>" in text:
        return code(textwrap.dedent(text), "pycon").rstrip()
    if _ENTRY.match(text):
        return "\n".join(_ENTRY.sub(r"- `\1`: \2", line) for line in text.splitlines())
    if text.startswith("    "):
        return code(textwrap.dedent(text), "text").rstrip()
    return text
