"""Pages from schemas: the configuration file, and the HTTP API of `berryeval serve`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from berryeval.workflows.plan import Plan
from scripts.website.commands import fill_in, run_line, session_folder
from scripts.website.markdown import code, cut, table
from tests.web.serving import serve_site

Schema = Mapping[str, Any]

EXAMPLE: Final = """\
# yaml-language-server: $schema=berryeval.schema.json
benchmarks: [technical-docs]
providers:
  - bm25
  - {name: small chunks, type: bm25, chunker: fixed-400, options: {k1: 0.9, b: 0.4}}
metrics: [nDCG@10, R@10, RR]
run: {concurrency: 4, timeout: 10, attempts: 3}
gate:
  baseline: berryeval-baseline.json
  rules:
    - {metric: nDCG@10, at_least: 0.6}
    - {metric: R@10, max_drop: 0.02}
"""


def render_configuration() -> str:
    """Return the page of `berryeval.yaml`: every setting of its schema."""
    schema = Plan.model_json_schema()
    Plan.model_validate(yaml.safe_load(EXAMPLE))
    parts = [CONFIGURATION, code(EXAMPLE, "yaml"), "\n## Settings\n\n", _fields(schema, schema)]
    for name, inner in schema["$defs"].items():
        about = inner.get("description", "").partition("\n")[0]
        fields = _fields(inner, schema)
        parts.append(f"\n### {name} {{#{name.lower()}}}\n\n{about}\n\n{fields}")
    return "".join(parts)


CONFIGURATION: Final = """\
# Configuration

Every setting of `berryeval.yaml`, generated from its schema, which editors read too:
[berryeval.schema.json](../berryeval.schema.json). Flags win over `BERRYEVAL_*` variables, which win
over the file; `${NAME}` in the file is replaced by an environment variable. [Evaluate](../eval.md)
explains the settings, [gates](../gates.md) the rules. A file that was checked when this page was
built:

"""


def _fields(schema: Schema, whole: Schema) -> str:
    needed = schema.get("required", ())
    rows = [
        (f"`{name}`", _type(field, whole), _default(name, field, needed), _about(field))
        for name, field in schema.get("properties", {}).items()
    ]
    return table(("setting", "type", "default", "description"), rows)


def _about(field: Schema) -> str:
    return str(field.get("description", "")).partition("\n\n")[0]


def _default(name: str, field: Schema, needed: Any) -> str:
    if name in needed:
        return "required"
    default = field.get("default")
    return "" if default in (None, "", [], {}) or "$ref" in field else f"`{json.dumps(default)}`"


def _type(field: Schema, whole: Schema) -> str:
    """Return the type in words, with links to the tables of inner settings."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        inner = whole.get("$defs", whole.get("components", {}).get("schemas", {}))[name]
        return f"[{name}](#{name.lower()})" if "properties" in inner else _type(inner, whole)
    for several in ("anyOf", "oneOf"):
        if several in field:
            known = (_type(one, whole) for one in field[several] if one.get("type") != "null")
            return " or ".join(dict.fromkeys(known))
    if "enum" in field or "const" in field:
        return ", ".join(f"`{one}`" for one in field.get("enum", [field.get("const")]) if one)
    if field.get("type") == "array" and isinstance(field.get("items"), Mapping):
        return f"list of {_type(field['items'], whole)}"
    return str(field.get("type", "any"))


# One GET each, in a folder with a run and a pool.
REQUESTS: Final = {
    "/api/v1/runs": "?limit=1",
    "/api/v1/runs/{name}": "",
    "/api/v1/compare": "?run={run}",
    "/api/v1/trend": "?metric=nDCG@5&benchmark=rag-template",
    "/api/v1/queries": "?run={run}",
    "/api/v1/query": "?run={run}&id=rt-01",
    "/api/v1/passage": "?run={run}&id=rt-01&system=bm25&rank=1",
    "/api/v1/judging": "",
    "/api/v1/judging/{room}/pairs": "?count=1",
    "/api/v1/judging/{room}/status": "",
    "/api/v1/judging/{room}/agreement": "",
}
HTTP: Final = """\
# HTTP API

Every route of [`berryeval serve`](../serve.md#api), generated from the application; a server
describes itself at `/api/v1/openapi.json`. Programs send the token of a person in the header
`Authorization`; an error is `{"error": "what is wrong"}`. The answers below are those of a server
that ran when this page was built.

```sh
curl -H "Authorization: Bearer $BERRYEVAL_TOKEN" \\
  https://eval.example.org/berry/api/v1/runs
```
"""


def render_http() -> str:
    """Return the page of the HTTP API."""
    described, answers = _ask_server()
    parts = [HTTP]
    for path, methods in sorted(described["paths"].items()):
        for method, route in methods.items():
            parts.append(f"\n## {method.upper()} {path}\n\n{route['description']}\n\n")
            parts.extend(_render_route(route, described))
            if method == "get" and path in answers:
                parts.append(code("\n".join(answers[path]), "json"))
    parts.append("\n## Objects\n")
    for name, inner in sorted(described["components"]["schemas"].items()):
        if inner.get("properties") and "Validation" not in name:
            about = inner.get("description", "").partition("\n")[0]
            parts.append(f"\n### {name} {{#{name.lower()}}}\n\n{about}\n\n")
            parts.append(_fields(inner, described))
    return "".join(parts)


def _render_route(route: Schema, whole: Schema) -> Iterator[str]:
    rows = [
        (
            f"`{one['name']}`", one["in"], _type(one["schema"], whole),
            "yes" if one.get("required") else "", one.get("description", ""),
        )
        for one in route.get("parameters", ())
    ]  # fmt: skip
    if rows:
        yield table(("parameter", "in", "type", "required", "description"), rows) + "\n"
    body = route.get("requestBody")
    if body:
        schema = body["content"]["application/json"]["schema"]
        yield f"Body: {body.get('description') or _type(schema, whole)}\n\n"
    for status, answer in sorted(route["responses"].items()):
        content = answer.get("content", {}).get("application/json", {}).get("schema")
        if content and status.startswith("2"):
            yield f"Answer: {status}, {_type(content, whole)}\n\n"


def _ask_server() -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Serve a run, and return the description of the API and the answers to some requests."""
    with session_folder():
        run_line("eval rag-template --providers bm25 bm25:fixed-400 -m nDCG@5 --export none")
        run_line("judge pool latest --benchmark rag-template --depth 3")
        run_line("judge export --judge ann --output sheet.csv")
        fill_in(Path("sheet.csv"))
        for judge in ("ann", "ben"):
            run_line(f"judge import sheet.csv --judge {judge}")
        with serve_site(judge="eve") as served, served.sign_in() as client:
            described = client.get("/api/v1/openapi.json").json()
            run = client.get("/api/v1/runs").json()["runs"][0]["id"]
            room = client.get("/api/v1/judging").json()[0]["name"]
            known = {"name": run, "run": run, "room": room}
            answers = {}
            for path, query in REQUESTS.items():
                address = f"{path}{query}".format(**known)
                answer = client.get(address)
                answer.raise_for_status()
                text = json.dumps(answer.json(), indent=1, ensure_ascii=False)
                answers[path] = [f"GET {address}", cut(text, 24)]
    return described, answers
