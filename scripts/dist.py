"""Build the sdist and both wheels into dist/, and try each wheel where nothing compiles.

Run with `make dist`. The wheels are built from the source distribution, so that it is complete. On
Linux, auditwheel names the systems that the native wheel runs on. Each wheel is then installed into
an empty environment, without a compiler and without building any package, and runs a demo job.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DIST: Final = ROOT / "dist"
BROKEN: Final = {"CC": "/bin/false", "CXX": "/bin/false"}
MEGABYTE: Final = 1_000_000
PLACES: Final = ("berryeval/", "berryeval-")  # the package, and its metadata


def run(*line: str | Path, **environment: str) -> None:
    """Run a command; its output appears only if it fails."""
    env = os.environ | environment
    done = subprocess.run(line, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        command = " ".join(map(str, line))
        raise SystemExit(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def build_wheel(sdist: Path, folder: Path, **environment: str) -> Path:
    """Build a wheel from the source distribution."""
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder)
    run(*pip, sdist, **environment)
    (wheel,) = folder.glob("*.whl")
    return wheel


def build_all(folder: Path) -> Iterator[Path]:
    """Build the source distribution, the native and the pure wheel into dist/."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--sdist", "--outdir", DIST, ROOT)
    (sdist,) = DIST.glob("*.tar.gz")
    native = build_wheel(sdist, folder / "native")
    if native.name.endswith("none-any.whl"):
        raise SystemExit("the native core could not be built; berryeval needs a C++20 compiler")
    if sys.platform == "linux":
        run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", DIST, native)
    else:
        shutil.copy(native, DIST)
    shutil.copy(build_wheel(sdist, folder / "pure", **BROKEN), DIST)
    yield from sorted(DIST.glob("*.whl"))


def check_content(wheel: Path) -> None:
    """Require the package alone, with its types and licence, and without tests."""
    names = zipfile.ZipFile(wheel).namelist()
    wrong = [
        name
        for name in names
        if not name.startswith(PLACES) or "/tests/" in name or "/test_" in name
    ]
    if wrong:
        raise SystemExit(f"{wheel.name}: found {', '.join(wrong[:5])}, which do not belong in it")
    for needed in ("berryeval/py.typed", "/licenses/LICENSE", "/METADATA"):
        if not any(name.endswith(needed) for name in names):
            raise SystemExit(f"{wheel.name}: expected {needed}")


def measure(folder: Path) -> float:
    """Return the size of the files below a folder in megabytes."""
    return sum(one.lstat().st_size for one in folder.rglob("*") if one.is_file()) / MEGABYTE


def try_wheel(wheel: Path, folder: Path) -> str:
    """Install a wheel where nothing can be compiled, run the demo job, and say what it took."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    alone = {**BROKEN, "PATH": str(python.parent), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    before, start = measure(folder), time.perf_counter()
    run(python, "-m", "pip", "install", "--only-binary", ":all:", wheel, **alone)
    seconds, size = time.perf_counter() - start, measure(folder) - before
    backend = "python" if wheel.name.endswith("none-any.whl") else "native"
    run(python, ROOT / "scripts" / "demo_job.py", backend, **alone)
    return f"installed in {seconds:.0f} s, {size:.0f} MB with dependencies; demo job passed"


def main() -> None:
    """Build and try everything, and list what is in dist/."""
    with tempfile.TemporaryDirectory() as name:
        for wheel in build_all(Path(name)):
            check_content(wheel)
            print(f"{wheel.name}: {try_wheel(wheel, Path(name, wheel.stem))}", flush=True)
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size / MEGABYTE:6.1f} MB  dist/{path.name}")


if __name__ == "__main__":
    main()
