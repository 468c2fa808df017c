"""What there is to say about a provider: read from its class, so that no list can lag behind."""

from __future__ import annotations

import dataclasses
import inspect
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from berryeval.providers.searched import parameters_of, searches
from berryeval.providers.table import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["ProviderFacts", "ProviderOption", "provider_facts"]

_ATTRIBUTE: Final = re.compile(r"^    (\w+): (.+(?:\n     +.+)*)", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class ProviderOption:
    """One option: its name, what it is for, and the default, None where one must be given."""

    name: str
    required: bool
    default: Any
    description: str


@dataclasses.dataclass(frozen=True)
class ProviderFacts:
    """A provider as a list shows it.

    Attributes:
        name: its name in configurations.
        aliases: its other names.
        summary: the first sentence about it.
        about: the text of its module: how it works, and where that comes from.
        options: what it can be made with.
        extra: the extra that brings what it needs; "" if nothing.
        missing: the modules it imports that are not installed.
    """

    name: str
    aliases: tuple[str, ...]
    summary: str
    about: str
    options: tuple[ProviderOption, ...]
    extra: str
    missing: tuple[str, ...]

    @property
    def installed(self) -> bool:
        """Whether it can be used as it is."""
        return not self.missing


def provider_facts(name: str) -> ProviderFacts:
    """The facts of the provider of this name; one that cannot be imported says so."""
    aliases = tuple(PROVIDERS.aliases_of(name))
    try:
        kind = PROVIDERS.get(name)
    except ImportError as error:  # of another package: it must not hide the others
        reason = f"cannot be imported: {error}"
        return ProviderFacts(name, aliases, reason, "", (), "", (error.name or str(error),))
    text = inspect.cleandoc(kind.__doc__ or "")
    about = inspect.cleandoc(getattr(inspect.getmodule(kind), "__doc__", None) or "")
    return ProviderFacts(
        name=name,
        aliases=aliases,
        summary=text.partition("\n\n")[0].replace("\n", " "),
        about=about,
        options=tuple(_options(kind, text)),
        extra=getattr(kind, "extra", ""),
        missing=tuple(module for module in getattr(kind, "modules", ()) if _is_missing(module)),
    )


def _is_missing(module: str) -> bool:
    try:
        return find_spec(module) is None
    except ModuleNotFoundError:  # of the package it would be in
        return True


def _options(kind: Callable[..., Any], text: str) -> Iterator[ProviderOption]:
    if not isinstance(kind, type) and searches(kind):
        return
    attributes = text.partition("Attributes:\n")[2]
    description_of = {
        name: re.sub(r"\s+", " ", description)
        for name, description in _ATTRIBUTE.findall(attributes)
    }
    factory_of: dict[str, Callable[[], Any]] = {}
    if dataclasses.is_dataclass(kind):
        factory_of = {
            option.name: option.default_factory
            for option in dataclasses.fields(kind)
            if option.default_factory is not dataclasses.MISSING
        }
    for option in parameters_of(kind) or ():
        required = option.default is option.empty
        default = None if required else option.default
        if option.name in factory_of:
            default = factory_of[option.name]()
        yield ProviderOption(option.name, required, default, description_of.get(option.name, ""))
