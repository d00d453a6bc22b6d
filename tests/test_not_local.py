"""Models that are not local to a run or a bundle: whatever partitions there are, they give what they give over everything.

Each is run by the build, after the tasks; where partitions would do, and only the proof by keys says that they would not, it is run again.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from samples.partitioned import PARTITIONED, partitioned_project
from test_scale import InThisProcess, _own_models_are_standard, tables

from warehouse.evidence.objects.location import open_store
from warehouse.scale.drive import Distribution, place_of
from warehouse.transform.build.build import build, gather_material

__all__ = ["_own_models_are_standard"]
OF_NUMBER = "select split_part(run_id, '-', 2)::int as run_id, sum(seconds order by step) as seconds from sample where step = 0 group by all"
OF_PARTNER = "select (split_part(run_id, '-', 2)::int + 20) % 40 as run_id, max(seconds) as longest from kept where step = 1 group by all"
NOT_LOCAL = {
    "window_over_all": "select run_id, step, row_number() over (order by seconds, run_id, step) as place from kept",
    "running_sum": "select run_id, step, sum(seconds) over (order by run_id, step rows unbounded preceding) as so_far from kept",
    "window_over_another_key": "select run_id, step, avg(seconds) over (partition by step order by run_id) as mean from kept",
    "window_without_order": "select run_id, step, count(*) over () as rows from kept",
    "the_run_before": "select run_id, lag(total_ms) over (order by run_id) as before from total",
    "global_aggregate": "select count(*) as rows, sum(seconds order by run_id, step) as seconds, max(run_id) as last from kept",
    "by_another_key": "select step, sum(seconds order by run_id) as seconds, count(distinct run_id) as runs from kept group by step",
    "by_part_of_the_key": "select left(run_id, 2) as run_id, max(seconds) as longest, count(*) as rows from kept group by all",
    "by_a_key_that_is_hidden": "select coalesce(nullif(run_id, 'g0-003'), 'g1-034') as run_id, count(*) as rows from kept group by all",
    "joined_across_keys": "select a.run_id, count(*) as slower from total a join total b on b.total_ms > a.total_ms group by a.run_id",
    "joined_by_step": "select a.run_id, a.step, max(b.seconds) as longest from kept a join kept b using (step) group by all",
    "joined_asof": "select a.run_id, a.step, b.run_id as other from kept a asof join (from kept where run_id = 'g0-000') b on a.step >= b.step",
    "none_like_it": "select run_id, step from kept k where not exists (from kept o where o.step = k.step and o.run_id < k.run_id)",
    "share_of_all": "select run_id, total_ms / (select sum(total_ms order by run_id) from total) as share from total",
    "above_the_mean": "select run_id, sum(seconds) as seconds from kept group by run_id having avg(seconds) > (select avg(seconds) from kept)",
    "limited": "select run_id, step, seconds from kept order by seconds desc, run_id, step limit 7",
    "limited_by_key": "select run_id, step from kept order by run_id, step limit 5 offset 40",
    "sampled": "select run_id, step from kept using sample reservoir(20 rows) repeatable (7)",
    "first_of_each_step": "select run_id, step from kept qualify row_number() over (partition by step order by seconds, run_id) = 1",
    "distinct_steps": "select distinct step from kept",
    "distinct_on_step": "select distinct on (step) step, run_id from kept order by step, run_id",
    "count_distinct": "select count(distinct run_id) as runs, count(distinct step) as steps from kept",
    "approximate": "select approx_count_distinct(run_id) as runs, approx_quantile(seconds, 0.5) as median from kept",
    "quantiles": "select quantile_cont(seconds, [0.5, 0.99]) as q, median(total_ms) as m from kept join total using (run_id)",
    "most_frequent": "select mode(step) as step, arg_max(run_id, total_ms) as slowest, entropy(step) as bits from kept join total using (run_id)",
    "in_one_list": "select list(run_id order by run_id) as runs, string_agg(run_id, ',' order by run_id) as text from total",
    "subtotals": "select run_id, step, count(*) as rows from kept group by rollup (run_id, step)",
    "in_one_but_not_in_another": "select run_id[4:] as number from kept except select (step + 3)::varchar from kept",
    "with_every_other": "select a.run_id, b.run_id as other from total a, lateral (select run_id from total where run_id > a.run_id order by 1 limit 1) b",
    # Each key of an input is in one partition, but not in that of the same key of the other input.
    "partner": f"select run_id, seconds, longest from ({OF_NUMBER}) join ({OF_PARTNER}) using (run_id)",
    "without_partner": f"select run_id, seconds from ({OF_NUMBER}) n where not exists (from ({OF_PARTNER}) p where p.run_id = n.run_id and longest > 0.1)",
    "with_partner": f"select run_id, sum(x order by x) as x from (select run_id, seconds as x from ({OF_NUMBER}) union all from ({OF_PARTNER})) group by run_id",
    "recursive": (
        "with recursive chain as (select min(run_id) as run_id, 1 as depth from total union all\n"
        "select (select min(run_id) from total t where t.run_id > chain.run_id), depth + 1 from chain where depth < 30 and run_id is not null)\n"
        "select run_id, depth from chain where run_id is not null"
    ),
    "ranked_in_percent": "select run_id, percent_rank() over (order by total_ms) as rank, ntile(4) over (order by total_ms, run_id) as quarter from total",
    "pivoted": "pivot (from kept where step < 3) on step in (0, 1, 2) using sum(seconds order by run_id) group by run_id order by all",
}


Tables = dict[str, list[tuple]]


@pytest.fixture(scope="module")
def kept_made() -> dict[str, tuple[Tables, set[str]]]:
    """What the first test has made, for all."""
    return {}


@pytest.fixture
def made(kept_made: dict[str, tuple[Tables, set[str]]], tmp_path: Path) -> tuple[Tables, Tables, set[str]]:
    """The tables of a build by itself and by tasks, and those of the latter that were taken from partitions."""
    for name in () if kept_made else ("plain", "tasks"):
        project = partitioned_project(tmp_path / name, mark=tmp_path / "no-mark")
        for model, sql in NOT_LOCAL.items():
            (project.root / f"models/{model}.sql").write_text(sql)
        distribution = Distribution(project, InThisProcess(place_of(project))) if name == "tasks" else None
        build(project, elsewhere=distribution)
        taken = distribution.tables(open_store(project), gather_material(project)).tables if distribution else ()
        kept_made[name] = tables(project), set(taken)
    return kept_made["plain"][0], *kept_made["tasks"]


@pytest.mark.parametrize("name", NOT_LOCAL)
def test_a_model_that_is_not_local_is_run_over_everything(name: str, made: tuple[Tables, Tables, set[str]]) -> None:
    plain, by_tasks, taken = made
    assert PARTITIONED <= taken and name not in taken
    assert by_tasks[f"main.{name}"] == plain[f"main.{name}"] != []
