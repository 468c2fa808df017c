"""Which pack a benchmark has, and what configuration may not touch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, get_args

from berryeval.errors import ConfigurationError
from berryeval.registry import Registry
from berryeval.relevance.packs.base import Pack, Part

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["PACKS", "check_sealed", "find_pack"]

_HOME: Final = "berryeval.relevance.packs"
PACKS: Final[Registry[Pack]] = Registry(
    "pack",
    {
        "locomo": f"{_HOME}.locomo:PACK",
        "longmemeval": f"{_HOME}.longmemeval:PACK",
        "code-retrieval": f"{_HOME}.code_retrieval:PACK",
        "generic": f"{_HOME}.generic:PACK",
    },
)


def find_pack(name: str) -> Pack:
    """The pack of this name; `name@version` asks for a version, and no other will do."""
    known, _, version = name.partition("@")
    pack = PACKS.get(known)
    if not isinstance(pack, Pack) or not pack.seals <= set(get_args(Part)):
        msg = (
            f"the pack {known!r} must have name, version, rules, bound and seals "
            f"(of {', '.join(get_args(Part))}); found {type(pack).__name__}"
        )
        raise ConfigurationError(msg)
    if version and version != pack.version:
        msg = f"the pack {known!r} is here in version {pack.version}, asked for was {version}"
        raise ConfigurationError(msg)
    return pack


def check_sealed(pack: Pack, configuration: Mapping[str, Any]) -> None:
    """Refuse configuration that would change what a pack seals.

    Args:
        pack: whose rules are to stay as they are.
        configuration: settings by part, `{"relevance": {"threshold": 0.5}}`, or with dots,
            `{"relevance.threshold": 0.5}`. Other settings are none of the pack's business.
    """
    for key in _keys(configuration):
        part = key.partition(".")[0]
        if part in pack.seals:
            msg = (
                f"the pack {pack.name!r} (version {pack.version}) seals {part}: {key!r} cannot be "
                "set. Remove it, or take the benchmark without its pack and judge it your own way"
            )
            raise ConfigurationError(msg)


def _keys(configuration: Mapping[str, Any]) -> Iterable[str]:
    def walk(name: str, value: Any) -> Iterator[str]:
        if isinstance(value, Mapping) and value:
            for key, inner in value.items():
                yield from walk(f"{name}.{key}", inner)
        else:
            yield name

    for name, value in configuration.items():
        yield from walk(str(name), value)
