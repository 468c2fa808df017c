"""`http`: any search that answers in JSON, by templates of what is sent and paths to what is read.

In the templates `{query}` stands for the text of the query, `{k}` for how many hits are wanted and
`{query_id}` for the id of the query. In `body` they are filled into the values, so that no text can
break out of its quotes; a value that is `"{k}"` alone becomes a number. In the path of `url` and in
`params` they are escaped as addresses want it, in `headers` what is not plain ASCII is
percent-encoded. Other braces are left as they are.

Paths are as `hits.hits`, `data[0].items` or `groups[*].documents[*]`: names between dots, `[0]` a
place of an array, `[*]` every place of it, `["a.b"]` a name with a dot in it. `hits` begins at the
top of the answer, the others at a hit.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final
from urllib.parse import quote

from berryeval.data import Hit
from berryeval.errors import ConfigurationError, DataError, ProviderError
from berryeval.providers.answers import (
    READERS,
    Answer,
    KnownChunks,
    as_array,
    as_id,
    check_all_scored,
)
from berryeval.providers.base import Provider, check_choice, writable
from berryeval.providers.web import JsonServer, check_texts, secrets_in

if TYPE_CHECKING:
    from berryeval.data import Chunk, Query


# Templates: `{query}`, `{k}` and `{query_id}` filled into the values of a structure.

_PLACEHOLDER: Final = re.compile(r"\{(query|k|query_id)\}")


def filled(template: Any, query: Query, k: int, escaped: Callable[[str], str] = writable) -> Any:
    """The template with its placeholders filled, in one pass: a text that holds one stays text.

    Args:
        template: a text, or lists and mappings of any depth that hold texts.
        query: whose text and id are filled in.
        k: how many hits are wanted; where it stands alone, it stays a number.
        escaped: what is done to a text before it is filled in.
    """
    if isinstance(template, Mapping):
        return {name: filled(value, query, k, escaped) for name, value in template.items()}
    if isinstance(template, list | tuple):
        return [filled(value, query, k, escaped) for value in template]
    if not isinstance(template, str):
        return template
    if template == "{k}":
        return k
    values = {"query": query.text, "query_id": query.id, "k": str(k)}
    return _PLACEHOLDER.sub(lambda found: escaped(writable(values[found[1]])), template)


def is_asked_for(template: Any, *, any_of_them: bool = False) -> bool:
    """Whether the query stands anywhere in the template: its text or its id."""
    if isinstance(template, Mapping):
        return any(is_asked_for(value, any_of_them=any_of_them) for value in template.values())
    if isinstance(template, list | tuple):
        return any(is_asked_for(value, any_of_them=any_of_them) for value in template)
    if not isinstance(template, str):
        return False
    names = {found[1] for found in _PLACEHOLDER.finditer(template)}
    return bool(names if any_of_them else names - {"k"})


# Paths into a JSON answer: `hits.hits`, `data[0].items`, `groups[*].documents[*]`.

_STEP: Final = re.compile(
    r'\.?(?P<name>[^.\[\]"]+)|\[(?P<place>-?\d+|\*)\]|\["(?P<quoted>[^"]+)"\]'
)
_EVERY: Final = "*"
_SHOWN: Final = 80


@dataclass(frozen=True)
class JsonPath:
    """A path, as it is written, and its steps."""

    text: str
    steps: tuple[str | int, ...] = ()
    every: tuple[int, ...] = ()  # which steps are [*]

    @classmethod
    def parse(cls, text: object, option: str) -> JsonPath:
        """The path of this text; `option` says in messages whose it is."""
        if not isinstance(text, str):
            msg = f"{option} must be a path as 'hits[*].id', found {type(text).__name__}"
            raise ConfigurationError(msg)
        rest = text.removeprefix("$").removeprefix(".")
        steps: list[str | int] = []
        every: list[int] = []
        place = 0
        while place < len(rest):
            found = _STEP.match(rest, place)
            if not found or (place == 0 and rest.startswith(".")):
                msg = f"{option}: cannot be read from {rest[place:]!r} on; a path is as 'a.b[0].c'"
                raise ConfigurationError(msg)
            if found["place"] == _EVERY:
                every.append(len(steps))
                steps.append(_EVERY)
            else:
                steps.append(
                    int(found["place"]) if found["place"] else found["name"] or found["quoted"]
                )
            place = found.end()
        return cls(text, tuple(steps), tuple(every))

    def one(self, data: Any) -> Any:
        """What stands there; a `ProviderError` says how far the path goes and what is there."""
        found = self.all(data)
        return found if self.every else found[0]

    def find(self, data: Any) -> Any:
        """What stands there, of a path without `[*]`; None if nothing does."""
        for step in self.steps:
            if isinstance(step, int):
                if not isinstance(data, list) or not -len(data) <= step < len(data):
                    return None
                data = data[step]
            elif isinstance(data, dict):
                data = data.get(step)
            else:
                return None
        return data

    def all(self, data: Any) -> list[Any]:
        """All that stands there: one thing, or with `[*]` any number."""
        here = [("", data)]
        for number, step in enumerate(self.steps):
            if number in self.every:
                here = [pair for where, value in here for pair in self._items(where, value)]
            else:
                here = [self._step(where, value, step) for where, value in here]
        return [value for _, value in here]

    def _items(self, where: str, value: Any) -> list[tuple[str, Any]]:
        if not isinstance(value, list):
            raise self._missing(where, "an array", value)
        return [(f"{where}[{place}]", item) for place, item in enumerate(value)]

    def _step(self, where: str, value: Any, step: str | int) -> tuple[str, Any]:
        if isinstance(step, int):
            if not isinstance(value, list) or not -len(value) <= step < len(value):
                raise self._missing(where, f"an array with a place {step}", value)
            return f"{where}[{step}]", value[step]
        if not isinstance(value, dict) or step not in value:
            raise self._missing(where, f"an object with {step!r}", value)
        return f"{where}.{step}".lstrip("."), value[step]

    def _missing(self, where: str, expected: str, value: Any) -> ProviderError:
        at = f"at {where!r} " if where else "at its top "
        msg = f"nothing at the path {self.text!r} of the answer: {at}expected {expected}, found "
        return ProviderError(msg + _described(value))


def _described(value: Any) -> str:
    """What was found, without repeating what may be long or private."""
    if isinstance(value, dict):
        names = ", ".join(map(repr, value))
        return f"an object with {names[:_SHOWN]}" if names else "an empty object"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    return f"{value!r:.{_SHOWN}}"


_METHODS: Final = ("POST", "GET", "PUT")
_DEFAULT: Final = {"query": "{query}", "k": "{k}"}
_HEADER_SAFE: Final = string.punctuation.replace("%", "") + " "


@dataclass
class Http(Provider):
    """Any JSON endpoint: what is asked is a template, what is answered is read by paths.

    Attributes:
        url: the address; `{query}`, `{k}` and `{query_id}` may stand in it and are filled in.
        method: POST, GET or PUT, in letters of any case.
        headers: sent with every request, filled in likewise.
        params: what follows the `?` of the address, filled in likewise. A GET that says nowhere
            what is asked sends `query` and `k`.
        body: JSON to send, filled in likewise; `{"query": "{query}", "k": "{k}"}` for a POST that
            says nowhere what is asked.
        token: sent as `Authorization: Bearer ...`.
        user: for basic authentication, with `password`.
        password: of the user.
        hits: path to the array of hits; "" if the answer is that array.
        id: path in a hit to its id; "" if the hit is its id.
        score: path in a hit to its score. If none is given, "score" where it is there; without
            scores the order of the answer counts.
        text: path in a hit to its text. If none is given, "text" where it is there.
        doc_id: path in a hit to its document. If none is given, "doc_id" where it is there.
        start: path in a hit to the character of its document where it begins, likewise.
        end: path in a hit to the character after its last, likewise.
        distance: whether the score is a distance: the less, the better.
        cost: what to note as cost: names, and paths from the top of the answer.
        timeout: seconds without a byte after which a request is given up.
        verify: whether the certificate of the server is checked.
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
    timeout: float = 60.0
    verify: bool = True
    extra: ClassVar[str] = "http"
    modules: ClassVar[Sequence[str]] = ("httpx",)
    _server: JsonServer = field(init=False, repr=False)
    _known: KnownChunks = field(default_factory=KnownChunks, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what could not be sent or read."""
        if not self.url:
            msg = "url of http is missing; give the address of the search"
            raise ConfigurationError(msg)
        self.method = str(self.method).upper()
        check_choice("http", "method", self.method, _METHODS)
        if self.method == "GET" and self.body is not None:
            msg = "body of http: a GET has none; give params, or method: POST"
            raise ConfigurationError(msg)
        check_texts("http", token=self.token)
        _check_params(self.params)
        _check_body(self.body)
        headers = dict(self.headers) if isinstance(self.headers, Mapping) else self.headers
        if self.token and isinstance(headers, dict):
            headers["Authorization"] = f"Bearer {self.token}"
        hidden = [self.token, *secrets_in(self.params, "params"), *secrets_in(self.body, "body")]
        self._server = JsonServer(
            "http", self.url, headers, self.user, self.password, self.timeout, self.verify, hidden
        )
        self._ask_for_something()
        self._read_paths()

    def _ask_for_something(self) -> None:
        if any(map(is_asked_for, (self.url, self.params, self.body, self.headers))):
            return
        if self.method == "GET" and not self.params:
            self.params = _DEFAULT
        elif self.method != "GET" and self.body is None:
            self.body = _DEFAULT
        else:
            msg = (
                "http would ask every query the same: write {query} where its text belongs, in "
                "url, params, body or headers"
            )
            raise ConfigurationError(msg)

    def _read_paths(self) -> None:
        self._hits = JsonPath.parse(self.hits, "hits of http")
        self._id = _one_place(self.id, "id of http")
        self._paths: dict[str, tuple[JsonPath, bool]] = {}
        for name in READERS:
            given = getattr(self, name)
            if given != "":
                path = _one_place(name if given is None else given, f"{name} of http")
                self._paths[name] = path, given is not None
        if not isinstance(self.cost, Mapping):
            msg = f"cost of http must be names and paths, found {type(self.cost).__name__}"
            raise ConfigurationError(msg)
        self._costs = {
            name: JsonPath.parse(path, f"cost {name!r} of http") for name, path in self.cost.items()
        }

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Nothing is sent; the chunks complete hits that only say their id."""
        self._known = KnownChunks(chunks)

    def search(self, query: Query, k: int) -> Answer:
        """One request."""
        answer = self._server.ask(self.method, **self._request(query, k))
        try:
            found = self._hits.all(answer)
            if not self._hits.every:
                found = as_array(found[0], self.hits)
            read = [self._hit(item, place) for place, item in enumerate(found, start=1)]
            hits = [hit for hit, _ in read]
            check_all_scored(hits, [scored for _, scored in read])
            cost = {name: path.one(answer) for name, path in self._costs.items()}
        except ProviderError as error:
            where = self._server.masked(str(error))
            msg = f"http: {where}"
            raise ProviderError(msg) from None
        return Answer(map(self._known.completed, hits), cost)

    def _request(self, query: Query, k: int) -> dict[str, Any]:
        request: dict[str, Any] = {}
        url = filled(self.url, query, k, lambda text: quote(text, safe=""))
        if url != self.url:
            request["url"] = url
        if self.params:
            request["params"] = filled(self.params, query, k)
        if self.body is not None:
            request["body"] = filled(self.body, query, k)
        if is_asked_for(self.headers, any_of_them=True):
            request["headers"] = filled(
                self.headers, query, k, lambda text: quote(text, safe=_HEADER_SAFE)
            )
        return request

    def _hit(self, item: Any, place: int) -> tuple[Hit, bool]:
        """The hit, and whether it has a score."""
        try:
            values: dict[str, Any] = {"id": as_id(self._id.one(item), self.id)}
            for name, (path, needed) in self._paths.items():
                value = _value_at(path, item, needed=needed)
                if value is not None or (needed and name == "score"):
                    values[name] = READERS[name](value, path.text)
            if self.distance and "score" in values:
                values["score"] = -values["score"]
            return Hit(**values), "score" in values
        except (ProviderError, DataError) as error:
            msg = f"hit {place}: {error}"
            raise ProviderError(msg) from None

    def close(self) -> None:
        """Close the connections."""
        self._server.close()


def _check_params(params: object) -> None:
    if not isinstance(params, Mapping):
        msg = f"params of http must be names and values, found {type(params).__name__}"
        raise ConfigurationError(msg)
    for name, value in params.items():
        for item in value if isinstance(value, list | tuple) else [value]:
            if not isinstance(item, str | int | float):
                msg = (
                    f"params of http: {name!r} must be a text, a number or a list of them, found "
                    f"{type(item).__name__}"
                )
                raise ConfigurationError(msg)


def _check_body(body: object) -> None:
    try:
        json.dumps(body, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"body of http cannot be sent as JSON ({error}); a date belongs in quotes"
        raise ConfigurationError(msg) from None


def _one_place(text: object, option: str) -> JsonPath:
    path = JsonPath.parse(text, option)
    if path.every:
        msg = f"{option}: must lead to one value, found [*] in {path.text!r}"
        raise ConfigurationError(msg)
    return path


def _value_at(path: JsonPath, item: Any, *, needed: bool) -> Any:
    value = path.find(item)
    return path.one(item) if needed and value is None else value  # which says what is missing
