"""The embedding cache: nothing is embedded twice, and damage never yields wrong vectors."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from berryeval.providers.embedders.base import embed_query, embed_texts
from berryeval.providers.embedders.cache import FILE_NAME, EmbeddingCache, default_folder
from berryeval.providers.embedders.wordllama import WordLlama

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass
class Slow:
    """An embedder that counts its texts."""

    cache: str | None
    model: str = "slow"
    length: int = 4
    asked: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        self.asked += texts
        rows = np.zeros((len(texts), self.length if any(texts) else 1), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            if text:
                draw = random.Random(text.encode(errors="surrogatepass"))
                row[:] = [draw.gauss(0, 1) for _ in row]
        return rows


def test_nothing_is_embedded_twice(tmp_path: Path) -> None:
    texts = ["a", "b", "a", "", "ünï\ud800", "c" * 100_000]
    first = Slow(str(tmp_path))
    expected = embed_texts(Slow(""), texts)
    assert np.array_equal(embed_texts(first, texts), expected)
    assert first.asked == ["a", "b", "", "ünï\ud800", "c" * 100_000]
    second = Slow(str(tmp_path))
    assert np.array_equal(embed_texts(second, [*texts, "d"])[:-1], expected)
    assert second.asked == ["", "d"]  # empty texts are not cached
    third = Slow(str(tmp_path))
    assert np.array_equal(embed_texts(third, texts), expected)
    assert third.asked == [""]


def test_models_do_not_share_vectors(tmp_path: Path) -> None:
    embed_texts(Slow(str(tmp_path)), ["a"])
    other = Slow(str(tmp_path), model="other")
    embed_texts(other, ["a"])
    assert other.asked == ["a"]
    longer = Slow(str(tmp_path), length=6)
    assert np.array_equal(
        embed_texts(longer, ["a", "b"]), embed_texts(Slow("", length=6), ["a", "b"])
    )


def test_many_texts_are_embedded_and_cached_in_parts(tmp_path: Path) -> None:
    """An interrupted run keeps the parts that are done; a part of empty texts does no harm."""
    texts = [*map(str, range(600)), *[""] * 600, "last"]
    expected = Slow("").embed(texts)
    expected /= np.maximum(np.linalg.norm(expected, axis=1, keepdims=True), 1e-9)
    seen: list[int] = []

    def stop(done: int, total: int) -> None:
        assert total == len(texts)
        seen.append(done)
        if len(seen) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed_texts(Slow(str(tmp_path)), texts, stop)
    second = Slow(str(tmp_path))
    np.testing.assert_allclose(embed_texts(second, texts, stop), expected, atol=1e-6)
    assert seen == [512, 512, 1024, 1201]
    assert "511" not in second.asked
    assert "512" in second.asked


def test_a_model_that_changes_between_parts_embeds_all_again(tmp_path: Path) -> None:
    texts = [str(number) for number in range(600)]
    embed_texts(Slow(str(tmp_path)), texts[:512])
    changed = Slow(str(tmp_path), length=6)
    assert np.array_equal(embed_texts(changed, texts), embed_texts(Slow("", length=6), texts))


def test_queries_are_never_cached(tmp_path: Path) -> None:
    embedder = Slow(str(tmp_path))
    for _ in range(2):
        embed_texts(embedder, ["a"])
        embed_query(embedder, "a")
    assert embedder.asked == ["a", "a", "a"]


def test_the_cache_can_be_turned_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERRYEVAL_CACHE", str(tmp_path))
    embed_texts(Slow(""), ["a"])
    embed_texts(WordLlama(), ["a"])
    assert not list(tmp_path.iterdir())
    embed_texts(Slow(None), ["a"])
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
    monkeypatch.setenv("BERRYEVAL_CACHE", "")
    embedder = Slow(None)
    embed_texts(embedder, ["a"])
    assert embedder.asked == ["a"]


def test_the_default_folder_is_the_users_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BERRYEVAL_CACHE", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert default_folder() == "/caches/berryeval"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert default_folder() == "/home/me/.cache/berryeval"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert default_folder() == "/home/me/Library/Caches/berryeval"


@pytest.mark.parametrize("damage", ["text", "zeros", "middle", "cut"])
def test_a_damaged_file_is_replaced(tmp_path: Path, damage: str) -> None:
    texts = [f"text {number}" for number in range(3000)]
    expected = embed_texts(Slow(str(tmp_path)), texts)
    path = tmp_path / FILE_NAME
    data = bytearray(path.read_bytes())
    if damage == "text":
        data = bytearray(b"this is no database" * 100)
    elif damage == "zeros":
        data = bytearray(len(data))
        data[0] = 1
    elif damage == "middle":
        data[4096:] = random.Random(1).randbytes(len(data) - 4096)
    else:
        data = data[: len(data) // 2]
    path.write_bytes(data)
    with pytest.warns(RuntimeWarning, match=r"embeddings\.sqlite: .* damaged .* and was replaced"):
        assert np.array_equal(embed_texts(Slow(str(tmp_path)), texts), expected)
    again = Slow(str(tmp_path))
    assert np.array_equal(embed_texts(again, texts), expected)
    assert again.asked == []


def test_a_vector_with_a_wrong_checksum_is_embedded_again(tmp_path: Path) -> None:
    expected = embed_texts(Slow(str(tmp_path)), ["a", "b"])
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        database.execute("UPDATE vectors_1 SET vector = zeroblob(20)")
    database.close()
    embedder = Slow(str(tmp_path))
    assert np.array_equal(embed_texts(embedder, ["a", "b"]), expected)
    assert embedder.asked == ["a", "b"]
    embed_texts(embedder, ["a", "b"])
    assert embedder.asked == ["a", "b"]


def test_an_unwritable_folder_causes_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    embedder = Slow(str(tmp_path / "file"))
    with pytest.warns(RuntimeWarning, match="the embedding cache cannot be used"):
        vectors = embed_texts(embedder, ["a"])
    assert np.array_equal(vectors, embed_texts(Slow(""), ["a"]))
    assert (tmp_path / "file").read_text() == "mine"


def test_a_foreign_database_is_left_unchanged(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        database.execute("CREATE TABLE vectors_1 (mine)")
    database.close()
    with pytest.warns(RuntimeWarning, match="cannot be used"):
        assert embed_texts(Slow(str(tmp_path)), ["a"]).any()
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        assert database.execute("SELECT mine FROM vectors_1").fetchall() == []
    database.close()


def test_threads_can_share_the_cache(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(300)]
    expected = embed_texts(Slow(""), texts)

    def embedded(number: int) -> bool:
        part = slice(number * 10, number * 10 + 150)
        return np.array_equal(embed_texts(Slow(str(tmp_path)), texts[part]), expected[part])

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(embedded, range(16)))


WORK = """
import sys
from berryeval.providers.embedders.base import embed_texts
from tests.providers.test_embedding_cache import Slow
for start in range(20):
    embed_texts(Slow(sys.argv[1]), [f"text {start * 20 + number}" for number in range(100)])
"""


def test_processes_can_share_the_cache(tmp_path: Path) -> None:
    workers = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", WORK, str(tmp_path)])
        for _ in range(3)
    ]
    assert [worker.wait(120) for worker in workers] == [0, 0, 0]
    texts = [f"text {number}" for number in range(480)]
    embedder = Slow(str(tmp_path))
    assert np.array_equal(embed_texts(embedder, texts), embed_texts(Slow(""), texts))
    assert embedder.asked == []
    assert EmbeddingCache(tmp_path).path == tmp_path / FILE_NAME
