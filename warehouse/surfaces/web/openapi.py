"""The OpenAPI document: made from the table of views, with the errors that every operation has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from warehouse.surfaces.formats import MEDIA_TYPES
from warehouse.surfaces.view import Parameter, View

_FORMAT = {
    "name": "format", "in": "query", "required": False, "description": "json is the whole page; the others are one of its tables.",
    "schema": {"type": "string", "enum": list(MEDIA_TYPES), "default": "json"},
}
_TABLE = {
    "name": "table", "in": "query", "required": False, "description": "Which table, where format is not json; otherwise the first.",
    "schema": {"type": "string"},
}
_BUILD = {
    "name": "build", "in": "query", "required": False, "description": "The beginning of the digest of a kept build; otherwise the current one.",
    "schema": {"type": "string"},
}
_ERROR = {
    "type": "object", "required": ["code", "message"],
    "properties": {
        **dict.fromkeys(("code", "message"), {"type": "string"}), **dict.fromkeys(("place", "hint"), {"type": ["string", "null"]}),
    },
}
_MEANINGS = {
    "400": "A parameter is unknown, repeated or not valid.", "401": "A token is needed.", "403": "Not allowed.", "404": "There is no such thing.",
    "409": "It cannot be answered as things are.", "413": "The request is too large.", "422": "It reached a limit.", "429": "Too many requests.",
    "503": "The store cannot be reached.",
}


def view_parameters(view: View) -> list[dict[str, Any]]:
    """The parameters of a view's data, those that every view has included."""
    return [*(_parameter(each, each.name in view.in_path) for each in view.parameters), _BUILD, _FORMAT, _TABLE]


def _parameter(each: Parameter, is_in_path: bool) -> dict[str, Any]:
    place = "path" if is_in_path else "query"
    return {"name": each.name, "in": place, "required": is_in_path, "description": each.description, "schema": each.schema}


def documented(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """What returns the document, made once."""
    made: dict[str, Any] = {}

    def document() -> dict[str, Any]:
        if not made:
            made.update(get_openapi(title=app.title, version=app.version, routes=app.routes, description="Every page as data, at an equal path."))
            made.setdefault("components", {}).setdefault("schemas", {})["Error"] = _ERROR
            for path in made["paths"].values():
                for operation in path.values():
                    _complete(operation)
        return made

    return document


def _complete(operation: dict[str, Any]) -> None:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    for status, meaning in _MEANINGS.items():
        operation["responses"][status] = {"description": meaning, "content": content}
    if any(each["name"] == "format" for each in operation.get("parameters", ())):
        operation["responses"]["200"]["content"] = {media.partition(";")[0]: {} for media in MEDIA_TYPES.values()}
