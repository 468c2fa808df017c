"""What a page of ours may load: nothing but its own style sheet."""

from __future__ import annotations

import base64
import hashlib
from typing import Final

__all__ = ["policy"]

_POLICY: Final = (
    "default-src 'none'; style-src '{hash}'; img-src data:; base-uri 'none'; form-action 'none'"
)


def policy(style: str) -> str:
    """The Content-Security-Policy of a page with this style sheet, known by its hash."""
    digest = hashlib.sha256(style.encode("utf-8")).digest()
    return _POLICY.format(hash=f"sha256-{base64.b64encode(digest).decode('ascii')}")
