"""What lists and documents say about providers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

from berryeval.providers.base import Provider
from berryeval.providers.catalogue import PROVIDERS, describe_provider

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from berryeval.data.records import Hit, Query

PYPROJECT = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")


@pytest.fixture
def other_providers() -> Iterator[None]:
    """Register providers of other packages for one test."""
    before = dict(PROVIDERS._homes)
    PROVIDERS.register("theirs", aliases=["another"])(Theirs)
    PROVIDERS._homes["broken"] = "no_such_package_xyz:Provider"
    yield
    PROVIDERS._homes.clear()
    PROVIDERS._homes.update(before)
    PROVIDERS._aliases.pop("another")


class Theirs(Provider):
    """Made by others.

    In their own way.
    """

    extra: ClassVar[str] = "theirs"
    modules: ClassVar[Sequence[str]] = ("json", "no_such_module_xyz.part")

    def __init__(self, address: str, size: int = 3) -> None:
        self.made = address, size

    def search(self, query: Query, k: int) -> Sequence[Hit]:  # noqa: ARG002
        return []


# Other tests may have registered providers.
BUNDLED = [
    name for name in PROVIDERS if PROVIDERS.get(name).__module__.startswith("berryeval.providers")
]


@pytest.mark.parametrize("name", BUNDLED)
def test_every_provider_is_described(name: str) -> None:
    facts = describe_provider(name)
    assert facts.summary.endswith(".")
    assert facts.about
    for option in facts.options:
        assert option.description.endswith("."), option.name
    if facts.extra:
        assert f"\n{facts.extra} = [" in PYPROJECT
    assert facts.installed or facts.missing == ("sentence_transformers",)


@pytest.mark.usefixtures("other_providers")
def test_a_provider_of_another_package_is_described() -> None:
    facts = describe_provider("theirs")
    assert facts.summary == "Made by others."
    assert facts.aliases == ("another",)
    assert [(option.name, option.required, option.default) for option in facts.options] == [
        ("address", True, None), ("size", False, 3),
    ]  # fmt: skip
    assert not facts.installed
    assert facts.missing == ("no_such_module_xyz.part",)


@pytest.mark.usefixtures("other_providers")
def test_a_provider_that_cannot_be_imported_is_listed() -> None:
    facts = describe_provider("broken")
    assert "cannot be imported" in facts.summary
    assert facts.missing == ("no_such_package_xyz",)
