"""A limit on wrong tokens, by the address that sends them."""

from __future__ import annotations

import ipaddress
import re
import threading
import time
from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers

if TYPE_CHECKING:
    from starlette.types import Scope

_WRONG: Final = 10  # wrong tokens of an address within `_WINDOW`
_WINDOW: Final = 60.0  # seconds
_PORT: Final = re.compile(r"^(?:\[(.+)\]|([0-9.]+))(?::[0-9]+)?$")  # an address and its port
_ADDRESSES: Final = 10_000  # addresses to remember


class Throttle:
    """Counts wrong tokens; an address with too many must wait, also with a right one."""

    def __init__(self) -> None:
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def count_wrong(self, address: str) -> None:
        """Remember that an address sent a wrong token."""
        with self._lock:
            times = self._times.setdefault(address, deque(maxlen=_WRONG))
            times.append(time.monotonic())
            self._times.move_to_end(address)
            while len(self._times) > _ADDRESSES:
                self._times.popitem(last=False)

    def wait(self, address: str) -> int:
        """Return the seconds that an address must wait; 0 if it may try."""
        with self._lock:
            times = self._times.get(address)
            if times is None or len(times) < _WRONG:
                return 0
            left = times[0] + _WINDOW - time.monotonic()
            return max(0, int(left) + 1) if left > 0 else 0


def address_of(scope: Scope, *, behind_proxy: bool) -> str:
    """Return the address of who is asking.

    Behind a proxy on this machine, it is the last address of `X-Forwarded-For`, which the proxy
    adds. Addresses of one IPv6 network count as one.
    """
    peer = (scope.get("client") or ("",))[0]
    given = Headers(scope=scope).getlist("x-forwarded-for")
    if behind_proxy and given and is_loopback(peer):
        peer = given[-1].rpartition(",")[2].strip()
    try:
        found = ipaddress.ip_address(_PORT.sub(r"\1\2", peer))
    except ValueError:
        return "unknown"
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)


def is_loopback(address: str) -> bool:
    """Return whether only this machine reaches an address."""
    if address.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
