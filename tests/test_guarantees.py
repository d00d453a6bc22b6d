"""Which guarantees a publication promises. The oracle tests (`test_provenance_oracle`) hold the promises against deletions."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples.values import take_in, value_files, values_project

from warehouse.claims.guarantees import absences
from warehouse.claims.publication import publications
from warehouse.claims.publish import publish
from warehouse.claims.rollup import build

MONOTONE = [
    "select a, sum(b) from t group by a",
    "select a, sum(b) filter (b > 0) from t join u using (x) where b > 1 group by a having count(*) > 2",
    "select a from t where exists (select 1 from u where u.x = t.x) and b in (select b from v)",
    "select a from t semi join u using (x)",
    "select a from t union all select b from u",
    "select distinct a from (select a from t) q",
    "with c as (select a from t) select a, max(b) from c join u using (a) group by all",
    "with recursive r as (select 1 as n union all select n + 1 from r where n < 3) select * from r",
]
# The query, and the clause by which something that is not there may bring a row in.
NOT_MONOTONE = [
    ("select a from t left join u using (x)", "LEFT JOIN u USING (x)"),
    ("select a from t full join u using (x)", "FULL JOIN u USING (x)"),
    ("select a from t anti join u using (x)", "ANTI JOIN u USING (x)"),
    ("select a from t asof join u on t.x >= u.x", "ASOF JOIN u ON t.x >= u.x"),
    ("select a from t where not exists (select 1 from u)", "SELECT 1 FROM u"),
    ("select a from t where a not in (select b from u)", "SELECT b FROM u"),
    ("select a from t where a in (select b from u) or b > 1", "SELECT b FROM u"),
    ("select a from t where case when exists (select 1 from u) then b > 1 else b < 1 end", "SELECT 1 FROM u"),
    ("select a from t where b > (select max(b) from u)", "SELECT MAX(b) FROM u"),
    ("select a from t where b > all (select b from u)", "SELECT b FROM u"),
    ("select array(select a from t) as l from u", "SELECT a FROM t"),
    ("select a from t except select b from u", "SELECT a FROM t EXCEPT SELECT b FROM u"),
    ("select a, rank() over (order by b) as r from t", "RANK() OVER (ORDER BY b)"),
    ("select a from t order by b limit 3", "LIMIT 3"),
    ("select distinct on (a) a, b from t order by b", "DISTINCT ON (a)"),
    ("select s, count(*) from (select a, sum(b) as s from t group by a) q group by s", "GROUP BY of SELECT a, SUM(b) AS s FROM t GROUP BY a"),
    ("select n from (select count(*) as n from t) q where n > 2", "aggregate SELECT COUNT(*) AS n FROM t"),
]


@pytest.mark.parametrize("sql", MONOTONE)
def test_a_query_whose_rows_can_only_be_lost_with_their_own(sql: str) -> None:
    assert absences(sql, is_outermost=True) == []


@pytest.mark.parametrize(("sql", "clause"), NOT_MONOTONE)
def test_a_clause_that_lets_absence_in(sql: str, clause: str) -> None:
    assert clause in absences(sql, is_outermost=True)


def test_an_aggregate_below_the_query_counts() -> None:
    sql = "select a, sum(b) as s from t group by a"
    assert absences(sql, is_outermost=False) == ["GROUP BY of SELECT a, SUM(b) AS s FROM t GROUP BY a"]


def promises(folder: Path, sql: str) -> dict[str, object]:
    project = values_project(folder / "p", sql)
    take_in(project, value_files(folder / "in", "a=1\nb=5\n", "b=-1\n"))
    build(project)
    publish(project, "claim")
    (publication,) = publications(project)
    record = publication.record
    assert record["engine"]["name"] == "duckdb" and record["engine"]["build"] and record["engine"]["settings"]["TimeZone"] == "UTC"
    found = record["guarantees"]
    assert found["G1"] == {"holds": "yes", "established": "checked"}
    assert found["G2"] == {"holds": "yes", "established": "by construction"}
    assert found["G3"] == found["G4"]
    return {**found["G3"], "clauses": found["clauses"]}


def test_a_publication_says_what_it_promises_and_why(tmp_path: Path) -> None:
    plain = promises(tmp_path / "plain", "select key, sum(value) as total from reading group by key")
    assert plain == {"holds": "yes", "established": "by construction", "clauses": []}
    share = promises(
        tmp_path / "kept",
        "select key, sum(value) as total from reading where key not in (select key from reading where value < 0) group by key",
    )
    assert (share["holds"], share["established"]) == ("unknown", "not established")
    assert share["clauses"] == ["rollup.claim: SELECT key FROM reading WHERE value < 0"]
