"""The ids of sections as chunks, the same on every machine; and a command that writes them.

    python -m berryeval.benchmarks.chunk_ids FOLDER

fills `chunk_id` of every judgment, `primary_chunk_id` and `relevant_chunk_ids` of every query into
the `relevance-judgments.json` of a folder, from the documents and sections that the judgments name.
Doing it again changes nothing.
"""

from __future__ import annotations

import json
import sys
import uuid
from typing import TYPE_CHECKING, Final

from berryeval.benchmarks.about import read_about
from berryeval.benchmarks.source import Source
from berryeval.errors import BerryEvalError
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
    '37b7ad1d-87ef-5e76-80fa-5d64d8b8d5f5'
    """
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"berryeval:{benchmark}/{document}#{section}"))


def fill_chunk_ids(folder: PathLike) -> int:
    """Write the ids into the folder's judgments; tells how many judgments there are."""
    source = Source(folder)
    name = read_about(source).get("name", source.stem)
    path = source.file(JUDGMENTS)
    node = read_json_node(path)
    count = 0
    for _, judged in judged_queries(node):
        for entry in judged["judgments"].items():
            document, section = entry["document"].id(), entry["section"].text()
            entry.value["chunk_id"] = section_chunk_id(name, document, section)
            count += 1
        chunks = relevant_chunks(judged)
        judged.value["primary_chunk_id"] = chunks[0] if chunks else None
        judged.value["relevant_chunk_ids"] = chunks
    with writing(path) as stream:
        stream.write(f"{json.dumps(node.value, indent=2, ensure_ascii=False)}\n".encode())
    return count


def judged_queries(node: Node) -> list[tuple[str, Node]]:
    """The queries of a file of judgments with what is judged for each.

    The file is an array of objects with a `query_id`, the same under `judgments`, or an object
    with an object per query id.
    """
    if isinstance(node.value, dict) and isinstance(node.value.get("judgments"), list | dict):
        node = node["judgments"]
    if isinstance(node.value, dict):
        return list(node.fields())
    return [(judged.one_of("query_id", "queryId", "id").id(), judged) for judged in node.items()]


def relevant_chunks(judged: Node) -> list[str]:
    """The ids of what is relevant to a query, the highest grade first, then as they stand."""
    relevant = [
        (entry["grade"].number(), entry["chunk_id"].text())
        for entry in judged["judgments"].items()
        if entry["grade"].number() > 0
    ]
    return [chunk for _, chunk in sorted(relevant, key=lambda pair: -pair[0])]


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
