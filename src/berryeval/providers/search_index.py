"""What Elasticsearch and OpenSearch are sent: the index to make, and the queries."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["knn_query", "made_index", "match_query"]

_MOST_CANDIDATES: Final = 10_000  # Elasticsearch refuses more


def made_index(flavour: str, analyzer: str, dimensions: int) -> dict[str, Any]:
    """Settings and mapping; without dimensions it holds no vectors.

    One shard: with more, each would count how rare a term is for itself, and the scores would
    depend on which chunk came to lie where.
    """
    settings: dict[str, Any] = {"number_of_shards": 1, "number_of_replicas": 0}
    fields: dict[str, Any] = {
        "body": {"type": "text", "analyzer": analyzer},
        "order": {"type": "integer"},
    }
    if dimensions and flavour == "opensearch":
        settings["knn"] = True
        fields["embedding"] = {
            "type": "knn_vector",
            "dimension": dimensions,
            "method": {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"},
        }
    elif dimensions:
        fields["embedding"] = {
            "type": "dense_vector",
            "dims": dimensions,
            "index": True,
            "similarity": "cosine",
            # said in full: what is left to the server is rounded to bytes or bits
            "index_options": {"type": "hnsw", "m": 16, "ef_construction": 100},
        }
    mappings = {"dynamic": False, "properties": fields}
    return {"settings": {"index": settings}, "mappings": mappings}


def match_query(text: str, k: int) -> dict[str, Any]:
    """The chunks with any of the words, by BM25; ties by `order`, the place of the id in bytes."""
    return {
        "size": k,
        "_source": False,
        "track_total_hits": False,
        "track_scores": True,
        "query": {"match": {"body": {"query": text}}},
        "sort": [{"_score": "desc"}, {"order": "desc"}],
    }


def knn_query(flavour: str, vector: list[float], k: int, candidates: int) -> dict[str, Any]:
    """The nearest vectors."""
    asked: dict[str, Any] = {"size": k, "_source": False, "track_total_hits": False}
    if flavour == "opensearch":
        return {**asked, "query": {"knn": {"embedding": {"vector": vector, "k": k}}}}
    wide = min(max(candidates, k), _MOST_CANDIDATES)
    knn = {"field": "embedding", "query_vector": vector, "k": k, "num_candidates": wide}
    return {**asked, "knn": knn}
