"""`wh docs`: pages of published numbers say what was published, from what, and how it stands now."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from browser import offline_page
from once import copied
from samples.values import take_in, value_files, values_project
from test_decisions import RUN
from test_docs_site import HOSTILE, read, said

from warehouse.claims.numbers.deciding import retract
from warehouse.claims.numbers.documented import documented_publications
from warehouse.claims.publish.publication import publication_key
from warehouse.claims.publish.publish import publish
from warehouse.cli.main import main
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build
from warehouse.transform.export.describe import describe_project, with_current_build
from warehouse.transform.export.docs.published_pages import digits, overview, replaced, row_page, short
from warehouse.transform.export.docs.site import write_site
from warehouse.transform.export.publication_values import Publication, PublishedFile, PublishedNumber, PublishedRow

CLAIM = """\
/*
description: "Sums of series. HOSTILE"
grain: [series, note]
columns:
  series: {type: varchar, description: "The series"}
  note: {type: varchar, description: "Nothing"}
  total: {type: double, unit: W, description: "Added up HOSTILE; of all runs"}
  n: {type: bigint, description: "How many"}
  least: {type: varchar, description: "The first run"}
  nothing: {type: double, description: "Never known"}
claim: {what: the sum, unit_of_replication: the run}
*/
select series, 'x' as note, sum(value) as total, count(*) as n, min(run_id) as least, null::double as nothing
from run where state = 'admitted' group by series""".replace("HOSTILE", HOSTILE)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Published: a is 1 + 2 + 4 of two files, b is 8.25 of one."""
    copied("docs published", _make, tmp_path)
    return read_project(tmp_path / "project")


def _make(folder: Path) -> None:
    project = values_project(folder / "project", "select 1")
    (project.root / "models" / "run.sql").write_text(RUN)
    (project.root / "queries" / "claim.sql").write_text(CLAIM)
    take_in(project, value_files(folder / "in", "a1=1\na2=2\n", "a3=4\n", "b1=8.25\n"))
    build(project)
    publish(project, "claim")


def site_of(project: Project, **changed: Any) -> Path:
    description = replace(with_current_build(project, describe_project(project)), publications=documented_publications(project))
    return write_site(project.root / "site", replace(description, **changed)).parent


def test_a_publication_is_read_with_its_runs_and_bytes(project: Project) -> None:
    (found,) = documented_publications(project)
    assert (found.query, found.row_count, found.number_count, found.fault) == ("claim", 2, 6, "")
    assert found.software.startswith("wh ") and "duckdb" in found.software and found.published_by and found.published_at
    assert [name for name, _, _ in found.guarantees] == ["G1", "G2", "G3", "G4"]
    a = next(row for row in found.rows if row.grain["series"] == "a")
    assert dict(a.grain) == {"series": "a", "note": "x"} and a.nulls == ("nothing",) and a.runs == ("a1", "a2", "a3")
    # In the order of the query, which the record of a row has not.
    assert [(number.column, number.value, number.unit) for number in a.numbers] == [("total", 7.0, "W"), ("n", 3, None), ("least", "a1", None)]
    total = a.by_column["total"]
    assert total.runs == ("a1", "a2", "a3") and total.determinism == "class T, sum in rollup.claim" and total.is_current
    assert sorted((file.raw_path, ranges) for file in total.files for ranges in file.ranges) == [
        ("r0.nv", (0, 9)), ("r1.nv", (0, 4))  # of r0 two lines, and nothing lies between
    ]
    assert not total.not_admitted and a.files == 2


def test_its_pages_say_so(project: Project) -> None:
    folder = site_of(project)
    (found,) = documented_publications(project)
    digest = found.digest[:16]
    assert "claim 2" in said(folder, "published.html") and "6 current" in said(folder, "published.html")
    text = said(folder, f"published/{digest}.html")
    assert f"Sums of series. {HOSTILE}" in text and "Claim the sum" in text and "Unit of replication the run" in text
    assert f"Publication digest {found.digest}" in text and f"Query spec digest {found.query_spec_digest}" in text
    assert "note x in all rows" in text and f"wh verify {found.digest[:12]}" in text
    assert "current the current build holds these numbers" in text
    place = next(place for place, row in enumerate(found.rows) if row.grain["series"] == "a")
    total = found.rows[place].by_column["total"]
    text = said(folder, f"published/{digest}/{place + 1}.html")
    assert f"total Added up {HOSTILE} 7.0 W" in text  # its first words: the page of the table has all
    assert f"{total.number_id} class T, sum in rollup.claim" in text
    assert f"wh lineage {total.number_id} --open" in text and f"wh audit-packet {total.number_id}" in text
    assert "file 1 [0, 9); file 2 [0, 4)" in text and f"Why-set digest {total.why_digest}" in text
    assert f"1 · r0.nv sha256 {total.files[0].sha256}" in text
    assert f"least a1 {found.rows[place].by_column['least'].number_id}" in text and "NULL, so not a number: nothing." in text
    assert "Published numbers" in said(folder, "tables/rollup.claim.html")
    check_links(folder)


def test_what_the_numbers_of_a_row_share_is_said_once(project: Project) -> None:
    (found,) = documented_publications(project)
    reasons = ("unstable: half width of the interval over the value: 0.4, asked: at most 0.05",)
    rows = tuple(replace(row, numbers=tuple(replace(number, against=reasons) for number in row.numbers)) for row in found.rows)
    place = next(place for place, row in enumerate(rows) if row.grain["series"] == "a")
    folder = site_of(project, publications=(replace(found, rows=rows),))
    html, text = (folder / row_page(found, place)).read_text(), said(folder, row_page(found, place))
    total, count, _ = found.rows[place].numbers
    assert (total.why_digest, total.files) == (count.why_digest, count.files)
    assert [html.count(each) for each in (total.why_digest, total.files[0].sha256, "wh audit-packet", "half width")] == [1, 1, 1, 1]
    assert "All numbers were read from these bytes" in text and text.count("the same reasons as total") == 1 and text.count(total.worth) == 1
    many = replace(rows[place], numbers=tuple(replace(total, number_id=f"n-{each:012}", column=f"c{each}", against=reasons) for each in range(100)))
    site_of(project, publications=(replace(found, rows=(many,)),))
    alone = (folder / row_page(found, 0)).read_text()
    assert (len(alone) - len(html)) / 98 < 320  # 1,300 bytes a number when each repeated them


def check_links(folder: Path) -> None:
    pages = {path.resolve(): read(path) for path in folder.rglob("*.html")}
    for path, page in pages.items():
        assert "i" not in {tag for tag, _ in page.elements}
        for address in page.addresses:
            parts = urlsplit(address)
            if parts.scheme != "data":
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                assert target.is_file(), (path, address)
                assert not parts.fragment or "=" in parts.fragment or unquote(parts.fragment) in pages[target].ids, (path, address)


def test_what_is_no_longer_so_is_said(project: Project, tmp_path: Path) -> None:
    retract(project, "a3", "a fan had failed")
    folder = site_of(project)
    assert "3 retracted" in said(folder, "published.html")  # total, n and least of a
    (first,) = documented_publications(project)
    a = next(place for place, row in enumerate(first.rows) if row.grain["series"] == "a")
    text = said(folder, row_page(first, a))
    assert "a3: retracted on" in text and "a fan had failed" in text
    assert "retracted" not in said(folder, row_page(first, 1 - a))
    build(project)
    (first,) = documented_publications(project)
    assert [number.is_current for number in first.rows[a].numbers] == [False, False, True]  # the least is still a1
    publish(project, "claim")
    last, first = documented_publications(project)
    assert replaced([last, first]) == {first.digest} and last.rows and first.rows
    folder = site_of(project)
    assert "replaced" in said(folder, f"published/{first.digest[:16]}.html")
    assert said(folder, "index.html").count("claim 2") == 1  # the last of each query
    assert "current the current build holds" in said(folder, f"published/{last.digest[:16]}.html")


def test_numbers_that_another_build_holds_are_stale(project: Project, tmp_path: Path) -> None:
    take_in(project, value_files(tmp_path / "more", "a9=1\n"))
    build(project)
    (found,) = documented_publications(project)
    folder = site_of(project)
    assert "2 stale" in said(folder, "published.html") and "6 current" not in said(folder, "published.html")
    a = next(place for place, row in enumerate(found.rows) if row.grain["series"] == "a")
    text = said(folder, row_page(found, a))
    assert "stale the current build holds other values there, or no such cells" in text.lower()
    assert "1 stale" not in said(folder, row_page(found, 1 - a))


def test_a_damaged_publication_is_there_and_says_so(project: Project) -> None:
    (found,) = documented_publications(project)
    path = project.store_root / publication_key(found.digest, "rows.jsonl")
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b'"a1"', b'"a7"'))
    (damaged,) = documented_publications(project)
    assert (damaged.digest, damaged.query, damaged.rows) == (found.digest, "claim", ()) and "differs from its digest" in damaged.fault
    folder = site_of(project)
    assert "claim" in said(folder, "published.html") and "damaged" in said(folder, "published.html")
    text = said(folder, f"published/{found.digest[:16]}.html")
    assert "rows.jsonl differs from its digest" in text and "current" not in text.partition("Check it")[0].partition("claim damaged")[2]
    assert not (folder / "published" / found.digest[:16]).exists()


def test_rows_beyond_what_has_room_have_no_page(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warehouse.claims.numbers.documented._MOST_ROWS", 1)
    folder = site_of(project)
    (found,) = documented_publications(project)
    assert len(found.rows) == 1 and found.row_count == 2
    assert "the first 1 of 2 rows" in said(folder, f"published/{found.digest[:16]}.html")
    assert [path.name for path in (folder / "published" / found.digest[:16]).iterdir()] == ["1.html"]


def test_pages_of_a_publication_that_is_gone_go(project: Project) -> None:
    folder = site_of(project)
    assert list(folder.glob("published/*/*.html"))
    site_of(project, publications=())
    assert not list(folder.glob("published/**/*.html")) and "Nothing is published yet" in said(folder, "published.html")


def test_the_command_says_how_many(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--project", str(project.root), "docs"]) == 0
    assert "1 publication\n" in capsys.readouterr().err


def test_a_number_is_found_by_its_id_and_opened(project: Project) -> None:
    folder = site_of(project)
    (found,) = documented_publications(project)
    number = found.rows[0].by_column["total"]
    with offline_page() as page:
        page.open((folder / "index.html").as_uri())
        page.press("/")
        page.type(number.number_id[:8])
        page.run("new Promise(done => setTimeout(done, 200))")
        assert page.run("document.querySelector('#results code').innerText") == number.number_id
        page.press("Enter", loads=True)
        assert page.run("location.href") == f"{(folder / row_page(found, 0)).as_uri()}#{number.number_id}"
        assert page.run(f"document.querySelector('#{number.number_id}').matches(':target')")
        assert {urlsplit(address).scheme for address in page.requests} <= {"file", "data"}


# --- what stands side by side ------------------------------------------------------------------------------------


def published(*rows: dict[str, Any], **values: Any) -> Publication:
    """A publication whose rows are given by their grain; `values` are numbers of every row, a pair with its unit."""
    numbers = tuple(
        PublishedNumber(f"n-{name}", name, value, unit, "class E", ("r",), "w", (PublishedFile("b", "f", "s", ((0, 1),)),), True)
        for name, (value, unit) in values.items()
    )
    return Publication("d" * 64, "q", rows=tuple(PublishedRow(row, numbers, ()) for row in rows))


def test_a_row_is_named_by_what_sets_it_apart() -> None:
    shown = overview(published({"a": 1, "b": "x", "c": None}, {"a": 1, "b": "y" * 32, "c": 2.5}, {"a": 1, "b": "0" * 40, "c": None}))
    assert (dict(shown.constant), shown.varying) == ({"a": 1}, ("b", "c"))
    assert shown.row_titles == ("x", f"{'y' * 32} · 2.5", "00000000…")
    assert overview(published({"a": 1, "b": None})).row_titles == ("1",)
    assert overview(published({"b": None})).row_titles == ("the only row",)
    assert overview(Publication("d" * 64, None)).title == "publication dddddddddddd"


def test_measured_columns_come_before_settings() -> None:
    shown = overview(published({"a": 1}, n=(3, None), text=("x", "s"), flag=(True, None), ms=(1.5, "ms"), w=(Decimal("2"), "W")))
    assert shown.measures == (("ms", "ms"), ("w", "W"), ("n", None)) and shown.left_out == 0
    many = overview(published({"a": 1}, **{f"c{place}": (place, None) for place in range(9)}))
    assert len(many.measures) == 6 and many.left_out == 3


# A value, what of it is read, and the rest of its digits.
DIGITS: list[tuple[Any, str, str]] = [
    (9799.914970062673, "9,799.91", "4970062673"),
    (0.9785161290322582, "0.978516", "1290322582"),
    (0.000123456789, "0.000123456", "789"),
    (123456789.25, "123,456,789", ".25"),
    (12, "12", ""),
    (1234567, "1,234,567", ""),
    (-17.1878135, "-17.1878", "135"),
    (0.0, "0.0", ""),
    (1e22, "1e+22", ""),
    (Decimal("12.50"), "12.50", ""),
    (float("nan"), "nan", ""),
]


@pytest.mark.parametrize(("value", "read_", "rest"), DIGITS)
def test_no_digit_is_lost(value: Any, read_: str, rest: str) -> None:
    assert digits(value) == (read_, rest)
    assert (read_ + rest).replace(",", "") == (f"{value:f}" if isinstance(value, Decimal) else str(value))


def test_text_for_a_table_is_short() -> None:
    assert short("z" * 200) == "z" * 79 + "…" and short("n" * 80) == "n" * 80
    assert short(f"x/{'0123456789abcdef' * 4}/y") == "x/01234567…/y" and short(None) == "NULL" and short([1, None]) == "[1, null]"
