"""Makes values render themselves in a notebook. Their classes belong to layers that know nothing of HTML, so the API adds the method by which
Jupyter, VS Code, marimo and others ask a value for its HTML."""

from __future__ import annotations

from typing import TypeVar

from warehouse.surfaces.notebook.fragments import fragment, has_fragment

T = TypeVar("T")
_METHOD = "_repr_html_"  # the name that notebooks look for


def shown(value: T) -> T:
    """Returns the same value, whose class has `_repr_html_` from now on. Raises ValueError for a value that has no fragment."""
    kind = type(value)
    if not has_fragment(kind):
        raise ValueError(f"{kind.__name__} has no fragment")
    if _METHOD not in vars(kind):
        setattr(kind, _METHOD, fragment)
    return value
