"""`berryeval version`."""

from __future__ import annotations

import platform

from berryeval import __version__
from berryeval.cli.flags import Flag
from berryeval.cli.output import print_json


def version(*, json: Flag = False) -> None:
    """Show versions and the backend in use.

    Args:
        json: JSON output.
    """
    import numpy as np

    from berryeval._internal import backend

    facts = {
        "version": __version__,
        "backend": backend.BACKEND,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
    }
    if json:
        print_json("version", {**facts, "native_problem": backend.native_problem})
        return
    print(f"berryeval {facts.pop('version')}")
    if backend.native_problem:
        facts["backend"] += f" (not native: {backend.native_problem})"
    for name, value in facts.items():
        print(f"{name:<9} {value}")
