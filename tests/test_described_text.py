"""Numbers, units and lines of described texts: what is read, and what is reported in place of another value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from landed import landed

from warehouse.errors import WarehouseError
from warehouse.landing.described.ingestor import DescribedIngestor, described_ingestor

HEAD = '[format]\nname = "x"\nabout = "x"\nform = "text"\nrequires = ["n[]"]\n'
Rows = dict[str, list[dict[str, Any]]]


def _ingestor(folder: Path, text: str) -> DescribedIngestor:
    (folder / "format.toml").write_text(text)
    return described_ingestor(folder / "format.toml")


def _read(tmp_path: Path, description: str, text: str, name: str = "a.txt") -> Rows:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return landed(_ingestor(tmp_path, description), tmp_path / name, tmp_path / "store")


def _values(rows: Rows) -> list[tuple[str, float | None]]:
    return [(row["key"], row["value_number"]) for row in rows["described_value"] if row["kind"] == "result"]


def _codes(rows: Rows) -> set[str]:
    return {row["code"] for row in rows["evidence_issue"]}


GERMAN, ENGLISH = 'decimal = ","', 'thousands = ","'
NUMBERS = {  # a pattern, a line, how numbers are written: the values of a and b; None: reported
    ("n {a:number}", "n 12,5", ""): [None], ("n {a:number}", "n 1,500", ""): [None], ("n {a:number}", "n 12,34,567", ENGLISH): [None],
    ("n {a:number}", "n 1,500", ENGLISH): [1500], ("n {a:number}", "n 12,345,678.5", ENGLISH): [12345678.5], ("n {a:number}", "n 12,5", ENGLISH): [None],
    ("n {a:number}", "n 12,5", GERMAN): [12.5], ("n {a:number}", "n 1.234,5", GERMAN): [1234.5], ("n {a:number}", "n 1,234.5", GERMAN): [None],
    ("n {a:number}", "n 0,250", ENGLISH): [None], ("n {a:number}", "n 1.5", GERMAN): [None], ("n {a:number}", "n 0.250", GERMAN): [None],
    ("n {a:number}", "n 1'500", "thousands = \"'\""): [1500], ("t {a:number}{u:word}", "t 1,5ms", GERMAN): [1.5], ("t {a:number}{u:word}", "t 44.06ms", ""): [44.06],
    ("total: {a:number}, failed: {b:number}", "total: 1000, failed: 2", ""): [1000, 2], ("total: {a:number}, failed: {b:number}", "total: 10.5, failed: 2", ""): [10.5, 2],
    ("total: {a:number}, failed: {b:number}", "total: 1,000, failed: 2", ENGLISH): [1000, 2], ("n={a:number},{rest}", "n=64,450.5,8", ""): [64],
    ("{w:word},{a:number},{b:number},{rest}", "500.perl,64,450.12,226.3,S", ""): [64, 450.12], ("{a:number},{b:number} ms", "64,128 ms", ENGLISH): [64, 128],
    ("{a:number}.{w:word}", "500.perlbench", ""): [500], ("took {a:number}. Failed: {b:number}", "took 12.5. Failed: 0", ""): [12.5, 0],
    ("took {a:number}. Failed: {b:number}", "took 12. Failed: 0", ""): [12, 0],
}


@pytest.mark.parametrize(("pattern", "line", "written"), NUMBERS)
def test_a_comma_is_a_part_of_a_number_where_the_description_says_so(pattern: str, line: str, written: str, tmp_path: Path) -> None:
    metrics = "".join(f'[[metric]]\nname = "{name}"\nvalue = "n[].{name}"\nunit = "1"\n' for name in "ab" if f"{{{name}:" in pattern)
    rows = _read(tmp_path, f"{HEAD}[text]\n{written}\n[lines]\nn = {pattern!r}\n[run]\ncase = 'x'\n{metrics}".replace("'n {a", "'n {a"), line + "\n")
    values = NUMBERS[pattern, line, written]
    assert [value for _, value in _values(rows)] == values
    assert _codes(rows) == ({"not-a-number"} if None in values else set())


def test_a_word_with_commas_stays_as_it_is(tmp_path: Path) -> None:
    text = HEAD + '[lines]\nn = "sizes {w:word} took {a:number}"\n[run]\ncase = "x"\nparameters = { sizes = "n[].w" }\n[[metric]]\nname = "a"\nvalue = "n[].a"\nunit = "1"\n'
    rows = _read(tmp_path, text, "sizes 1,2,4 took 3\n")
    assert [row["value_text"] for row in rows["described_value"]] == ["1,2,4", "3"]


def test_a_decimal_comma_counts_in_what_is_cut_from_a_cell_and_no_address_is_a_number(tmp_path: Path) -> None:
    text = """[format]
name = "x"
about = "x"
form = "csv"
requires = ["[].Mean"]
[csv]
delimiter = ";"
decimal = ","
[run]
each = "[]"
case = "x"
node = "Host"
[[metric]]
name = "mean_ns"
value = "before(Mean, ' ')"
stated_in = "after(Mean, ' ')"
unit = "ns"
"""
    rows = _read(tmp_path, text, "Host;Mean\n192.168.100.200;1.155 ns\nb;15,63 μs\nc;1.000,5 ns\n", "a.csv")
    assert [value for _, value in _values(rows)] == [1155, 15630, 1000.5] and not _codes(rows)
    assert [row["node_name"] for row in rows["described_run"]] == ["192.168.100.200", "b", "c"]


def test_only_a_number_that_fits_its_description_is_cut_from_a_text(tmp_path: Path) -> None:
    """A unit that the description does not read is not taken for its own, nor a part of a duration, a range or a date for the whole."""
    text = HEAD + '[lines]\nn = "took {took:word}"\n[run]\neach = "n[]"\ncase = "x"\n[[metric]]\nname = "took_s"\nvalue = "number(took)"\nunit = "s"\n'
    rows = _read(tmp_path, text, "".join(f"took {each}\n" for each in ("1.5s", "2", "3x", "500ms", "1m30s", "12:30", "1-5s", "0x1F")))
    assert [value for _, value in _values(rows)] == [1.5, 2, 3, None, None, None, None]
    assert [row["code"] for row in rows["evidence_issue"]] == ["unknown-unit", "no-metric", *["not-a-number"] * 4]


LINES = HEAD.replace('"n[]"', '"latency[]"') + """[lines]
latency = "latency {all:word} max {max:word}"
warm = "warm {value:number} {unit:word}"
[run]
case = "x"
"""


def test_lists_of_samples_and_numbers_with_their_units_are_split(tmp_path: Path) -> None:
    metrics = """[[metric]]
name = "sample_us"
value = "split(latency[].all, ':')"
unit = "us"
[[metric]]
name = "max_us"
value = "number(latency[].max)"
stated_in = "unit(latency[].max)"
unit = "us"
"""
    rows = _read(tmp_path, LINES + metrics, "latency 1.5:20:3 max 12ms\nlatency 7:+++ max 11s\nlatency 8 max +++++\n")
    assert _values(rows) == [("sample_us", 1.5), ("sample_us", 20), ("sample_us", 3), ("sample_us", 7), ("sample_us", None), ("sample_us", 8),
                             ("max_us", 12000), ("max_us", 11e6)]
    assert _codes(rows) == {"not-a-number", "unknown-unit"}
    text = (tmp_path / "a.txt").read_text()
    cut = [text[row["raw_offset"] :][: row["raw_length"]] for row in rows["described_value"]]
    assert cut[:4] == ["1.5", "20", "3", "7"]


def test_the_text_of_the_documentation_is_read_as_it_says(tmp_path: Path) -> None:
    docs = (Path(__file__).resolve().parents[1] / "docs/ingestors.md").read_text().partition("### Text")[2].split("```")[1].removeprefix("toml\n")
    lines, metric = docs.split("[[metric]]")
    rows = _read(tmp_path, f'{HEAD.replace("n[]", "took[]")}{lines}[run]\ncase = "x"\n[[metric]]{metric}', "finished in 44.06ms, 1.5 req/s\n4 KiB from /tmp: time=1.2ms\n")
    assert _values(rows) == [("request_us", 1200)] and not _codes(rows)


def test_each_field_of_a_line_is_of_that_line_alone(tmp_path: Path) -> None:
    text = HEAD + '[lines]\npkg = "pkg {name:word}"\nn = "n {a:number} {b:number}"\n[run]\neach = "n[]"\ncase = "{pkg.name}"\n[[metric]]\nname = "all"\nvalue = "*"\nunit = "1"\n'
    rows = _read(tmp_path, text, "pkg p\nn 1 2\n")
    assert _values(rows) == [("all", 1), ("all", 2)] and not _codes(rows) and rows["described_run"][0]["benchmark_case_id"] == "p"


def test_a_case_keeps_the_parts_that_are_stated(tmp_path: Path) -> None:
    text = HEAD.replace('"text"', '"json lines"').replace("n[]", "[].track") + '[run]\neach = "[]"\ncase = "{track}/{task}"\n[[metric]]\nname = "a"\nvalue = "a"\nunit = "1"\n'
    rows = _read(tmp_path, text, '{"track": "geo", "a": 1}\n{"track": "geo", "task": [{"#text": "t"}], "a": 1}\n', "a.jsonl")
    assert [row["benchmark_case_id"] for row in rows["described_run"]] == ["geo/unstated", "geo/unstated"] and _codes(rows) == {"no-case"}
    assert "a part of it is not stated" in rows["evidence_issue"][0]["message"] and 'NAME[]."#text"' in rows["evidence_issue"][1]["message"]


def test_several_values_of_a_parameter_are_told(tmp_path: Path) -> None:
    text = LINES + 'parameters = { warm = "warm[].value", unit = "warm[].unit" }\n[[metric]]\nname = "max"\nvalue = "number(latency[].max)"\nunit = "1"\n'
    rows = _read(tmp_path, text, "latency 1 max 2\nwarm 4 KiB\nlatency 1 max 3\nwarm 8 KiB\n")  # two executions in one log
    assert [issue["message"] for issue in rows["evidence_issue"]] == ["warm: 4, and 8: a run has one, the first"]


CHECK = """parameters = { warm = "warm[].value" }
duration_s = { value = "number(latency[].all)", unit = "unit(latency[].all)" }
[[metric]]
name = "max_us"
value = "number(latency[].max)"
stated_in = "unit(latency[].max)"
unit = "us"
[[check]]
stated = "warm[].value"
of = "number(latency[].max)"
stated_in = "warm[].unit"
of_in = "unit(latency[].max)"
"""


@pytest.mark.parametrize(("warm", "code"), [("812 us", None), ("0.812 ms", None), ("812 ms", "statement-disagrees"), ("812 MB", "unknown-unit")])
def test_values_are_compared_in_one_unit_and_a_duration_has_the_unit_that_is_stated(warm: str, code: str | None, tmp_path: Path) -> None:
    rows = _read(tmp_path, LINES + CHECK, f"latency 812.40ms max 812us\nwarm {warm}\n")
    assert rows["described_run"][0]["duration_s"] == 0.8124 and _codes(rows) == ({code} if code else set())


def test_all_faults_of_a_description_are_named_at_once(tmp_path: Path) -> None:
    text = LINES.replace('"latency[]"', '"latncy[]"').replace("[run]", "[run]\nrepeat = 1") + '[[metric]]\nname = "a"\nvalue = "warm[].valu"\nunit = "MIPS"\n[[check]]\nstated = "1"\nof = "1"\nof_in = "s"\n'
    with pytest.raises(WarehouseError) as fault:
        _ingestor(tmp_path, text)
    told = str(fault.value)
    for says in ("run.repeat: no such key", "no unit 'MIPS'", "'1' is a number without one", "states both units"):
        assert says in told
    assert "did you mean ms" not in told
    with pytest.raises(WarehouseError, match="no line 'latncy' in .lines.(.|\n)*did you mean latency"):
        _ingestor(tmp_path, LINES.replace('"latency[]"', '"latncy[]"') + '[[metric]]\nname = "a"\nvalue = "warm[].value"\nunit = "1"\n')
