"""The choice of the backend."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from berryeval import metrics
from berryeval._internal import backend as _backend
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

PRINT_BACKEND = "from berryeval.metrics import BACKEND; print(BACKEND)"
# Hides the native module from an interpreter as if it had never been built.
WITHOUT_NATIVE = (
    "import sys; sys.modules['berryeval._native'] = None\n"  # makes its import fail
    + PRINT_BACKEND
)


def python(script: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run `script` in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=env
    )


def test_python_backend_can_be_forced(clean_environment: dict[str, str]) -> None:
    done = python(PRINT_BACKEND, {**clean_environment, "BERRYEVAL_BACKEND": "python"})
    assert done.stdout == "python\n"


def test_missing_native_module_falls_back_to_python(clean_environment: dict[str, str]) -> None:
    assert python(WITHOUT_NATIVE, clean_environment).stdout == "python\n"


def test_an_installation_without_the_native_module_is_no_failed_import(
    clean_environment: dict[str, str],
) -> None:
    """The pure wheel has none; whoever asks for the version has nothing to mend."""
    script = (
        "import sys\n"
        "found = [one for one in sys.meta_path if 'Redirecting' not in type(one).__name__]\n"
        "sys.meta_path[:] = found  # only the sources are left\n"
        "from berryeval.cli.version import version\n"
        "version()\n"
    )
    printed = python(script, clean_environment).stdout
    assert "python (not native: installed without the compiled core, which changes" in printed


def test_forced_native_backend_that_is_missing_is_an_import_error(
    clean_environment: dict[str, str],
) -> None:
    done = python(WITHOUT_NATIVE, {**clean_environment, "BERRYEVAL_BACKEND": "native"})
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(
        "berryeval.errors.BackendUnavailableError: BERRYEVAL_BACKEND=native, but"
    )
    assert "import of berryeval._native halted; None in sys.modules" in last
    assert "Install BerryEval where a C++20 compiler" in last
    caught = "try:\n import berryeval.metrics\nexcept ImportError: print('caught')"
    done = python(
        WITHOUT_NATIVE.splitlines()[0] + "\n" + caught,
        {**clean_environment, "BERRYEVAL_BACKEND": "native"},
    )
    assert done.stdout == "caught\n"


def test_unknown_backend_is_an_error(clean_environment: dict[str, str]) -> None:
    done = python(PRINT_BACKEND, {**clean_environment, "BERRYEVAL_BACKEND": "Native"})
    assert done.returncode == 1
    assert (
        "BERRYEVAL_BACKEND must be 'native' or 'python' (or unset), found 'Native'" in done.stderr
    )


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", " 2", "²", "99999"])
def test_invalid_thread_count_is_an_error(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERRYEVAL_THREADS", value)
    message = f"BERRYEVAL_THREADS must be a whole number from 1 to 9999 (or unset), found {value!r}"
    with pytest.raises(ConfigurationError, match=f"^{re.escape(message)}$"):
        _backend.thread_count()
    with pytest.raises(ConfigurationError, match=r"^BERRYEVAL_THREADS must be"):
        metrics.mrr(np.zeros((1, 1), np.int32), np.zeros((1, 1), np.int32), 1)


def test_thread_count_follows_the_variable_or_the_processors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BERRYEVAL_THREADS", "3")
    assert _backend.thread_count() == 3
    monkeypatch.setenv("BERRYEVAL_THREADS", "")
    assert _backend.thread_count() >= 1


def test_metrics_need_numpy_alone(clean_environment: dict[str, str], tmp_path: Path) -> None:
    script = (
        "import sys; sys.path[:] = [p for p in sys.path if p]; import numpy; "
        "before = set(sys.modules); import berryeval.metrics, berryeval.metrics.lists; "
        "new = {name.split('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(new - set(sys.stdlib_module_names) - {'berryeval', 'numpy'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True, text=True, check=True, env=clean_environment, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout == "[]\n"
