"""`berryeval version`."""

from __future__ import annotations

import platform

from berryeval import __version__
from berryeval.cli.options import Flag
from berryeval.cli.output import print_json


def version(*, json: Flag = False) -> None:
    """Show versions and the backend in use.

    Args:
        json: Print JSON instead of text.
    """
    import numpy as np

    from berryeval._internal import backend as _backend

    facts = {
        "version": __version__,
        "backend": _backend.BACKEND,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
    }
    if json:
        print_json("version", {**facts, "native_problem": _backend.native_problem})
        return
    print(f"berryeval {facts.pop('version')}")
    if _backend.native_problem:
        facts["backend"] += f" (not native: {_backend.native_problem})"
    for name, value in facts.items():
        print(f"{name:<9} {value}")
