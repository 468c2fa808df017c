"""Every plug-in module is in the table of its family and documented."""

from __future__ import annotations

from pathlib import Path

import pytest

import berryeval
from berryeval.benchmarks import LOADERS
from berryeval.chunkers import CHUNKERS
from berryeval.metrics import definitions
from berryeval.metrics.catalogue import FAMILIES
from berryeval.providers import PROVIDERS, describe_provider
from berryeval.reports import EXPORTERS

SOURCE = Path(berryeval.__file__).parent


def modules_of(folder: str, *shared: str) -> set[str]:
    return {path.stem for path in (SOURCE / folder).glob("*.py")} - {"__init__", *shared}


def homes_of(registry: object) -> set[str]:
    homes = vars(registry)["_homes"].values()
    named = [home if isinstance(home, str) else home.__module__ for home in homes]
    return {home.partition(":")[0].rpartition(".")[2] for home in named}


def test_every_family_of_metrics_is_in_the_table() -> None:
    missing = modules_of("metrics/families") - set(FAMILIES)
    assert not missing, f"add {missing} to FAMILIES in metrics/catalogue.py"


@pytest.mark.parametrize("name", list(definitions()))
def test_every_metric_is_documented(name: str) -> None:
    assert definitions()[name].summary, f"{name} needs a docstring"


@pytest.mark.parametrize(
    ("registry", "folder", "shared"),
    [
        (LOADERS, "benchmarks/loaders", ()),
        (EXPORTERS, "reports/exporters", ()),
        (CHUNKERS, "chunkers", ("base", "catalogue", "placement")),
        (
            PROVIDERS,
            "providers",
            ("answers", "base", "catalogue", "postgres_server", "ranking", "web"),
        ),
    ],
    ids=["loaders", "exporters", "chunkers", "providers"],
)
def test_every_plug_in_is_in_its_table(
    registry: object, folder: str, shared: tuple[str, ...]
) -> None:
    missing = modules_of(folder, *shared) - homes_of(registry)
    assert not missing, f"add {missing} to the table of {folder}"


@pytest.mark.parametrize("name", list(PROVIDERS))
def test_every_option_of_a_provider_is_described(name: str) -> None:
    facts = describe_provider(name)
    assert facts.summary, f"{name}: begin the module docstring with a summary"
    for option in facts.options:
        hint = f"{name}: describe the option {option.name} under Attributes in the class docstring"
        assert option.description, hint
