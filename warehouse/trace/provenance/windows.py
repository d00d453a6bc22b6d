"""Window functions: which rows of the partition a value needs, and the cells it is computed from.

The frame is the function's own where it has one (aggregates, first_value), else the smallest that decides the value
(reference/provenance.md, section 2). The row itself is evidence already; no rule adds it.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from warehouse.trace.provenance.syntax.engine import engine_functions, function_name, is_aggregate
from warehouse.trace.provenance.syntax.refusals import refuse
from warehouse.trace.provenance.values import Evidence, Kind, Over, Term, as_list, collected, is_not_null, merge

_ORDERED_RANKS = frozenset({"rank", "dense_rank"})
_WHOLE_PARTITION = frozenset({"percent_rank", "cume_dist", "ntile"})
_SHIFTS = frozenset({"lag", "lead"})
_PICKS = frozenset({"first_value", "last_value", "nth_value"})
_ORDER_DEPENDENT = _SHIFTS | _PICKS | {"row_number", "ntile"}
_RANKS = _ORDERED_RANKS | _WHOLE_PARTITION | {"row_number"}


def bare_function(node: exp.Expr) -> exp.Expr:
    """The function inside FILTER, IGNORE NULLS and WITHIN GROUP."""
    while isinstance(node, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)):
        node = node.this
    return node


def inline_named(window: exp.Window, named: Mapping[str, exp.Window]) -> None:
    """Replace `over w` by the definition of `w`, in place: copies of the window are then complete."""
    alias = window.args.get("alias")
    if alias is None:
        return
    base = named.get(alias.name.lower())
    if base is None or any(window.args.get(part) for part in ("partition_by", "order", "spec")):
        refuse("E_WINDOW", window, "a window that extends another, or an unknown one")
    if base.args.get("alias") is not None:
        refuse("E_WINDOW", base, "a named window that extends another")
    window.set("alias", None)
    for part, value in _written_over(base).items():
        window.set(part, [v.copy() for v in value] if isinstance(value, list) else value.copy())


def _written_over(window: exp.Window) -> Over:
    parts = ("partition_by", "order", "spec")
    return {part: window.args[part] for part in parts if window.args.get(part)}


def frame_of(window: exp.Window) -> Over:
    """The frame of the rows that decide the value of the window function."""
    function = bare_function(window.this)
    name, over = function_name(function), _written_over(window)
    if name in _RANKS | _SHIFTS and any(isinstance(part, exp.Order) for part in function.iter_expressions()):
        refuse("E_WINDOW", window, "a rank or a shift by an order of its own")
    if "order" not in over and (name in _ORDER_DEPENDENT or cuts_rows(over.get("spec"))):
        refuse("E_WINDOW", window, "the value depends on an order that the window does not give")
    if is_aggregate(function) and name in engine_functions().aggregates or name in _PICKS:
        return over
    if name in _ORDERED_RANKS:
        return {**over, "spec": _spec("RANGE", "UNBOUNDED", "PRECEDING", "CURRENT ROW", None)}
    if name == "row_number":
        return {**over, "spec": _spec("ROWS", "UNBOUNDED", "PRECEDING", "CURRENT ROW", None)}
    if name in _WHOLE_PARTITION:
        return {**over, "spec": _spec("ROWS", "UNBOUNDED", "PRECEDING", "UNBOUNDED", "FOLLOWING")}
    if name in _SHIFTS:
        return {**over, "spec": _shift_spec(window, function, name)}
    refuse("E_WINDOW", window, f"no frame is known for {name or type(function).__name__}")


def cuts_rows(spec: object) -> bool:
    """Whether a frame takes some rows of the partition by their place in it."""
    if not isinstance(spec, exp.WindowSpec):
        return False
    return not (spec.args.get("start") == "UNBOUNDED" and spec.args.get("end") == "UNBOUNDED")


def _spec(kind: str, start: object, start_side: str | None, end: object, end_side: str | None) -> exp.WindowSpec:
    return exp.WindowSpec(kind=kind, start=start, start_side=start_side, end=end, end_side=end_side)


def _shift_spec(window: exp.Window, function: exp.Expr, name: str) -> exp.WindowSpec:
    """From the row itself to the one the shift reads; skipped NULLs make that distance unknown."""
    offset = function.args.get("offset")
    if offset is not None and not isinstance(offset, exp.Literal):
        refuse("E_WINDOW", window, "an offset that is not a plain number")
    reach: object = exp.Literal.number(1) if offset is None else offset.copy()
    if isinstance(window.this, exp.IgnoreNulls):
        reach = "UNBOUNDED"
    if name == "lag":
        return _spec("ROWS", reach, "PRECEDING", "CURRENT ROW", None)
    return _spec("ROWS", "CURRENT ROW", None, reach, "FOLLOWING")


def window_why(why: Evidence, window: exp.Window) -> Evidence:
    """The why-set that the window adds to each row: everything in the frame."""
    over = frame_of(window)
    return {
        n: [collected(term, over=over) for term in terms if term.kind is not Kind.CONSTANT]
        for n, terms in why.items()
        if any(term.kind is not Kind.CONSTANT for term in terms)
    }


def is_rank(window: exp.Window) -> bool:
    return function_name(bare_function(window.this)) in _RANKS


def is_pick(window: exp.Window) -> bool:
    """Whether the function hands on one row's value: the same function then picks that row's evidence."""
    return function_name(bare_function(window.this)) in _SHIFTS | _PICKS


def rank_order(window: exp.Window) -> list[exp.Expr]:
    """The expressions a rank is computed from; without an order there are none."""
    order = window.args.get("order")
    return [ordered.this for ordered in order.expressions] if order is not None else []


def picked(window: exp.Window, evidence: Evidence, default: Evidence) -> Evidence:
    """The evidence that lag, lead, first_value, last_value or nth_value hands on with its value."""
    return {
        n: [_picked_list(window, evidence.get(n, []), default.get(n, []))] for n in merge([evidence, default])
    }


def _picked_list(window: exp.Window, terms: list[Term], default: list[Term]) -> Term:
    copy = window.copy()
    function = bare_function(copy.this)
    value = function.this.copy()
    cells: exp.Expr = as_list(terms) if terms else exp.Null()
    if isinstance(copy.this, exp.IgnoreNulls):
        cells = exp.Case(ifs=[exp.If(this=is_not_null(value), true=_never_null(cells))])
    function.set("this", cells)
    if function.args.get("default") is not None:
        function.set("default", as_list(default) if default else exp.Null())
    return Term(copy, Kind.LIST)


def _never_null(cells: exp.Expr) -> exp.Expr:
    """IGNORE NULLS must skip the rows whose value is NULL, not those whose evidence is."""
    return exp.Coalesce(this=cells, expressions=[exp.Array(expressions=[])])
