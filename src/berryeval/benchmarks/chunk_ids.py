"""The ids of sections as chunks, the same on every machine; and a command that writes them.

    python -m berryeval.benchmarks.chunk_ids FOLDER

fills the ids into the `relevance-judgments.json` of a folder: `chunk_id` of everything judged and
of the primary section of each query, and `relevant_chunk_ids`, the highest grade first. They come
from the documents and sections that the file names. Doing it again changes nothing.
"""

from __future__ import annotations

import json
import sys
import uuid
from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks.about import read_about
from berryeval.benchmarks.source import Source
from berryeval.errors import BerryEvalError, DataError
from berryeval.io.files import writing
from berryeval.io.json_text import read_json_node

if TYPE_CHECKING:
    from berryeval.io.files import PathLike
    from berryeval.io.json_node import Node

__all__ = ["fill_chunk_ids", "judged_queries", "relevant_chunks", "section_chunk_id"]

JUDGMENTS: Final = "relevance-judgments.json"


def section_chunk_id(benchmark: str, document: str, section: str) -> str:
    """The id of a section: a UUID made of the three names.

    >>> section_chunk_id("technical-docs", "faq", "limits")
    '2163183b-6412-5fe9-9a9e-76f567cdec43'
    """
    name = f"berryeval:{benchmark}/{document}#{section}"
    try:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, name))
    except UnicodeEncodeError:
        msg = f"the name of a section must be valid Unicode text, found {name!r:.80}"
        raise DataError(msg) from None


def fill_chunk_ids(folder: PathLike) -> int:
    """Write the ids into the folder's judgments; tells how many judgments there are."""
    source = Source(folder)
    name = read_about(source).get("name", source.stem)
    path = source.file(JUDGMENTS)
    node = read_json_node(path)
    count = 0
    for judged in judged_queries(node):
        primary = judged.get("primary")
        entries = judged["relevant"].items()
        for entry in entries if primary is None else [*entries, primary]:
            document, section = entry["document"].id(), entry["section"].id()
            entry.value["chunk_id"] = section_chunk_id(name, document, section)
        judged.value["relevant_chunk_ids"] = relevant_chunks(entries)
        count += len(entries)
    with writing(path) as stream:
        stream.write(f"{_formatted(node.value)}\n".encode())
    return count


def judged_queries(node: Node) -> list[Node]:
    """What is judged for each query: the array `judgments`, or the file itself if it is one."""
    judged = (node["judgments"] if node.has("judgments") else node).items()
    for entry in judged:
        entry["query_id"].id()
    return judged


def relevant_chunks(entries: list[Node]) -> list[str]:
    """The ids of what is relevant to a query, the highest grade first, then as they stand."""
    relevant = [
        (entry["grade"].number(), entry["chunk_id"].text())
        for entry in entries
        if entry["grade"].number() > 0
    ]
    return [chunk for _, chunk in sorted(relevant, key=lambda pair: -pair[0])]


def _formatted(value: Any, indent: str = "") -> str:
    """JSON that people can read: what holds only plain values stands on one line."""
    inner = indent + "  "
    if isinstance(value, dict) and any(isinstance(item, dict | list) for item in value.values()):
        items = [
            f"{inner}{json.dumps(name, ensure_ascii=False)}: {_formatted(item, inner)}"
            for name, item in value.items()
        ]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    if isinstance(value, list) and value:
        items = [inner + _formatted(item, inner) for item in value]
        return "[\n" + ",\n".join(items) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


def main(arguments: list[str]) -> int:
    """The command."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m berryeval.benchmarks.chunk_ids FOLDER\n")
        return 2
    try:
        count = fill_chunk_ids(arguments[0])
    except BerryEvalError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"{count} judgments\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
