"""`wh lineage --rows, --columns, --open`: the rows and columns behind a number, and its bytes where they stand.

What is expected is read off the evidence files by hand: every offset below is counted in the texts above it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bare_project import write
from conftest import REPOSITORY
from samples.values import VALUES_INGESTOR, take_in, value_files, values_project

from warehouse.claims.numbers.cell_rows import cell_rows
from warehouse.claims.numbers.lineage import RawFile, lineage
from warehouse.claims.numbers.raw_bytes import ALTERED, MISSING, WHOLE, open_file
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verdict import STATES, exit_code
from warehouse.cli.main import main
from warehouse.cli.numbers.lineage_parts import window_lines
from warehouse.digest import bytes_digest
from warehouse.errors import ExitCode
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build

Wh = Callable[..., tuple[int, str, str]]
SUMS = "select key, sum(value) as total, count(*) as n from reading group by key"
DOCS = (REPOSITORY / "docs" / "lineage.md").read_text().replace("```", "")
FILES = ("a=1.5\na=2.25\n", "a=4\n", "x=10\nb=7\ny=11\nz=12\n")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """`claim` is published, `largest` only built. Tests leave it as it is."""
    root = tmp_path_factory.mktemp("made")
    project = values_project(root / "project", SUMS)
    write(project, {
        "models/peak.sql": "/*\ngrain: [key]\n*/\nselect key, max(value) as top from reading group by key",
        "queries/largest.sql": "/*\ngrain: [key]\n*/\nselect key, top * 2 as twice from peak",
    })
    take_in(project, value_files(root / "in", *FILES))
    build(project)
    publish(project, "claim")
    return project


@pytest.fixture
def copy(made: Project, tmp_path: Path) -> Project:
    """A copy that a test may damage."""
    shutil.copytree(made.root, tmp_path / "copy", symlinks=True)
    return read_project(tmp_path / "copy")


@pytest.fixture
def wh(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(project: Project, *arguments: str) -> tuple[int, str, str]:
        status = main(["--project", str(project.root), "lineage", *arguments])
        return status, *capsys.readouterr()

    return run


def document(wh: Wh, project: Project, *arguments: str) -> dict[str, Any]:
    status, out, _ = wh(project, *arguments, "--json")
    assert status == 0
    return json.loads(out)


# --- rows --------------------------------------------------------------------------------------------------------


def places(table: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Path, offset, length and values of landing rows, in the order of paths and offsets."""
    return sorted(
        (row["key"]["raw_path"], row["key"]["raw_offset"], row["key"]["raw_length"], row["values"]) for row in table["rows"]
    )


def test_rows_hop_by_hop(made: Project, wh: Wh) -> None:
    rows = document(wh, made, "largest[key=a].twice", "--rows")["rows"]
    peak, reading, landing = rows["tables"]
    assert [each["table"] for each in rows["tables"]] == ["main.peak", "main.reading", "value"]
    assert [each["is_landing"] for each in rows["tables"]] == [False, False, True]
    assert peak["rows"] == [{"key": {"key": "a"}, "values": {"top": 4.0}}]
    assert sorted(row["values"]["value"] for row in reading["rows"]) == [1.5, 2.25, 4.0]
    assert places(landing) == [("r0.nv", 0, 5, {"value": 1.5}), ("r0.nv", 6, 6, {"value": 2.25}), ("r1.nv", 0, 3, {"value": 4.0})]


def test_rows_of_a_published_number_are_those_of_the_current_build(made: Project, wh: Wh) -> None:
    number = document(wh, made, "claim[key=b].total", "--rows")
    assert number["publication"]
    reading, landing = number["rows"]["tables"]
    assert number["rows"]["query_spec_digest"] == number["query"]["query_spec_digest"]
    assert [row["values"] for row in reading["rows"]] == [{"value": 7.0}]
    assert places(landing) == [("r2.nv", 5, 3, {"value": 7.0})]
    assert "rows" not in document(wh, made, "claim[key=b].total")


def test_rows_that_are_counted_have_no_value(made: Project, wh: Wh) -> None:
    tables = document(wh, made, "claim[key=a].n", "--rows")["rows"]["tables"]
    assert [(each["table"], [row["values"] for row in each["rows"]]) for each in tables] == [
        ("main.reading", [{}, {}, {}]), ("value", [{}, {}, {}])
    ]


def test_rows_in_the_text(made: Project, wh: Wh) -> None:
    out = wh(made, "largest[key=a].twice", "--rows")[1]
    assert "   main.peak  1 row\n      key=a: top = 4.0\n   main.reading  3 rows\n" in out
    assert "      r0.nv [6, 12): value = 2.25\n" in out


def test_few_rows_in_the_text_and_all_in_the_document(tmp_path: Path, wh: Wh) -> None:
    project = values_project(tmp_path / "project", SUMS)
    take_in(project, value_files(tmp_path / "in", "a=1\n" * 8))
    build(project)
    out = wh(project, "claim[key=a].total", "--rows")[1]
    assert out.count("value = 1.0") == 10 and out.count("      and 3 more: --json lists all\n") == 2
    tables = document(wh, project, "claim[key=a].total", "--rows")["rows"]["tables"]
    assert [len(each["rows"]) for each in tables] == [8, 8]


def test_of_landing_rows_with_the_same_bytes_only_those_that_were_read(tmp_path: Path) -> None:
    project = values_project(tmp_path / "project", "select key, sum(value) as total from reading where key = 'a' group by key")
    twice = "key=key, value=float(value))\n                buffer.add(\"value\", path, offset, len(line.strip()), key=key + '2', value=0.0)"
    write(project, {"ingest/values.py": VALUES_INGESTOR.replace("key=key, value=float(value))", twice)})
    take_in(project, value_files(tmp_path / "in", "a=3\n"))
    build(project)
    found = cell_rows(project, lineage(project, "claim[key=a].total"))
    assert found
    assert [(each.table, [row.values for row in each.rows]) for each in found.tables] == [
        ("main.reading", [{"value": 3.0}]), ("value", [{"value": 3.0}])
    ]


def test_rows_of_a_number_that_the_build_holds_no_more_cannot_be_shown(copy: Project, tmp_path: Path, wh: Wh) -> None:
    number = str(lineage(copy, "claim[key=a].total").number_id)
    take_in(copy, value_files(tmp_path / "more", "a=100\n"))
    build(copy)
    assert document(wh, copy, number, "--rows")["rows"] is None
    assert "\nrows        cannot be shown: the current build does not hold this number" in wh(copy, number, "--rows")[1]


def test_rows_by_other_models_than_those_of_the_publication(copy: Project, wh: Wh) -> None:
    """The number is the same, for its query is and its value is: what is shown is not what was published."""
    write(copy, {"models/reading.sql": "select *, 1 as more from value"})
    build(copy)
    out = wh(copy, "claim[key=a].total", "--rows")[1]
    assert ", which has the same number by other models than its publication\n   main.reading  3 rows\n" in out


# --- columns -----------------------------------------------------------------------------------------------------


KEY = ("main.reading.key", "value.key")  # the groups rest on it


def value_edges(document: dict[str, Any]) -> set[tuple[str, str]]:
    def name(end: dict[str, str]) -> str:
        return f"{end['table']}.{end['column']}"

    return {(name(edge["target"]), name(edge["source"])) for edge in document["columns"]["edges"] if edge["kind"] == "value"}


def test_columns(made: Project, wh: Wh) -> None:
    found = document(wh, made, "largest[key=a].twice", "--columns")
    assert (found["columns"]["table"], found["columns"]["column"], found["columns"]["unknown"]) == ("rollup.largest", "twice", {})
    assert value_edges(found) == {
        ("rollup.largest.twice", "main.peak.top"), ("main.peak.top", "main.reading.value"), ("main.reading.value", "value.value"),
        KEY,
    }
    out = wh(made, "largest[key=a].twice", "--columns")[1]
    assert "columns     by the SQL that made the number\n   rollup.largest.twice\n" in out
    assert "value  main.peak.top\n" in out and "copy  value.value\n" in out


def test_columns_are_those_of_the_recorded_sql(copy: Project, wh: Wh) -> None:
    before = value_edges(document(wh, copy, "claim[key=a].total", "--columns"))
    write(copy, {"models/reading.sql": "select key, 7.5 as value from value"})
    number = document(wh, copy, "claim[key=a].total", "--columns")
    assert value_edges(number) == before == {
        ("rollup.claim.total", "main.reading.value"), ("main.reading.value", "value.value"), KEY
    }


# --- the raw files opened ----------------------------------------------------------------------------------------


def test_open_shows_the_lines_with_offsets_and_what_stands_around_them(made: Project, wh: Wh) -> None:
    (file,) = document(wh, made, "claim[key=b].total", "--open")["raw_files"]
    assert file["opened"] == {
        "state": "whole", "more_ranges": 0,
        "windows": [{"offset": 5, "length": 3, "form": "text", "before": "x=10\n", "data": "b=7", "after": "\ny=11\nz=12"}],
    }
    out = wh(made, "claim[key=b].total", "--open")[1]
    lines = [line[14:] for line in out.splitlines() if line.startswith(" " * 14)]
    assert lines == ["[5, 8)", "           0  x=10", ">          5  b=7", "           9  y=11", "          14  z=12"]
    assert "opened" not in document(wh, made, "claim[key=b].total")["raw_files"][0]


def test_a_file_that_is_not_the_record_s_is_not_shown(copy: Project, wh: Wh) -> None:
    (raw,) = lineage(copy, "claim[key=b].total").raw_files
    path = Path(raw.uri.removeprefix("file://"))
    path.chmod(0o644)
    path.write_text("x=10\nb=8\ny=11\nz=12\n")
    (file,) = document(wh, copy, "claim[key=b].total", "--open")["raw_files"]
    assert file["opened"] == {"state": "altered", "windows": [], "more_ranges": 0}
    for flags in ((), ("--open",)):
        out = wh(copy, "claim[key=b].total", *flags)[1]
        assert "(not shown: the file is not the one of the record, its bytes are others)" in out and "b=8" not in out
    path.unlink()
    assert "the record, it is gone)" in wh(copy, "claim[key=b].total", "--open")[1]


def filed(project: Project, data: bytes, *ranges: tuple[int, int]) -> RawFile:
    """A file laid into the store by hand, as a lineage would name it."""
    digest = "ab" * 32
    path = project.store_root / "raw" / "sha256" / "ab" / digest / "files" / "x.bin"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return RawFile(digest, "x.bin", path.as_uri(), bytes_digest(data), ranges)


def test_bytes_that_are_no_text_are_shown_in_hexadecimal(copy: Project) -> None:
    opened = open_file(copy, filed(copy, bytes(range(64)) * 2, (66, 3)))
    assert [window.data for window in opened.windows] == [b"\x02\x03\x04"]
    assert window_lines(opened) == [
        "[66, 69)",
        "          50  32 33 34 35 36 37 38 39 3a 3b 3c 3d 3e 3f 00 01  23456789:;<=>?..",
        ">         66  02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11  ................",
        "          82  12 13 14                                         ...",
    ]


def test_what_is_shown_is_bounded_and_says_how_much_more_there_is(copy: Project) -> None:
    line = b"0123456789abcdef" * 8 + b"\n"  # 129 bytes
    opened = open_file(copy, filed(copy, line * 1000, *((129 * 10 * i, 128) for i in range(1, 6)), (129 * 100, 129 * 50)))
    assert (opened.state, len(opened.windows), opened.more_ranges) == (WHOLE, 4, 2)
    first = opened.windows[0]
    assert (first.before, first.data, first.after) == (line * 2, line[:-1], b"\n" + line + line[:-1])
    assert window_lines(opened)[-1] == "and 2 more ranges"
    long = open_file(copy, RawFile(opened.file.artifact_manifest_digest, "x.bin", "", opened.file.sha256, ((0, 129 * 50),)))
    assert window_lines(long)[-1] == f"    and {129 * 50 - 4096} more bytes"


def test_a_link_or_a_pipe_in_a_file_s_place_is_no_evidence(copy: Project, tmp_path: Path) -> None:
    file = filed(copy, b"a=1\n", (0, 3))
    path = copy.store_root / "raw" / "sha256" / "ab" / ("ab" * 32) / "files" / "x.bin"
    path.rename(tmp_path / "moved")
    assert open_file(copy, file).state == MISSING
    path.symlink_to(tmp_path / "moved")
    assert open_file(copy, file).state == ALTERED
    path.unlink()
    os.mkfifo(path)
    assert open_file(copy, file).state == ALTERED


# --- naming a number ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [("--rows",), ("--columns",), ("--open",), ("--rows", "--columns", "--open", "--json")])
def test_an_ambiguous_number_lists_its_candidates_whatever_else_is_asked(flags: tuple[str, ...], made: Project, wh: Wh) -> None:
    status, out, err = wh(made, "1", *flags)  # four keys that were counted once
    assert (status, out) == (ExitCode.AMBIGUOUS, "")
    assert err.startswith("WH305 1: 4 cells match:\n") and err.count("claim[key=") == 4


def keys_of(document: Any) -> set[str]:
    """The keys of a document's objects at any depth, but for those that name columns or guarantees."""
    match document:
        case dict():
            return set(document).union(*(keys_of(each) for key, each in document.items() if key not in ("grain", "key", "values", "guarantees")))
        case list():
            return set().union(*map(keys_of, document))
    return set()


def test_the_documentation_names_every_key_flag_and_state(made: Project, wh: Wh) -> None:
    number = document(wh, made, "7.75", "--rows", "--columns", "--open", "--excluded")
    assert set(number) == {
        "number_id", "publication", "row", "query", "why_digest", "guarantees", "determinism", "runs", "raw_files", "now",
        "is_gone", "rows", "columns", "excluded", "signatures", "removals", "decisions", "settlements", "published", "software", "worth", "published_as", "correction",
        "validity",
    }
    named = set(re.findall(r"`([^`]+)`", DOCS))
    assert keys_of(number) - {part for name in named for part in re.split(r"\W+", name)} == set()
    assert {"--rows", "--columns", "--excluded", "--open", "--json"} <= named
    states = re.findall(r"^\| `([a-z ]+)` \| .* \| (\d) \|$", DOCS, re.MULTILINE)
    assert [state for state, _ in states] == list(reversed(STATES))  # the worst last, as the page says
    assert [int(code) for _, code in states] == [exit_code([state]) for state, _ in states]


def test_the_documentation_names_every_key_of_a_verdict(made: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--project", str(made.root), "verify", "7.75", "--json"]) == 0
    listed = DOCS[DOCS.index("prints one verdict per line") : DOCS.index("The same from Python")]
    assert set(json.loads(capsys.readouterr()[0])) == set(re.findall(r"`(\w+)`", listed))
