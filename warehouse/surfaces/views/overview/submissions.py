"""MLPerf on the home page: system by benchmark, for the newest round of each suite that the warehouse has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from warehouse.surfaces.parts import Column, Part, Table
from warehouse.surfaces.view import address
from warehouse.surfaces.views.facts.reading import Reader

_MOST_SYSTEMS, _MOST_BENCHMARKS = 12, 7
_TRAINING, _INFERENCE = "rollup.mlperf_training_results", "rollup.mlperf_inference_results"


def submission_parts(found: Reader) -> Iterator[Part]:
    """Nothing where no submission was ingested."""
    if {"round", "division", "benchmark", "system", "official_minutes", "number_ids"} <= found.columns(_TRAINING):
        rows = found.rows(
            "select round, division, benchmark, system, null as unit, official_minutes as value,"
            f" number_ids.official_minutes as number_id from {_TRAINING} where official_minutes is not null and usage = 'training'"
        )
        words = "Minutes to train, the mean of the runs that the rules ask for; shorter is better."
        yield from _matrix("training", "MLPerf Training", rows, words, "mlperf_training_results", is_less_better=True)
    if {"round", "division", "benchmark", "scenario", "performance_result", "number_ids"} <= found.columns(_INFERENCE):
        rows = found.rows(
            "select round, division, benchmark || ' ' || scenario as benchmark, system,"
            f" performance_unit as unit, performance_result as value, number_ids.performance_result as number_id from {_INFERENCE}"
            " where performance_result is not null and validity = 'VALID'"
        )
        words = "Valid results, of the whole system."
        yield from _matrix("inference", "MLPerf Inference", rows, words, "mlperf_inference_results", is_less_better=False)


def _matrix(name: str, suite: str, rows: list[dict[str, Any]], words: str, query: str, is_less_better: bool) -> Iterator[Table]:
    """The systems of the newest round and of its closed division, if there is one; the benchmarks that most of them ran. Of several results of
    a system on a benchmark the best."""
    if not rows:
        return
    newest = max((row["round"] or "" for row in rows), key=_version)
    rows = [row for row in rows if (row["round"] or "") == newest]
    division = "closed" if any(row["division"] == "closed" for row in rows) else rows[0]["division"]
    rows = [row for row in rows if row["division"] == division]
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        system = row["system"] or "not stated"
        held = cells.get((system, row["benchmark"]))
        if held is None or (row["value"] < held["value"]) == is_less_better:
            cells[system, row["benchmark"]] = row
    benchmarks = [each for each, _ in Counter(benchmark for _, benchmark in cells).most_common(_MOST_BENCHMARKS)]
    ran = Counter(system for system, benchmark in cells if benchmark in benchmarks)
    systems = sorted(ran, key=lambda each: (-ran[each], each))
    units = {benchmark: next(row["unit"] for (_, ran_one), row in cells.items() if ran_one == benchmark) for benchmark in benchmarks}
    columns = [Column("system", link=f"/results/{query}?where=system={{system}}")]
    for place, benchmark in enumerate(benchmarks):
        columns.append(Column(benchmark, benchmark, kind="number", unit=units[benchmark], link=f"/numbers/{{number_{place}}}"))
    columns += [Column(f"number_{place}", is_hidden=True) for place in range(len(benchmarks))]
    shown = tuple(
        (
            system, *(cells.get((system, each), {}).get("value") for each in benchmarks),
            *(cells.get((system, each), {}).get("number_id") for each in benchmarks),
        )
        for system in systems[:_MOST_SYSTEMS]
    )
    title = " ".join(filter(None, (suite, newest, division if division != "closed" else None)))
    more = address("/results/{query}", query=query)
    yield Table(f"mlperf_{name}", tuple(columns), shown, title, words, total=len(systems), more=more)


def _version(text: str) -> tuple[Any, ...]:
    """Rounds in their order: v10.0 after v9.1."""
    return tuple(int(part) if part.isdigit() else -1 for part in text.removeprefix("v").split(".")), text
