"""The embedder `sentence-transformers`, if the package is installed."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from berryeval.data.records import Chunk
from berryeval.errors import ConfigurationError
from berryeval.providers.dense import Dense
from berryeval.providers.embedders.base import build_embedder, embed_query, embed_texts
from tests.providers.corpus import query

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    not find_spec("sentence_transformers"),
    reason="sentence-transformers, with PyTorch several gigabytes, is not installed",
)
WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "tokens",
    "expire",
    "backup",
    "night",
    "pool",
]


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two small layers with random weights."""
    from sentence_transformers import SentenceTransformer
    from tokenizers import BertWordPieceTokenizer

    transformers: Any = import_module("transformers")  # its names come and go

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about moved modules of the package
        from sentence_transformers.models import Pooling, Transformer

        folder = tmp_path_factory.mktemp("model")
        (folder / "vocab.txt").write_text("\n".join(WORDS))
        BertWordPieceTokenizer(str(folder / "vocab.txt")).save(str(folder / "tokenizer.json"))
        config = transformers.BertConfig(
            vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=64,
        )  # fmt: skip
        transformers.BertModel(config).save_pretrained(folder / "bert")
        tokenizer = transformers.BertTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
        tokenizer.save_pretrained(folder / "bert")
        parts = [Transformer(str(folder / "bert")), Pooling(32)]
        SentenceTransformer(modules=parts, device="cpu").save(str(folder / "whole"))
    return folder / "whole"


def test_vectors_match_the_package(model_folder: Path) -> None:
    from sentence_transformers import SentenceTransformer

    texts = ["tokens expire", "backup night", "", "ünï\ud800 \x00"]
    options = {"model": str(model_folder), "device": "cpu", "query_prefix": "night ", "cache": ""}
    embedder = build_embedder("sentence-transformers", options)
    theirs = SentenceTransformer(str(model_folder), device="cpu").encode(texts[:2])
    assert np.allclose(embedder.embed(texts)[:2], theirs, atol=1e-5)
    expected = embed_texts(embedder, ["night pool"])[0]
    assert np.allclose(embed_query(embedder, "pool"), expected, atol=1e-5)


def test_dense_search_works_with_sentence_transformers(model_folder: Path, tmp_path: Path) -> None:
    options = {"model": str(model_folder), "device": "cpu", "cache": str(tmp_path)}
    texts = ["tokens expire", "backup night", "pool"]
    for _ in range(2):
        provider = Dense("sentence-transformers", options)
        provider.index([Chunk(text, "d", text) for text in texts])
        with ThreadPoolExecutor(4) as threads:
            jobs = [threads.submit(provider.search, query(text), 1) for text in texts * 5]
        assert [job.result()[0].id for job in jobs] == texts * 5


def test_an_invalid_model_is_reported(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    embedder = build_embedder("sentence-transformers", {"model": str(tmp_path), "cache": ""})
    with pytest.raises(ConfigurationError, match=r"sentence-transformers: .* cannot be loaded"):
        embedder.embed(["text"])
