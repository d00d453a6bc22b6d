"""Thoth's indicator of a Python interpreter, PiPyBench: small pieces of Python under the names of pybench's tests.

`ROUNDS` (10) is how often each piece is timed. `NAME_average` is the mean time of a round in ms, of `operations` repetitions.
pybench itself repeats other pieces, so its numbers are not comparable with these; `script_sha256` tells them apart. `totals_average_ms` is
`totals_average`.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import timeit
from typing import Any

OPERATIONS = 2000
_CLASS = """
class Point:
    kind = 1
    def __init__(self, x=1): self.x = x
    def move(self, by): return self.x + by
class Slotted:
    __slots__ = ("__value__",)
    __kind__ = 1
    def __init__(self): self.__value__ = 1
point, slotted = Point(), Slotted()
def add(one, two=2): return one + two
def depth(left): return depth(left - 1) if left else 0
"""
_DATA = """
i, j, big, f, g, c = 17, 34, 10**40, 1.5, 2.25, 2 + 3j
s, t, u, v = "spam" * 4, "eggs" * 4, "\\u0107\\u03b1" * 8, "\\u4e2d" * 8
items, many = list(range(100)), tuple(range(100))
"""
# By pybench's name of the test: what is repeated. A `str` of today is pybench's unicode; its string tests are of ASCII, which is stored otherwise.
PIECES = {
    "built_in_function_calls": "len(s); abs(i); max(i, j)",
    "built_in_method_lookup": "s.upper; items.append; many.index",
    "compare_floats": "f < g; f == g; f >= g",
    "compare_floats_integers": "f < i; f == i; g >= j",
    "compare_integers": "i < j; i == j; i >= j",
    "compare_interned_strings": "s == s; s != s; s is s",
    "compare_longs": "big < big; big == big; big >= j",
    "compare_strings": "s < t; s == t; s >= t",
    "compare_unicode": "u < v; u == v; u >= v",
    "concat_strings": "s + t; t + s",
    "concat_unicode": "u + v; v + u",
    "create_instances": "Point(); Point(2)",
    "create_new_instances": "Slotted(); Slotted()",
    "create_strings_with_concat": "x = 'a'; x += s; x += t",
    "create_unicode_with_concat": "x = '\\u0107'; x += u; x += v",
    "dict_creation": "{}; {1: 2, 3: 4, 5: 6}; dict(a=1)",
    "dict_with_float_keys": "d = {}; d[1.5] = 1; d[2.5] = 2; d[1.5]; d[2.5]",
    "dict_with_integer_keys": "d = {}; d[1] = 1; d[2] = 2; d[1]; d[2]",
    "dict_with_string_keys": "d = {}; d['a'] = 1; d['b'] = 2; d['a']; d['b']",
    "for_loops": "for x in items: pass",
    "if_then_else": "x = 1 if i > j else 2\nif i == 17 and j != 3: x = 3\nelif j: x = 4",
    "list_slicing": "items[10:60]; items[:50]; items[::2]",
    "nested_for_loops": "for x in items[:10]:\n  for y in items[:10]: pass",
    "normal_class_attribute": "Point.kind; Point.kind = 1",
    "normal_instance_attribute": "point.x; point.x = 1",
    "python_function_calls": "add(1); add(1, 2); add(one=1)",
    "python_method_calls": "point.move(1); point.move(2)",
    "recursion": "depth(20)",
    "second_import": "import os",
    "second_package_import": "import xml",
    "second_submodule_import": "import xml.dom",
    "simple_complex_arithmetic": "c + c; c * c; c - 2j",
    "simple_dict_manipulation": "d = {1: 2}; d[2] = 3; 2 in d; d.get(5); del d[1]",
    "simple_float_arithmetic": "f + g; f * g; f - g; f / g",
    "simple_int_float_arithmetic": "f + i; g * j; f - j; g / i",
    "simple_integer_arithmetic": "i + j; i * j; i - j; i // j",
    "simple_list_manipulation": "x = []; x.append(1); x.append(2); x[0] = 3; x.pop()",
    "simple_long_arithmetic": "big + big; big * big; big - i; big // j",
    "small_lists": "[1, 2, 3]; [i, j]; list(many[:5])",
    "small_tuples": "(i, j, f); (i, (j, f)); tuple(items[:5])",
    "special_class_attribute": "Slotted.__kind__; Slotted.__kind__ = 1",
    "special_instance_attribute": "slotted.__value__; slotted.__value__ = 1",
    "string_mappings": "s.upper(); s.lower(); s.title()",
    "string_predicates": "s.isalpha(); s.isdigit(); s.isupper()",
    "string_slicing": "s[2:9]; s[:-3]; s[::2]",
    "try_except": "try: x = i\nexcept ValueError: pass",
    "try_raise_except": "try: raise ValueError\nexcept ValueError: pass",
    "tuple_slicing": "many[10:60]; many[:50]; many[::2]",
    "unicode_mappings": "u.upper(); u.lower(); u.title()",
    "unicode_predicates": "u.isalpha(); u.isdigit(); u.isupper()",
    "unicode_properties": "category(u[0]); bidirectional(u[1]); decimal('7')",
    "unicode_slicing": "u[2:9]; u[:-3]; u[::2]",
}


def measure(rounds: int) -> dict[str, Any]:
    """The indicator's document."""
    setup = f"from unicodedata import bidirectional, category, decimal\n{_CLASS}{_DATA}"
    averages = {}
    for name, piece in PIECES.items():
        timer = timeit.Timer(piece, setup)
        timer.timeit(OPERATIONS // 10)  # not timed: the interpreter specialises what it runs often
        averages[f"{name}_average"] = sum(timer.repeat(rounds, OPERATIONS)) / rounds * 1000
    total = sum(averages.values())
    return {
        "name": "PiPyBench", "component": platform.python_implementation(), "component_version": platform.python_version(),
        "@parameters": {"rounds": rounds, "operations": OPERATIONS},
        "@result": {**averages, "totals_average": total, "totals_average_ms": total},
    }


if __name__ == "__main__":
    given = os.environ.get("ROUNDS", "10")
    if not given.isdigit() or int(given) < 1:
        sys.exit(f"ROUNDS is {given!r}: give a whole number from 1 on")
    print(json.dumps(measure(int(given))))
