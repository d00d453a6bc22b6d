"""Which guarantees a publication promises. The oracle tests (`test_provenance_oracle`) hold the promises against deletions."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlglot
from samples.values import take_in, value_files, values_project

from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.trace.monotony import absences, shown
from warehouse.trace.sufficiency import Tables, unproven
from warehouse.transform.build.build import build

MONOTONE = [
    "select a, sum(b) from t group by a",
    "select a, sum(b) filter (b > 0) from t join u using (x) where b > 1 group by a having count(*) > 2",
    "select a from t where exists (select 1 from u where u.x = t.x) and b in (select b from v)",
    "select a from t semi join u using (x)",
    "select a from t union all select b from u",
    "select distinct a from (select a from t) q",
    "with c as (select a from t) select a, max(b) from c join u using (a) group by all",
    "with recursive r as (select 1 as n union all select n + 1 from r where n < 3) select * from r",
    "select a, sum(b) as s from t group by a union all select b, count(*) as s from u group by b",
]
# The query, and the clause by which something that is not there may bring a row in.
NOT_MONOTONE = [
    ("select a from t left join u using (x)", "LEFT JOIN u USING (x)"),
    ("select a from t full join u using (x)", "FULL JOIN u USING (x)"),
    ("select a from t right join u using (x)", "RIGHT JOIN u USING (x)"),
    ("select a from t positional join u", "POSITIONAL JOIN u"),
    (
        "select k, p from (pivot (select a as k, x, b from t) on x in ('p') using sum(b) group by k) q",
        "PIVOT (SELECT a AS k, x, b FROM t) ON x IN ('p') USING SUM(b) GROUP BY k",
    ),
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
    assert absences(sql, is_outermost=True) == ()


@pytest.mark.parametrize(("sql", "clause"), NOT_MONOTONE)
def test_a_clause_that_lets_absence_in(sql: str, clause: str) -> None:
    assert clause in absences(sql, is_outermost=True)


def test_an_aggregate_below_the_query_counts() -> None:
    sql = "select a, sum(b) as s from t group by a"
    assert absences(sql, is_outermost=False) == ("GROUP BY of SELECT a, SUM(b) AS s FROM t GROUP BY a",)


# Of t, u and v the key is `id`. What why-sets are enough for by proof, and where there is none, with the clause.
PAIRS = "select t.a, u.b, count(*) as n from t join u on u.x = t.x"
OUTER = f"{PAIRS} left join v on v.y = u.y and v.z = t.z"
SUFFICIENT = [
    *MONOTONE[:5],
    "select t.a, u.b from t left join u on u.x = t.x",
    "select t.a, sum(u.b) from t left join u on u.id = t.x group by t.a",  # a row of t has one of u at most
    "select t.a, sum(u.b) from t join u on u.x = t.x group by t.a",
    "select a, lag(b) over (order by id) as before from t",
    "select a, sum(p) from (select a, row_number() over (partition by a order by id) as p from t) r where p < 3 group by a",
    "select a, sum(b) from (select a, b from t qualify row_number() over (partition by a order by id) = 1) r group by a",
    "select a, sum(b) from t where x not in (select x from u) group by a",
    "select a, b from t where b > (select avg(b) from t)",
    "select a, b / (select sum(b) from t) as share from t",
    "select a from t except select b from u",
    "select n, count(*) from (select a, count(*) as n from t group by a) c group by n",
    "select a, sum(b) as s from t group by rollup (a) having count(*) > 1",
    "with c as (select a, sum(b) as s from t group by a) select one.a from c one join c two on two.s > one.s",
    "select a, b from t order by b limit 3",
    "select a, b from t order by b limit 3 offset 1",  # the rows before one are in its why-set
    "select t.a, count(*) as n from t join u on u.x = t.x where t.b not in (select b from v) group by t.a",  # of each row of t alone
    "select a, sum(b) as s from t join u using (x) where u.y not in (select y from v) group by a",
    "select count(v.z) as n from t left join u on u.x = t.x left join v on v.y = u.y",  # a total keeps them all
    "select case when exists (select 1 from u where u.x = t.x) then 1 else 0 end as has, count(*) from t group by 1",
    "select 'all' as k, count(*) as n from t having count(*) = 0",
    "select case when b in (select b from u) then 1 when true then 2 end as c from t",
    "select a from t where b not in (select b from u) or a > 3",  # what is true while IN is NULL is true whatever it is
    "select avg(n) as m from (select count(*) as n from t) c",
    # filters that reject NULLs make the join inner
    f"{OUTER} where v.b > 1 group by t.a, u.b",
    f"{OUTER} where v.b > 5 or (v.a is not null and t.a > 1) group by t.a, u.b",
    f"{OUTER} where (select avg(w.b) from t w where w.id = v.id) > t.b group by t.a, u.b",
    f"{OUTER} where exists (select 1 from t w where w.id = v.id) group by t.a, u.b",
    f"{OUTER} join t w on w.x = v.x group by t.a, u.b",
    # what joins and keeps out reads one item, of which each row that is kept is in a row that is kept
    "select t.a, u.b, count(v.z) as n from t join u on u.x = t.x left join v on v.y = u.y group by t.a, u.b",
    "select t.a, u.b, count(*) as n from t join u on u.x = t.x anti join v on v.y = u.y group by t.a, u.b",
    "select t.a, u.b, count(*) as n from t full join u on u.x = t.x where not exists (select 1 from v where v.y = t.y) group by t.a, u.b",
    "select t.a, u.b, count(*) as n from t join u on u.x = t.x where u.b > (select avg(v.b) from v where v.y = t.y) group by t.a, u.b",
    "select n, count(*) as c from (select t.a, count(*) as n from t join u on u.x = t.x group by t.a) g group by n",  # groups of one item
    "select a, b, max(n) as n from (select t.a, u.b, count(*) as n from t join u on u.x = t.x group by t.a, u.b) g group by a, b",  # of one row
    "select count(v.z) as n from t left join u on u.x = t.x left join v on v.y = u.y where v.z is null",
]
INSUFFICIENT = [
    ("select a from t where b not in (select count(*) from u)", "b IN (SELECT COUNT(*) FROM u)"),
    ("select a from t where not exists (select 1 from u having count(*) = 0)", "EXISTS(SELECT 1 FROM u HAVING COUNT(*) = 0)"),
    ("select a from t anti join (select count(*) as n from u) c on c.n = t.b", "ANTI JOIN (SELECT COUNT(*) AS n FROM u) AS c ON c.n = t.b"),
    ("select case when exists (select b from u except select b from v) then 1 end as c from t", "EXISTS(SELECT b FROM u EXCEPT SELECT b FROM v)"),
    ("select a from t except select count(*) from u", "SELECT a FROM t EXCEPT SELECT COUNT(*) FROM u"),
    ("select t.a, c.n from t left join (select count(*) as n from u) c on c.n = t.b", "LEFT JOIN (SELECT COUNT(*) AS n FROM u) AS c ON c.n = t.b"),
    ("select sum(n) as s from (select count(*) as n from t) c where n = 0", "SELECT SUM(n) AS s FROM (SELECT COUNT(*) AS n FROM t) AS c WHERE n = 0"),
    (
        "select k, sum(n) as s from (select max(a) as k, count(*) as n from t having count(*) < 3) c group by rollup (k)",
        "SELECT k, SUM(n) AS s FROM (SELECT MAX(a) AS k, COUNT(*) AS n FROM t HAVING COUNT(*) < 3) AS c GROUP…",
    ),
    ("select case when not b in (select b from u) then 1 when true then 2 end as c from t", "SELECT b FROM u"),
    ("select a from t where (b in (select b from u)) is null", "SELECT b FROM u"),
    (
        "select a, sum(b) as s from (select a, b, lag(b) over (order by id) as prev from t) w where prev is null or prev > 6 group by a",
        "SELECT a, SUM(b) AS s FROM (SELECT a, b, LAG(b) OVER (ORDER BY id) AS prev FROM t) AS w WHERE prev I…",
    ),
    (
        "select t.a, count(*) as n from t join u on u.x = t.x left join v on v.y = u.y and v.z = t.z group by t.a",
        "SELECT t.a, COUNT(*) AS n FROM t JOIN u ON u.x = t.x LEFT JOIN v ON v.y = u.y AND v.z = t.z GROUP BY…",
    ),
    (
        "select t.a, count(*) as n from t join u on u.x = t.x where not exists (select 1 from v where v.y = t.y and v.z = u.z) group by t.a",
        "SELECT t.a, COUNT(*) AS n FROM t JOIN u ON u.x = t.x WHERE NOT EXISTS(SELECT 1 FROM v WHERE v.y = t.…",
    ),
    (
        "with c as (select a, b from t), g as (select b, count(*) as n from c group by b) select sum(g.n) as s from g join c on c.b = g.n",
        "WITH c AS (SELECT a, b FROM t), g AS (SELECT b, COUNT(*) AS n FROM c GROUP BY b) SELECT SUM(g.n) AS …",
    ),
    ("select b from t where b = (select count(*) from u having count(*) = 0)", "SELECT COUNT(*) FROM u HAVING COUNT(*) = 0"),
    (
        "select a, p from (select a, rank() over (order by s) as p from (select a, sum(b) as s from t join u using (x) group by a) g) r",
        "RANK() OVER (ORDER BY s)",
    ),
    (
        "select a, sum(b) as s from (select a, lag(b) over (order by id) as b from t qualify row_number() over (partition by a order by id) = 1) r group by a",
        "SELECT a, SUM(b) AS s FROM (SELECT a, LAG(b) OVER (ORDER BY id) AS b FROM t QUALIFY ROW_NUMBER() OVE…",
    ),
    ("select a, p from (select a, lag(b) over (order by id) as p from t) w order by p limit 2 offset 1", "OFFSET 1"),
    (
        "select t.a, count(*) as n from t join u on u.x = t.x where t.b not in (select b from v where v.y <> u.y) group by t.a",
        "SELECT t.a, COUNT(*) AS n FROM t JOIN u ON u.x = t.x WHERE NOT t.b IN (SELECT b FROM v WHERE v.y <> …",
    ),
    (
        "select count(v.z) as n from t left join u on u.x = t.x left join v on v.y = u.y and v.z = t.z where v.z is null",
        "SELECT COUNT(v.z) AS n FROM t LEFT JOIN u ON u.x = t.x LEFT JOIN v ON v.y = u.y AND v.z = t.z WHERE …",
    ),
    ("select a, p from (select a, lag(b) over (order by id) as p from t) w order by p limit 2", "LIMIT 2"),
    (
        "select sum(b) as s from (select t.b from t join u on u.x = t.x order by t.b limit 3) q",
        "SELECT SUM(b) AS s FROM (SELECT t.b FROM t JOIN u ON u.x = t.x ORDER BY t.b LIMIT 3) AS q",
    ),
    (
        "select n, count(*) as c from (select a, count(*) as n from t group by rollup (a)) g group by n",
        "SELECT n, COUNT(*) AS c FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY ROLLUP (a)) AS g GROUP BY n",
    ),
    (
        "select n, count(*) as c from (select e, count(*) as n from (select unnest([a, b]) as e from t) q group by e) g group by n",
        "SELECT n, COUNT(*) AS c FROM (SELECT e, COUNT(*) AS n FROM (SELECT UNNEST([a, b]) AS e FROM t) AS q …",
    ),
    ("select t.a, u.b from t positional join u", "POSITIONAL JOIN u"),
    ("select t.a, u.b from t join u on u.x = t.x and u.b > (select avg(b) from v)", "JOIN u ON u.x = t.x AND u.b > (SELECT AVG(b) FROM v)"),
    ("select a from t where b in (select count(*) from u where u.x = t.x)", "b IN (SELECT COUNT(*) FROM u WHERE u.x = t.x)"),
    (
        "select a from t where b not in (with c as (select b, x from u) select c.b from c join (select max(b) as m from c group by x) d on d.m = c.b)",
        "b IN (WITH c AS (SELECT b, x FROM u) SELECT c.b FROM c JOIN (SELECT MAX(b) AS m FROM c GROUP BY x) A…",
    ),
    ("with c as (select b from u) select a from t where b not in (select max(b) from c group by b)", "b IN (SELECT MAX(b) FROM c GROUP BY b)"),
    ("with c as (select count(*) as n from u) select a from t where b not in (select n from c)", "b IN (SELECT n FROM c)"),
    (
        "select a, sum(b) as s from (select t.a, t.b from t join u on u.x = t.x"
        " semi join (select lag(b) over (order by id) as p from v) w on w.p = t.b) q group by a",
        "SELECT a, SUM(b) AS s FROM (SELECT t.a, t.b FROM t JOIN u ON u.x = t.x SEMI JOIN (SELECT LAG(b) OVER…",
    ),
    (
        "select v.a, count(*) as n from v left join (select u.id as i from t full join u on u.x = t.id) q on q.i is not distinct from v.x"
        " left join u w on w.x = v.y and w.z = q.i group by v.a",
        "SELECT v.a, COUNT(*) AS n FROM v LEFT JOIN (SELECT u.id AS i FROM t FULL JOIN u ON u.x = t.id) AS q …",
    ),
    (
        "select a, (select n from (select x as n, lag(b) over (order by id) as p from u) w where p = 1) as c from t",
        "SELECT n FROM (SELECT x AS n, LAG(b) OVER (ORDER BY id) AS p FROM u) AS w WHERE p = 1",
    ),
    (
        "select t.a, w.p from t left join (select lag(b) over (order by id) as p from u) w on w.p = t.b",
        "LEFT JOIN (SELECT LAG(b) OVER (ORDER BY id) AS p FROM u) AS w ON w.p = t.b",
    ),
    ("select a, (select count(*) as n from u having count(*) < 2) as n from t", "SELECT COUNT(*) AS n FROM u HAVING COUNT(*) < 2"),
]
# Filters that let NULLs pass, and what reads two items, or one with NULLs in its place.
NOT_QUITE = [
    f"{OUTER} where v.b > 1 or v.z is null group by t.a, u.b",
    f"{OUTER} where v.b not in (select b from t) group by t.a, u.b",
    f"{OUTER} where v.b > all (select b from t) group by t.a, u.b",
    f"{OUTER} where (select count(*) from t w where w.id = v.id) >= t.b group by t.a, u.b",
    f"{PAIRS} where t.b > (select avg(v.b) from v where v.y = t.y and v.z = u.z) group by t.a, u.b",
    f"{PAIRS} where t.b > 1 or u.b > (select avg(v.b) from v where v.y = t.y) group by t.a, u.b",
    f"{OUTER} where exists (select count(*) from t w where w.id = v.id) group by t.a, u.b",
    f"{OUTER} left join t w on w.x = v.x group by t.a, u.b",
    f"{PAIRS} left join lateral (select z from v where v.y = u.y) l on l.z > t.b group by t.a, u.b",
    f"{PAIRS} anti join v on v.y = u.y and v.z = t.z group by t.a, u.b",
    f"{PAIRS.replace(' join', ' full join')} where not exists (select 1 from v where v.y is not distinct from t.y) group by t.a, u.b",
    f"select n, count(*) as c from ({PAIRS} group by t.a, u.b) g group by n",
    f"select n, count(*) as c from ({PAIRS.replace(' join', ' right join')} group by t.a) g group by n",
    f"select a, max(n) as n from ({PAIRS} group by t.a, u.b) g group by a",
]
COLUMNS = ("id", "a", "b", "x", "y", "z")


def unproven_clauses(sql: str) -> list[str]:
    is_table = {"t", "u", "v"}.__contains__
    tables = Tables(lambda name: ("id",) if is_table(name) else None, lambda name: COLUMNS if is_table(name) else None)
    return [shown(clause) for clause in unproven(sqlglot.parse_one(sql, dialect="duckdb"), tables)]


@pytest.mark.parametrize("sql", SUFFICIENT)
def test_why_sets_are_enough_by_proof(sql: str) -> None:
    assert unproven_clauses(sql) == []


@pytest.mark.parametrize(("sql", "clause"), INSUFFICIENT)
def test_a_clause_for_which_why_sets_may_not_be_enough(sql: str, clause: str) -> None:
    assert clause in unproven_clauses(sql)


@pytest.mark.parametrize("sql", NOT_QUITE)
def test_what_is_nearly_enough_is_not_promised(sql: str) -> None:
    assert unproven_clauses(sql)


def test_g2_is_not_promised_where_it_may_not_hold(tmp_path: Path) -> None:
    sql = "select key, max(value) as top from reading where value not in (select count(*) from reading where value > 9) group by key"
    project = values_project(tmp_path / "p", sql)
    take_in(project, value_files(tmp_path / "in", "a=1\nb=5\n"))
    build(project)
    publish(project, "claim")
    found = publications(project)[0].record["guarantees"]["G2"]
    clause = "rollup.claim: value IN (SELECT COUNT(*) FROM reading WHERE value > 9)"
    assert found == {"holds": "unknown", "established": "not established", "clauses": [clause]}


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
