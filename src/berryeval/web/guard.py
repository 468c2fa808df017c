"""The guard in front of every page: host, person, forged requests, sizes, and headers."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request, cookie_parser
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse

from berryeval.errors import BerryEvalError
from berryeval.web.accounts import form_token, hmac_equal
from berryeval.web.frame import render
from berryeval.web.throttle import address_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from berryeval.runs import Role
    from berryeval.web.accounts import Person
    from berryeval.web.site import Site

API: Final = "/api/"
LARGE_BODIES: Final = {"/api/v1/runs": 256 << 20}  # bytes of a body, by path
_LARGEST: Final = 1 << 20  # bytes of any other body
_OPEN: Final = ("/static/", "/enter", "/sign-in")
_SAFE: Final = {"GET", "HEAD", "OPTIONS"}
_FORM: Final = "application/x-www-form-urlencoded"
_LOOPBACK: Final = {"127.0.0.1", "localhost", "::1"}
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with "no-referrer", forms come from "null"
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """Lets through what this site may answer, and puts safe headers on every answer."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app = app
        self._site = site
        self._root = site.settings.root
        self._address = urlsplit(site.settings.url)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request before any page sees it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._root and f"{scope['path']}/".startswith(f"{self._root}/"):
            scope["path"] = scope["path"][len(self._root) :]
        send = _with_headers(send, scope)
        scope.setdefault("state", {})
        scope["state"] |= {"person": None, "form_token": "", "query": scope["query_string"]}
        if scope["path"] == "/enter":
            scope["query_string"] = b""  # logs of the server could keep the token
        try:
            answer = await self._check(scope)
            if answer is None and scope["method"] not in _SAFE:
                most = LARGE_BODIES.get(scope["path"], _LARGEST)
                receive = await self._check_forgery(scope, _limit_body(receive, most))
        except HTTPException as error:
            answer = refuse(Request(scope), error)
        await (answer or self._app)(scope, receive, send)

    async def _check(self, scope: Scope) -> Response | None:
        """Identify the person; return the answer of requests that need no page."""
        headers, path = Headers(scope=scope), scope["path"]
        if not self._is_known_host(headers.get("host", "")):
            return PlainTextResponse(
                "this server does not answer to this name; see berryeval serve --url", 421
            )
        if not path:
            return RedirectResponse(f"{self._root}/", 303)
        if path.startswith("/static/"):
            return None
        if self._site.accounts.is_stale:
            try:
                await to_thread.run_sync(self._site.accounts.refresh)
            except BerryEvalError as error:
                return PlainTextResponse(str(error), 503)
        cookie = self._read_cookie(headers)
        person = self._identify(scope, headers, cookie)
        scope["state"] |= {"person": person, "form_token": form_token(cookie) if cookie else ""}
        if person is not None or path.startswith(_OPEN):
            return None
        if path.startswith(API):
            gets = "" if self._site.settings.users else " (berryeval serve --users gives tokens)"
            raise HTTPException(
                401, f"sign in: send the header Authorization: Bearer TOKEN{gets}",
                {"www-authenticate": "Bearer"},
            )  # fmt: skip
        return RedirectResponse(f"{self._root}/sign-in", 303)

    def _is_known_host(self, given: str) -> bool:
        name = given.rsplit(":", 1)[0] if not given.endswith("]") else given
        known = {self._site.settings.host.lower(), self._address.hostname or ""}
        return bool(name) and name.strip("[]").lower() in _LOOPBACK | known

    def _read_cookie(self, headers: Headers) -> str:
        return cookie_parser(headers.get("cookie", "")).get(self._site.cookie, "")

    def _identify(self, scope: Scope, headers: Headers, cookie: str) -> Person | None:
        token = _read_bearer(headers)
        if token is None:
            return self._site.accounts.find_by_session(cookie) if cookie else None
        person = self._site.accounts.find_by_token(token)
        if person is None:
            address = find_address(scope, self._site)
            check_pace(self._site, address)
            self._site.throttle.count_wrong(address)
        return person

    async def _check_forgery(self, scope: Scope, receive: Receive) -> Receive:
        """Refuse what a page of another site could have made a browser send."""
        headers = Headers(scope=scope)
        if _read_bearer(headers) is not None:
            return receive
        origin, host = urlsplit(headers.get("origin", "")), headers.get("host", "")
        if not origin.netloc or origin.netloc not in {self._site.settings.netloc, host}:
            raise HTTPException(403, "the request comes from another site")
        cookie = self._read_cookie(headers)
        if not cookie:
            return receive
        token = headers.get("x-form-token")
        if token is None and headers.get("content-type", "").partition(";")[0].strip() == _FORM:
            body = await _read_body(_limit_body(receive, _LARGEST))
            receive = _replay(body)
            token = parse_qs(body.decode(errors="replace")).get("form_token", [""])[0]
        if not hmac_equal(token or "", form_token(cookie)):
            raise HTTPException(403, "the page is too old: load it again")
        return receive


def refuse(request: Request, error: HTTPException) -> Response:
    """Answer with a problem: a page for people, JSON for programs."""
    if request.url.path.startswith(API):
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)
    answer = render(request, "problem.html", status=error.status_code, text=error.detail)
    answer.headers.update(error.headers or {})
    return answer


def find_address(scope: Scope, site: Site) -> str:
    """Return the address of the client."""
    return address_of(scope, behind_proxy=bool(site.settings.url))


def check_pace(site: Site, address: str) -> None:
    """Refuse an address that sent too many wrong tokens."""
    if wait := site.throttle.wait(address):
        raise HTTPException(
            429, f"too many wrong tokens; try again in {wait} seconds", {"retry-after": str(wait)}
        )


def person_of(request: Request) -> Person:
    """Return the person who sent a request."""
    person: Person | None = request.state.person
    if person is None:
        raise HTTPException(401, "sign in first")
    return person


def require_role(role: Role) -> Callable[[Request], Awaitable[Person]]:
    """Return a dependency that lets only people with this role through."""

    async def check(request: Request) -> Person:  # without a thread of its own
        return check_role(person_of(request), role)

    return check


def check_role(person: Person, role: Role) -> Person:
    """Return the person, or raise an error unless the person has this role."""
    if not person.may(role):
        raise HTTPException(403, f"this needs the role {role}; {person.name} may {person.role}")
    return person


def _read_bearer(headers: Headers) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _limit_body(receive: Receive, most: int) -> Receive:
    """Refuse a body as soon as it is larger than `most` bytes."""
    seen = 0

    async def read() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise HTTPException(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the request is larger than {most >> 20} MB"
            )
        return message

    return read


async def _read_body(receive: Receive) -> bytes:
    found, more = bytearray(), True
    while more:
        message = await receive()
        found += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(found)


def _replay(body: bytes) -> Receive:
    """Return a `receive` that gives a body that was read already."""

    async def read() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return read


def _with_headers(send: Send, scope: Scope) -> Send:
    async def forward(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(_HEADERS)
            if not scope["path"].startswith("/static/"):
                headers["cache-control"] = "no-store"
            else:  # asked for again, so that an upgrade shows
                headers["cache-control"] = "no-cache"
        await send(message)

    return forward
