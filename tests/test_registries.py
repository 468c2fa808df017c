"""Every plug-in module is in the table of its family and documented."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import berryeval
from berryeval.metrics import definitions
from berryeval.metrics.catalogue import FAMILIES
from berryeval.providers import PROVIDERS, RERANKERS, describe_entry

if TYPE_CHECKING:
    from berryeval._internal.registry import Registry

SOURCE = Path(berryeval.__file__).parent


def list_modules(folder: str, *shared: str) -> set[str]:
    return {path.stem for path in (SOURCE / folder).glob("*.py")} - {"__init__", *shared}


def test_every_family_of_metrics_is_in_the_table() -> None:
    missing = list_modules("metrics/families") - set(FAMILIES)
    assert not missing, f"add {missing} to FAMILIES in metrics/catalogue.py"


@pytest.mark.parametrize("name", list(definitions()))
def test_every_metric_is_documented(name: str) -> None:
    assert definitions()[name].summary, f"{name} needs a docstring"


@pytest.mark.parametrize(
    ("folder", "table", "shared"),
    [
        ("benchmarks/loaders", "benchmarks/loading.py", ()),
        ("reports/exporters", "reports/exports.py", ()),
        ("chunkers", "chunkers/catalogue.py", ("base", "catalogue", "placement")),
        ("providers/rerankers", "providers/rerankers/base.py", ("base",)),
        (
            "providers",
            "providers/catalogue.py",
            (
                "answers",
                "base",
                "catalogue",
                "chat",
                "combined",
                "engine",
                "existing",
                "origins",
                "postgres_server",
                "ranking",
                "transfer",
                "web",
            ),
        ),
    ],
)
def test_every_plug_in_is_in_its_table(folder: str, table: str, shared: tuple[str, ...]) -> None:
    listed = (SOURCE / table).read_text(encoding="utf-8")
    missing = {name for name in list_modules(folder, *shared) if f".{name}:" not in listed}
    assert not missing, f"add {missing} to the table in {table}"


BUNDLED = [
    name for name in PROVIDERS if PROVIDERS.get(name).__module__.startswith("berryeval.providers.")
]


RERANKING = [
    name for name in RERANKERS if RERANKERS.get(name).__module__.startswith("berryeval.providers.")
]


@pytest.mark.parametrize(
    ("table", "name"),
    [*((PROVIDERS, name) for name in BUNDLED), *((RERANKERS, name) for name in RERANKING)],
)
def test_every_option_of_a_provider_or_reranker_is_described(
    table: Registry[Any], name: str
) -> None:
    facts = describe_entry(table, name)
    assert facts.summary, f"{name}: begin the class docstring with a summary"
    for option in facts.options:
        hint = f"{name}: describe the option {option.name} under Attributes in the class docstring"
        assert option.description, hint
