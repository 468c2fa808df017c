"""A small hand-made sample of every format."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet

from berryeval.benchmarks.loaders.technical_docs import section_chunk_id

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Sample:
    """Files by path, the one to load ("" for the folder), and options of the loader."""

    files: dict[str, bytes]
    path: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        """Write the files; return the path to load."""
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return folder / self.path


def as_json(value: Any) -> bytes:
    """Return a value as a JSON file."""
    return json.dumps(value, indent=1, ensure_ascii=False).encode()


def as_lines(*values: Any) -> bytes:
    """Return values as JSON lines."""
    return b"".join(json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values)


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    """Return rows as a Parquet file."""
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


TEA = """# Tea

Leaves in hot water.

## Green tea

Steep at 80 degrees.

## Black tea {#black}

Steep at 95 degrees.
"""
COFFEE = "Beans, ground and brewed.\n"

OWN = Sample(
    {
        "benchmark.json": as_json(
            {
                "name": "drinks",
                "version": "1.2",
                "description": "Hot drinks.",
                "thresholds": {"nDCG@10": 0.5},
                "metadata": {"language": "en"},
            }
        ),
        "documents.jsonl": as_lines(
            {"id": "tea", "text": TEA, "title": "Tea", "licence": "none"},
            {"id": "coffee", "text": COFFEE},
        ),
        "queries.jsonl": as_lines(
            {"id": "q1", "text": "How hot is green tea?", "category": "fact", "weight": 2},
            {"id": "q2", "text": "What is coffee made of?", "metadata": {"asked": 12}},
        ),
        "judgments.jsonl": as_lines(
            {
                "query_id": "q1",
                "target": {"document": "tea", "section": ["Tea", "Green tea"]},
                "grade": 2,
                "judge": "me",
            },
            {"query_id": "q2", "target": {"document": "coffee", "quote": "Beans"}, "grade": 1},
        ),
    }
)

TEXT_FOLDER = Sample(
    {
        "benchmark.json": as_json({"name": "drinks"}),
        "documents/hot/tea.md": TEA.encode(),
        "documents/coffee.txt": COFFEE.encode(),
        "queries.jsonl": OWN.files["queries.jsonl"],
    }
)

JSONL = Sample(
    {
        "drinks.jsonl": as_lines(
            {"_type": "metadata", "name": "drinks", "version": "3", "model": "by hand"},
            {"_type": "document", "id": "tea", "text": TEA},
            {"_type": "query", "id": "q1", "text": "How hot is green tea?"},
            {
                "_type": "judgment",
                "query_id": "q1",
                "target": {"document": "tea", "section": ["Green tea"]},
                "grade": 2,
            },
            {
                "_type": "record",
                "query": "What is coffee?",
                "relevant_chunk_ids": ["c7"],
                "chunk_text": COFFEE,
                "metadata": {"asked": 1},
            },
            {"query": "Tea or coffee?", "relevant_chunk_ids": ["c1", "c7"], "chunk_text": "Both."},
        )
    },
    "drinks.jsonl",
)

GOLDEN_SET = Sample(
    {
        "golden-set.json": as_json(
            [
                {
                    "query": "How long does green tea steep?",
                    "queryType": "FACTUAL",
                    "judgments": [
                        {"chunkId": "drinks/tea#green-tea", "grade": 2},
                        {"chunkId": "drinks/tea#black", "grade": 1},
                    ],
                },
                {
                    "query": "What is tea?",
                    "queryType": "CONCEPTUAL",
                    "judgments": [{"chunkId": "drinks/tea", "grade": 1}],
                },
            ]
        ),
        "corpus/drinks/tea.md": TEA.encode(),
    }
)


def _judged(document: str, section: str, grade: int) -> dict[str, Any]:
    return {
        "document": document,
        "section": section,
        "grade": grade,
        "note": "says so",
        "chunk_id": section_chunk_id("hot-drinks", document, section),
    }


TECHNICAL_DOCS = Sample(
    {
        "benchmark.json": as_json({"name": "hot-drinks", "thresholds": {"P@5": 0.7}}),
        "test-queries.json": as_json(
            [
                {
                    "id": "t1",
                    "query": "How hot is green tea?",
                    "category": "factual",
                    "difficulty": "easy",
                    "description": "The temperature of the water.",
                }
            ]
        ),
        "relevance-judgments.json": as_json(
            {
                "judgments": [
                    {
                        "query_id": "t1",
                        "primary": {"document": "tea", "section": "green-tea"},
                        "relevant": [
                            _judged("tea", "tea", 1),
                            _judged("tea", "green-tea", 3),
                            _judged("tea", "black", 0),
                        ],
                        "relevant_chunk_ids": [
                            section_chunk_id("hot-drinks", "tea", "green-tea"),
                            section_chunk_id("hot-drinks", "tea", "tea"),
                        ],
                    }
                ]
            }
        ),
        "test-documents/tea.md": TEA.encode(),
    }
)

RAG_TEMPLATE = Sample(
    {
        "questions.json": as_json(
            {
                "questions": [
                    {
                        "id": "r1",
                        "question": "How hot is green tea?",
                        "expected_answer": "80 degrees",
                        "contexts": ["Green tea steeps at 80 degrees.", "Black tea at 95."],
                        "category": "fact",
                    },
                    {
                        "question": "What is coffee?",
                        "expected_answer": "Brewed beans.",
                        "contexts": [{"id": "c", "content": COFFEE, "title": "Coffee"}],
                        "metadata": {"difficulty": "easy", "asked": 3},
                    },
                ]
            }
        )
    }
)

BEIR = Sample(
    {
        "corpus.jsonl": as_lines(
            {"_id": "d1", "title": "Tea", "text": TEA, "metadata": {"lang": "en"}},
            {"_id": "d2", "title": "", "text": COFFEE, "url": "https://coffee.example"},
        ),
        "queries.jsonl": as_lines(
            {"_id": "1", "text": "green tea temperature", "metadata": {}},
            {"_id": "2", "text": "coffee"},
            {"_id": "3", "text": "only in dev"},
        ),
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\n1\td1\t2\n1\td2\t0\n2\td2\t1\n",
        "qrels/dev.tsv": b"query-id\tcorpus-id\tscore\n3\td1\t1\n",
    }
)

HUGGING_FACE = Sample(
    {
        "corpus/corpus.jsonl": as_lines(
            {"_id": "d1", "title": "Tea", "text": TEA}, {"_id": "d2", "title": None, "text": COFFEE}
        ),
        "queries/queries.jsonl": as_lines(
            {"_id": "1", "text": "green tea temperature"}, {"_id": "2", "text": "coffee"}
        ),
        "default/test.jsonl": as_lines(
            {"query-id": "1", "corpus-id": "d1", "score": 2},
            {"query-id": "2", "corpus-id": "d2", "score": 1.0},
        ),
    }
)

_SGML = """<top>
<num> Number: 051
<title> Topic: green tea

<desc> Description:
How hot must the water
be for green tea?

<narr> Narrative:
A relevant document names a temperature &amp; a time.
</top>

<top>
<num> Number: 302 </num>
<title> coffee </title>
</top>
"""

_DOCS = """<DOC>
<DOCNO> FT-1 </DOCNO>
<HEADLINE> Tea
at home </HEADLINE>
<TEXT>
<P>Leaves &amp; water.</P>
</TEXT>
</DOC>
<DOC>
<DOCNO>FT-2</DOCNO>
Beans.
</DOC>
"""

_QRELS = b"51 0 FT-1 2\n51 0 FT-2 0\n302 0 FT-2 1\n"

TREC = Sample(
    {
        "topics.51-302.txt": _SGML.encode(),
        "qrels.51-302.txt": _QRELS,
        "docs/part-1.sgml": _DOCS.encode(),
    }
)

TREC_XML = Sample(
    {
        "topics.xml": b"""<?xml version="1.0"?>
<topics task="hot drinks">
 <topic number="51"><query>green tea</query><question>How hot?</question></topic>
 <topic number="302" type="single">
  <query>coffee</query><description>About coffee &lt;not tea&gt;</description>
 </topic>
</topics>
""",
        "qrels.txt": _QRELS,
        "corpus.jsonl": as_lines(
            {"id": "FT-1", "contents": "Tea"}, {"docid": "FT-2", "text": "Coffee", "title": "C"}
        ),
    }
)

TREC_TSV = Sample(
    {"topics.tsv": b"51\tgreen tea\n302\tcoffee\n", "qrels.txt": _QRELS},
    "topics.tsv",
)

LOCOMO = Sample(
    {
        "locomo.json": as_json(
            [
                {
                    "sample_id": "conv-1",
                    "conversation": {
                        "speaker_a": "Ann",
                        "speaker_b": "Ben",
                        "session_1_date_time": "9:00 am on 1 May, 2023",
                        "session_1": [
                            {"speaker": "Ann", "dia_id": "D1:1", "text": "I drink green tea now."},
                            {
                                "speaker": "Ben",
                                "dia_id": "D1:2",
                                "text": "Look at my cup!",
                                "img_url": ["https://cups.example/1.jpg"],
                                "blip_caption": "a red cup",
                                "query": "cup",
                            },
                        ],
                        "session_2_date_time": "9:00 am on 2 May, 2023",
                        "session_2": [
                            {"speaker": "Ann", "dia_id": "D2:1", "text": "Coffee keeps me awake."}
                        ],
                        "session_3_date_time": "9:00 am on 3 May, 2023",
                    },
                    "qa": [
                        {
                            "question": "What does Ann drink?",
                            "answer": "green tea",
                            "evidence": ["D1:1; D2:1"],
                            "category": 1,
                        },
                        {
                            "question": "In which year did Ben show his cup?",
                            "answer": 2023,
                            "evidence": ["D1:2"],
                            "category": 2,
                        },
                        {
                            "question": "What does Ben say about coffee?",
                            "adversarial_answer": "It keeps him awake",
                            "evidence": ["D2:1", "D"],
                            "category": 5,
                        },
                        {"question": "Is Ann a tea lover?", "evidence": [], "category": 3},
                    ],
                    "observation": {},
                }
            ]
        )
    },
    "locomo.json",
)

_SESSION = [
    {"role": "user", "content": "My cup is red.", "has_answer": True},
    {"role": "assistant", "content": "Nice!"},
]

LONGMEMEVAL = Sample(
    {
        "longmemeval_s.json": as_json(
            [
                {
                    "question_id": "e1",
                    "question_type": "single-session-user",
                    "question": "Which colour is my cup?",
                    "answer": "red",
                    "question_date": "2023/05/30 (Tue) 10:00",
                    "haystack_session_ids": ["answer_1", "filler_1"],
                    "haystack_dates": ["2023/05/01 (Mon) 10:00", "2023/05/02 (Tue) 10:00"],
                    "haystack_sessions": [
                        _SESSION,
                        [{"role": "user", "content": "How is coffee made?"}],
                    ],
                    "answer_session_ids": ["answer_1"],
                },
                {
                    "question_id": "e2_abs",
                    "question_type": "single-session-user",
                    "question": "Which colour is my car?",
                    "answer": 0,
                    "question_date": "2023/05/30 (Tue) 11:00",
                    "haystack_session_ids": ["filler_1", "filler_2"],
                    "haystack_dates": ["2023/05/02 (Tue) 10:00", "2023/05/03 (Wed) 10:00"],
                    "haystack_sessions": [
                        [{"role": "user", "content": "How is coffee made?"}],
                        [{"role": "user", "content": "And tea?"}],
                    ],
                    "answer_session_ids": ["filler_2"],
                },
            ]
        )
    },
    "longmemeval_s.json",
)

CODE_RETRIEVAL = Sample(
    {
        "queries.jsonl": as_lines(
            {
                "id": "k1",
                "query": "where is the tea steeped",
                "ground_truth": [{"file": "kitchen/tea.py", "start_line": 2, "end_line": 3}],
            },
            {"query": "where is the coffee", "ground_truth": ["kitchen/coffee.py"], "repo": "home"},
        ),
        "source/kitchen/tea.py": b"def steep():\n    water = 80\n    return water\n",
        "source/kitchen/coffee.py": b"BEANS = 1\n",
        "source/cup.png": b"\x89PNG\r\n\x1a\n\xff\xfe",
    }
)

CSV = Sample(
    {
        "judged.csv": b'query_id,question,doc_id,relevance,judge\nq1,"tea, green",d1,2,ann\n'
        b'q1,"tea, green",d2,0,ben\nq2,coffee,d2,1.5,ann\n'
    },
    "judged.csv",
)

RAGAS = Sample(
    {
        "testset.jsonl": as_lines(
            {
                "user_input": "How hot is green tea?",
                "reference": "80 degrees",
                "reference_contexts": ["Steep green tea at 80.", "Steep black tea at 95."],
                "synthesizer_name": "single_hop",
            },
            {
                "user_input": "What is coffee?",
                "reference": None,
                "reference_contexts": ["Beans, brewed."],
                "reference_context_ids": [7],
                "retrieved_contexts": ["Tea."],
                "response": "Tea?",
            },
            {"user_input": "Which cup?", "reference_context_ids": ["c1", "c2"]},
        )
    },
    "testset.jsonl",
)

RAGAS_CSV = Sample(
    {
        "testset.csv": b"user_input,reference,reference_contexts\n"
        b'How hot?,80,"[""It\'s 80"", \'No ""hot"" water\']"\n'
        b"How long?,3,\"['three' 'minutes']\"\n"
    },
    "testset.csv",
)

RAGAS_PARQUET = Sample(
    {
        "testset.parquet": as_parquet(
            [{"question": "How hot?", "ground_truth": "80", "contexts": ["80 degrees"]}]
        )
    },
    "testset.parquet",
)

DEEPEVAL = Sample(
    {
        "goldens.json": as_json(
            [
                {
                    "input": "How hot is green tea?",
                    "expected_output": "80 degrees",
                    "context": ["Steep at 80.", "Steep at 95."],
                    "source_file": "tea.md",
                    "actual_output": None,
                },
                {"input": "Tea?", "expectedOutput": "Yes", "additionalMetadata": {"asked": 2}},
                {"scenario": "Ann orders tea", "expected_outcome": "She gets it"},
            ]
        )
    },
    "goldens.json",
)

QUEPID = Sample(
    {"case.csv": b'query,docid,rating\n"tea, green",d1,3\n"tea, green",d2,0\ncoffee\n'},
    "case.csv",
)

QUEPID_BOOK = Sample(
    {"book.csv": b"query,docid,ann@example.org,Ben\ntea,d1,3,2\ntea,d2,,1\ntea,d3,,\n"},
    "book.csv",
)

QUEPID_CASE = Sample(
    {
        "case.json": as_json(
            {
                "case_name": "Hot drinks",
                "scorer": {"name": "AP@10"},
                "queries": [
                    {
                        "query_text": "tea",
                        "notes": "often asked",
                        "information_need": "temperature of tea",
                        "ratings": {"d1": 3, "d2": 0, "d3": None},
                    },
                    {"query_text": "coffee", "ratings": [{"doc_id": "d2", "rating": 2}]},
                ],
            }
        )
    },
    "case.json",
)

QUEPID_PAIRS = Sample(
    {
        "book.json": as_json(
            {
                "name": "Drinks book",
                "query_doc_pairs": [
                    {
                        "query_text": "tea",
                        "doc_id": "d1",
                        "position": 1,
                        "document_fields": '{"title": "Tea", "tags": ["hot", "green"]}',
                        "judgements": [
                            {"rating": 3.0, "user_email": "ann@example.org"},
                            {"rating": 2.0},
                            {"rating": None, "unrateable": True},
                        ],
                    }
                ],
            }
        )
    },
    "book.json",
)

RRE = Sample(
    {
        "ratings.json": as_json(
            {
                "index": "drinks",
                "id_field": "id",
                "topics": [
                    {
                        "description": "Tea",
                        "query_groups": [
                            {
                                "name": "Green",
                                "queries": [
                                    {"template": "q.json", "placeholders": {"$query": "tea"}},
                                    {
                                        "template": "lang.json",
                                        "placeholders": {"$query": "tea", "$lang": "en"},
                                    },
                                ],
                                "relevant_documents": {"1": {"gain": 3}, "2": {"gain": 2}},
                            },
                            {
                                "name": "Black",
                                "queries": [{"placeholders": {"$query": "black tea"}}],
                                "relevant_documents": {"3": ["2", "4"]},
                            },
                        ],
                    }
                ],
            }
        )
    },
    "ratings.json",
)

RRE_FLAT = Sample(
    {
        "ratings.json": as_json(
            {
                "index": "drinks",
                "query_placeholder": "query",
                "query_groups": [
                    {
                        "queries": [{"placeholders": {"query": "coffee"}}],
                        "relevant_documents": [{"document_id": "d2", "gain": "1"}],
                    }
                ],
            }
        )
    },
    "ratings.json",
)

RANK_EVAL = Sample(
    {
        "rank_eval.json": as_json(
            {
                "requests": [
                    {
                        "id": "tea_query",
                        "request": {"query": {"match": {"text": "green tea"}}},
                        "ratings": [
                            {"_index": "drinks", "_id": "d1", "rating": 3},
                            {"_index": "drinks", "_id": "d2", "rating": 0},
                        ],
                    },
                    {
                        "id": "coffee_query",
                        "template_id": "one_field",
                        "params": {"query_string": "coffee", "field": "text"},
                        "ratings": [],
                    },
                ],
                "metric": {"dcg": {"k": 10}},
            }
        )
    },
    "rank_eval.json",
)

AUTORAG = Sample(
    {
        "qa.parquet": as_parquet(
            [
                {
                    "qid": "a1",
                    "query": "Which is hotter, green or black tea?",
                    "retrieval_gt": [["g1", "g2"], ["b1"]],
                    "generation_gt": ["black tea", "the black one"],
                }
            ]
        ),
        "corpus.parquet": as_parquet(
            [
                {"doc_id": name, "contents": f"Text {name}", "metadata": {"page": 1}}
                for name in ("g1", "g2", "b1", "x")
            ]
        ),
    }
)

# Samples by name; the first sample of each format has the name of the format.
SAMPLES: dict[str, tuple[str, Sample]] = {
    "own": ("berryeval", OWN),
    "own, folder of texts": ("berryeval", TEXT_FOLDER),
    "jsonl": ("jsonl", JSONL),
    "golden set": ("golden-set", GOLDEN_SET),
    "technical docs": ("technical-docs", TECHNICAL_DOCS),
    "rag template": ("rag-template", RAG_TEMPLATE),
    "beir": ("beir", BEIR),
    "trec sgml": ("trec", TREC),
    "trec xml": ("trec", TREC_XML),
    "locomo": ("locomo", LOCOMO),
    "longmemeval": ("longmemeval", LONGMEMEVAL),
    "code retrieval": ("code-retrieval", CODE_RETRIEVAL),
    "csv": ("csv", CSV),
    "ragas": ("ragas", RAGAS),
    "ragas csv": ("ragas", RAGAS_CSV),
    "ragas parquet": ("ragas", RAGAS_PARQUET),
    "deepeval": ("deepeval", DEEPEVAL),
    "quepid": ("quepid", QUEPID),
    "quepid book": ("quepid", QUEPID_BOOK),
    "quepid case": ("quepid", QUEPID_CASE),
    "quepid pairs": ("quepid", QUEPID_PAIRS),
    "rre": ("rre", RRE),
    "rre flat": ("rre", RRE_FLAT),
    "rank_eval": ("rank-eval", RANK_EVAL),
    "autorag": ("autorag", AUTORAG),
    "hugging face": ("hf", HUGGING_FACE),
}
