"""The runs that are most like one: by features of dimensions, rare texts before common ones, quantities by their ratio."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from warehouse.analysis.similar import nearest, nearest_in_words

# run, model, in flight, GPU, number of GPUs, engine's version, requests asked for
RUNS = (
    ("asked", "llama-70b", 32, "H100", 8, "0.12", 320),
    ("half the load", "llama-70b", 16, "H100", 8, "0.12", 320),
    ("a quarter of it", "llama-70b", 8, "H100", 8, "0.12", 320),
    ("other engine", "llama-70b", 32, "H100", 8, "0.11", 320),
    ("other GPU", "llama-70b", 32, "B200", 8, "0.12", 320),
    ("other model", "qwen-8b", 32, "H100", 8, "0.12", 320),
    ("says little", "llama-70b", None, None, None, None, None),
    *((f"many {number}", f"m{number}", number, "H100", 1, "0.12", 100) for number in range(1, 9)),
)


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as made:
        made.execute("create table benchmark_run_fact (run_id varchar, benchmark_case_id varchar, mode varchar, state varchar, workload_spec_digest varchar,"
                     " hardware_topology_key varchar, software_version_key varchar)")
        made.execute("create table workload_dim (workload_spec_digest varchar, model varchar, concurrency_point bigint, workload_document varchar)")
        made.execute("create table hardware_topology_dim (hardware_topology_key varchar, accelerator_family varchar, gpu_count bigint)")
        made.execute("create table software_version_dim (software_version_key varchar, framework varchar, framework_version varchar)")
        made.execute("create table software_package_dim (software_version_key varchar, component varchar, version varchar, stated_as varchar)")
        for run, model, load, gpu, count, version, requests in RUNS:
            made.execute("insert into benchmark_run_fact values (?, 'serving', 'performance', 'admitted', ?, ?, ?)", [run, run, gpu and run, version and run])
            document = f'{{"num_prompts": {requests or "null"}}}'
            made.execute("insert into workload_dim values (?, ?, ?, ?)", [run, model, load, document])
            if gpu:
                made.execute("insert into hardware_topology_dim values (?, ?, ?)", [run, gpu, count])
                made.execute("insert into software_version_dim values (?, 'vllm', ?)", [run, version])
                made.execute("insert into software_package_dim values (?, 'torch', ?, null), (?, 'numpy', '2.0', null)", [run, f"2.{version[-1]}", run])
        yield made


def test_the_nearest_run_differs_least_where_it_matters_most(con: duckdb.DuckDBPyConnection) -> None:
    found = nearest(con, "run", "asked")
    assert found.others == len(RUNS) - 1 and found.name == "llama-70b · 8×H100 · vLLM 0.12 · 32 in flight"
    named = [each.id for each in found.neighbours]
    assert named[:2] == ["half the load", "a quarter of it"]
    assert set(named[2:5]) == {"other engine", "other GPU", "other model"}
    half = found.neighbours[0]
    assert half.differs == (("concurrency_point", "16", "32"),)
    assert {"model", "accelerator_family", "gpu_count", "framework_version", "torch", "numpy", "num_prompts"} <= {name for name, _ in half.agrees}
    assert [each.likeness for each in found.neighbours] == sorted((each.likeness for each in found.neighbours), reverse=True)


def test_to_agree_in_a_rare_text_counts_more_than_in_a_common_one(con: duckdb.DuckDBPyConnection) -> None:
    likeness = {each.id: each.likeness for each in nearest(con, "run", "other GPU", 20).neighbours}
    con.execute("update hardware_topology_dim set accelerator_family = 'B200'")  # now all have it: to share it says nothing
    common = {each.id: each.likeness for each in nearest(con, "run", "other GPU", 20).neighbours}
    assert likeness["many 3"] < common["many 3"] < likeness["asked"]


def test_what_it_does_not_state_is_no_difference_and_retracted_runs_are_none(con: duckdb.DuckDBPyConnection) -> None:
    found = nearest(con, "run", "says little")
    assert {each.likeness for each in found.neighbours if each.id in ("asked", "half the load", "other GPU")} == {1.0}
    con.execute("update benchmark_run_fact set state = 'retracted' where run_id = 'half the load'")
    assert nearest_in_words(con, "asked") == (
        "the nearest other run differs in concurrency_point: wh explain asked --baseline a quarter of it",
    )


def test_options_count_once_for_all_runs_that_have_the_same(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("alter table benchmark_run_fact add column artifact_manifest_digest varchar default 'b'")
    con.execute("create table run_setting (run_id varchar, artifact_manifest_digest varchar, options map(varchar, varchar))")
    con.execute("insert into run_setting select run_id, 'b', map {'--async': 'true', '--seed': 'x'} from benchmark_run_fact")
    before = {each.id: each.likeness for each in nearest(con, "run", "asked", 20).neighbours}
    con.execute("update run_setting set options = map {'--async': 'false', '--seed': 'x'} where run_id = 'half the load'")
    con.execute("insert into run_setting values ('half the load', 'of a bundle that is not its evidence', map {'--async': 'true'})")
    found = nearest(con, "run", "asked", 20).neighbours
    after = {each.id: each.likeness for each in found}
    assert after["half the load"] < before["half the load"] and after["other GPU"] == pytest.approx(before["other GPU"])
    (half,) = [each for each in found if each.id == "half the load"]
    assert ("--async", "false", "true") in half.differs and ("--seed", "x") in half.agrees


def test_of_many_runs_none_is_lost_that_its_details_bring_among_the_first(con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    con.execute("update workload_dim set workload_document = '{\"num_prompts\": 9}' where workload_spec_digest = 'half the load'")
    few = nearest(con, "run", "asked", 3)
    monkeypatch.setattr("warehouse.analysis.similar._MANY", 4)
    monkeypatch.setattr("warehouse.analysis.similar._SURE", 1)
    many = nearest(con, "run", "asked", 3)
    assert [each.id for each in many.neighbours] == [each.id for each in few.neighbours] and many.others == few.others == len(RUNS) - 1
    left = con.execute("select thing_id from near").fetchall()
    assert ("half the load",) in left and ("many 1",) not in left  # nothing that many 1 states can bring it there


def test_workloads_and_stacks_are_compared_by_their_own_features(con: duckdb.DuckDBPyConnection) -> None:
    assert nearest(con, "workload", "asked", 1).neighbours[0].likeness == 1.0
    stack = nearest(con, "stack", "other engine", 1).neighbours[0]
    assert stack.differs == (("framework_version", "0.12", "0.11"), ("torch", "2.2", "2.1"))
