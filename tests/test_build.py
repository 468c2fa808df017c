"""Installing: with a compiler the native core, without one the pure Python package."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = [
    pytest.mark.skipif(
        not (ROOT / "CMakeLists.txt").exists(), reason="needs the source tree, not an installation"
    ),
    pytest.mark.skipif(
        os.environ.get("BERRYEVAL_BACKEND") == "python",
        reason="building does not depend on the backend in use; the other run of the suite does it",
    ),
]


def build_wheel(folder: Path, env: dict[str, str]) -> Path:
    """Build a wheel of the source tree in `folder`, away from the tree's own build folder.

    Optimizing takes time, and the core that the other tests use is an optimized one.
    """
    subprocess.run(
        [
            sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
            "--config-settings", f"build-dir={folder / 'build'}",
            "--config-settings", "cmake.build-type=Debug",
            "--config-settings", "cmake.define.CMAKE_CXX_FLAGS_DEBUG=-O0",
            "--wheel-dir", str(folder), ".",
        ],
        cwd=ROOT, env=env, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    return wheel


def backend_of(wheel: Path, folder: Path, env: dict[str, str]) -> str:
    """What BACKEND is when only the content of `wheel` (and NumPy) is there."""
    site = folder / "site"
    zipfile.ZipFile(wheel).extractall(site)
    script = (
        "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'ditable' not in repr(f)];"
        f"sys.path.insert(0, {str(site)!r}); import berryeval.metrics;"
        f"assert berryeval.__file__.startswith({str(site)!r}), berryeval.__file__;"
        "print(berryeval.metrics.BACKEND)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=env, cwd=folder, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip()


def test_a_wheel_has_the_native_core(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    wheel = build_wheel(tmp_path, clean_environment)
    assert not wheel.name.endswith("py3-none-any.whl")
    source = ROOT / "src" / "berryeval"
    folders = (source / "benchmarks" / "data", source / "reports" / "html" / "templates")
    data = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    bundled = {path.relative_to(ROOT / "src").as_posix() for path in data}
    assert bundled <= set(zipfile.ZipFile(wheel).namelist())
    if "-abi3-" in wheel.name:  # promised to every later Python, so built for the stable ABI
        assert any("_native.abi3." in name for name in zipfile.ZipFile(wheel).namelist())
    assert backend_of(wheel, tmp_path, clean_environment) == "native"
    names = zipfile.ZipFile(wheel).namelist()
    assert "berryeval/py.typed" in names
    assert all(name.startswith(("berryeval/", "berryeval-")) for name in names)
    assert not [name for name in names if Path(name).name.startswith(("test_", "conftest"))]


@pytest.mark.skipif(sys.platform == "win32", reason="Visual Studio finds its compiler by itself")
@pytest.mark.parametrize("variable", ["CXX", "CMAKE_CXX_COMPILER"])
def test_without_a_compiler_the_wheel_is_pure(
    variable: str, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    """A compiler that fails is no obstacle: the package installs, and BACKEND is "python"."""
    env = {**clean_environment, variable: "/bin/false"}
    wheel = build_wheel(tmp_path, env)
    assert wheel.name.endswith("py3-none-any.whl")
    assert not [
        name
        for name in zipfile.ZipFile(wheel).namelist()
        if "_native." in name and "pyi" not in name
    ]
    assert backend_of(wheel, tmp_path, clean_environment) == "python"
