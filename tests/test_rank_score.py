"""The score of ranks: a seeded straggler is named, a healthy run names nobody, and what the columns mean, by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from numpy.typing import NDArray
from samples import kineto as sample
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

MODELS = Path(__file__).resolve().parents[1] / "models"
COLUMNS = ("run_id", "rank", "step", "step_time_s", "communication_s", "overlap_s")
TRIALS, RANKS, STEPS, STRAGGLER = 200, 64, 50, 17
Rows = list[dict[str, Any]]


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with the rule, and no steps yet."""
    with duckdb.connect() as con:
        con.execute(f"create table rank_outlier_threshold as {(MODELS / 'reference/rank_outlier_threshold.sql').read_text()}")
        yield con


def scored(con: duckdb.DuckDBPyConnection, steps: pa.Table) -> Rows:
    """The mart's own SQL on made steps."""
    con.register("made", steps)
    con.execute(
        "create or replace table rank_step_fact as select made.*, '' as artifact_manifest_digest, 'rank' || rank || '.json' as raw_path,"
        " null::varchar as node_name, null::varchar as gpu_uuid from made"
    )
    return con.sql(f"from ({(MODELS / 'marts/straggler/rank_score.sql').read_text()}) order by run_id, rank").to_arrow_table().to_pylist()


def synchronous(own: NDArray[np.float64], first_run: int = 0) -> pa.Table:
    """Steps of jobs that communicate when the slowest rank has come, given own work by run, step and rank: 30 % of communication is hidden."""
    runs, steps, ranks = own.shape
    length = own.max(axis=2, keepdims=True) + 0.004
    communication, overlap = length - own + 0.002, np.full(own.shape, 0.002)
    grid = np.indices(own.shape).reshape(3, -1)
    times = [np.broadcast_to(each, own.shape).ravel() for each in (length, communication, overlap)]
    return pa.table(dict(zip(COLUMNS, [pa.array([f"r{run:04}" for run in grid[0] + first_run]), grid[2], grid[1], *times], strict=True)))


def trials(seed: int, noise: float, slow: float = 1.0, ranks: int = RANKS, runs: int = TRIALS) -> NDArray[np.float64]:
    """Own work, 100 ms: all steps vary, every rank's part of them by `noise`, and ranks among themselves by 0.5 %."""
    chance = np.random.default_rng(seed)
    own = 0.1 * (1 + chance.normal(0, 0.05, (runs, STEPS, 1))) * (1 + chance.normal(0, noise, (runs, STEPS, ranks)))
    own *= 1 + chance.normal(0, 0.005, (runs, 1, ranks))
    own[:, :, STRAGGLER % ranks] *= slow
    return own


@pytest.mark.parametrize("noise", [0.02, 0.05])
def test_a_straggler_is_named_first(con: duckdb.DuckDBPyConnection, noise: float) -> None:
    rows = scored(con, synchronous(trials(1, noise, 1.10)))
    named = 0
    for first in range(0, len(rows), RANKS):
        worst = max(rows[first : first + RANKS], key=lambda row: row["robust_z"])
        named += worst["rank"] == STRAGGLER and worst["is_slow"]
    assert len(rows) == TRIALS * RANKS and named >= 0.95 * TRIALS


@pytest.mark.parametrize(("ranks", "noise"), [(64, 0.02), (64, 0.05), (8, 0.05), (4, 0.05)])
def test_a_healthy_run_names_nobody(con: duckdb.DuckDBPyConnection, ranks: int, noise: float) -> None:
    rows = scored(con, synchronous(trials(2, noise, ranks=ranks)))
    assert len({row["run_id"] for row in rows if row["is_slow"]}) <= 0.05 * TRIALS


def test_the_thresholds_hold_in_normal_samples(con: duckdb.DuckDBPyConnection) -> None:
    """For every number of ranks up to 40, and some above: about one sample in fifty exceeds them."""
    chance = np.random.default_rng(3)
    for ranks in (*range(3, 41), 64, 128, 129, 256, 512, 513, 1024, 4096):
        (threshold,), = con.execute("select arg_max(threshold, from_ranks) from rank_outlier_threshold where from_ranks <= ?", [ranks]).fetchall()
        samples = chance.standard_normal((min(20_000, 4_000_000 // ranks), ranks))
        deviation = samples - np.median(samples, axis=1, keepdims=True)
        scale = 1.4826 * np.median(np.abs(deviation), axis=1)
        share = float((deviation.max(axis=1) / scale > threshold).mean())
        assert 0.005 < share <= 0.03, ranks


def test_the_columns_by_hand(con: duckdb.DuckDBPyConnection) -> None:
    """Four ranks, four steps; the last one needs 20 ms more in its later two."""
    own = np.array([[[0.100, 0.101, 0.099, 0.100], [0.100, 0.101, 0.099, 0.100], [0.100, 0.101, 0.099, 0.120], [0.100, 0.101, 0.099, 0.120]]])
    *_, third, last = scored(con, synchronous(own))
    assert (last["rank_count"], last["step_count"]) == (4, 4)
    # The least communication is that of the slowest rank: 4 ms, less what it hides.
    assert last["waiting_s"] == pytest.approx((0.001 + 0.001) / 4) and third["waiting_s"] == pytest.approx((0.002 * 2 + 0.021 * 2) / 4)
    assert last["own_work_s"] == pytest.approx((0.104 + 0.104 + 0.124 + 0.124) / 4)
    assert last["step_time_s"] == pytest.approx((0.105 * 2 + 0.124 * 2) / 4)
    assert last["own_history_score"] == pytest.approx(0.104 / 0.124) and third["own_history_score"] == pytest.approx(1)
    # Medians of a step: 104 and 104.5 ms; the rank's ratios 1, 1, and 124 / 104.5 twice.
    assert last["own_work_ratio"] == pytest.approx((1 + 0.124 / 0.1045) / 2) and last["relative_score"] == pytest.approx(1 / last["own_work_ratio"])
    # Without its excess the next one, 105 ms, is the slowest.
    assert last["what_if_step_time_s"] == pytest.approx(0.105) and third["what_if_step_time_s"] == pytest.approx(last["step_time_s"])


def test_nothing_is_said_without_communication_or_peers(con: duckdb.DuckDBPyConnection) -> None:
    steps = synchronous(trials(4, 0.02, 1.5, ranks=4, runs=1))
    assert len(scored(con, steps)) == 4
    without = steps.set_column(4, "communication_s", pa.nulls(len(steps), pa.float64()))
    assert scored(con, without) == []
    assert scored(con, steps.filter(pc.less(steps["rank"], 2))) == []


def test_a_straggler_among_64_traces(tmp_path: Path) -> None:
    """From files to the mart."""
    chance = np.random.default_rng(5)
    works = np.round(20_000 * (1 + chance.normal(0, 0.03, (12, RANKS))))
    works[:, STRAGGLER] *= 1.10
    sample.write_job(tmp_path / "tree/job", [[int(own) for own in step] for step in works])
    warehouse = Warehouse(standard_project(tmp_path / "project"))
    ingest(plan_ingest(tmp_path / "tree", load_ingestors(warehouse.project).values()), open_store(warehouse.project), "evidence")
    assert not build(warehouse.project).damaged
    rows = warehouse.sql("from rank_score order by robust_z desc").to_pylist()
    assert [row["rank"] for row in rows if row["is_slow"]] == [STRAGGLER]
    assert (len(rows), rows[0]["rank"], rows[0]["step_count"], rows[0]["raw_path"]) == (RANKS, STRAGGLER, 12, f"rank-{STRAGGLER}.json.gz")
    assert rows[0]["own_work_ratio"] == pytest.approx(1.10, abs=0.02) and rows[0]["what_if_step_time_s"] < rows[0]["step_time_s"]
    (steps,) = warehouse.sql("select count(*) as steps, count(distinct step) as numbers from rank_step_fact").to_pylist()
    assert steps == {"steps": RANKS * 13, "numbers": 12}
    (measured,) = warehouse.sql("select metric, value, unit, better from measurement").to_pylist()
    expected = float((np.floor(works).max(axis=1) + sample.COMMUNICATION).mean()) / 1e6
    assert measured == {"metric": "step_time_mean_s", "value": pytest.approx(expected), "unit": "s", "better": "lower"}
    slices = warehouse.sql("select metric, count(*) as n, min(rank_id) as low from telemetry_slice_fact group by metric").to_pylist()
    assert {row["metric"]: row["n"] for row in slices} == {
        f"rank_{name}_s": RANKS for name in ("compute", "communication", "overlap", "idle", "memcpy", "dataloader")
    }
