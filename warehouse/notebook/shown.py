"""Values that render themselves in a notebook. The classes lie in layers that know nothing of HTML: it is the API that gives them the method by
which Jupyter, VS Code, marimo and others ask a value for its HTML."""

from __future__ import annotations

from typing import TypeVar

from warehouse.notebook.fragments import fragment, has_fragment

T = TypeVar("T")


def shown(value: T) -> T:
    """The same value, whose class has `_repr_html_` from now on. Raises ValueError for a value that has no fragment."""
    kind = type(value)
    if not has_fragment(kind):
        raise ValueError(f"{kind.__name__} has no fragment")
    if "_repr_html_" not in vars(kind):
        setattr(kind, "_repr_html_", fragment)  # noqa: B010 (a type checker knows no such attribute)
    return value
