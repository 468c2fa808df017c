"""Reading of compressed and damaged files, and atomic writing."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard

from berryeval._internal.files import plain_suffix, read_bytes, replace_file
from berryeval.data.qrels import Qrels
from berryeval.errors import DataError

TEXT = b"q1 0 d1 1\nq1 0 d2 0\n" * 50


def names_in(folder: Path) -> list[str]:
    """Return the names of the files in a folder."""
    return sorted(path.name for path in folder.iterdir())


def packed(kind: str) -> bytes:
    """Return the compressed text."""
    return gzip.compress(TEXT) if kind == ".gz" else zstandard.ZstdCompressor().compress(TEXT)


@pytest.mark.parametrize("kind", [".gz", ".zst"])
@pytest.mark.parametrize("ending", ["", ".txt", None])
def test_compressed_files_are_decompressed(tmp_path: Path, kind: str, ending: str | None) -> None:
    path = tmp_path / ("file" + (kind if ending is None else ending))
    path.write_bytes(packed(kind) * 2)
    assert read_bytes(path).tobytes() == TEXT * 2


@pytest.mark.parametrize("kind", [".gz", ".zst"])
@pytest.mark.parametrize("size", [0, 5, 20, -1])
def test_truncated_file_is_an_error(tmp_path: Path, kind: str, size: int) -> None:
    path = tmp_path / f"file{kind}"
    path.write_bytes(packed(kind)[:size])
    with pytest.raises(DataError) as caught:
        Qrels.load(path)
    assert str(caught.value) == f"{path}: ends in the middle of its compressed data"


@pytest.mark.parametrize(("kind", "name"), [(".gz", "gzip"), (".zst", "zstd")])
def test_file_with_a_wrong_compression_suffix_is_an_error(
    tmp_path: Path, kind: str, name: str
) -> None:
    path = tmp_path / f"file{kind}"
    path.write_bytes(TEXT)
    with pytest.raises(DataError) as caught:
        Qrels.load(path)
    assert str(caught.value).startswith(f"{path}: is not valid {name} data (")
    assert "\n" not in str(caught.value)


def test_damaged_gzip_data_is_an_error(tmp_path: Path) -> None:
    data = bytearray(packed(".gz"))
    data[15] ^= 0xFF
    path = tmp_path / "file.gz"
    path.write_bytes(bytes(data))
    with pytest.raises(DataError, match="is not valid gzip data"):
        Qrels.load(path)


def test_missing_files_and_folders_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_bytes(tmp_path / "none")
    assert str(caught.value) == f"{tmp_path / 'none'}: no such file"
    with pytest.raises(DataError) as caught:
        read_bytes(tmp_path)
    assert str(caught.value) == f"{tmp_path}: is a directory, expected a file"
    with pytest.raises(DataError, match=r"cannot be read \(File name too long"):
        Qrels.load("x" * 5000)
    with pytest.raises(DataError, match=r"cannot be read \(embedded null byte"):
        Qrels.load("x\0y")


def test_a_missing_file_is_explained_by_a_similar_one(tmp_path: Path) -> None:
    """Only one with the same suffix, which says what the file is."""
    for name in ("judged.qrels", "search.csv", "search.run"):
        (tmp_path / name).touch()
    with pytest.raises(DataError, match=r"judge\.qrels: no such file; did you mean '.*judged\."):
        read_bytes(tmp_path / "judge.qrels")
    with pytest.raises(DataError, match=r"serch\.run: no such file; did you mean '.*/search\.run'"):
        read_bytes(tmp_path / "serch.run")
    for other in ("search.trec", "x.run", "none/search.run"):
        with pytest.raises(DataError, match=r"no such file$"):
            read_bytes(tmp_path / other)


def test_suffix_ignores_the_compression() -> None:
    assert plain_suffix("a.JSON") == ".json"
    assert plain_suffix("a.b.json.gz") == ".json"
    assert plain_suffix("run.zst") == ""
    assert plain_suffix("-") == ""


@pytest.mark.parametrize("name", ["file", "file.gz", "file.zst"])
def test_written_file_can_be_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    contents = []
    for _ in range(2):
        with replace_file(path) as stream:
            stream.write(TEXT)
        contents.append(path.read_bytes())
    assert read_bytes(path).tobytes() == TEXT
    assert contents[0] == contents[1]
    assert (contents[0] == TEXT) == (name == "file")
    assert names_in(tmp_path) == [name]


@pytest.mark.parametrize("name", ["file", "file.gz", "file.zst"])
def test_failed_write_keeps_the_old_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"before")

    def fail() -> None:
        with replace_file(path) as stream:
            stream.write(TEXT * 1000)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_bytes() == b"before"
    assert names_in(tmp_path) == [name]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_full_disk_is_a_one_line_error(tmp_path: Path) -> None:
    link = tmp_path / "full"
    link.symlink_to("/dev/full")
    with pytest.raises(DataError) as caught:
        Qrels.from_dict({"q1": {"d1": 1}}).to_trec(link)
    assert str(caught.value) == f"{link}: cannot be written (No space left on device)"
    assert Path("/dev/full").is_char_device()
    assert link.is_symlink()


def test_disk_that_fills_up_leaves_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    full = OSError(28, "No space left on device")

    def replace(self: Path, target: Path) -> None:
        assert self.read_bytes() == b"q1 0 d1 1\n"
        assert target == path
        raise full

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(DataError) as caught:
        Qrels.from_dict({"q1": {"d1": 1}}).to_trec(path)
    assert str(caught.value) == f"{path}: cannot be written (No space left on device)"
    assert path.read_bytes() == b"before"
    assert names_in(tmp_path) == ["file"]


def test_missing_folder_is_a_one_line_error(tmp_path: Path) -> None:
    for path, why in (
        (tmp_path / "no" / "file", "No such file or directory"),
        (tmp_path, "Is a directory"),
    ):
        with pytest.raises(DataError) as caught:
            Qrels.from_dict({"q1": {"d1": 1}}).to_json(path)
        assert str(caught.value) == f"{path}: cannot be written ({why})"


def test_failed_cleanup_does_not_hide_the_error(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 300) / "file"  # longer than file systems allow
    with pytest.raises(DataError) as caught:
        Qrels.from_dict({"q1": {"d1": 1}}).to_trec(path)
    assert str(caught.value).startswith(f"{path}: cannot be written (")


def test_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    path.chmod(0o640)
    Qrels.from_dict({"q1": {"d1": 1}}).to_trec(path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_writing_to_a_link_keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "folder" / "file")
    Qrels.from_dict({"q1": {"d1": 1}}).to_trec(link)
    assert link.is_symlink()
    assert (tmp_path / "folder" / "file").read_bytes() == b"q1 0 d1 1\n"


def test_missing_zstandard_error_has_the_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    path = tmp_path / "file.zst"
    path.write_bytes(packed(".zst"))
    with pytest.raises(DataError, match=r'reading zstd data needs .*: pip install "zstandard>='):
        Qrels.load(path)
    with pytest.raises(DataError, match=r'writing zstd data needs .*: pip install "zstandard>='):
        Qrels.from_dict({"q1": {"d1": 1}}).to_trec(path)


WRITER = """
import sys, time
from berryeval._internal.files import replace_file
with replace_file(sys.argv[1]) as stream:
    stream.write(b"half")
    print("writing", flush=True)
    time.sleep(600)
"""


def test_a_killed_writer_leaves_nothing_for_long(tmp_path: Path) -> None:
    """The next process that writes to the folder removes its temporary file, and no other."""
    for name in (".berryeval-mine.tmp", ".berryeval-0123456789abcdef.tmp.bak"):
        (tmp_path / name).write_text("mine", encoding="utf-8")
    (tmp_path / ".berryeval-0123456789abcdef.tmp").mkdir()
    kept = set(tmp_path.iterdir())
    children = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / name)], stdout=subprocess.PIPE
        )
        for name in ("killed", "running")
    ]
    try:
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == b"writing\n"
        before = set(tmp_path.iterdir())
        assert len(before - kept) == 2
        children[0].kill()
        children[0].wait()
        with replace_file(tmp_path / "new") as stream:
            stream.write(b"whole")
        after = set(tmp_path.iterdir())
        assert len(after & before) == len(kept) + 1  # that of the running process stays
        assert kept < after
        assert (tmp_path / "new").read_bytes() == b"whole"
    finally:
        for child in children:
            child.kill()
            child.communicate()


@pytest.mark.parametrize("target", ["mine", "gone", "/dev/null", "self"])
def test_a_link_that_leads_out_of_the_folder_is_replaced(tmp_path: Path, target: str) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    folder = tmp_path / "folder"
    folder.mkdir()
    link = folder / "self"
    link.symlink_to("self" if target == "self" else tmp_path / target)
    with replace_file(link, inside=folder) as stream:
        stream.write(TEXT)
    assert not link.is_symlink()
    assert link.read_bytes() == TEXT
    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert names_in(tmp_path) == ["folder", "mine"]


def test_a_link_inside_the_folder_is_kept(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("file")
    with replace_file(link, inside=tmp_path) as stream:
        stream.write(TEXT)
    assert link.is_symlink()
    assert (tmp_path / "file").read_bytes() == TEXT
