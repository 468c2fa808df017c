"""The local PostgreSQL server ends with its run, however the run ends."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil  # type: ignore[import-untyped,unused-ignore]
import psycopg
import pytest

from berryeval.providers.postgres_server import LocalPostgres
from tests.providers.killed_run import killed_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LEAVES = """
import sys
from berryeval.providers.postgres_server import LocalPostgres
print(LocalPostgres().folder, flush=True)
sys.exit("an error")
"""


def find_server(folder: Path) -> Any:
    written = (folder / "data" / "postmaster.pid").read_text(encoding="utf-8")
    return psutil.Process(int(written.split()[0]))


def is_alive(process: Any) -> bool:
    """Whether a process runs; an ended one may be listed until its parent waits for it."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def suspend(process: Any) -> None:
    process.suspend()


def kill(process: Any) -> None:
    process.kill()


@pytest.mark.parametrize("happens", [suspend, kill])
def test_a_server_is_stopped_in_any_state(happens: Callable[[Any], None]) -> None:
    server = LocalPostgres()
    process = find_server(Path(server.folder))
    family = [process, *process.children(recursive=True)]
    happens(process)
    server.stop()
    assert not Path(server.folder).exists()
    psutil.wait_procs(family, timeout=30)
    assert not any(map(is_alive, family))
    server.stop()  # stopping twice is harmless


def test_a_server_ends_with_a_program_that_does_not_stop_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAVES], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "an error\n")
    assert not Path(done.stdout.strip()).exists()


def test_the_server_of_a_killed_run_is_stopped_by_the_next_run(dsn: str) -> None:
    other = Path(tempfile.mkdtemp(prefix="berryeval-postgres-"))
    try:
        _, folder = killed_run("")
        left = Path(folder)
        process = find_server(left)
        assert is_alive(process)
        next_one = LocalPostgres()
        next_one.stop()
        assert not left.exists()
        assert not is_alive(process)
        assert not Path(next_one.folder).exists()
        with psycopg.connect(dsn) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        other.rmdir()  # fails if it was removed or is not empty


def test_a_server_starts_with_any_locale_and_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("a-long-name-" * 8)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    monkeypatch.setenv("LC_ALL", "xx_XX.UTF-8")
    server = LocalPostgres()
    try:
        with psycopg.connect(server.dsn) as connection:
            assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)
    finally:
        server.stop()
    assert os.environ["LC_ALL"] == "xx_XX.UTF-8"


@pytest.fixture
def linked_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        outer = Path(name)
        outer.chmod(0o755)
        (outer / "real").mkdir()
        (outer / "link").symlink_to(outer / "real")
        monkeypatch.setattr(tempfile, "tempdir", str(outer / "link"))
        yield outer / "link"


def test_a_server_behind_a_link_is_stopped(linked_folder: Path) -> None:
    _, folder = killed_run("", TMPDIR=str(linked_folder))
    left = Path(folder)
    assert left.parent == linked_folder
    process = find_server(left)
    assert is_alive(process)
    LocalPostgres().stop()
    assert not left.exists()
    assert not is_alive(process)


def test_the_data_of_a_possibly_running_server_is_kept(linked_folder: Path) -> None:
    for name, content in (("odd", "?"), ("gone", f"{2**22 + 1}\n"), ("other", f"{os.getpid()}\n")):
        data = linked_folder / f"berryeval-postgres-{name}" / "data"
        data.mkdir(parents=True)
        (data.parent / "in-use").touch()
        (data / "postmaster.pid").write_text(content, encoding="utf-8")
    LocalPostgres().stop()
    assert [path.name for path in linked_folder.iterdir() if path.name[-4:] != "lock"] == [
        "berryeval-postgres-odd"
    ]


def test_an_old_folder_without_data_is_removed(linked_folder: Path) -> None:
    for name, age in (("old", 3600), ("new", 0)):
        folder = linked_folder / f"berryeval-postgres-{name}"
        folder.mkdir()
        (folder / "in-use").touch()
        then = time.time() - age
        os.utime(folder / "in-use", (then, then))
    LocalPostgres().stop()
    assert not (linked_folder / "berryeval-postgres-old").exists()
    assert (linked_folder / "berryeval-postgres-new").exists()
