"""Forms of SQL that analysts write are published and verified; where one is refused, the SQL that its hint asks for is published."""

from __future__ import annotations

from pathlib import Path

import pytest
from exhaustive import few
from samples.values import take_in, value_files, values_project

from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verification import verify_publication
from warehouse.errors import WarehouseError
from warehouse.project.project import Project
from warehouse.transform.build.build import build

# Over `reading` (key, value): a 1.5, 2.5; b 7, 8; c 4.
PUBLISHED = {
    "cte_of_values": "with w(key, factor) as (values ('a', 2), ('b', 3)) select key, sum(value * factor) as v from reading join w using (key) group by key",
    "order_by_all": "select key, max(value) as v from reading group by key order by all desc limit 2",
    "fetch_first": "select key, max(value) as v from reading group by key order by key fetch first 2 rows only",
    "nested_exists": "select key, sum(value) as v from reading r where exists (select * from reading s where s.key = r.key and exists"
    " (select * from reading t where t.value > s.value)) group by key",
    "geomean_of": "select key, geomean(value) as v from reading group by key",
    "weighted": "select key, weighted_avg(value, value + 1) as v, wavg(value, 2) as w from reading group by key",
    "unpivoted": "select metric, sum(v) as v from (unpivot (select key, max(value) as most, min(value) as least from reading group by key)"
    " on most, least into name metric value v) group by metric",
    "having_in": "select key, sum(value) as v from reading group by key having count(*) in (select length(key) + 1 from reading)",
    "on_in": "select r.key, max(s.value) as v from reading r left join reading s on s.key = r.key and s.value in (select max(value) from reading)"
    " group by r.key",
    "order_by_subquery": "select key, max(value) as v from reading r group by key order by (select max(s.value) from reading s where s.key = r.key) limit 2",
    "grouping_ids": "select coalesce(key, 'all') as key, grouping_id(key) as g, sum(value) as v from reading group by rollup (key)",
    "sorted": "select key, list_sort(list(value)) as v from reading group by key",
    "starred": "select * replace (v * 2 as v) from (select key, max(value) as v from reading group by key)",
    "renamed": "select * rename (m as v) from (select key, max(value) as m from reading group by key)",
    "columned": "select key, max(columns('val.*')) as v from reading group by key",
}
# What is refused, the reason, and what its hint asks for.
HINTED = {
    "offset_of": (
        "select distinct key, 1 as v from reading order by key limit 1 offset 1", "E_OFFSET",
        "select key, v from (select distinct key, 1 as v from reading) order by key limit 1 offset 1",
    ),
    "unpivot_by_pattern": (
        "select name, sum(value) as v from (unpivot (select value as x, value * 2 as y from reading) on columns('x|y')) group by name", "E_UNPIVOT",
        "select name, sum(value) as v from (select 'x' as name, value from reading union all select 'y', value * 2 from reading) group by name",
    ),
    "order_by_all_of_a_star": (
        "select * from (select key, max(value) as v from reading group by key) order by all limit 1", "E_ORDER_ALL",
        "select * from (select key, max(value) as v from reading group by key) order by key, v limit 1",
    ),
    "correlated_on": (
        "select r.key, max(s.value) as v from reading r left join reading s on s.key = r.key and exists"
        " (select 1 from reading t where t.value = r.value + 1) group by r.key", "E_SUBQUERY_PLACE",
        "with lower as (select distinct value - 1 as value from reading)\nselect r.key, max(s.value) as v from reading r"
        " left join lower l on l.value = r.value left join reading s on s.key = r.key and l.value is not null group by r.key",
    ),
    "aggregate_in_a_subquery": (
        "select key, sum(value) as v from reading group by key having exists (select 1 from reading s where s.value > sum(reading.value))",
        "E_SUBQUERY_PLACE",
        "with highest as (select max(value) as value from reading)\nselect key, sum(reading.value) as v from reading cross join highest"
        " group by key having sum(reading.value) < max(highest.value)",
    ),
    "unordered_list": (
        "select key, len(list(value)) as v from reading group by key", "E_UNORDERED_AGG",
        "select key, len(list(value order by value)) as v from reading group by key",
    ),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root: Path = tmp_path_factory.mktemp("forms")
    project = values_project(root / "project", "select key, max(value) as v from reading group by key")
    specs = PUBLISHED | {name: refused for name, (refused, _, _) in HINTED.items()} | {f"{name}_hinted": hinted for name, (*_, hinted) in HINTED.items()}
    for name, sql in specs.items():
        grain = next(column for column in ("metric", "name", "key") if f"{column}," in sql or "* re" in sql or f"{column} as v" in sql)
        grain = "key" if "* re" in sql or sql.startswith("select *") else grain
        (project.root / f"queries/{name}.sql").write_text(f"/*\ngrain: [{grain}]\n*/\n{sql}")
    take_in(project, value_files(root / "in", "a=1.5\na=2.5\n", "b=7\nb=8\nc=4\n"))
    build(project)
    return project


@pytest.mark.parametrize("name", few([*PUBLISHED, *(f"{name}_hinted" for name in HINTED)], 4))
def test_is_published(name: str, project: Project) -> None:
    publish(project, name)
    (publication,) = [found for found in publications(project) if found.record["query"] == name]
    verdicts = list(verify_publication(project, publication))
    assert verdicts and {verdict.state for verdict in verdicts} == {"verified"}


@pytest.mark.parametrize("name", HINTED)
def test_is_refused(name: str, project: Project) -> None:
    with pytest.raises(WarehouseError, match=f"WH306.*{HINTED[name][1]}") as caught:
        publish(project, name)
    assert caught.value.hint
