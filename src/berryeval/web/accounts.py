"""Who is asking: people, their roles, tokens and sessions."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias, get_args

Role: TypeAlias = Literal["look", "judge", "administer"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
_LIFETIME: Final = 30 * 24 * 3600  # seconds of a session


@dataclass(frozen=True)
class Person:
    """Someone who is signed in, and what they may do; each role includes those before it."""

    name: str
    role: Role = "look"

    def may(self, role: Role) -> bool:
        """Return whether the person has a role, or one above it."""
        return ROLES.index(self.role) >= ROLES.index(role)


class Accounts(Protocol):
    """Finds the person behind a token or a session."""

    def open_link(self, token: str) -> Person | None:
        """Return the person who signs in with a token; None if it is wrong or used up."""

    def find_by_token(self, token: str) -> Person | None:
        """Return the person of a request of a program; None if the token is wrong."""

    def open_session(self, person: Person) -> str:
        """Return the value of the cookie of a new session."""

    def find_by_session(self, cookie: str) -> Person | None:
        """Return the person of a session; None if it is forged, too old or ended."""


@dataclass
class LocalAccounts:
    """One person, who opens the link that the terminal shows; each link opens one session."""

    name: str
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def open_link(self, token: str) -> Person | None:
        """Return the person if the token is right, and replace it by a new one."""
        if not hmac_equal(token, self.token):
            return None
        self.token = secrets.token_urlsafe(32)
        return Person(self.name, "administer")

    def find_by_token(self, token: str) -> Person | None:  # noqa: ARG002 - of the protocol
        """Return None: programs need a token of their own, which only `--users` gives."""
        return None

    def open_session(self, person: Person) -> str:
        """Return the value of the cookie of a new session."""
        return sign_session(person.name, self.key)

    def find_by_session(self, cookie: str) -> Person | None:
        """Return the person of a session; None if it is forged or too old."""
        return Person(self.name, "administer") if read_session(cookie, self.key) else None


def sign_session(name: str, key: bytes) -> str:
    """Return a cookie: name, time of its end, and a signature of both."""
    text = f"{name.encode().hex()}.{int(time.time()) + _LIFETIME}"
    return f"{text}.{_sign(text, key)}"


def read_session(cookie: str, key: bytes) -> bool:
    """Return whether a cookie was signed with this key and has not ended."""
    text, _, signature = cookie.rpartition(".")
    if not hmac_equal(signature, _sign(text, key)):
        return False
    return int(text.rpartition(".")[2]) > time.time()


def name_in_session(cookie: str) -> str:
    """Return the name in a cookie, which may be forged; "" if there is none."""
    try:
        return bytes.fromhex(cookie.partition(".")[0]).decode()
    except ValueError:
        return ""


def form_token(cookie: str) -> str:
    """Return the token that forms of this session must send (against forged requests)."""
    return hashlib.sha256(b"form:" + cookie.encode()).hexdigest()


def _sign(text: str, key: bytes) -> str:
    return hmac.new(key, text.encode(), "sha256").hexdigest()


def hmac_equal(given: str, right: str) -> bool:
    """Return whether two texts are equal, in a time that does not depend on them."""
    return hmac.compare_digest(given.encode(errors="replace"), right.encode())
