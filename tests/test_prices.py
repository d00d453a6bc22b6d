"""Price lists: recognition, what lands, what is told."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from landed import codes, drafts, landed, load
from samples.prices import CSV, TOML

INGESTOR = load("prices")


def rows_of(tmp_path: Path, name: str, text: str) -> dict:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / name).write_text(text)
    return landed(INGESTOR, tmp_path / "tree", tmp_path / "store")


def test_csv(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "prices.csv", CSV)
    one, other = rows["price_entry"]
    assert (one["accelerator"], one["price_usd_per_hour"], one["unit"]) == ("H100 SXM", 2.5, "accelerator_hour")
    assert (one["effective_date"], one["source"], one["instance"]) == (date(2026, 1, 1), "contract, page 2", None)
    assert (other["instance"], other["accelerators"], other["price_usd_per_hour"]) == ("dgx", 8, 40)
    assert CSV[other["raw_offset"] :][: other["raw_length"]] == CSV.splitlines()[3] and other["line_number"] == 4
    assert not codes(rows)


@pytest.mark.parametrize(("written", "power", "codes_found"), [("1275", 1275, {}), ("", None, {}), ("0", None, {"wrong-value": 1}), ("1 kW", None, {"wrong-value": 1})])
def test_provisioned_power(tmp_path: Path, written: str, power: float | None, codes_found: dict) -> None:
    header, row = "accelerator,unit,price_usd_per_hour,effective_date,provisioned_power_w", "H100,accelerator_hour,2,2026-01-01"
    rows = rows_of(tmp_path, "prices.csv", f"{header}\n{row},{written}\n")
    assert (rows["price_entry"][0]["provisioned_power_w"], rows["price_entry"][0]["price_usd_per_hour"]) == (power, 2)
    assert codes(rows) == codes_found


def test_toml(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "any.toml", TOML)
    one, other = rows["price_entry"]
    assert (one["accelerator"], one["price_usd_per_hour"], one["effective_date"]) == ("MI300X", 3, date(2026, 2, 1))
    assert (other["instance"], other["accelerators"], other["line_number"]) == ("p5.48xlarge", 8, 10)
    stated = TOML[other["raw_offset"] :][: other["raw_length"]]
    assert stated.startswith("[[price]]\ninstance") and stated.endswith('source = "list"')
    assert not codes(rows)


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.csv", "accelerator,price\nH100,2\n"), ("a.csv", ""), ("a.toml", "[price]\nx = 1\n"), ("a.txt", CSV)],
)
def test_what_is_no_price_list_is_left(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert not drafts(INGESTOR, tmp_path)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("H100,accelerator_hour,free,2026-01-01,x,,,", {"wrong-value": 1, "unusable-price": 1}),
        ("H100,accelerator_hour,-1,2026-01-01,x,,,", {"wrong-value": 1, "unusable-price": 1}),
        ("H100,accelerator_hour,,2026-01-01,x,,,", {"unusable-price": 1}),
        ("H100,month,2,2026-01-01,x,,,", {"wrong-value": 1, "unusable-price": 1}),
        ("H100,accelerator_hour,2,soon,x,,,", {"wrong-value": 1, "unusable-price": 1}),
        ("H100,instance_hour,2,2026-01-01,x,,,", {"unusable-price": 1}),
        ("N/A,accelerator_hour,2,2026-01-01,x,,,", {"unusable-price": 1}),
        ("H100,accelerator_hour,2", {"malformed-row": 1}),
    ],
)
def test_a_row_that_cannot_be_used_is_told(tmp_path: Path, row: str, expected: dict) -> None:
    rows = rows_of(tmp_path, "prices.csv", CSV + row + "\n")
    assert codes(rows) == expected
    assert {issue["line_number"] for issue in rows["evidence_issue"]} == {5}


@pytest.mark.parametrize(
    ("name", "before", "after", "expected"),
    [
        ("a.csv", CSV[CSV.index('"H100') :], "", {"no-price": 1}),
        ("a.csv", ",provider\n", ",source\n", {"duplicate-column": 1}),
        ("a.csv", ",x\n", ",", {"no-line-end": 1}),
        ("a.toml", "[[price]]\naccel", "[[prise]]\naccel", {"misplaced-key": 1}),
        ("a.toml", "[[price]]\naccel", "#[[price]]\naccel", {"misplaced-key": 5}),
        ("a.toml", "[[price]]\ninst", "[[prise]]\ninst", {"misplaced-key": 1}),
        ("a.toml", "[[price]]\ninst", "[[pri?e]]\ninst", {"malformed-row": 1}),
        ("a.toml", 'source = "list"\n\n[[price]]', '# source = "list" [[price]]\n[[price]]', {}),
    ],
)
def test_what_damage_takes_from_a_list_is_told(tmp_path: Path, name: str, before: str, after: str, expected: dict) -> None:
    text = CSV if name == "a.csv" else TOML
    assert before in text
    assert codes(rows_of(tmp_path, name, text.replace(before, after))) == expected
