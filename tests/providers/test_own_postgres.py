"""The server that is started where none is named: it ends with its run, however that ends."""

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


def served_by(folder: Path) -> Any:
    """The process that serves the data in a server's folder."""
    written = (folder / "data" / "postmaster.pid").read_text(encoding="utf-8")
    return psutil.Process(int(written.split()[0]))


def is_alive(process: Any) -> bool:
    """Whether a process runs; one that has ended may stay listed until it is asked for."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def suspended(process: Any) -> None:
    """Such a process hears nothing."""
    process.suspend()


def killed(process: Any) -> None:
    """Its children notice by themselves."""
    process.kill()


@pytest.mark.parametrize("happens", [suspended, killed])
def test_it_is_stopped_whatever_became_of_it(happens: Callable[[Any], None]) -> None:
    """Nothing is raised, no process stays and no file."""
    server = LocalPostgres()
    process = served_by(Path(server.folder))
    family = [process, *process.children(recursive=True)]
    happens(process)
    server.stop()
    assert not Path(server.folder).exists()
    psutil.wait_procs(family, timeout=30)
    assert not any(map(is_alive, family))
    server.stop()  # nor the second time


def test_it_ends_with_a_program_that_does_not_stop_it() -> None:
    """Though the program ends with an error; nothing more is said than that."""
    done = subprocess.run(
        [sys.executable, "-c", LEAVES], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "an error\n")
    assert not Path(done.stdout.strip()).exists()


def test_a_server_of_a_killed_run_is_stopped_by_the_next(dsn: str) -> None:
    """With its data; those of the living are left alone, and folders that only look like ours."""
    other = Path(tempfile.mkdtemp(prefix="berryeval-postgres-"))
    try:
        _, folder = killed_run("")
        left = Path(folder)
        process = served_by(left)
        assert is_alive(process)
        next_one = LocalPostgres()
        next_one.stop()
        assert not left.exists()
        assert not is_alive(process)
        assert not Path(next_one.folder).exists()
        with psycopg.connect(dsn) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        other.rmdir()  # fails if it is gone, or if anything was put there


def test_any_locale_and_any_folder_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is not installed; one whose name leaves no room for that of a socket."""
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
    """The folder for temporary files, reached by a link; short, for sockets have short names."""
    with tempfile.TemporaryDirectory() as name:
        outer = Path(name)
        outer.chmod(0o755)
        (outer / "real").mkdir()
        (outer / "link").symlink_to(outer / "real")
        monkeypatch.setattr(tempfile, "tempdir", str(outer / "link"))
        yield outer / "link"


def test_a_server_behind_a_link_is_stopped_too(linked_folder: Path) -> None:
    """It names its folder without the link; no server is left without its data."""
    _, folder = killed_run("", TMPDIR=str(linked_folder))
    left = Path(folder)
    assert left.parent == linked_folder
    process = served_by(left)
    assert is_alive(process)
    LocalPostgres().stop()
    assert not left.exists()
    assert not is_alive(process)


def test_what_may_still_run_keeps_its_data(linked_folder: Path) -> None:
    """A number that cannot be read may be that of a server; one that is gone is none."""
    for name, content in (("odd", "?"), ("gone", f"{2**22 + 1}\n"), ("other", f"{os.getpid()}\n")):
        data = linked_folder / f"berryeval-postgres-{name}" / "data"
        data.mkdir(parents=True)
        (data.parent / "in-use").touch()
        (data / "postmaster.pid").write_text(content, encoding="utf-8")
    LocalPostgres().stop()
    assert [path.name for path in linked_folder.iterdir() if path.name[-4:] != "lock"] == [
        "berryeval-postgres-odd"
    ]


def test_a_folder_without_data_is_removed_if_it_is_old(linked_folder: Path) -> None:
    """Its process was killed before it made any; one that was just made may be in use."""
    for name, age in (("old", 3600), ("new", 0)):
        folder = linked_folder / f"berryeval-postgres-{name}"
        folder.mkdir()
        (folder / "in-use").touch()
        then = time.time() - age
        os.utime(folder / "in-use", (then, then))
    LocalPostgres().stop()
    assert not (linked_folder / "berryeval-postgres-old").exists()
    assert (linked_folder / "berryeval-postgres-new").exists()
