"""People who use a server: roles, tokens and sessions."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from berryeval.judging import check_judge
from berryeval.runs import ROLES, Role
from berryeval.workflows import open_history

if TYPE_CHECKING:
    from berryeval.runs import StoredUser

KEY_FILE: Final = Path(".berryeval") / "serve.key"
LIFETIME: Final = 30 * 24 * 3600  # seconds of a session
_KEY_BYTES: Final = 32
_FRESH: Final = 2.0  # seconds until changes of other processes count


@dataclass(frozen=True)
class Person:
    """A signed-in person with a role; each role includes those before it."""

    name: str
    role: Role = "look"

    def may(self, role: Role) -> bool:
        """Return whether the person has a role, or one above it."""
        return ROLES.index(self.role) >= ROLES.index(role)


class Accounts(Protocol):
    """Finds the person behind a token or a session; only `refresh` may wait for the store."""

    key: bytes

    @property
    def is_stale(self) -> bool:
        """Whether `refresh` must be called before people are looked up."""

    def refresh(self) -> None:
        """Read the people again."""

    def sign_in(self, token: str) -> Person | None:
        """Return the person who signs in with a token; None if it is wrong or used up."""

    def find_by_token(self, token: str) -> Person | None:
        """Return the person of a request of a program; None if the token is wrong."""

    def open_session(self, person: Person) -> str:
        """Return the value of the cookie of a new session."""

    def find_by_session(self, cookie: str) -> Person | None:
        """Return the person of a session; None if it is forged, too old or ended."""


def _ignore() -> None:
    pass


@dataclass
class LocalAccounts:
    """One person, who opens the link that the terminal shows; each link opens one session.

    Attributes:
        name: Name of the person.
        key: Key that signs the sessions.
        token: Token of the next link.
        when_used: Called after a link was used and `token` is a new one.
    """

    name: str
    key: bytes = field(default_factory=lambda: secrets.token_bytes(_KEY_BYTES), repr=False)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(_KEY_BYTES), repr=False)
    when_used: Callable[[], None] = field(default=_ignore, repr=False)
    is_stale: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def refresh(self) -> None:
        """Do nothing: there is one person, always the same."""

    def sign_in(self, token: str) -> Person | None:
        """Return the person if the token is right, and replace it by a new one."""
        with self._lock:
            if not hmac_equal(token, self.token):
                return None
            self.token = secrets.token_urlsafe(_KEY_BYTES)
        self.when_used()
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


class UserAccounts:
    """The people of a store; tokens are kept as hashes, and shown once when they are made.

    A new token, or the removal of a person, ends all sessions of that person.
    """

    def __init__(self, store: str | None, key: bytes) -> None:
        self.key = key
        self._store = store
        self._people: dict[str, StoredUser] = {}
        self._read_at = -_FRESH
        self._lock = threading.Lock()

    @property
    def is_stale(self) -> bool:
        """Whether the people were read too long ago, and are not being read at the moment."""
        is_being_read = self._lock.locked() and bool(self._people)
        return not is_being_read and time.monotonic() - self._read_at >= _FRESH

    def refresh(self) -> None:
        """Read the people again, unless another thread just did."""
        with self._lock:
            if self.is_stale:
                self._read()

    def people(self) -> list[StoredUser]:
        """Return everyone, by name."""
        with self._lock:
            return self._read()

    def _read(self) -> list[StoredUser]:
        with open_history(self._store) as store:
            found = store.users.list()
        self._people = {one.name: one for one in found}
        self._read_at = time.monotonic()
        return found

    def add_first(self, name: str) -> str:
        """Add an administrator to a store without one; return the token, or ""."""
        token = secrets.token_urlsafe(_KEY_BYTES)
        with open_history(self._store, make=True) as store:
            added = store.users.add_first(check_judge(name), hash_token(token))
        return token if added else ""

    def add(self, name: str, role: Role) -> tuple[str, str]:
        """Add a person; return the name and the token, which is kept nowhere."""
        token = secrets.token_urlsafe(_KEY_BYTES)
        with open_history(self._store) as store:
            added = store.users.add(check_judge(" ".join(name.split())), role, hash_token(token))
        self.people()
        return added.name, token

    def change_role(self, name: str, role: Role) -> None:
        """Give a person another role."""
        with open_history(self._store) as store:
            store.users.change(name, role=role)
        self.people()

    def renew_token(self, name: str) -> str:
        """Give a person another token; the one before is no longer good."""
        token = secrets.token_urlsafe(_KEY_BYTES)
        with open_history(self._store) as store:
            store.users.change(name, token_hash=hash_token(token))
        self.people()
        return token

    def remove(self, name: str) -> None:
        """Remove a person; their votes stay."""
        with open_history(self._store) as store:
            store.users.remove(name)
        self.people()

    def find_by_token(self, token: str) -> Person | None:
        """Return the person with a token; every hash is compared, in constant time."""
        given, found = hash_token(token), None
        for one in self._people.values():
            if hmac_equal(given, one.token_hash):
                found = Person(one.name, one.role)
        return found

    def sign_in(self, token: str) -> Person | None:
        """Return the person with a token."""
        return self.find_by_token(token)

    def open_session(self, person: Person) -> str:
        """Return the value of the cookie of a new session; "" for someone who was removed."""
        known = self._people.get(person.name)
        return sign_session(known.name, self._session_key(known)) if known else ""

    def find_by_session(self, cookie: str) -> Person | None:
        """Return the person of a session; None if it is forged, too old or ended."""
        known = self._people.get(name_in_session(cookie))
        if known is None or not read_session(cookie, self._session_key(known)):
            return None
        return Person(known.name, known.role)

    def _session_key(self, known: StoredUser) -> bytes:
        return hmac.new(self.key, known.token_hash.encode(), "sha256").digest()


def keep_key(path: Path = KEY_FILE) -> bytes:
    """Return the key of this folder, made at the first call; sessions survive a restart by it.

    A key that others could read or have put there is replaced. Where nothing can be written, the
    key lasts as long as the process.
    """
    with suppress(OSError):
        found = path.lstat()
        is_private = stat.S_ISREG(found.st_mode) and (
            os.name == "nt" or (found.st_mode & 0o077 == 0 and found.st_uid == os.getuid())
        )
        if is_private and found.st_size == _KEY_BYTES:
            return path.read_bytes()
        path.unlink()
    key = secrets.token_bytes(_KEY_BYTES)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "wb") as stream:
            stream.write(key)
    return key


def hash_token(token: str) -> str:
    """Return the hash of a token, which is random and long, so it needs no salt."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def sign_session(name: str, key: bytes) -> str:
    """Return a cookie: name, time of its end, and a signature of both."""
    text = f"{name.encode().hex()}.{int(time.time()) + LIFETIME}"
    return f"{text}.{_sign(text, key)}"


def read_session(cookie: str, key: bytes) -> bool:
    """Return whether a cookie was signed with this key and has not ended."""
    text, _, signature = cookie.rpartition(".")
    if not hmac_equal(signature, _sign(text, key)):
        return False
    return int(text.rpartition(".")[2]) > time.time()


def name_in_session(cookie: str) -> str:
    """Return the name in a cookie, which may be forged; "" for a damaged cookie."""
    try:
        return bytes.fromhex(cookie.partition(".")[0]).decode()
    except ValueError:
        return ""


def form_token(cookie: str) -> str:
    """Return the token that forms of this session must send (against forged requests)."""
    return hashlib.sha256(b"form:" + cookie.encode(errors="replace")).hexdigest()


def _sign(text: str, key: bytes) -> str:
    return hmac.new(key, text.encode(errors="replace"), "sha256").hexdigest()


def hmac_equal(given: str, right: str) -> bool:
    """Return whether two texts are equal, in a time that does not depend on them."""
    return hmac.compare_digest(given.encode(errors="replace"), right.encode())
