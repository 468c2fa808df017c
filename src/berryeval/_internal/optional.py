"""Import of packages that only some features need."""

from __future__ import annotations

import json
import logging
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from berryeval.errors import MissingDependencyError

# Extras whose packages work only together; of the others, a feature needs single packages.
_TOGETHER: Final = ("mlflow", "otel", "sort", "spark", "web")
_EXTRA: Final = re.compile(r"""(?: and )?extra *== *["']([^"']+)["']""")
_NOT_WINDOWS: Final = 'sys_platform != "win32"'


def import_optional(module: str, feature: str, *, extra: str = "") -> Any:
    """Import a module, or raise an error with the command that installs it (or the `extra`).

    Some packages configure the root logger when they are imported; its handlers and level are
    restored.
    """
    if sys.modules.get(module):  # searches do this, several at once
        return import_module(module)
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        install = install_command({package: extra})
        raise MissingDependencyError(f"{feature} needs {package}: {install}") from error
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def is_missing(module: str) -> bool:
    """Whether a module is not installed; it is not imported."""
    try:
        return find_spec(module) is None
    except ModuleNotFoundError:  # its parent package is missing
        return True


def require_modules(needs: Iterable[tuple[str, Mapping[str, str]]]) -> None:
    """Raise one error for all modules that are not installed, with the command that installs them.

    Each feature comes with the modules it needs, and each module with the extra that installs it.
    """
    missing = {
        feature: {module: extra for module, extra in modules.items() if is_missing(module)}
        for feature, modules in needs
    }
    wanted = {module: extra for modules in missing.values() for module, extra in modules.items()}
    if wanted:
        words = [
            f"{feature} needs {', '.join(found)}" for feature, found in missing.items() if found
        ]
        raise MissingDependencyError(f"{', '.join(words)}: {install_command(wanted)}")


def install_command(modules: Mapping[str, str]) -> str:
    """Return the command that installs modules, each of which an extra of this package declares.

    It names the packages with their versions instead of the extra, so that it works for an
    installation from a file, a folder or a repository as well as for one from an index.
    """
    found = [one for module, extra in modules.items() for one in _list_packages(module, extra)]
    packages = [f'"{one}"' for one in dict.fromkeys(found)]
    if Path(sys.prefix).parent.name.startswith("archive-v"):  # uvx makes an environment per call
        with_packages = [f"--with {one}" for one in packages]
        return " ".join(["uvx", *with_packages, f"--from {_find_source()}", "berryeval"])
    return " ".join([_find_installer(), *packages])


def _list_packages(module: str, extra: str) -> list[str]:
    """List the requirements of an extra that a module comes with, or all if none has its name."""
    package = module.partition(".")[0]
    declared = _read_requirements(extra) if extra else []
    wanted = package.replace("_", "-").lower()
    named = [one for one in declared if one.replace("_", "-").lower().startswith(wanted)]
    return (declared if extra in _TOGETHER else named or declared) or [package]


def _read_requirements(extra: str) -> list[str]:
    """Read the requirements of an extra from the metadata of the installed package."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires("berryeval") or []
    except PackageNotFoundError:  # imported from a folder, without an installation
        return []
    found = [_EXTRA.sub("", line) for line in lines if extra in _EXTRA.findall(line)]
    others = [line for line in found if _NOT_WINDOWS in line and sys.platform == "win32"]
    kept = (line.replace(_NOT_WINDOWS, "").strip(" ;") for line in found if line not in others)
    return [line.replace('"', "'") for line in kept]  # in a command, each is between double quotes


def _find_source() -> str:
    """Return what this package was installed from: a file or folder, else its name on an index."""
    from importlib.metadata import distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    address = json.loads(distribution("berryeval").read_text("direct_url.json") or "{}")
    url = str(address.get("url", ""))
    if url.startswith("file:"):
        return shlex.quote(url2pathname(urlsplit(url).path))
    kind = address.get("vcs_info", {}).get("vcs")
    return shlex.quote(f"{kind}+{url}" if kind else url or "berryeval")


def _find_installer() -> str:
    """Return the command that installs packages into the environment of this process."""
    if Path(sys.prefix, "pipx_metadata.json").is_file():
        return "pipx inject berryeval"
    if Path(sys.prefix, "uv-receipt.toml").is_file():  # of `uv tool install`, outside any project
        return f"uv pip install --python {shlex.quote(sys.prefix)}"
    if is_missing("pip"):
        return "uv pip install"
    import shutil

    pip = shutil.which("pip")
    if pip and Path(pip).parent == Path(sys.executable).parent:
        return "pip install"
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return f"{python} -m pip install"  # the environment is not active: that pip is of another
