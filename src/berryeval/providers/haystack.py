"""`haystack`: retrievers and pipelines of Haystack.

In a pipeline, the query goes to every open input named `query`, `question` or `text`, and the
documents come from the last component that gives any, also if the pipeline goes on to write an
answer from them. If that is ambiguous, the error names the candidates: set `query` and `documents`.
The evaluated depth is passed as `top_k` to the component that gives the documents; every other
component keeps its own `top_k`, such as that of a retriever in front of a ranker.

Documents are matched to those of the benchmark without options: by `source_id` or their own ids, by
`file_path`, `source`, `url` or `file_name` in their `meta`, or by their texts. `split_idx_start` is
their position.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from berryeval._internal.plain import show
from berryeval._internal.validate import suggest
from berryeval.data import Hit
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.answers import read_number
from berryeval.providers.origins import list_sources, read_headings, read_span
from berryeval.providers.retrievers import Found, RetrieverProvider

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from berryeval.data import Chunk, Query

_DOCUMENTS: Final = "documents"
_DEPTH: Final = "top_k"
_ALWAYS: Final = ("query", "question")  # inputs for the query, needed or not
_NEEDED: Final = ("text",)  # inputs for the query where they are needed


@dataclass
class Haystack(RetrieverProvider):
    """A Haystack retriever, any component that returns documents for a query, or a `Pipeline`.

    Attributes:
        query: Input for the query: "input", or "component.input" of a pipeline; several are
            separated by commas. By default all open inputs with a usual name.
        documents: Output with the documents: "output", or "component" or "component.output" of a
            pipeline. By default that of the last component with documents.
        inputs: Further inputs: {input: value}, or {component: {input: value}} of a pipeline.
        id: Name of the id in the meta of a document; "" for the id of the document itself.
        doc_id: Name of the source document in the meta; by default the usual names are tried.
    """

    query: str = ""
    documents: str = ""
    inputs: dict[str, Any] = field(default_factory=dict)
    id: str = ""
    doc_id: str = ""
    name: ClassVar[str] = "haystack"
    methods: ClassVar[tuple[str, str]] = ("run", "run_async")
    # No `modules`: the retriever imports its own package.
    extra: ClassVar[str] = "haystack"
    in_process: ClassVar[bool] = True  # a pipeline runs one query at a time
    _routes: dict[int, _Route] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self._is_retriever(self._found):
            self._find_route(self._found)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Build the retriever if a function was given, and load its models."""
        super().index(chunks)
        if self._is_retriever(self._found) and callable(
            warm_up := getattr(self._found, "warm_up", None)
        ):
            self._loop.wait_for(warm_up())

    def _find_route(self, retriever: Any) -> _Route:
        route = self._routes.get(id(retriever))
        if route is None:
            build = _route_pipeline if hasattr(retriever, "add_component") else _route_component
            route = self._routes[id(retriever)] = build(self, retriever)
        return route

    def _call(self, retriever: Any, query: Query, k: int) -> Any:
        return self._find_route(retriever).call(self, retriever, query.text, k)

    def _list(self, answer: Any) -> Sequence[Any]:
        outputs = answer
        route = next(iter(self._routes.values()))
        if route.component and isinstance(answer, Mapping):
            outputs = answer.get(route.component, {})
        found = outputs.get(route.output) if isinstance(outputs, Mapping) else None
        if isinstance(found, Sequence) and not isinstance(found, str | bytes):
            return found
        named = ".".join(filter(None, (route.component, route.output)))
        if route.component and route.component not in answer:
            raise ProviderError(
                f"haystack: the component {route.component!r} did not run, so there are no "
                "documents; name the one that always does with the option documents"
            )
        raise ProviderError(f"haystack: expected documents at {named!r}, found {show(answer)}")

    def _read(self, document: Any, place: int) -> Found:
        meta = getattr(document, "meta", None)
        own = getattr(document, "id", None)
        if not isinstance(meta, Mapping) or not isinstance(own, str):
            found = f"{type(document).__name__} {show(document)}"
            raise ProviderError(f"haystack: hit {place}: expected a Document, found {found}")
        text = getattr(document, "content", None) or ""
        score = getattr(document, "score", None)
        start, end = read_span(meta.get("split_idx_start"), text)
        hit = Hit(
            self.read_id(meta, self.id, place) if self.id else own,
            0.0 if score is None else read_number(score, "score"),
            text=text,
            section=read_headings(meta),
            start=start,
            end=end,
            metadata={name: one for name, one in meta.items() if not name.startswith("_")},
        )
        return Found(hit, score is not None, self._list_sources(meta))

    def _list_sources(self, meta: Mapping[str, Any]) -> list[str]:
        """Return the sources; the id of the parent, often a hash, is shown only if it is known."""
        if self.doc_id:
            return list_sources(meta, self.doc_id)
        sources, parent = list_sources(meta), meta.get("source_id")
        if not isinstance(parent, str) or not parent:
            return sources
        return [parent, *sources] if self._known.has_document(parent) else [*sources, parent]


@dataclass(frozen=True)
class _Route:
    """The way of a query through a component or pipeline.

    Attributes:
        component: Component with the documents; "" if there is no pipeline.
        output: Its output.
        queries: Inputs for the query, as (component, input).
        takes_depth: Whether the component has an open input for the number of documents.
    """

    component: str
    output: str
    queries: tuple[tuple[str, str], ...]
    takes_depth: bool

    def call(self, options: Haystack, retriever: Any, text: str, k: int) -> Any:
        given: dict[str, dict[str, Any]] = {}
        for component, name in self.queries:
            given.setdefault(component, {})[name] = text
        if self.takes_depth:
            given.setdefault(self.component, {})[_DEPTH] = k
        run = getattr(retriever, options.methods[options.asynchronous])
        if not self.component:
            return run(**{**given.get("", {}), **options.inputs})
        for component, inputs in options.inputs.items():
            given.setdefault(component, {}).update(inputs)
        return run(given, include_outputs_from={self.component})


def _route_component(options: Haystack, component: Any) -> _Route:
    inputs = _list_sockets(component, "__haystack_input__")
    if inputs is None:
        inputs = dict(inspect.signature(component.run).parameters)
    needed = [name for name, one in inputs.items() if getattr(one, "is_mandatory", True)]
    outputs = _list_sockets(component, "__haystack_output__")
    kind = type(component).__name__
    names = [name.strip() for name in options.query.split(",") if name.strip()]
    names = names or [name for name in _ALWAYS if name in inputs]
    names += [] if options.query else [name for name in _NEEDED if name in needed]
    if not names or not all(name in inputs for name in names):
        raise ConfigurationError(
            f"haystack: {kind} has no input {options.query or 'for a query'!s}; its inputs are "
            f"{', '.join(inputs) or 'none'}; a retriever of embeddings needs a Pipeline with a "
            "text embedder before it"
        )
    output = options.documents or _DOCUMENTS
    if outputs is not None and output not in outputs:
        raise ConfigurationError(
            f"haystack: {kind} has no output {output!r}; its outputs are "
            f"{', '.join(outputs) or 'none'}"
        )
    depth = _DEPTH in inputs and _DEPTH not in options.inputs
    return _Route("", output, tuple(("", name) for name in names), depth)


def _list_sockets(component: Any, side: str) -> dict[str, Any] | None:
    """Return the declared inputs or outputs of a component; None if it declares none."""
    sockets = getattr(component, side, None)
    return None if sockets is None else dict(getattr(sockets, "_sockets_dict", {}))


def _route_pipeline(options: Haystack, pipeline: Any) -> _Route:
    component, output = _find_documents(options, pipeline)
    inputs: Mapping[str, Mapping[str, Any]] = pipeline.inputs()
    queries = _find_queries(options, inputs)
    filled = {*queries, *((one, name) for one in options.inputs for name in options.inputs[one])}
    for one, names in inputs.items():
        for name, about in names.items():
            if about.get("is_mandatory") and (one, name) not in filled:
                raise ConfigurationError(
                    f"haystack: the pipeline needs the input '{one}.{name}'; set it with the "
                    f"option inputs ({{{one}: {{{name}: ...}}}}), or query if it is the query"
                )
    depth = _DEPTH in inputs.get(component, {}) and (component, _DEPTH) not in filled
    return _Route(component, output, tuple(queries), depth)


def _find_documents(options: Haystack, pipeline: Any) -> tuple[str, str]:
    """Return the last component with documents, and its output."""
    outputs = pipeline.outputs(include_components_with_connected_outputs=True)
    if options.documents:
        component, _, output = options.documents.partition(".")
        output = output or _DOCUMENTS
        if output not in outputs.get(component, ()):
            known = [f"{one}.{name}" for one, names in outputs.items() for name in names]
            raise ConfigurationError(
                f"haystack: the pipeline has no output {component}.{output}; "
                f"{suggest(f'{component}.{output}', known)}"
            )
        return component, output
    giving = {one for one, names in outputs.items() if _DOCUMENTS in names}
    last = sorted(one for one in giving if not giving & _find_later(pipeline, one))
    if len(last) == 1:
        return last[0], _DOCUMENTS
    found = f"there are {', '.join(last)}" if last else "no component has documents"
    raise ConfigurationError(
        f"haystack: expected one last component with documents, {found}; name the output with the "
        "option documents"
    )


def _find_later(pipeline: Any, component: str) -> AbstractSet[str]:
    """Return the components that run after this one."""
    later: set[str] = set()
    left = [component]
    while left:
        new = set(pipeline.graph.successors(left.pop())) - later
        later |= new
        left += new
    return later - {component}


def _find_queries(
    options: Haystack, inputs: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, str]]:
    """Return the inputs that get the query."""
    there = [(one, name) for one, names in inputs.items() for name in names]
    known = [".".join(pair) for pair in there]
    if options.query:
        named = [one.strip() for one in options.query.split(",")]
        for one in named:
            if one not in known:
                raise ConfigurationError(
                    f"haystack: the pipeline has no open input {one!r}; {suggest(one, known)}"
                )
        return [pair for pair in there if ".".join(pair) in named]
    found = [
        (one, name)
        for one, name in there
        if name in _ALWAYS or (name in _NEEDED and inputs[one][name].get("is_mandatory"))
    ]
    found = [pair for pair in found if pair[1] not in options.inputs.get(pair[0], {})]
    if not found:
        raise ConfigurationError(
            "haystack: the pipeline has no open input for the query; its inputs are "
            f"{', '.join(known) or 'none'}; name one with the option query"
        )
    return found
