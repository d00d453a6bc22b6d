"""Which models are local to their key, and that none is taken for local that is not.

Every case that is accepted is tried on random rows: what the model gives for a key, when it reads only the rows said to
carry that key, is what it gives for it over all rows; and when rows come and go, no other keys change than those told.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import duckdb
import pytest
from exhaustive import few

from warehouse.errors import WarehouseError
from warehouse.transform.check.project_check import check
from warehouse.transform.incremental.changed_keys import FILE_COLUMN, KeyPlan
from warehouse.transform.incremental.locality import INPUT_ALIAS
from warehouse.transform.project.model import Model
from warehouse.transform.sql.duck import connect, quote

ROUNDS = 8
TABLES = {
    "t": {"k": "integer", "j": "integer", "s": "varchar", "v": "integer", "x": "integer",
          "st": "struct(k integer, j integer)", "items": "integer[]"},
    "u": {"k": "integer", "j": "integer", "s": "varchar", "x": "integer", "w": "integer"},
    "z": {"k": "varchar", "x": "integer", "y": "integer"},
    "days": {"ts": "timestamp", "v": "integer"},
}
VIEWS = {
    "renamed": "select k as run, v from t where x > 0",
    "totals": "select k, sum(v) as n from t group by k",
    "ranked": "select k, v, row_number() over (order by v, x, s, j) as place from t",
    "combined": "select k, v from t union all select k, w from u",
}

# SQL, key, and the inputs by key and those whole ("t u | z").
LOCAL = {
    "a filter": ("select k, v from t where x > 1", "k", "t |"),
    "the key by another name": ("select k as run, v from t", "run", "t |"),
    "names in another case": ('select K, V from T', "k", "t |"),
    "a qualified name with blanks": ("select k, v from main . t", "k", "t |"),
    "group by": ("select k, sum(v) as n from t group by k", "k", "t |"),
    "group by a number": ("select k, count(*) as n from t group by 1", "k", "t |"),
    "group by all": ("select k % 2 as k, count(*) as n from t group by all", "k", "t |"),
    "group by an alias": ("select lower(s) as low, count(*) as n from t group by low", "low", "t |"),
    "group by a computed key": ("select lower(s) as s, count(*) as n from t group by lower(s)", "s", "t |"),
    "group by more than the key": ("select k, j, count(*) as n from t group by k, j", "k", "t |"),
    "one grouping set": ("select k, count(*) as n from t group by grouping sets ((k))", "k", "t |"),
    "a column named as another's alias": ("select j as k, count(*) as j from t group by j", "k", "t |"),
    "filters of aggregates": (
        "select k, sum(v) filter (where x > 1) as n, count(distinct s) as m from t group by k having sum(v) > 1", "k", "t |"),
    "a macro that aggregates": ("select k, wavg(v, x) as n from t group by k", "k", "t |"),
    "a day of a timestamp": ("select date_trunc('day', ts) as day, sum(v) as n from days group by all", "day", "days |"),
    "two columns": ("select k, j, count(*) as n from t group by k, j", "k j", "t |"),
    "a field of a struct": ("select st.k as k, v from t", "k", "t |"),
    "a constant": ("select 1 as k, v from t", "k", "t |"),
    "distinct": ("select distinct k, s from t", "k", "t |"),
    "distinct on": ("select distinct on (k, j) k, j, v from t order by v, x, s, st, items", "k", "t |"),
    "a window": ("select k, v, row_number() over (partition by k order by v, x, s, j, st, items) as n from t", "k", "t |"),
    "a named window": ("select k, sum(v) over w as n from t window w as (partition by k order by v)", "k", "t |"),
    "a window by a struct's field": ("select st.k as k, sum(v) over (partition by st.k) as n from t", "k", "t |"),
    "qualify by the key": (
        "select j as k, k as j, v from t qualify row_number() over (partition by j order by v, x, s, st, items, k) = 1",
        "k", "t |"),
    "an inner join": ("select t.k, v, w from t join u on t.k = u.k", "k", "t u |"),
    "an inner join by another column": ("select t.k, v, w from t join u on t.x = u.x", "k", "t | u"),
    "a join by half of the key": ("select t.k, t.j, w from t left join u on t.k = u.k", "k j", "t | u"),
    "using": ("select k, v, w from t left join u using (k)", "k", "t u |"),
    "a star over using": ("select t.* exclude (st), u.w from t left join u using (k)", "k", "t u |"),
    "natural": ("select * from (select k, v from t) as a natural left join (select k, w from u) as b", "k", "t u |"),
    "a condition on two left columns": ("select t.k, t.v from t left join u on t.k = t.j and t.x = u.x", "k", "t | u"),
    "tables with commas": ("select a.k, b.v from t as a, t as b where a.k = b.k", "k", "t |"),
    "a table joined to itself by another column": ("select a.k, b.v from t as a, t as b where a.k = b.j", "k", "t |"),
    "semi": ("select * from t semi join u on t.k = u.k", "k", "t u |"),
    "semi by another column": ("select * from t semi join u on t.x = u.x", "k", "t | u"),
    "anti": ("select t.k, t.v from t anti join u using (k)", "k", "t u |"),
    "a key behind a semi join": (
        "select * from (select x, v from t) as a semi join u on a.x = u.x join (select y, k from z) as b on a.v = b.y",
        "k", "z | t u"),
    "equal, NULL too": ("select t.k, v, w from t join u on t.k is not distinct from u.k", "k", "t | u"),
    "exists": ("select k, v from t where exists (select 1 from u where u.k = t.k)", "k", "t | u"),
    "in": ("select k, v from t where k in (select k from u)", "k", "t | u"),
    "a scalar subquery that aggregates": ("select k, (select max(w) from u where u.k = t.k) as m from t", "k", "t | u"),
    "lateral": ("select t.k, l.m from t, lateral (select max(w) as m from u where u.k = t.k) as l", "k", "t | u"),
    "a key from lateral": (
        "select l.k, l.m from t, lateral (select u.k, max(w) as m from u where u.x = t.x group by u.k) as l", "k", "u | t"),
    "unnest": ("select k, unnest(items) as item from t", "k", "t |"),
    "unnest beside": ("select t.k, i.item from t, unnest(t.items) as i (item)", "k", "t |"),
    "a parameter named as the key": (
        "select k, list_sum(list_transform(items, lambda k: k + 1)) as n from t", "k", "t |"),
    "unpivot": ("select k, part, sum(n) as n from t unpivot (n for part in (v, x)) group by all", "k", "t |"),
    "unpivot that keeps NULL": ("select k, part, n from t unpivot include nulls (n for part in (v, x as other))", "k", "t |"),
    "unpivot of a query": (
        "select p.*, w from (select lower(s) as low, v, k, x from t) unpivot (n for part in (v, x)) as p join u on p.k = u.k", "k", "t u |"),
    "unpivot of a CTE with names for its columns": (
        "with c (a, b, run, d) as (select v, x, k, s from t) select * from c unpivot (n for part in (a, b))", "run", "t |"),
    "unpivot of unpivot": (
        "select run, name, n from (from (from (select v, x, k as run, s, j from t) unpivot (n for part in (v, x))) unpivot (n2 for name in (j)))", "run", "t |"),
    "unpivot as a statement": ("select k, n, v from (unpivot (select k, v, x from t) on v, x into name n value v)", "k", "t |"),
    "a key computed over unpivot": ("select lower(s) as low, n from t unpivot (n for part in (v, x))", "low", "t |"),
    "union": ("select k, v from t union select k, w from u", "k", "t u |"),
    "union by position": ("select v as k, k as v from t union all select k, j from u", "k", "t u |"),
    "union by name": ("select v, k from t union by name select k, x as v from u", "k", "t u |"),
    "union by name without the key": ("select k, v from t union by name select x as v from u", "k", "t u |"),
    "union with constants": ("select k, v from t union all select 0, 1", "k", "t |"),
    "except": ("select k, j from t except select k, j from u", "k", "t u |"),
    "intersect": ("select k, j from t intersect select k, j from u", "k", "t u |"),
    "star with replace in a union": (
        "select * replace (v + 1 as v) from (select v, k, x from t) as q union all select x, k, w from u", "k", "t u |"),
    "star with a replaced key": ("select * replace (k % 2 as k) from t", "k", "t |"),
    "star with two columns of one name": (
        "select id, x, k from (select * from (select x as id, v as x from t) as a join (select x as id, k from u) as b"
        " on a.id = b.id union all select x, w, x, k from u)", "k", "u | t"),
    "star before a column of its name": ("select k, v from (select *, j as k from (select k, j, v from t) as q) as p", "k", "t |"),
    "a CTE that is read twice": (
        "with c as (select k, sum(v) as n from t group by k) select a.k, a.n, b.n as m from c as a left join c as b on a.k = b.k",
        "k", "t |"),
    "a CTE with names for its columns": ("with c (k, v) as (select v, k from t) select k, sum(v) as n from c group by k", "k", "t |"),
    "names for some columns": ("with c (k) as (select v, k as v from t) select k, sum(v) as n from c group by k", "k", "t |"),
    "names for a subquery's columns": ("select k, sum(v) as n from (select k, v from t) as c (v, k) group by k", "k", "t |"),
    "names for a table's columns": ("select k, sum(v) as n from t as c (v, j, s, k) group by k", "k", "t |"),
    "a CTE named as what it reads": ("with t as (select k, v from t where v > 1) select k, v from t", "k", "t |"),
    "a CTE that shadows a table": ("with u as (select k, v from t) select k, v from u", "k", "t |"),
    "a CTE in a subquery": (
        "select k, v from (with c as (select x from u) select k, v from t where x in (select x from c)) as q", "k", "t | u"),
    "a shadowed name in a subquery": (
        "select k, v from t where x in (select q.x from (with z as (select * from u) select * from z) as q, z)", "k", "t | u z"),
    "a recursive CTE beside": (
        "with recursive r as (select 1 as i union all select i + 1 from r where i < 3)"
        " select k, v from t where x in (select i from r)", "k", "t |"),
    "two unnamed subqueries": (
        "select * exclude (j) from (select j, v from t) join (select x as j2, k from u) on j = j2", "k", "u | t"),
    "a view": ("select run, sum(v) as n from renamed group by run", "run", "t |"),
    "a key computed over a view": ("select run % 2 as half, sum(v) as n from renamed group by all", "half", "t |"),
    "a view that groups by the key": ("select k, n from totals", "k", "t |"),
    "a view of two tables": ("select k, sum(v) as n from combined group by k", "k", "t u |"),
}

# SQL, key, and a part of the message; the clause is the one at the caret where it is given.
REFUSED = {
    "no input": ("select 1 as k", "k", "no input carries k", ""),
    "the other side of a join": ("select u.k, v from t left join u on t.x = u.x", "k", "may be missing", "u.k"),
    "coalesce of the other side": ("select coalesce(u.k, 9) as k, v from t left join u on t.x = u.x", "k", "may be missing", "coalesce"),
    "an aggregate over all": ("select max(k) as k from t", "k", "an aggregate over all keys", "max"),
    "a macro that aggregates": ("select wavg(v, x) as k from t", "k", "not computed from one row", ""),
    "a grouping without the key": ("select j, any_value(k) as k from t group by j", "k", "the grouping leaves the key out", "j"),
    "a grouping by the computed key's column": ("select lower(s) as s, count(*) as n from t group by s", "s", "the grouping", "s"),
    "a number that counts a pattern's columns": (
        "select columns(['s', 'x']), any_value(k) as k from t group by s, 2", "k", "is not known", ""),
    "rollup": ("select k, count(*) as n from t group by rollup (k)", "k", "several grouping sets", "k"),
    "a window over all": ("select k, row_number() over (order by v) as n from t", "k", "partition by the key", "row_number"),
    "a named window over all": ("select k, sum(v) over w as n from t window w as (order by v)", "k", "partition by the key", "sum"),
    "qualify over all": ("select k, v from t qualify row_number() over (order by v) = 1", "k", "partition by the key", "row_number"),
    "a window by half of the key": (
        "select k, j, sum(v) over (partition by k) as n from t", "k j", "partition by the key", "sum"),
    "distinct on another column": ("select distinct on (j) j, k from t", "k", "distinct on", "j"),
    "distinct on an alias that hides a column": ("select distinct on (j) j as k, k as j from t", "k", "distinct on", "j"),
    "limit": ("select k, v from t order by v limit 5", "k", "a limit", "5"),
    "limit in a subquery": ("select k, first(v) as v from (select k, v from t limit 3) group by k", "k", "a limit", "3"),
    "a sample": ("select k, v from t using sample reservoir(3 rows) repeatable (42)", "k", "a sample", ""),
    "a sample of a table": ("select k, v from t tablesample reservoir(3) repeatable (42)", "k", "a sample", "t"),
    "full join": ("select coalesce(t.k, u.k) as k, w from t full join u on t.k = u.k", "k", "a full join", ""),
    "right join": ("select u.k, v from t right join u on t.k = u.k", "k", "a right join", ""),
    "positional join": ("select k, w from t positional join (select w from u) as q", "k", "a positional join", ""),
    "asof join": ("select t.k, w from t asof join u on t.k = u.k and t.x >= u.x", "k", "an asof join", ""),
    "the table itself over all keys": (
        "select k, v from t where v > (select avg(v) from t)", "k", "t is read over all keys here, and by key elsewhere", "t)"),
    "joined to itself over all keys": (
        "with c as (select k, sum(v) as n from t group by k) select a.k, b.n from c as a left join c as b on a.n = b.n",
        "k", "over all keys", ""),
    "joined on a value of another type": ("select t.k, y from z join t on z.k = t.k", "k", "key k is INTEGER, but VARCHAR in z", ""),
    "united with another type": ("select k, v from t union all select k, y from z", "k", "key k is VARCHAR, but INTEGER in t", ""),
    "an unnested list": ("select unnest(items) as k, v from t", "k", "is not known", ""),
    "a function's column": ("select i.k, v from t, unnest(t.items) as i (k)", "k", "carries k", ""),
    "a function's column, named as a struct": ("select st.k, v from t, unnest(items) as st (k)", "k", "carries k", ""),
    "a pattern": ("select columns('^[kv]$') from t", "k", "is not known", ""),
    "a star that renames": ("select * rename (j as run) from t", "run", "is not known", ""),
    "a star without one of two": (
        "select * exclude (b.k) from (select k, v from t) as a join (select k, w from u) as b on a.v = b.w",
        "k", "is not known", ""),
    "a recursive CTE": (
        "with recursive r as (select k, v from t union all select k, v - 1 from r where v > 0) select k, v from r",
        "k", "recursive", ""),
    "a key made by unpivot": ("select part, count(*) as n from t unpivot (n for part in (v, x)) group by part", "part", "carries part", "part"),
    "a key that unpivot computes from a column's name": ("select part || k as k, n from t unpivot (n for part in (v, x))", "k", "carries k", ""),
    "a key among what is listed": ("select n as k, v from t unpivot (n for part in (k, j))", "k", "carries k", ""),
    "unpivot of a pattern": ("select k, n from (select k, v, x from t) unpivot (n for part in (columns('v|x')))", "k", "pivot", ""),
    "unpivot of two columns at once": ("select k, n from t unpivot ((n, m) for part in ((v, x), (x, v)))", "k", "pivot", ""),
    "pivot": ("select * from (pivot t on s in ('a') using sum(v) group by k)", "k", "", ""),
    "a view over all keys": ("select k, v, place from ranked", "k", "partition by the key", ""),
}


def model(name: str, text: str, materialized: str = "table", key: Sequence[str] = ()) -> Model:
    return Model(name=name, schema="main", place=f"{name}.sql", text=text, materialized=materialized, key=tuple(key))


def plan_of(sql: str, key: Sequence[str]) -> KeyPlan:
    """How the keys of a model over `TABLES` and `VIEWS` are found. Raises WH221 when it is not local."""
    tables = {
        name: model(name, "select " + ", ".join(f"null::{kind} as {column}" for column, kind in columns.items()))
        for name, columns in TABLES.items()
    }
    views = {name: model(name, text, "view") for name, text in VIEWS.items()}
    return check({**tables, **views, "m": model("m", sql, "incremental", key)}, {}, {}).key_plans["m"]


def value(rng: random.Random, kind: str) -> str:
    if rng.random() < 0.12:
        return "null"
    match kind:
        case "integer":
            return str(rng.randrange(4))
        case "varchar":
            return f"'{rng.choice(['0', '1', '01', 'a', 'A'])}'"
        case "timestamp":
            return f"timestamp '2025-01-0{rng.randrange(1, 4)} 0{rng.randrange(10)}:00:00'"
        case "integer[]":
            return str([rng.randrange(4) for _ in range(rng.randrange(3))])
    return f"{{'k': {value(rng, 'integer')}, 'j': {value(rng, 'integer')}}}"


Row = tuple[str, ...]


def random_rows(rng: random.Random, table: str, most: int) -> list[Row]:
    return [tuple(value(rng, kind) for kind in TABLES[table].values()) for _ in range(rng.randrange(most))]


def fill(con: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Row]) -> None:
    con.execute(f"delete from {table}")
    if rows:
        con.execute(f"insert into {table} values " + ", ".join(f"({', '.join(row)})" for row in rows))


def by_key(con: duckdb.DuckDBPyConnection, sql: str, key: Sequence[str]) -> dict[str, list[str]]:
    """The rows of a query under their keys, in an order of their own."""
    names = ", ".join(map(quote, key))
    found: dict[str, list[str]] = {}
    for row, at in con.execute(f"select row(*columns(*))::varchar, row({names})::varchar from ({sql})").fetchall():
        found.setdefault(at, []).append(row)
    return {at: sorted(rows) for at, rows in found.items()}


def narrowed(con: duckdb.DuckDBPyConnection, sql: str, key: Sequence[str], plan: KeyPlan) -> str:
    """The model over only those rows of its inputs that are said to carry the key in table `wanted`."""
    for number, found in sorted(enumerate(plan.inputs), key=lambda item: -item[1].start):
        same = " and ".join(f"({part}) is not distinct from w.{quote(name)}" for part, name in zip(found.key, key, strict=True))
        written = sql[found.start : found.end]
        con.execute(
            f"create or replace temp table n{number} as select {INPUT_ALIAS}.* from (select * from {written}) as {INPUT_ALIAS}"
            f" semi join wanted as w on {same}"
        )
        alias = "" if found.is_aliased else f" as {written.rpartition('.')[2]}"
        sql = f"{sql[: found.start]}n{number}{alias}{sql[found.end :]}"
    return sql


def told_keys(con: duckdb.DuckDBPyConnection, plan: KeyPlan, table: str, key: Sequence[str]) -> set[str]:
    """The keys that the rows of a table are said to touch."""
    rows = f"select *, '' as {quote(FILE_COLUMN)} from {table}"
    columns = ", ".join(map(quote, key))
    con.execute("create or replace temp table told as from wanted limit 0")
    for path in plan.paths:
        if path.leaf == table:
            con.execute(f"insert into told select {columns} from ({path.keys_of(rows)})")
    return {row[0] for row in con.execute("select row(*columns(*))::varchar from told").fetchall()}


@pytest.mark.parametrize("case", few(LOCAL, 24))
def test_what_is_local_gives_the_same_rows_by_key(case: str) -> None:
    sql, names, inputs = LOCAL[case]
    key = names.split()
    plan = plan_of(sql, key)
    told, _, whole = inputs.partition("|")
    assert {path.leaf for path in plan.paths} == set(told.split())
    assert {name for name in plan.whole if name in TABLES} == set(whole.split())
    assert plan.whole <= {*TABLES, *VIEWS}
    con, rng = connect(), random.Random(case)
    for table, columns in TABLES.items():
        con.execute(f"create table {table} ({', '.join(f'{column} {kind}' for column, kind in columns.items())})")
    for view, text in VIEWS.items():
        con.execute(f"create view {view} as {text}")
    columns = ", ".join(map(quote, key))
    checked = 0
    for _ in range(ROUNDS):
        data = {table: random_rows(rng, table, 9) for table in TABLES}
        for table, rows in data.items():
            fill(con, table, rows)
        full = by_key(con, sql, key)
        for at in con.execute(f"select distinct {columns} from ({sql})").fetchall():
            con.execute(f"create or replace temp table wanted as select {columns} from ({sql}) limit 0")
            con.execute(f"insert into wanted values ({', '.join('?' * len(key))})", list(at))
            shown = con.execute("select row(*columns(*))::varchar from wanted").fetchall()[0][0]
            assert by_key(con, narrowed(con, sql, key, plan), key).get(shown) == full[shown], data
            checked += 1
        con.execute(f"create or replace temp table wanted as select {columns} from ({sql}) limit 0")
        for table in told.split():
            kept = [row for row in data[table] if rng.random() < 0.7]
            come = random_rows(rng, table, 3)
            gone = list(data[table])
            for row in kept:
                gone.remove(row)
            fill(con, table, [*gone, *come])
            may_change = told_keys(con, plan, table, key)
            fill(con, table, [*kept, *come])
            after = by_key(con, sql, key)
            assert {at for at in full.keys() | after.keys() if full.get(at) != after.get(at)} <= may_change, data
            fill(con, table, data[table])
    assert checked, "the case yields no rows"


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_local_is_refused_with_the_clause(case: str) -> None:
    sql, names, message, clause = REFUSED[case]
    with pytest.raises(WarehouseError) as caught:
        plan_of(sql, names.split())
    assert caught.value.code == "WH221"
    assert message in caught.value.message
    if clause:
        column = int(str(caught.value.place).rpartition(":")[2])
        assert sql[column - 1 :].lower().startswith(clause)


def test_the_clause_of_a_view_is_told_with_the_model_that_reads_it() -> None:
    with pytest.raises(WarehouseError) as caught:
        plan_of("select k, v, place from ranked", ["k"])
    assert str(caught.value.place).startswith("ranked.sql:1:14")
    assert "so main.m, which reads main.ranked, is not local to its key" in caught.value.message
