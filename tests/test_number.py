"""Numbers: the exact form of a value, ids that commit to it, what people type, and printed numbers found again."""

from __future__ import annotations

import json
import math
import os
import re
import struct
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.claims.numbers.number import (
    CellArgument,
    IdArgument,
    LiteralArgument,
    parse_argument,
)
from warehouse.claims.numbers.search import _typed
from warehouse.claims.publish.specification import units_of
from warehouse.digest import canonical_json
from warehouse.errors import ExitCode, WarehouseError
from warehouse.exact import exact, inexact, row_numbers

REPOSITORY = Path(__file__).resolve().parents[1]

# --- the exact form ----------------------------------------------------------------------------------------------

EXACT = [
    (None, None),
    (True, ["boolean", "true"]),
    (1, ["integer", "1"]),
    (-(2**100), ["integer", "-1267650600228229401496703205376"]),
    (0.1, ["double", "0x1.999999999999ap-4"]),
    (-0.0, ["double", "-0x0.0p+0"]),
    (math.inf, ["double", "inf"]),
    (Decimal("1.50"), ["decimal", "1.50"]),
    ("1", ["text", "1"]),
    (date(2025, 7, 28), ["date", "2025-07-28"]),
    (datetime(2025, 7, 28, 4, 0), ["timestamp", "2025-07-28T04:00:00"]),
    (datetime(2025, 7, 28, 4, 0, tzinfo=UTC), ["timestamp", "2025-07-28T04:00:00+00:00"]),
]


@pytest.mark.parametrize(("value", "form"), EXACT)
def test_exact(value: Any, form: Any) -> None:
    assert exact(value) == form


def test_one_instant_has_one_form() -> None:
    local = datetime(2025, 7, 28, 6, 0, tzinfo=timezone(timedelta(hours=2)))
    assert exact(local) == exact(datetime(2025, 7, 28, 4, 0, tzinfo=UTC))


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=["Cs"]))
# The first and last instants are how the engine hands on infinite ones: they have no exact form.
INSIDE = {"min_value": datetime(1, 1, 2), "max_value": datetime(9999, 12, 30)}
times = (
    st.dates(date(1, 1, 2), date(9999, 12, 30)) | st.datetimes(**INSIDE) | st.datetimes(timezones=st.just(UTC), **INSIDE)
)
values = st.recursive(
    scalars | st.decimals(allow_nan=False, allow_infinity=False) | times,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc'"), inner, max_size=3),
    max_leaves=6,
)


def identity(value: Any) -> Any:
    """What makes two values the same: their kind and every bit of them."""
    if isinstance(value, float):
        return ("double", "nan" if math.isnan(value) else struct.pack(">d", value))
    if isinstance(value, Decimal):
        return ("decimal", value.as_tuple())
    if isinstance(value, dict):
        return ("struct", [(key, identity(item)) for key, item in value.items()])
    if isinstance(value, list):
        return ("list", [identity(item) for item in value])
    if isinstance(value, datetime):
        return ("timestamp", value, value.tzinfo)
    return (type(value).__name__, value)


@given(scalars)
def test_inexact_undoes_exact(value: Any) -> None:
    assert identity(inexact(json.loads(canonical_json(exact(value))))) == identity(value)


@given(values, values)
def test_forms_are_equal_exactly_when_values_are(one: Any, other: Any) -> None:
    assert (exact(one) == exact(other)) == (identity(one) == identity(other))


@given(values)
def test_every_form_can_be_hashed(value: Any) -> None:
    assert json.loads(canonical_json(exact(value))) == exact(value)


# Values that look alike and are not the same number.
ALIKE = [
    (1, 1.0), (1, True), (0, False), (1, "1"), (0.0, -0.0), (1.5, Decimal("1.5")), (Decimal("1.5"), Decimal("1.50")),
    ("", None), ([], None), ([1], ["1"]), ([1, 2], [[1, 2]]), ({"a": 1}, {"a": "1"}), ({"a": None}, {}),
    (["a", "b"], ["a, b"]),
    (0.1 + 0.2, 0.3), (date(2025, 1, 1), "2025-01-01"), (datetime(2025, 1, 1), date(2025, 1, 1)),
    (datetime(2025, 1, 1), datetime(2025, 1, 1, tzinfo=UTC)),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_alike_is_not_the_same(one: Any, other: Any) -> None:
    assert exact(one) != exact(other)


# --- ids ---------------------------------------------------------------------------------------------------------

CELL: dict[str, Any] = {
    "query": "fastest", "canonical_text": "select run_id , host , speed from run", "grain": ("run_id", "host"),
    "columns": ("run_id", "host", "speed"), "row": ("r1", None, 0.1),
}


def number_of(**changes: Any) -> str | None:
    cell = {**CELL, **changes}
    (number,) = row_numbers(**cell).values()
    return number


CHANGED_PARTS = {
    "query": {"query": "slowest"},
    "text": {"canonical_text": "select run_id , host , speed from runs"},
    "grain value": {"row": ("r2", None, 0.1)},
    "NULL in the grain": {"row": ("r1", "", 0.1)},
    "grain values in each other's place": {"row": (None, "r1", 0.1)},
    "kind of a grain value": {"row": (1, None, 0.1)},
    "column": {"columns": ("run_id", "host", "speeds")},
    "last bit of the value": {"row": ("r1", None, math.nextafter(0.1, 1))},
    "kind of the value": {"row": ("r1", None, Decimal("0.1"))},
    "sign of zero": {"row": ("r1", None, -0.0)},
    "zero": {"row": ("r1", None, 0.0)},
}


def test_every_part_is_in_the_id() -> None:
    ids = [number_of(), *(number_of(**change) for change in CHANGED_PARTS.values())]
    assert len(set(ids)) == len(ids)
    assert all(number and re.fullmatch("n-[a-z2-7]{12}", number) for number in ids)


def test_the_order_of_columns_is_not_in_the_id() -> None:
    assert number_of(columns=("speed", "run_id", "host"), row=(0.1, "r1", None)) == number_of()


def test_a_null_is_no_number() -> None:
    assert row_numbers("q", "t", ("a",), ("a", "b", "c"), (1, None, 2))["b"] is None
    assert "a" not in row_numbers("q", "t", ("a",), ("a", "b"), (1, 2))


def test_ids_are_the_same_in_every_process() -> None:
    code = (
        "from warehouse.exact import row_numbers\n"
        f"print(*row_numbers(**{CELL!r}).values())"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(REPOSITORY), "LC_ALL": "C"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == number_of()


def test_an_id_is_what_it_has_always_been() -> None:
    """Made by hand from the definition: base32 of sha256 of the domain and the RFC 8785 text."""
    import base64
    import hashlib

    text = (
        '["fastest","select run_id , host , speed from run",[["text","r1"],null],'
        '"speed",["double","0x1.999999999999ap-4"]]'
    )
    digest = hashlib.sha256(b"wh/number/1\0" + text.encode()).digest()
    assert number_of() == "n-" + base64.b32encode(digest).decode().lower()[:12]


# --- what a person types -----------------------------------------------------------------------------------------

ARGUMENTS = {
    "n-abcdefgh2345": IdArgument("n-abcdefgh2345"),
    "  N-ABCDEFGH2345\n": IdArgument("n-abcdefgh2345"),
    "q[a=1].c": CellArgument("q", {"a": "1"}, "c"),
    "q[].c": CellArgument("q", {}, "c"),
    'q[a=NULL,b="NULL"].c': CellArgument("q", {"a": None, "b": "NULL"}, "c"),
    "q[a=1,b=x y].c": CellArgument("q", {"a": "1", "b": "x y"}, "c"),
    "q[ a = 1 , b = 2 ].c": CellArgument("q", {"a": "1", "b": "2"}, "c"),
    'q[a="x, y",b=2].c': CellArgument("q", {"a": "x, y", "b": "2"}, "c"),
    'q[a="]",b="]."].c': CellArgument("q", {"a": "]", "b": "]."}, "c"),
    r'q[a="say \"hi\"",b="c:\\d"].c': CellArgument("q", {"a": 'say "hi"', "b": "c:\\d"}, "c"),
    'q[a=""].c': CellArgument("q", {"a": ""}, "c"),
    "q[a=].c": CellArgument("q", {"a": ""}, "c"),
    "q[a=b=c].c": CellArgument("q", {"a": "b=c"}, "c"),
    'q[a=" x "].c': CellArgument("q", {"a": " x "}, "c"),
    "q[größe=é😀].c": CellArgument("q", {"größe": "é😀"}, "c"),
    'q["größe"=1].c'.replace('"', ""): CellArgument("q", {"größe": "1"}, "c"),
    'q[a="x\ny"].c': CellArgument("q", {"a": "x\ny"}, "c"),
    "24593.8": LiteralArgument("24593.8", Decimal("24593.8"), Decimal("0.1")),
    "24,593.8": LiteralArgument("24,593.8", Decimal("24593.8"), Decimal("0.1")),
    "1_000": LiteralArgument("1_000", Decimal(1000), Decimal(1)),
    "-1.50e3": LiteralArgument("-1.50e3", Decimal("-1500"), Decimal(10)),
    "8.7k": LiteralArgument("8.7k", Decimal(8700), Decimal(100)),
    "8702.7 tok/s": LiteralArgument("8702.7 tok/s", Decimal("8702.7"), Decimal("0.1"), "tok/s"),
    "8.7k tok/s": LiteralArgument("8.7k tok/s", Decimal(8700), Decimal(100), "tok/s"),
    "12ms": LiteralArgument("12ms", Decimal(12), Decimal(1), "ms"),
    "1.2 M": LiteralArgument("1.2 M", Decimal(1200000), Decimal(100000)),
    "3 B": LiteralArgument("3 B", Decimal(3), Decimal(1), "B"),  # a unit, before a billion
}


@pytest.mark.parametrize("text", ARGUMENTS)
def test_arguments(text: str) -> None:
    assert parse_argument(text) == ARGUMENTS[text]


BAD_ARGUMENTS = [
    "", "n-abc", "n-abcdefgh2341", "nan", "inf", "-Infinity", "fast", "q[a=1]", "q.c", "q[a].c", 'q[a="x].c',
    'q[a="x"y].c', "q[a=1,,b=2].c", "Q[a=1].c", "1.2.3", "12 parsecs", "12 kk", "k", "12 k parsecs",
]


@pytest.mark.parametrize("text", BAD_ARGUMENTS)
def test_bad_arguments(text: str) -> None:
    with pytest.raises(WarehouseError) as caught:
        parse_argument(text)
    assert (caught.value.code, caught.value.exit_code) == ("WH304", ExitCode.USAGE)
    assert caught.value.hint


words = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True), words, min_size=1, max_size=4))
def test_a_cell_as_shown_can_be_typed(grain: dict[str, str]) -> None:
    shown = f"q[{','.join(f'{name}={_typed(value)}' for name, value in grain.items())}].c"
    assert parse_argument(shown) == CellArgument("q", grain, "c")


# --- printed numbers ---------------------------------------------------------------------------------------------

# A cell's value, a number as printed, whether the value reads as that.
CARRIES = [
    (24593.768, "24593.768", True),
    (24593.768, "24593.8", True),
    (24593.768, "24593.77", True),
    (24593.768, "24593.7", False),
    (24593.768, "24593.769", False),
    (24594.0, "24594", True),
    (24593.768, "24594", True),
    (24593.768, "24593", False),
    (24600.0, "2.46e4", True),
    (24593.768, "2.46e4", True),
    (24593.768, "2.45e4", False),
    (24593.768, "24.6k", True),
    (24593.768, "24.5k", False),
    (0.1, "0.10", True),
    (0.1, "0.1000000000000000055", False),
    (1, "1.00", True),
    (2**70, "1180591620717411303424", True),
    (Decimal("10400.50"), "10400.5", True),
    (Decimal("0.333333"), "0.33", True),
    (-1.25, "-1.3", True),  # printers differ in how they round a half
    (-1.25, "-1.2", True),
    (-0.0, "0", True),
    (math.nan, "0", False),
    (math.inf, "1e400", False),
    (True, "1", False),
    ("1", "1", False),
    (None, "0", False),
    ([1], "1", False),
    (1e300, "0.1", False),
    (1e27, "1000000000000000000000000000.0", True),
    (0.5, "1e-999999", False),
    (0.5, "0." + "0" * 500 + "1", False),
]


@pytest.mark.parametrize(("value", "literal", "expected"), CARRIES)
def test_carries(value: Any, literal: str, expected: bool) -> None:
    assert carries(value, literal) is expected


# A cell's value, the unit that its column declares, a number with a unit, whether the value reads as that.
WITH_UNITS = [
    (25.5707, "ms", "25.6 ms", True),
    (25.5707, "ms", "0.0256 s", True),
    (25.5707, "ms", "25.6 s", False),
    (25.5707, "ms", "25.6 tok/s", False),
    (8702.7, "tokens/s", "8.7k tok/s", True),
    (8702.7, "1/s", "8.7k tok/s", False),  # requests are no tokens
    (8702.7, None, "8703 tok/s", False),  # a unit that is not declared is not guessed
    (8702.7, "tokens/s", "8703", True),
    (461.2, "GB/s", "461200 MB/s", True),
    (12.5, "%", "12.5%", True),
    (0.125, None, "12.5%", False),
]


@pytest.mark.parametrize(("value", "unit", "text", "expected"), WITH_UNITS)
def test_units(value: float, unit: str | None, text: str, expected: bool) -> None:
    literal = parse_argument(text)
    assert isinstance(literal, LiteralArgument) and literal.carried_by(value, unit) is expected
    assert expected is False or literal.distance(value, unit) == pytest.approx(0, abs=0.02)


def carries(value: Any, text: str) -> bool:
    literal = parse_argument(text)
    assert isinstance(literal, LiteralArgument)
    return literal.carried_by(value, None)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12), st.integers(1, 9))
def test_a_number_carries_what_is_printed_of_it(value: float, digits: int) -> None:
    assert carries(value, repr(value))
    assert carries(value, f"{round(Decimal(repr(value)), digits):f}")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_carries_never_fails(value: float) -> None:
    assert carries(value, "0.5") in (True, False)


def test_a_rows_unit_is_that_of_its_statistics_if_they_are_of_one_figure() -> None:
    def unit(other: str) -> str | None:
        numbers = {"median": {"statistic": "median", "of": "observation.ms"}, "typical": {"statistic": "mean", "of": other}}
        found = units_of({"document": {"claim": {"numbers": numbers}, "contract": {"columns": [["median", "double", None]]}}})
        return found.of("median", {"median": 1.5, "unit": "ms"})

    assert (unit("observation.ms"), unit("observation.watts")) == ("ms", None)
