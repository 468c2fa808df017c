"""Imports of optional packages."""

from __future__ import annotations

import importlib.metadata
import json
import logging
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import berryeval
from berryeval._internal.optional import import_optional, install_command
from berryeval.errors import MissingDependencyError


def test_installed_package_is_imported() -> None:
    assert import_optional("json", "reading") is json


@pytest.mark.parametrize(
    ("module", "extra", "packages"),
    [
        ("no_such_package_xyz.part", "", ["no_such_package_xyz"]),
        ("no_such_package_xyz.part", "dense", ["wordllama"]),  # the extra's, if none has the name
        ("no_such_package_xyz", "not-declared", ["no_such_package_xyz"]),
    ],
)
def test_missing_package_error_has_the_install_command(
    module: str, extra: str, packages: list[str]
) -> None:
    with pytest.raises(MissingDependencyError, match=r"^the provider x needs no_such_") as caught:
        import_optional(module, "the provider x", extra=extra)
    command = str(caught.value).partition(": ")[2]
    assert [Requirement(one).name for one in shlex.split(command)[2:]] == packages


def test_a_command_names_packages_as_they_are_declared() -> None:
    """No extra is named: that of a local installation is not on an index."""
    assert install_command({"psycopg": "postgres"}) == 'pip install "psycopg[binary]>=3.2"'
    assert install_command({"vl_convert": "report"}) == 'pip install "vl-convert-python>=1.7"'
    assert install_command({"duckdb": "sort"}) == 'pip install "duckdb>=1.4" "pyarrow>=15"'


def test_a_command_has_what_this_system_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for platform, words in (("linux", ['"uvloop>=0.19"']), ("win32", [])):
        monkeypatch.setattr(sys, "platform", platform)
        command = install_command({"uvicorn": "web"})
        assert re.findall('"uvloop[^"]*"', command) == words
        assert ";" not in command


def test_a_command_installs_where_this_process_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each tool that makes an environment of its own adds packages in its own way."""
    tool = tmp_path / "my tools" / "berryeval"
    tool.mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tool))
    (tool / "uv-receipt.toml").touch()
    command = shlex.split(install_command({"wordllama": "dense"}))
    assert command == ["uv", "pip", "install", "--python", str(tool), "wordllama>=0.4"]
    (tool / "pipx_metadata.json").touch()
    command = shlex.split(install_command({"wordllama": "dense"}))
    assert command == ["pipx", "inject", "berryeval", "wordllama>=0.4"]


def test_a_command_names_the_python_of_an_environment_that_is_not_active(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`pip` would be that of the system, which installs elsewhere or refuses."""
    for path in ("", "/usr/bin"):
        monkeypatch.setenv("PATH", path)
        monkeypatch.setattr(sys, "executable", "/home/me/.venv/bin/python")
        command = install_command({"wordllama": "dense"})
        assert command == '/home/me/.venv/bin/python -m pip install "wordllama>=0.4"'
        monkeypatch.setattr(sys, "executable", "/home/my files/bin/python")
        assert install_command({"wordllama": "dense"}).startswith('"/home/my files/bin/python" -m')


@pytest.mark.parametrize(
    ("address", "source"),
    [
        (None, "berryeval"),
        (
            {"url": "file:///home/me/my%20files/b.whl", "archive_info": {}},
            "/home/me/my files/b.whl",
        ),
        ({"url": "https://example.org/b.whl"}, "https://example.org/b.whl"),
        ({"url": "https://example.org/b", "vcs_info": {"vcs": "git"}}, "git+https://example.org/b"),
    ],
)
def test_uvx_is_called_with_the_package_from_where_it_was(
    address: Any, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An environment of uvx is gone after the call: nothing can be installed into it."""
    about = tmp_path / "archive-v0" / "x" / "berryeval-0.1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(
        "Name: berryeval\nVersion: 0.1.0\nRequires-Dist: wordllama>=0.4; extra == 'dense'\n"
    )
    if address:
        (about / "direct_url.json").write_text(json.dumps(address))
    monkeypatch.syspath_prepend(about.parent)
    monkeypatch.setattr(sys, "prefix", str(about.parent))
    command = shlex.split(install_command({"wordllama": "dense"}))
    assert command == ["uvx", "--with", "wordllama>=0.4", "--from", source, "berryeval"]


def extras_in_use() -> set[tuple[str, str]]:
    """Modules and extras that the source gives to `import_optional` as they are written."""
    call = re.compile(r'import_optional\(\s*"([\w.]+)",[^)]*?extra="([\w-]+)"')
    root = Path(berryeval.__file__).parent
    return {found for path in root.rglob("*.py") for found in call.findall(path.read_text("utf-8"))}


def test_every_extra_in_use_is_declared() -> None:
    """A hint that finds no requirement would name a module, which is seldom a package."""
    metadata = importlib.metadata.metadata("berryeval")
    declared = set(metadata.get_all("Provides-Extra") or [])
    used = extras_in_use()
    assert len(used) > 25
    assert {extra for _, extra in used} <= declared
    for module, extra in used:
        for one in shlex.split(install_command({module: extra}))[2:]:
            assert Requirement(one).specifier, (module, extra, one)


def test_imports_leave_the_root_logger_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import logging\nlogging.basicConfig(level=logging.DEBUG, force=True)\n"
    (tmp_path / "loud_package_xyz.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    root = logging.getLogger()
    before = list(root.handlers), root.level
    assert import_optional("loud_package_xyz", "a test").logging is logging
    assert (list(root.handlers), root.level) == before
