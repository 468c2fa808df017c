"""The guard in front of every page: host, origin, person, form token, and headers."""

from __future__ import annotations

from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from berryeval.web.accounts import form_token, hmac_equal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from berryeval.web.accounts import Person, Role
    from berryeval.web.site import Site

COOKIE: Final = "berryeval"
API: Final = "/api/"
_OPEN: Final = ("/static/", "/enter", "/sign-in")
_SAFE: Final = {"GET", "HEAD", "OPTIONS"}
_FORM: Final = "application/x-www-form-urlencoded"
_LOOPBACK: Final = {"127.0.0.1", "localhost", "::1"}
LARGE: Final = {"/api/v1/runs": 1 << 29}  # bytes of a body, by path
_LARGEST: Final = 1 << 20  # bytes of any other body
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """Lets through what this site may answer, and puts safe headers on every answer."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app = app
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request before any page sees it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        root = self._site.settings.root
        if root and scope["path"].startswith(f"{root}/"):
            scope = {**scope, "path": scope["path"][len(root) :], "raw_path": None}
        send = _with_headers(send, scope)
        refused = self._check(scope)
        if refused is None and scope["method"] not in _SAFE:
            receive = _limit_body(receive, LARGE.get(scope["path"], _LARGEST))
            try:
                receive, refused = await self._check_forgery(scope, receive)
            except HTTPException as error:
                refused = JSONResponse({"error": error.detail}, error.status_code)
        await (refused or self._app)(scope, receive, send)

    def _check(self, scope: Scope) -> Response | None:
        headers, path = Headers(scope=scope), scope["path"]
        if not self._is_known_host(headers.get("host", "")):
            return PlainTextResponse(
                "this server does not answer to this name; see berryeval serve --url", 421
            )
        cookie = _read_cookie(headers.get("cookie", ""))
        person = self._identify(headers, cookie)
        scope.setdefault("state", {})
        scope["state"] |= {"person": person, "form_token": form_token(cookie) if cookie else ""}
        if person is None and not path.startswith(_OPEN):
            if path.startswith(API):
                text = "sign in: send the header Authorization: Bearer TOKEN"
                return JSONResponse({"error": text}, 401, {"www-authenticate": "Bearer"})
            return RedirectResponse(f"{self._site.settings.root}/sign-in", 303)
        return None

    def _is_known_host(self, given: str) -> bool:
        settings = self._site.settings
        name = given.rsplit(":", 1)[0] if not given.endswith("]") else given
        known = {settings.host, urlsplit(settings.url).hostname or ""}
        return bool(name) and name.strip("[]").lower() in _LOOPBACK | known

    def _identify(self, headers: Headers, cookie: str) -> Person | None:
        if (token := _read_bearer(headers)) is not None:
            return self._site.accounts.find_by_token(token)
        return self._site.accounts.find_by_session(cookie) if cookie else None

    async def _check_forgery(
        self, scope: Scope, receive: Receive
    ) -> tuple[Receive, Response | None]:
        """Refuse requests that a page of another site could have made a browser send."""
        headers = Headers(scope=scope)
        if _read_bearer(headers) is not None:
            return receive, None
        origin = urlsplit(headers.get("origin", ""))
        wanted = urlsplit(self._site.settings.url).netloc or headers.get("host", "")
        if origin.netloc not in {wanted, headers.get("host", "")}:
            return receive, JSONResponse({"error": "the request comes from another site"}, 403)
        cookie = _read_cookie(headers.get("cookie", ""))
        if not cookie:
            return receive, None
        token = headers.get("x-form-token")
        if token is None and headers.get("content-type", "").partition(";")[0].strip() == _FORM:
            body = await _read_body(receive)
            receive = _replay(body)
            token = parse_qs(body.decode(errors="replace")).get("form_token", [""])[0]
        if not hmac_equal(token or "", form_token(cookie)):
            error = JSONResponse({"error": "the page is too old: load it again"}, 403)
            return receive, error
        return receive, None


def person_of(request: Request) -> Person:
    """Return who is asking."""
    person: Person | None = request.state.person
    if person is None:
        raise HTTPException(401, "sign in first")
    return person


def require_role(role: Role) -> Callable[[Request], Awaitable[Person]]:
    """Return a dependency that lets only people with this role through."""

    async def check(request: Request) -> Person:  # without a thread of its own
        person = person_of(request)
        if not person.may(role):
            raise HTTPException(403, f"this needs the role {role}; {person.name} may {person.role}")
        return person

    return check


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
            size = f"{most >> 20} MB"
            raise HTTPException(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the request is larger than {size}"
            )
        return message

    return read


async def _read_body(receive: Receive) -> bytes:
    found, more = b"", True
    while more:
        message = await receive()
        found += message.get("body", b"")
        more = message.get("more_body", False)
    return found


def _replay(body: bytes) -> Receive:
    """Return a `receive` that gives a body that was read already."""

    async def read() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return read


def _read_cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def _with_headers(send: Send, scope: Scope) -> Send:
    async def forward(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(_HEADERS)
            if not scope["path"].startswith("/static/"):
                headers["cache-control"] = "no-store"
        await send(message)

    return forward
