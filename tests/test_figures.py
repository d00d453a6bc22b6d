"""Numbers as people read them: as many digits as are known."""

from __future__ import annotations

import pytest

from warehouse.analysis.names import name_of
from warehouse.surfaces.figures import rounded
from warehouse.surfaces.markdown import part_markdown
from warehouse.surfaces.parts import Column, Table


@pytest.mark.parametrize(("value", "half", "text"), [
    (1419.8364062673, 18.2, "1,420"), (34.12345, 0.034, "34.123"), (5.58571875, 0.0528, "5.586"),  # two digits of half the interval
    (1419.8364062673, None, "1,420"), (9.996, None, "10.0"), (0.036123, None, "0.0361"), (16.0, None, "16"), (0.5, None, "0.5"),
    (0.0, None, "0"), (1234567, None, "1,234,567"), (0.0000123456, None, "1.23e-05"), (float("inf"), None, "inf"),
])
def test_a_number_has_the_digits_that_are_known(value: float, half: float | None, text: str) -> None:
    assert rounded(value, half) == text


def test_a_table_in_markdown_has_the_digits_that_are_known() -> None:
    columns = Column("alone", kind="number"), Column("value", kind="number", half="half"), Column("half", is_hidden=True), Column("n", kind="number")
    *_, table = part_markdown(Table("t", columns, ((1419.8364062673, 34.12345, 0.034, 1234567), (0.1 + 0.2, None, None, None))))
    assert table.splitlines()[2:] == ["| 1,419.84 | 34.123 ± 0.034 | 1,234,567 |", "| 0.300000 | NULL | NULL |"]


@pytest.mark.parametrize(("row", "name"), [
    (
        {"model": "lab/decoder-7b", "gpu_model": "NVIDIA H100 80GB", "accelerator_family": "H100", "gpu_count": 8, "framework": "vllm",
         "framework_version": "0.12.0+cu130", "concurrency_point": 64, "input_length": 1024, "output_length": 128},
        "decoder-7b · 8×H100 · vLLM 0.12.0 · 64 in flight · 1k in / 128 out",
    ),
    ({"model": None, "benchmark_case_id": "case", "accelerator_count": 8}, "case · 8 accelerators"),  # the evidence names no accelerator
    ({"load_kind": "rate", "load": 2.5, "model": "a/b:" + 40 * "f"}, "b · 2.5 requests/s"),
])
def test_a_row_is_named_by_what_its_columns_state(row: dict[str, object], name: str) -> None:
    assert str(name_of(row)) == name
