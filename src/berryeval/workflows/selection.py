"""The benchmarks, queries and chunks that a plan selects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from berryeval._internal.json import read_json_object
from berryeval._internal.text import find_same_folder, pluralize, read_spelled
from berryeval._internal.validate import suggest
from berryeval.anchors import Corpus, locate
from berryeval.benchmarks import load_benchmark
from berryeval.chunkers import parse_chunker
from berryeval.data import DOC_ID, collect_records, read_field, scope_fields
from berryeval.errors import ConfigurationError, DataError
from berryeval.relevance import (
    ANSWER_FIELDS,
    ID_FIELDS,
    IdRules,
    Relevance,
    RelevanceOptions,
    all_judgments,
    describe_judging,
    explain_chunks,
    explain_documents,
    find_pack,
    find_unknown_chunks,
)
from berryeval.runs import FIELDS, filter_queries, get_property

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark
    from berryeval.data import Chunk, Query
    from berryeval.providers import Provider
    from berryeval.workflows.plan import BenchmarkSpec, Plan, ProviderSpec


DEFAULT_CHUNKER: Final = "section"


def load_benchmarks(plan: Plan) -> list[Benchmark]:
    """Load the benchmarks of a plan, with the votes on them; reject two of the same name."""
    from berryeval.workflows.judged_data import load_all_judged

    benchmarks = load_all_judged(plan)
    same = find_same_folder("benchmarks", [benchmark.name for benchmark in benchmarks])
    if same:
        raise ConfigurationError(f"{same[1]}; run them separately, or rename one")
    return benchmarks


def load_source(source: str | BenchmarkSpec) -> Benchmark:
    """Load a bundled benchmark, or one in files."""
    if isinstance(source, str):
        return load_benchmark(source)
    return load_benchmark(source.source, format=source.format or None, **source.options)


def select_queries(benchmark: Benchmark, plan: Plan) -> tuple[Query, ...]:
    """Return the queries to ask: those that pass the filter, up to the limit."""
    queries = benchmark.queries
    for name, wanted in plan.filter.items():
        check_property(benchmark.name, queries, name)
        known = {get_property(query, name) for query in queries}
        kept = tuple(filter_queries(queries, name, wanted))
        if not kept:
            values = ", ".join(sorted(value for value in known if value))
            raise ConfigurationError(
                f"no query of {benchmark.name} has {name}={wanted}; there are {values}"
            )
        queries = kept
    return queries[: plan.limit]


def check_property(benchmark: str, queries: Sequence[Query], name: str) -> None:
    """Reject a property that no query has and suggest the closest one."""
    if any(get_property(query, name) for query in queries):
        return
    names = dict.fromkeys((*FIELDS, *(key for query in queries for key in query.metadata)))
    known = [one for one in names if any(get_property(query, one) for query in queries)]
    raise ConfigurationError(f"no query of {benchmark} has a {name!r}; {suggest(name, known)}")


def chunker_for(benchmark: Benchmark, spec: ProviderSpec) -> str:
    """Return the chunker of a provider: its own, or the one that the benchmark suggests.

    The name is empty if the benchmark has no documents.
    """
    return spec.chunker or (suggested_chunker(benchmark) if benchmark.documents else "")


def suggested_chunker(benchmark: Benchmark) -> str:
    """Return the chunker for providers that name none."""
    return str(benchmark.metadata.get("chunker", DEFAULT_CHUNKER))


def chunk_documents(benchmark: Benchmark, chunker: str) -> Sequence[Chunk]:
    """Split the documents by a chunker, or by the suggested one if the name is empty.

    The metadata of a chunk has the fields of its document that the scopes of queries name.
    """
    used = parse_chunker(chunker or suggested_chunker(benchmark))
    fields = [name for name in scope_fields(benchmark.queries) if name != DOC_ID]

    def read_chunks() -> Iterator[Chunk]:
        for document in benchmark.documents:
            given = {name: read_field(document, name) for name in fields}
            values = {name: one[0] if len(one) == 1 else list(one) for name, one in given.items()}
            for chunk in used.chunk(document):
                metadata = {**chunk.metadata, **values}
                yield replace(chunk, metadata=metadata) if values else chunk

    return collect_records(read_chunks())


def check_relevance(benchmark: Benchmark, plan: Plan) -> str:
    """Reject options of relevance that the pack of the benchmark seals; return how it judges."""
    pack = find_pack(benchmark.pack) if benchmark.pack else None
    return describe_judging(pack, RelevanceOptions.load(pack, plan.relevance.options))


def build_relevance(
    benchmark: Benchmark,
    queries: Sequence[Query],
    chunks: Sequence[Chunk],
    options: RelevanceOptions | None = None,
) -> Relevance:
    """Build the relevance rules for these queries only."""
    wanted = {query.id for query in queries}
    judgments = tuple(one for one in benchmark.judgments if one.query_id in wanted)
    asked = replace(benchmark, queries=tuple(queries), judgments=judgments)
    return Relevance(asked, options, chunks=chunks)


def check_documents(benchmark: Benchmark, providers: Mapping[str, Provider]) -> None:
    """Reject providers, by label, that would index nothing, and find nothing."""
    needing = [label for label, provider in providers.items() if provider.needs_documents()]
    if needing and not any(document.text.strip() for document in benchmark.documents):
        what = "documents with text" if benchmark.documents else "documents"
        raise DataError(
            f"{benchmark.name} has no {what}, so {', '.join(needing)} would search nothing; if the "
            "documents are elsewhere, name the place: --options corpus=FOLDER, or options: "
            "{corpus: FOLDER} in the configuration"
        )


def check_chunker(spec: ProviderSpec, provider: Provider) -> None:
    """Reject a chunker for a provider that searches only an existing index."""
    if spec.chunker and provider.existing_indexes() and not provider.needs_documents():
        raise ConfigurationError(
            f"{spec.label}: a chunker splits the documents for a temporary index, and an existing "
            "index is searched as it is; leave out the chunker"
        )


def check_judged(benchmark: Benchmark, queries: Sequence[Query]) -> None:
    """Reject queries of which none has anything that decides what is relevant."""
    if not queries:
        raise DataError(f"{benchmark.name} has no queries, so there is nothing to ask")
    judged = {judgment.query_id for judgment in benchmark.judgments}
    fields = (*ID_FIELDS, *ANSWER_FIELDS)
    if benchmark.pack or any(
        query.id in judged or any(read_spelled(query.metadata, name) for name in fields)
        for query in queries
    ):
        return
    others = f"; its judgments are of other queries, such as {min(judged)!r:.80}" if judged else ""
    raise DataError(
        f"{benchmark.name}: none of {pluralize(len(queries), 'query')} has a judgment, "
        f"relevant ids or an expected answer, so every score would be 0{others}"
    )


def check_targets(
    benchmark: Benchmark, providers: Mapping[str, Provider], chunkers: Iterable[str]
) -> None:
    """Reject judgments of which none has its target in the documents: every score would be 0.

    Ids of chunks are checked if every provider searches only the chunks of these chunkers.
    """
    wanted = [one for one in all_judgments(benchmark) if one.grade > 0]
    judged = {one.query_id for one in wanted}
    answered = any(
        read_spelled(query.metadata, name)
        for query in benchmark.queries
        if query.id not in judged
        for name in ANSWER_FIELDS
    )
    if benchmark.pack or not benchmark.documents or not wanted or answered:
        return
    corpus, lost, missing, ids = Corpus(benchmark.documents), "", [], []
    for judgment in wanted:
        target = judgment.target
        found = locate(target, corpus).lost
        if target.chunk:
            ids.append(target.chunk)
        elif found is None:
            return
        else:
            lost = lost or f"query {judgment.query_id!r:.80}: {found.reason}"
            missing += [target.document] if target.document not in corpus else []
    explanation = explain_documents(filter(None, missing), benchmark.document_of) or lost
    if ids:
        if not all(one.needs_documents() for one in providers.values()):
            return
        for chunks in (chunk_documents(benchmark, chunker) for chunker in dict.fromkeys(chunkers)):
            if len(find_unknown_chunks(ids, chunks)) < len(set(ids)):
                return
            explanation = explanation or explain_chunks(ids, [chunk.id for chunk in chunks])
    raise DataError(
        f"{benchmark.name}: none of {pluralize(len(wanted), 'target')} is in the documents, so "
        f"every score would be 0: {explanation}; correct the judgments, or choose their documents"
    )


def read_id_rules(spec: ProviderSpec) -> IdRules:
    """Return how the ids of a provider become those of the benchmark; the map may be a file."""
    if isinstance(spec.id_map, Mapping):
        return IdRules(spec.id_map, spec.strip)
    found = read_json_object(spec.id_map)
    for name, value in found.items():
        if not isinstance(value, str):
            raise DataError(f"{spec.id_map}: {name!r:.80} must map to an id, found {value!r:.80}")
    return IdRules(found, spec.strip)
