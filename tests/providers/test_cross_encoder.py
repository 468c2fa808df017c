"""The reranker `cross-encoder`, if sentence-transformers is installed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data.records import Chunk
from berryeval.errors import ConfigurationError
from berryeval.providers.rerank import Rerank
from tests.providers.corpus import query

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    not find_spec("sentence_transformers"),
    reason="sentence-transformers, with PyTorch several gigabytes, is not installed",
)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["tokens", "expire", "backup", "night", "pool", "after", "days"]
TEXTS = ["tokens expire", "backup night", "pool", "tokens after days night", "days", ""]
CHUNKS = [Chunk(f"c{place}", "d", text) for place, text in enumerate(TEXTS)]


def save_model(folder: Path, labels: int = 1) -> Path:
    """Save a BERT of two small layers with random weights."""
    import torch
    from tokenizers import BertWordPieceTokenizer

    transformers: Any = import_module("transformers")  # its names come and go
    (folder / "vocab.txt").write_text("\n".join([*SPECIAL, *WORDS]))
    BertWordPieceTokenizer(str(folder / "vocab.txt")).save(str(folder / "tokenizer.json"))
    config = transformers.BertConfig(
        vocab_size=len(SPECIAL) + len(WORDS), hidden_size=32, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=64, num_labels=labels, initializer_range=2.0,
    )  # fmt: skip
    torch.manual_seed(7)
    transformers.BertForSequenceClassification(config).save_pretrained(folder / "bert")
    tokenizer = transformers.BertTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    tokenizer.save_pretrained(folder / "bert")
    return folder / "bert"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("model"))


def build(model: Path, **options: Any) -> Rerank:
    given = {"model": str(model), "device": "cpu", **options}
    made = Rerank(
        lambda _text, _k: [chunk.id for chunk in CHUNKS],
        {"type": "cross-encoder", "options": given},
    )
    made.index(CHUNKS)
    return made


def test_scores_are_those_of_the_package(model: Path) -> None:
    from sentence_transformers import CrossEncoder

    pairs = [("tokens expire", text) for text in TEXTS]
    theirs = CrossEncoder(str(model), device="cpu").predict(pairs).tolist()
    found = build(model).search(query("tokens expire"), 9)
    assert {hit.id: hit.score for hit in found} == pytest.approx(
        {chunk.id: score for chunk, score in zip(CHUNKS, theirs, strict=True)}, abs=1e-5
    )
    assert len(set(theirs)) > 1
    assert [hit.score for hit in found] == sorted(theirs, reverse=True)


def test_results_are_the_same_in_batches_and_at_once(model: Path) -> None:
    made = build(model, batch_size=2)
    queries = [query(text) for text in ("tokens", "backup night days", "ünï\ud800 \x00", "")]
    alone = [made.search(one, 5) for one in queries]
    assert made.search_many is not None
    assert made.search_many(queries, 5) == alone
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda one: made.search(one, 5), queries)) == alone


def test_a_model_that_does_not_fit_is_reported(tmp_path: Path) -> None:
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "config.json").write_text("{}")
    with pytest.raises(ConfigurationError, match=r"reranker cross-encoder: .* cannot be loaded"):
        build(tmp_path / "wrong").search(query("tokens"), 3)
    with pytest.raises(ConfigurationError, match="gives 3 numbers for a text"):
        build(save_model(tmp_path, labels=3)).search(query("tokens"), 3)
