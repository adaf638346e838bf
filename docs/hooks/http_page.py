"""Generate the reference of the HTTP interface from the OpenAPI description of the service."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from markdown_text import code, linked, paragraphs, table

from app.service.application import create_app
from app.settings import Settings

_INTRODUCTION = """# HTTP

`plumbline serve` answers under `/v1`. The machine-readable description is at `/openapi.json` of every server.
[The service](../service.md) explains streaming, OpenAI's clients, limits and metrics;
[collections and jobs](../collections_and_jobs.md) explains keys, uploads and jobs.
"""


def http_page() -> str:
    """Return the page: every path with its parameters, body and responses, then every object."""
    with tempfile.TemporaryDirectory() as home:
        schema = create_app(Settings(home=Path(home))).openapi()
    lines = [_INTRODUCTION]
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            lines += _operation(f"{method.upper()} {path}", operation)
    lines += ["## Objects", ""]
    for name, definition in sorted(schema.get("components", {}).get("schemas", {}).items()):
        lines += [f"### {name}", "", paragraphs(definition.get("description", ""), "../"), _fields(definition)]
    return "\n".join(lines)


def _operation(title: str, operation: dict[str, Any]) -> list[str]:
    lines = [f"## {title}", "", paragraphs(operation.get("description") or operation.get("summary", ""), "../")]
    parameters = [
        (code(p["name"]), p["in"], _type(p.get("schema", {})), linked(p.get("description", ""), "../"))
        for p in operation.get("parameters", ())
    ]
    lines += [table(("parameter", "in", "type", "meaning"), parameters)]
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        lines += [f"Body: {code(kind)}, {_type(content.get('schema', {}))}", ""]
    responses = [
        (status, linked(response.get("description", ""), "../"), _content(response))
        for status, response in operation.get("responses", {}).items()
    ]
    return [*lines, table(("status", "meaning", "body"), responses)]


def _content(response: dict[str, Any]) -> str:
    return ", ".join(
        f"{code(kind)} {_type(content.get('schema', {}))}".strip()
        for kind, content in response.get("content", {}).items()
    )


def _fields(definition: dict[str, Any]) -> str:
    if "enum" in definition:
        return "One of " + ", ".join(code(str(value)) for value in definition["enum"]) + ".\n"
    needed = definition.get("required", ())
    rows = [
        (code(name), _type(field), "yes" if name in needed else "", linked(field.get("description", ""), "../"))
        for name, field in definition.get("properties", {}).items()
    ]
    return table(("field", "type", "required", "meaning"), rows)


def _type(schema: dict[str, Any]) -> str:
    """Return a type as text, with links to objects on the page."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(filter(None, map(_type, schema[key])))
    if "const" in schema or "enum" in schema:
        return ", ".join(code(str(value)) for value in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return str(kind)
