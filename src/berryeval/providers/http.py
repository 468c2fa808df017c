"""`http`: any search endpoint that answers in JSON, with request templates and result paths.

In templates, `{query}` is replaced by the text of the query, `{k}` by the number of hits,
`{query_id}` by the id of the query and `{scope.tenant}` by the value of the field `tenant` in its
scope, several separated by commas. In `body` they are filled into the parsed values, so that no
query can break the JSON; a value that is just `"{k}"` becomes a number, `"{scope.tenant}"` a text,
an array of several or null, `"{scope}"` an object. In the path of `url` and in `params` they are
URL-escaped, and parameters without a value are left out; in `headers` characters outside ASCII are
percent-encoded. Other braces are left unchanged.

Paths look like `hits.hits`, `data[0].items` or `groups[*].documents[*]`: names separated by dots,
`[0]` for an array position, `[*]` for every position, `["a.b"]` for a name with a dot. `hits`
starts at the top of the answer, all other paths at a hit.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final
from urllib.parse import quote

from berryeval._internal.limits import most_hits
from berryeval._internal.masking import cut
from berryeval._internal.plain import show
from berryeval._internal.validate import require_choice, require_text
from berryeval.data import Hit, scope_values
from berryeval.errors import ConfigurationError, DataError, ProviderError
from berryeval.providers.answers import (
    READERS,
    Answer,
    KnownChunks,
    check_all_scored,
    read_array,
    read_id_at,
    read_written_answer,
)
from berryeval.providers.base import Provider, clean_text
from berryeval.providers.web import JsonServer, find_secrets

if TYPE_CHECKING:
    from berryeval.data import Chunk, Query


_PLACEHOLDER: Final = re.compile(r"\{(query|k|query_id|scope(?:\.[^{}]+)?)\}")
_SCOPE: Final = re.compile(r"\{scope(?:\.([^{}]+))?\}")


def fill(template: Any, query: Query, k: int, escape: Callable[[str], str] = clean_text) -> Any:
    """Fill the placeholders of a template, in one pass so that query text is never a template."""
    if isinstance(template, Mapping):
        return {name: fill(value, query, k, escape) for name, value in template.items()}
    if isinstance(template, list | tuple):
        return [fill(value, query, k, escape) for value in template]
    if not isinstance(template, str):
        return template
    if template == "{k}":
        return k
    whole = _SCOPE.fullmatch(template) if escape is clean_text else None
    if whole:
        scope = {name: _as_json(given) for name, given in query.scope.items()}
        return scope.get(whole[1]) if whole[1] else scope
    values = {"query": query.text, "query_id": query.id, "k": str(k)}
    values["scope"] = json.dumps({name: _as_json(given) for name, given in query.scope.items()})
    for name in query.scope:
        values[f"scope.{name}"] = ",".join(scope_values(query.scope, name))
    return _PLACEHOLDER.sub(lambda found: escape(clean_text(values.get(found[1], ""))), template)


def _as_json(given: str | Sequence[str]) -> Any:
    return clean_text(given) if isinstance(given, str) else list(map(clean_text, given))


def find_placeholders(template: Any) -> set[str]:
    """Return the names of the placeholders in a template."""
    if isinstance(template, Mapping):
        template = list(template.values())
    if isinstance(template, list | tuple):
        return set().union(*map(find_placeholders, template))
    return set(_PLACEHOLDER.findall(template)) if isinstance(template, str) else set()


_STEP: Final = re.compile(
    r'\.?(?P<name>[^.\[\]"]+)|\[(?P<place>-?\d+|\*)\]|\["(?P<quoted>[^"]+)"\]'
)
_SHOWN: Final = 80


@dataclass(frozen=True)
class JsonPath:
    """A path into a JSON answer, as text and as steps."""

    text: str
    steps: tuple[str | int, ...] = ()
    every: tuple[int, ...] = ()  # positions of the [*] steps

    @classmethod
    def parse(cls, text: object, option: str) -> JsonPath:
        """Parse a path; `option` names the option in messages."""
        if not isinstance(text, str):
            raise ConfigurationError(
                f"{option} must be a path such as 'hits[*].id', found {type(text).__name__}"
            )
        rest = text.removeprefix("$").removeprefix(".")
        steps: list[str | int] = []
        every: list[int] = []
        place = 0
        while place < len(rest):
            found = _STEP.match(rest, place)
            if not found or (place == 0 and rest.startswith(".")):
                wrong = rest[place:]
                raise ConfigurationError(
                    f"{option}: invalid from {wrong!r} on; expected a path such as 'a.b[0].c'"
                )
            number = found["place"]
            if number == "*":
                every.append(len(steps))
            numbered = number and number != "*"
            steps.append(int(number) if numbered else found["name"] or found["quoted"] or "*")
            place = found.end()
        return cls(text, tuple(steps), tuple(every))

    def get(self, data: Any) -> Any:
        """Return the value at the path; raise a ProviderError that shows where the path ends."""
        found = self.all(data)
        return found if self.every else found[0]

    def find(self, data: Any) -> Any:
        """Return the value at a path without `[*]`, or None if it is missing."""
        try:
            return self.get(data)
        except ProviderError:
            return None

    def all(self, data: Any) -> list[Any]:
        """Return all values at the path: one, or with `[*]` any number."""
        here = [("", data)]
        for number, step in enumerate(self.steps):
            if number not in self.every:
                here = [self._step(where, value, step) for where, value in here]
                continue
            for where, value in here:
                if not isinstance(value, list):
                    raise self._missing(where, "an array", value)
            here = [(f"{at}[{n}]", item) for at, items in here for n, item in enumerate(items)]
        return [value for _, value in here]

    def _step(self, where: str, value: Any, step: str | int) -> tuple[str, Any]:
        if isinstance(step, int):
            if not isinstance(value, list) or not -len(value) <= step < len(value):
                raise self._missing(where, f"an array with position {step}", value)
            return f"{where}[{step}]", value[step]
        if not isinstance(value, dict) or step not in value:
            raise self._missing(where, f"an object with {step!r}", value)
        return f"{where}.{step}".lstrip("."), value[step]

    def _missing(self, where: str, expected: str, value: Any) -> ProviderError:
        at = f"at {where!r}" if where else "at the top"
        msg = f"nothing at the path {self.text!r}: {at} expected {expected}, found "
        return ProviderError(msg + _describe(value))


def _describe(value: Any) -> str:
    if isinstance(value, dict):
        names = ", ".join(map(repr, value))
        return f"an object with {cut(names, _SHOWN)}" if names else "an empty object"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    return show(value, _SHOWN)


_DEFAULT_REQUEST: Final = {"query": "{query}", "k": "{k}"}
_HEADER_SAFE: Final = string.punctuation.replace("%", "") + " "


@dataclass
class Http(Provider):
    """Any JSON endpoint, with templates for the request and paths into the answer.

    Attributes:
        url: Address; may contain `{query}`, `{k}`, `{query_id}` and `{scope.FIELD}`.
        method: POST, GET or PUT, in any case.
        headers: Headers of every request, with the same placeholders.
        params: Query parameters of the address, with the same placeholders. A GET without any
            placeholder sends `query` and `k`.
        body: JSON body, with the same placeholders; `{"query": "{query}", "k": "{k}"}` for a POST
            without any placeholder.
        token: Token sent as `Authorization: Bearer ...`.
        user: User name for basic authentication.
        password: Password for basic authentication.
        hits: Path to the array of hits; "" if the answer is that array.
        id: Path in a hit to its id; "" if the hit is its id.
        score: Path in a hit to its score. By default "score" if present; without scores the order
            of the answer counts.
        text: Path in a hit to its text. By default "text" if present.
        doc_id: Path in a hit to its document id. By default "doc_id" if present.
        start: Path in a hit to the offset of its first character in the document. By default
            "start" if present.
        end: Path in a hit to the offset after its last character. By default "end" if present.
        distance: Whether the score is a distance, so that lower is better.
        cost: Costs to record: names, and paths from the top of the answer.
        answer: Path to the text that a system wrote from the hits, to be judged; "" for none.
        timeout: Seconds without data after which a request fails.
        verify: Whether to check the certificate of the server.
    """

    url: str = field(default="", repr=False)
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    body: Any = field(default=None, repr=False)
    token: str = field(default="", repr=False)
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    hits: str = "hits"
    id: str = "id"
    score: str | None = None
    text: str | None = None
    doc_id: str | None = None
    start: str | None = None
    end: str | None = None
    distance: bool = False
    cost: Mapping[str, str] = field(default_factory=dict)
    answer: str = ""
    timeout: float = 60.0
    verify: bool = True
    extra: ClassVar[str] = "http"
    modules: ClassVar[Sequence[str]] = ("httpx",)
    _server: JsonServer = field(init=False, repr=False)
    _known: KnownChunks = field(default_factory=KnownChunks, init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.url:
            raise ConfigurationError(
                "url of http is missing; set it to the address of the search endpoint"
            )
        self.method = str(self.method).upper()
        require_choice("method of http", self.method, ("POST", "GET", "PUT"))
        if self.method == "GET" and self.body is not None:
            raise ConfigurationError(
                "body of http: a GET request has no body; use params, or method: POST"
            )
        require_text("token of http", self.token)
        _check_params(self.params)
        _check_body(self.body)
        hidden = [self.token, *find_secrets({"params": self.params, "body": self.body}, "")]
        bearer = f"Bearer {self.token}" if self.token else ""
        self._server = JsonServer.from_options("http", self, bearer, hidden)
        self._require_placeholder()
        self._read_paths()

    def _require_placeholder(self) -> None:
        names = find_placeholders([self.url, self.params, self.body, self.headers])
        if names & {"query", "query_id"}:
            return
        if self.method == "GET" and not self.params:
            self.params = _DEFAULT_REQUEST
        elif self.method != "GET" and self.body is None:
            self.body = _DEFAULT_REQUEST
        else:
            raise ConfigurationError(
                "http would send the same request for every query: put {query} into url, params, "
                "body or headers"
            )

    def _read_paths(self) -> None:
        self._hits = JsonPath.parse(self.hits, "hits of http")
        self._id = _parse_single(self.id, "id of http")
        self._paths: dict[str, tuple[JsonPath, bool]] = {}
        for name in READERS:
            given = getattr(self, name)
            if given != "":
                path = _parse_single(name if given is None else given, f"{name} of http")
                self._paths[name] = path, given is not None
        if not isinstance(self.cost, Mapping):
            raise ConfigurationError(
                f"cost of http must map names to paths, found {type(self.cost).__name__}"
            )
        self._written = _parse_single(self.answer, "answer of http") if self.answer else None
        self._costs = {
            name: JsonPath.parse(path, f"cost {name!r} of http") for name, path in self.cost.items()
        }

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Keep the chunks to complete hits that have only an id; nothing is sent."""
        self._known = KnownChunks(chunks)

    def search(self, query: Query, k: int) -> Answer:
        """Send one request."""
        answer = self._server.ask(self.method, **self._build_request(query, k))
        try:
            found = self._hits.all(answer)
            if not self._hits.every:
                found = read_array(found[0], self.hits)
            items = enumerate(found[: most_hits(k)], start=1)
            read = [self._read_hit(item, place) for place, item in items]
            hits = check_all_scored(read)
            cost = {name: path.get(answer) for name, path in self._costs.items()}
            written = self._written.get(answer) if self._written else None
            text = read_written_answer({"hits": hits, "answer": written})
        except ProviderError as error:
            raise ProviderError(f"http: {self._server.mask(str(error))}") from None
        return Answer(list(map(self._known.complete, hits)), cost, text)

    def _build_request(self, query: Query, k: int) -> dict[str, Any]:
        request: dict[str, Any] = {}
        url = fill(self.url, query, k, partial(quote, safe=""))
        if url != self.url:
            request["url"] = url
        if self.params:
            filled = fill(self.params, query, k)
            request["params"] = {name: one for name, one in filled.items() if one is not None}
        if self.body is not None:
            request["body"] = fill(self.body, query, k)
        if find_placeholders(self.headers):
            escape = partial(quote, safe=_HEADER_SAFE)
            request["headers"] = fill(self.headers, query, k, escape)
        return request

    def _read_hit(self, item: Any, place: int) -> tuple[Hit, bool]:
        """Return a hit and whether it has a score."""
        try:
            values: dict[str, Any] = {"id": read_id_at(self._id.get(item), self.id)}
            for name, (path, needed) in self._paths.items():
                value = path.get(item) if needed else path.find(item)
                if value is not None or (needed and name == "score"):
                    values[name] = READERS[name](value, path.text)
            if self.distance and "score" in values:
                values["score"] = -values["score"]
            return Hit(**values), "score" in values
        except (ProviderError, DataError) as error:
            raise ProviderError(f"hit {place}: {error}") from None

    def close(self) -> None:
        """Close the connections."""
        self._server.close()


def _check_params(params: object) -> None:
    if not isinstance(params, Mapping):
        raise ConfigurationError(
            f"params of http must map names to values, found {type(params).__name__}"
        )
    for name, value in params.items():
        for item in value if isinstance(value, list | tuple) else [value]:
            if not isinstance(item, str | int | float):
                raise ConfigurationError(
                    f"params of http: {name!r} must be text, a number or a list of them, found "
                    f"{type(item).__name__}"
                )


def _check_body(body: object) -> None:
    try:
        json.dumps(body, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"body of http cannot be sent as JSON ({error}); put dates in quotes"
        ) from None


def _parse_single(text: object, option: str) -> JsonPath:
    path = JsonPath.parse(text, option)
    if path.every:
        raise ConfigurationError(
            f"{option}: must lead to a single value, found [*] in {path.text!r}"
        )
    return path
