"""What commands print for machines: one envelope for all of them."""

from __future__ import annotations

import json
from typing import Any

SCHEMA_VERSION = 1


def print_json(command: str, data: dict[str, Any]) -> None:
    """Print `data` in the envelope that every `--json` shares."""
    envelope = {"schema_version": SCHEMA_VERSION, "command": command, "data": data}
    print(json.dumps(envelope, indent=2, ensure_ascii=False))
