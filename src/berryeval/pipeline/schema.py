"""The JSON Schema of `berryeval.yaml`, for editors: `python -m berryeval.pipeline.schema`."""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from berryeval.pipeline.plan import Plan, ProviderSpec

__all__ = ["SCHEMA_FILE", "config_schema", "schema_text"]

SCHEMA_FILE: Final = "berryeval.schema.json"


def config_schema() -> dict[str, Any]:
    """What a configuration file may hold.

    What is missing may come from flags or variables, so that nothing is required at the top.
    """
    schema = _plain(Plan.model_json_schema())
    schema.pop("required", None)
    provider = schema["$defs"][ProviderSpec.__name__]
    schema["$defs"][ProviderSpec.__name__] = {
        "description": provider.pop("description"),
        "anyOf": [{"type": "string"}, provider],
    }
    several = schema["properties"]["export"]
    kinds = [{"type": "string"}, {key: several.pop(key) for key in ("items", "type")}]
    schema["properties"]["export"] = {**several, "anyOf": kinds}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "berryeval.yaml",
        "description": "What `berryeval eval` is asked to do.",
    }


def _plain(node: Any) -> Any:
    """Without what says nothing to people: titles made from names, permission for everything."""
    if isinstance(node, list):
        return [_plain(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _plain(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "additionalProperties" and value is True)
    }


def schema_text() -> str:
    """The file."""
    return json.dumps(config_schema(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
