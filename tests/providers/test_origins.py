"""Hits of other frameworks are matched to the documents of a benchmark without options."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

from berryeval.data.records import Chunk, Hit
from berryeval.errors import ProviderError
from berryeval.providers.catalogue import build_provider
from berryeval.providers.origins import Origins, build_id
from berryeval.providers.retrievers import LangChain, LlamaIndex
from tests.providers.corpus import query
from tests.providers.handbook import TEXTS, failure, score

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class ByWords(BaseRetriever):
    """A retriever that ranks by shared words and, as BM25 retrievers do, sets no ids."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        assert run_manager
        words = set(query.lower().split())

        def shared(document: Document) -> int:
            return len(words & set(document.page_content.lower().replace(".", " ").split()))

        return sorted(self.documents, key=shared, reverse=True)[:4]


def load(pattern: str) -> list[Document]:
    """Return the documents as a loader of files or pages gives them: without ids, with a source."""
    return [
        Document(page_content=text, metadata={"source": pattern.format(name)})
        for name, text in TEXTS.items()
    ]


SOURCES = [
    "{}", "docs/{}.md", "/home/me/project/docs/{}.md", "file:///data/{}.md", "{}.pdf",
    "https://docs.example.org/v2/{}.html?lang=en", "https://docs.example.org/{}/index.html#top",
    "C:\\data\\{}.md", "Docs/{}.MD",
]  # fmt: skip


@pytest.mark.parametrize("pattern", SOURCES)
def test_langchain_documents_with_a_usual_source_need_no_options(
    pattern: str, tmp_path: Path
) -> None:
    """Leading folders, hosts, extensions and letter case do not hide the document."""
    assert score(ByWords(documents=load(pattern)), tmp_path) == 1.0


def test_pieces_without_ids_are_told_apart_and_placed(tmp_path: Path) -> None:
    """Two pieces of a document are two hits; `start_index` places them."""
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=70, chunk_overlap=0, add_start_index=True, separators=["\n\n"]
    )
    pieces = splitter.split_documents(load("docs/{}.md"))
    assert score(ByWords(documents=pieces), tmp_path, quotes=True) == 1.0
    provider = LangChain(ByWords(documents=pieces))
    provider.index([Chunk(name, name, text, 0, len(text)) for name, text in TEXTS.items()])
    hits = provider.search(query("tokens expire refresh"), 4)
    assert len({hit.id for hit in hits}) == 4
    assert hits[0].id == f"guides/tokens@{hits[0].start}-{hits[0].end}"


def test_headings_of_splitters_are_sections() -> None:
    splitter = MarkdownHeaderTextSplitter([("#", "Header 1"), ("##", "Header 2")])
    pieces = splitter.split_text(TEXTS["guides/tokens"])
    for piece in pieces:
        piece.metadata["source"] = "guides/tokens"
    hits = LangChain(ByWords(documents=pieces)).search(query("refresh"), 4)
    assert [hit.section for hit in hits] == [("Tokens", "Refresh"), ("Tokens",)]


def test_a_match_by_source_is_noted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "berryeval")
    score(ByWords(documents=load("docs/{}.md")), tmp_path)
    text = "matched 4 sources to documents by their paths, such as 'docs/guides/tokens.md' to"
    assert text in caplog.text


def test_a_file_name_matches_only_one_document() -> None:
    """A name without folders fits two documents, so it matches neither."""
    chunks = [Chunk("1", "a/readme", "One."), Chunk("2", "b/readme", "Two."), Chunk("3", "c/x", "")]
    found = Origins(chunks)
    assert found.settle(Hit("h"), ["readme.md"]).doc_id == "readme.md"
    assert found.settle(Hit("h"), ["docs/b/readme.md"]).doc_id == "b/readme"
    assert found.settle(Hit("h"), ["x.md"]).doc_id == "c/x"
    assert [note for note in found.notes() if "x.md" in note or "readme" in note]


@pytest.mark.parametrize(
    ("documents", "source", "wanted"),
    [
        (["readme", "b/readme.md"], "/x/c/readme.md", ""),
        (["readme.md", "b/readme.md"], "/x/c/readme.md", ""),
        (["readme.md", "b/readme.md"], "readme", ""),
        (["/x/c/readme.md", "/x/d/readme.md"], "readme", ""),
        (["readme.md", "b/readme.md"], "Readme.md", "readme.md"),
        (["readme.md", "b/readme.md"], "/x/b/readme.md", "b/readme.md"),
        (["readme.md", "x/b/readme.md"], "b/readme.md", "x/b/readme.md"),
        (["readme.md", "b/readme.md"], "./readme.md", "readme.md"),
        (["/x/c/readme.md"], "readme", "/x/c/readme.md"),
        (["readme"], "/x/c/readme.md", "readme"),
    ],
)
def test_documents_of_one_file_name_are_not_confused(
    documents: list[str], source: str, wanted: str
) -> None:
    """A source that fits several matches none of them, and a note says so."""
    found = Origins([Chunk(name, name, f"Text of {name}.") for name in documents])
    assert found.settle(Hit("h"), [source]).doc_id == (wanted or source)
    said = "".join(found.notes())
    assert ("1 source fits several documents and matched none by name" in said) == (not wanted)
    for name in documents if not wanted else ():
        assert repr(name) in said


def test_extensions_decide_between_files_of_one_name() -> None:
    chunks = [Chunk("1", "a.pdf", "One."), Chunk("2", "a.docx", "Two.")]
    found = Origins(chunks)
    assert found.settle(Hit("h"), ["docs/a.docx"]).doc_id == "a.docx"
    assert found.settle(Hit("h"), ["docs/a"]).doc_id == "docs/a"


@pytest.mark.parametrize(
    ("document", "source"),
    [
        ("a.pdf", "docs/a.docx"),
        ("os.path", "os.environ"),
        ("https://a.example/guide", "https://b.example/guide"),
        ("https://a.example/view?id=1", "https://a.example/view?id=2"),
        ("api#get", "api#put"),
    ],
)
def test_parts_that_both_names_have_must_agree(document: str, source: str) -> None:
    """Extensions, hosts, queries and fragments are ignored only if one of the two has none."""
    found = Origins([Chunk("1", document, "One.")])
    assert found.settle(Hit("h"), [source]).doc_id == source
    assert found.settle(Hit("h"), [f"more/{document.partition('//')[2] or document}"]).doc_id == (
        document
    )


def test_letters_with_marks_are_matched_however_they_are_written() -> None:
    """File systems compose letters or take them apart."""
    found = Origins([Chunk("1", "k\u00e4se", "One.")])
    assert found.settle(Hit("h"), ["/data/ka\u0308se.md"]).doc_id == "k\u00e4se"


def test_different_sources_of_one_document_are_noted() -> None:
    found = Origins([Chunk("1", "readme", "One.")])
    for source in ("a/readme.md", "b/readme.md"):
        found.settle(Hit("h"), [source])
    assert "'a/readme.md' and 'b/readme.md' both matched the document 'readme'" in "".join(
        found.notes()
    )


def test_a_text_is_matched_only_if_it_is_in_one_document() -> None:
    shared = "Every request needs a key and a date."
    chunks = [
        Chunk("1", "a", f"{shared} Keys expire.", 0, 50),
        Chunk("2", "b", f"{shared} Dates are in UTC.", 0, 55),
        Chunk("3", "c", "Short."),
    ]
    found = Origins(chunks)
    assert found.settle(Hit("", text=shared)).doc_id == ""
    assert found.settle(Hit("", text="a date. Dates are in  UTC.")).doc_id == "b"
    assert found.settle(Hit("own", text="short.")) == Hit(
        "3", text="short.", doc_id="c", metadata={"id": "own"}
    )
    assert found.settle(Hit("", text="Keys")).doc_id == ""  # too short to be a quote


def test_an_id_of_a_chunk_of_another_document_is_not_believed() -> None:
    """Numbers as ids are the same in many systems: the source decides."""
    found = Origins([Chunk("0", "a", "One two three."), Chunk("1", "b", "Four five six.")])
    assert found.settle(Hit("0", text="Four"), ["docs/b.md"]).doc_id == "b"
    assert found.settle(Hit("0", text="One"), ["docs/a.md"]).doc_id == "a"


def test_ids_are_built_from_document_and_position_or_text() -> None:
    assert build_id(Hit("", doc_id="d", text="abc", start=2, end=5)) == "d@2-5"
    assert build_id(Hit("", doc_id="d")) == "d"
    assert build_id(Hit("")) == ""
    one, two = (build_id(Hit("", doc_id="d", text=text)) for text in ("a", "b"))
    assert one != two


def test_a_document_without_id_source_and_known_text_is_reported() -> None:
    with pytest.raises(ProviderError, match=r"hit 1 has no id at metadata\['id'\]"):
        LangChain(ByWords(documents=[Document(page_content="x")])).search(query("x"), 1)


def test_sources_of_another_corpus_are_never_a_silent_zero(tmp_path: Path) -> None:
    other = [Document(page_content="Something else.", metadata={"source": "other.txt"})]
    assert "so there is no score" in failure(ByWords(documents=other), tmp_path)


def retriever(nodes: Sequence[Any]) -> Any:
    """Return a LlamaIndex retriever that ranks nodes by shared words."""
    from llama_index.core.retrievers import BaseRetriever as Base
    from llama_index.core.schema import NodeWithScore

    class Shared(Base):
        def _retrieve(self, query_bundle: Any) -> list[Any]:
            words = set(query_bundle.query_str.lower().split())
            scored = [
                (len(words & set(node.text.lower().replace(".", " ").split())), node)
                for node in nodes
            ]
            best = sorted(scored, key=lambda pair: -pair[0])[:4]
            return [NodeWithScore(node=node, score=float(points)) for points, node in best]

    return Shared()


@pytest.mark.parametrize("known", ["id", "file_path", "file_name"])
def test_llamaindex_nodes_need_no_options(known: str, tmp_path: Path) -> None:
    """Nodes of a splitter are matched by their parent, or by the file that it was read from."""
    from llama_index.core import Document as Page
    from llama_index.core.node_parser import MarkdownNodeParser

    pages = []
    for name, text in TEXTS.items():
        metadata = {
            "id": {},
            "file_path": {"file_path": f"/data/docs/{name}.md", "file_name": "some.md"},
            "file_name": {"file_name": f"{name.rpartition('/')[2]}.md"},
        }[known]
        pages.append(Page(text=text, metadata=metadata, **({"id_": name} if known == "id" else {})))
    nodes = MarkdownNodeParser().get_nodes_from_documents(pages)
    assert score(retriever(nodes), tmp_path / "a") == 1.0
    assert score(retriever(nodes), tmp_path / "b", quotes=True) == 1.0
    with build_provider(retriever(nodes)) as provider:
        assert isinstance(provider, LlamaIndex)
        hit = provider.search(query("refresh revoked logout"), 1)[0]
    assert hit.section == ("Tokens",)  # the headings above; its own is in its text
