"""Runs sent to a server of a team, and taken there into its store."""

from __future__ import annotations

import gzip
import json
import os
import time
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from berryeval._internal.compression import GZIP, decompress
from berryeval._internal.json import decode_text, parse_json
from berryeval._internal.serial import type_mismatch
from berryeval.errors import ConfigurationError, DataError, RunFailedError
from berryeval.workflows.history import check_run_name, open_history
from berryeval.workflows.run_finder import find_run

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.runs import Added

TOKEN: Final = "BERRYEVAL_TOKEN"  # noqa: S105 - the name of a variable
_PATH: Final = "/api/v1/runs"
_SECONDS: Final = 120.0
_ATTEMPTS: Final = 4
_WAIT: Final = 0.5  # seconds after the first attempt; then twice as long each time
_MOST: Final = 100_000  # bytes of an answer
_LONGEST: Final = 200  # characters of the name of a run
_TEMPORARY: Final = {408, 429, 502, 503, 504}
_REFUSED: Final = {
    401: f"the server does not know the token; set {TOKEN}, or give --token-file",
    404: "no BerryEval server answers there; give the address that its pages have",
    405: "no BerryEval server answers there; give the address that its pages have",
    413: "the server takes no run of this size",
}


@dataclass(frozen=True)
class Pushed:
    """A run on a server: its name there, how it was added, and its page."""

    run: str
    how: str
    url: str


def push_run(
    url: str,
    run: str = "latest",
    store: PathLike | None = None,
    *,
    token_file: PathLike | None = None,
    replace: bool = False,
) -> Pushed:
    """Send a run to a server; sending it again changes nothing.

    Args:
        url: Address of the server, with its path.
        run: The run, as in `find_run`.
        store: Store of the run; None for the usual one.
        token_file: File with the token; None for the variable `BERRYEVAL_TOKEN`.
        replace: Whether to overwrite a run of the same name that differs.
    """
    address = _check_address(url)
    token = _read_token(token_file)
    record = find_run(run, store).record
    body = gzip.compress(record.dumps().encode(errors="surrogatepass"), 6, mtime=0)
    headers = {
        "Authorization": f"Bearer {token}", "Content-Type": "application/json",
        "Content-Encoding": "gzip", "User-Agent": "berryeval",
    }  # fmt: skip
    target = f"{address}{_PATH}{'?replace=true' if replace else ''}"
    found = _send(Request(target, body, headers, method="POST"), address)  # noqa: S310 - checked
    names = (found.get("run"), found.get("how"))
    if not all(isinstance(one, str) for one in names):
        raise RunFailedError(f"{address}: {_REFUSED[404]}")
    return Pushed(str(names[0]), str(names[1]), f"{address}/runs/{quote(str(names[0]))}")


def add_pushed(body: bytes, store: PathLike | None = None, *, replace: bool = False) -> Added:
    """Add the record in the body of a request to the store; nothing else of it is kept."""
    from berryeval.runs import RunRecord

    where = "the request"
    try:
        text = decompress("gzip", body, where) if body.startswith(GZIP) else body
    except EOFError:
        raise DataError(f"{where}: ends in the middle of its compressed data") from None
    data = parse_json(decode_text(bytes(text), where), where, repeats=True)
    if not isinstance(data, dict):
        raise type_mismatch(where, "an object", data)
    record = RunRecord.from_json(data, where)
    check_run_name(record.id, where)
    _check_foreign_name(record.id, where)
    with open_history(store, make=True) as opened:
        return opened.add(record, replace_content=replace)


def _check_foreign_name(name: str, where: str) -> None:
    """Reject a name from another machine that is a path, or cannot be shown and linked."""
    is_path = name in {"", ".", ".."} or set(name) & set("/\\")
    if is_path or not name.isprintable() or len(name) > _LONGEST:
        raise DataError(
            f"{where}: expected the name of a run, up to {_LONGEST} printable characters without a "
            f"slash, found {name!r:.80}; give it another id"
        )


def _check_address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.password:
        raise ConfigurationError(
            "expected the address of a server, such as https://eval.example.org/berry, found "
            f"{url.rpartition('@')[2]!r:.80}"
        )
    return url.rstrip("/")


def _read_token(path: PathLike | None) -> str:
    if path is not None:
        try:
            found = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or "not text"
            raise ConfigurationError(f"{path}: the token cannot be read ({problem})") from None
    else:
        found = os.environ.get(TOKEN, "").strip()
    if not found or not found.isascii() or not found.isprintable() or " " in found:
        where = path if path is not None else TOKEN
        raise ConfigurationError(
            f"{where}: expected the token of a person of the server, found "
            f"{'something else' if found else 'nothing'}; an administrator makes one on the page "
            f"People, and it belongs into {TOKEN} or a file (--token-file)"
        )
    return found


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirect, which could take the token to another server."""

    def redirect_request(self, *_: Any) -> None:
        """Let the redirect be an error."""
        return


def _send(request: Request, address: str) -> dict[str, Any]:
    """Send a request, again after temporary failures; return the answer."""
    opener = build_opener(_NoRedirects)
    problem = ""
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_WAIT * 2 ** (attempt - 1))
        found = _try(opener, request, address)
        if isinstance(found, dict):
            return found
        problem = found
    raise RunFailedError(f"{address}: the run was not taken ({problem}); push it again later")


def _try(opener: OpenerDirector, request: Request, address: str) -> dict[str, Any] | str:
    """Return the answer, or a problem that may pass; raise for one that stays."""
    try:
        with opener.open(request, timeout=_SECONDS) as answer:
            return _read_answer(answer.read(_MOST))
    except HTTPError as error:
        with error:
            said = str(_read_answer(error.read(_MOST)).get("error", ""))[:500]
        if error.code in _TEMPORARY:
            return said or HTTPStatus(error.code).phrase
        if HTTPStatus.MULTIPLE_CHOICES <= error.code < HTTPStatus.BAD_REQUEST:
            said = f"it redirects to {error.headers.get('location', '')!r:.200}; push to that"
        if error.code == HTTPStatus.UNAUTHORIZED:
            said = ""
        problem = said or _REFUSED.get(error.code) or f"status {error.code}"
        raise RunFailedError(f"{address}: the run was not taken: {problem}") from None
    except (URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        return str(getattr(reason, "strerror", None) or reason)


def _read_answer(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
