"""Corrects the OpenAPI description: FastAPI declares a 422 response that no path returns."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

_FASTAPI_SCHEMAS = ("HTTPValidationError", "ValidationError")


def remove_fastapi_errors(app: FastAPI) -> None:
    """Remove FastAPI's validation error from the OpenAPI description; routes that validate values declare the error
    object instead.
    """
    inner = app.openapi

    def openapi() -> dict[str, Any]:
        cached = app.openapi_schema is not None
        schema = inner()
        if not cached:
            for operations in schema["paths"].values():
                for operation in operations.values():
                    if _FASTAPI_SCHEMAS[0] in str(operation.get("responses", {}).get("422")):
                        del operation["responses"]["422"]
            for name in _FASTAPI_SCHEMAS:
                schema.get("components", {}).get("schemas", {}).pop(name, None)
        return schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way
