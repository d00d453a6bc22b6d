"""The canonical form of SQL: comments and formatting go, everything else stays. DuckDB's own parser is the judge."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import pytest

from warehouse.transform.sql.text import canonical, line_and_column, output_column, pointed, tokens

# SQL, and its canonical form.
CANONICAL = {
    "layout": ("select\n    a ,b\n\tfrom   t\r\n;", "select a , b from t"),
    "reserved words in lower case, names as written: a field of a struct keeps its case": (
        "SELECT A, {B: 1} FROM Runs", "select A , { B : 1 } from Runs"
    ),
    "words beyond ASCII": ("SELECT ÉTÉ, \u212a", "select ÉTÉ , \u212a"),
    "closing semicolons": ("select 1 ; -- done\n ;", "select 1"),
    "line comment": ("select 1 -- one\n, 2", "select 1 , 2"),
    "line comment ends at a carriage return": ("select 1 -- one\r, 2", "select 1 , 2"),
    "line comment at the end": ("select 1 --", "select 1"),
    "block comment separates": ("select/* x */1", "select 1"),
    "block comments nest": ("select /* a /* b */ c */ 1", "select 1"),
    "block comment of many lines": ("select /*\n * 'a\n -- */ 1", "select 1"),
    "block comment opened by a slash": ("select /*/ x */ 1", "select 1"),
    "quote in a comment": ("select 1 -- it's\n, 'a'", "select 1 , 'a'"),
    "comment marks in a text": ("select '-- /* x */'", "select '-- /* x */'"),
    "comment marks in an identifier": ('select "-- /* x */"', 'select "-- /* x */"'),
    "comment marks in dollar quotes": ("select $$ -- /* $$", "select $$ -- /* $$"),
    "layout in a text": ("select 'a\n  b\tC'", "select 'a\n  b\tC'"),
    "doubled quote": ("select 'it''s  --  a'", "select 'it''s  --  a'"),
    "backslash is no escape in a plain text": (r"select 'a\' -- b", r"select 'a\'"),
    "backslash is an escape after e": (r"select e'a\' -- B' -- c", r"select e'a\' -- B'"),
    "texts that SQL joins": ("select 'a'  -- c\n  'B'", "select 'a'\n'B'"),
    "case of an identifier": ('select "Run Id"', 'select "Run Id"'),
    "quote in an identifier": ('select "a""B"', 'select "a""B"'),
    "backquoted identifier": ("select `A  b`", "select `A  b`"),
    "dollar tag": ("select $Q$ a $$ B $q$ $Q$ , 1", "select $Q$ a $$ B $q$ $Q$ , 1"),
    "dollar tag with a digit": ("select $t1$A  b$t1$", "select $t1$A  b$t1$"),
    "dollar inside a word": ("select a$b", "select a$b"),
    "parameters": ("select $1,$Name,?", "select $1 , $Name , ?"),
    "numbers": ("select 1.5E+3,.5,1_000,0xFF", "select 1.5E+3 , .5 , 1_000 , 0xFF"),
    "sign of an operand": ("select a-1,a*-1,a=-1", "select a - 1 , a * - 1 , a = - 1"),
    "an operator with a sign in it": ("select a-@b", "select a -@ b"),
    "an operator before a comment": ("select 2*-- two\n3, 4*/* x */5", "select 2 * 3 , 4 * 5"),
    "operators": ("select a<>b,a||b,a->>'x',a::int,a//b", "select a <> b , a || b , a ->> 'x' , a :: int , a // b"),
    "blanks beyond ASCII": ("\ufeffselect\u00a01\u3000,\u200b2", "select 1 , 2"),
    "a line separator is no blank to DuckDB": ("select a\u2028b", "select a\u2028b"),
    "empty": (" -- nothing\n", ""),
}


@pytest.mark.parametrize("case", CANONICAL)
def test_canonical(case: str) -> None:
    sql, expected = CANONICAL[case]
    assert canonical(sql) == expected


# Each pair means two things to DuckDB, so it must have two canonical forms.
DIFFERENT = [
    ("select 1 -- x\r, 2", "select 1 -- x , 2"),
    ("select 'a  b'", "select 'a b'"),
    ("select 'A'", "select 'a'"),
    ('select "A" from t', 'select "a" from t'),
    ("select x'ab'", "select x 'ab'"),
    (r"select e'a\' -- b'", r"select e'a\' -- c'"),
    ("select a - @ b", "select a -@ b"),
    ("select a\u2028b from t", "select a b from t"),
    ("select 1 /* /* */ , 2 -- */", "select 1 /* /* */ , 3 -- */ */"),
    ("select $$a $$", "select $$a$$"),
    ("select É from t", "select é from t"),
    ("select 1e5", "select 1 e5"),
    ("select $1", "select $2"),
    ("select 1.0", "select 1"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_meanings_have_other_forms(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


# Statements in lower case, because DuckDB's parser keeps the case of names, which canonical() does not.
STATEMENTS = [
    "select 1",
    "select -1, - -1, +1, ~ 1",
    "select 1+2*3-4/5//6%7",
    "select 2 ** -3, 2 ^ 3, 5!, @ (-4)",
    "select 1e5, 1.5e-3, .5, 1., 1_000_000, 0xff, 0b101",
    "select a-@b from t",
    "select a <-> b, a <=> b from t",
    "select a ~ b, a !~ b, a ~~ b, a !~~ b, a ~~* b, a !~~* b, a ^@ b from t",
    "select a && b, a @> b, a <@ b, a & b, a | b, a << 1, a >> 1 from t",
    "select a = b, a == b, a <> b, a != b, a <= b, a >= b from t",
    "select a=-1, a<-1, a>=-1, a->-1, a||b from t",
    "select a->'x', a->>'x', a.b.c, a['x'], a[1], a[1:2], a[:2], a[-2:], a[1:3:2] from t",
    "select list_transform([1, 2], lambda x: x + 1)",
    "select list_filter([1, 2], x -> x > 1)",
    "select [x * 2 for x in [1, 2, 3] if x > 1]",
    "select {'a': 1, b: [1, 2]}, map {'k': 'v'}, (1, 2), array[1, 2]",
    "select struct_pack(a := 1, b := 'x'), f(a => 1)",
    "select 'a''b', '', 'é', '\u2028', e'\\'', e'a\\nb', x'00ff', b'0101'",
    "select 'a'\n'b'\n\n  'c'",
    "select e'a\\\\' -- c\n'b'",
    "select $$a'b$$, $t$ a $$ b $t$, $t1$ ; $t1$, $é$ x $é$",
    "select $1, $2 + $1",
    "select $name, $other_name",
    "select ?, ? = ?",
    'select "a b", "a""b", "--", "/*", `x y`, été, a$b, _a1 from "my table"',
    "select \U0001f600, a\u2028b from t",
    "select\u00a01\u3000+\u200b2\u2060\ufeff",
    "select 1 -- a\n+ 2 -- b\r+ 3 --c\r\n+ 4",
    "select /* a /* b */ ' */ 1 /**/ + /*/ x */ 2 /*/**/*/",
    "select 1 as x, 2 y, z: 3",
    "select date '2025-01-01', timestamp '2025-01-01 00:00:00', interval 1 day, interval '3' month, time '01:02:03'",
    "select a::int, a::decimal(18, 3), a::int[], a::struct(x int, y varchar), a::map(int, text), cast(a as double)",
    "select try_cast(a as date), extract(year from a), a at time zone 'UTC' from t",
    "select case when a then 1 when b then 2 else 3 end, case a when 1 then 'x' end from t",
    "select a is null, a is not null, a is distinct from b, a is not distinct from b, a is true from t",
    "select a in (1, 2), a not in (select 1), a between 1 and 2, a like 'x%' escape '\\', a ilike 'y'",
    "select a similar to 'z' from t",
    "select exists (select 1), not exists (select 1), a > any (select 1), (select max(b) from u) from t",
    "select a = all (select 2) from t",
    "select * from t",
    "select t.*, u.* exclude (a, b), * replace (a + 1 as a), * rename (a as b) from t, u",
    "select columns('a.*'), columns(c -> c like 'x%'), columns(* exclude (a)) from t",
    "select * like 'a%', * not similar to 'b' from t",
    "from t select a where b",
    "from t",
    "select distinct a, b from t",
    "select distinct on (a) a, b from t order by a, b desc nulls last",
    "select a, count(*) from t group by a having count(*) > 1 order by all limit 10 offset 5",
    "select a, sum(b) from t group by all",
    "select a, b, sum(c) from t group by grouping sets ((a), (b), ()), rollup (a), cube (b)",
    "select count(*) filter (where a), count(distinct b), list(c order by d desc) from t",
    "select string_agg(e, ',' order by e) from t",
    "select sum(a) over (partition by b order by c rows between 2 preceding and 1 following exclude ties) from t",
    "select lag(a, 1 ignore nulls) over w, rank() over (w rows unbounded preceding) from t window w as (order by b)",
    "select a from t qualify row_number() over (partition by b order by c) = 1",
    "select quantile_cont(a, [0.5, 0.9]), median(b), arg_max(a, b), mode() within group (order by a) from t",
    "select * from a join b on a.x = b.x left join c using (y) full outer join d on true",
    "select * from a natural join b cross join c, d",
    "select * from a semi join b using (x) anti join c using (x)",
    "select * from a asof join b on a.x = b.x and a.t >= b.t",
    "select * from a positional join b",
    "select * from t, lateral (select t.a + 1), unnest([1, 2]) as u (x)",
    "select * from (values (1, 'a'), (2, 'b')) as v (n, s)",
    "values (1, 2), (3, 4)",
    "select * from range(0, 10) as r (i), generate_series(1, 3), read_csv('a.csv', header := true)",
    "select * from 'file.parquet', schema.t, catalog.schema.t",
    "select * from t tablesample 10 percent (bernoulli, 42)",
    "select a from t union all select b from u union by name select c from v",
    "(select 1 intersect select 2) except all select 3 order by 1",
    "with a as (select 1 as x), b (y) as materialized (select x from a) select * from a, b",
    "with recursive n (i) as (select 1 union all select i + 1 from n where i < 5) select i from n",
    "with recursive k (a, b) using key (a) as (select 1, 2 union select a, b + 1 from k where b < 5) select * from k",
    "pivot t on a in ('x', 'y') using sum(b) as s group by c",
    "unpivot t on a, b into name k value v",
    "select * from t pivot (sum(a) for b in (1, 2) group by c)",
    "select * from (describe t)",
    "select unnest(a), unnest({'x': 1}, recursive := true) from t",
    "select #1, #2 from t order by #1 collate nocase",
    "select current_date, current_timestamp, true, false, null, default_value from t",
    "select 'a' || b || $$c$$ || e'\\td' from t;",
    "select count() from t where a glob '*.txt' and not (b or c) -- last",
    "summarize select 1 as a",
    "select grouping(a), grouping_id(a, b) from t group by cube (a, b)",
    "select (a).b, (a).b.c, a.b(), 'x'.upper() from t",
    "select substring(a from 1 for 2), position('x' in a), trim(both 'x' from a), overlay(a placing b from 1) from t",
]


@pytest.fixture(scope="module")
def parser() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def parsed(parser: duckdb.DuckDBPyConnection, sql: str) -> Any:
    """DuckDB's syntax tree without its places; the error of SQL that it cannot serialise or parse."""
    document = json.loads(parser.execute("select json_serialize_sql(?::varchar)", [sql]).fetchall()[0][0])
    return _without_places(document)


def _without_places(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _without_places(value) for key, value in node.items() if not key.startswith("query_location")}
    return [_without_places(item) for item in node] if isinstance(node, list) else node


@pytest.mark.parametrize("sql", STATEMENTS)
def test_the_canonical_form_parses_to_the_same_tree(sql: str, parser: duckdb.DuckDBPyConnection) -> None:
    tree = parsed(parser, sql)
    assert not tree["error"], tree.get("error_message")
    assert parsed(parser, canonical(sql)) == tree


def test_the_comparison_of_trees_sees_a_difference(parser: duckdb.DuckDBPyConnection) -> None:
    assert parsed(parser, "select  a") == parsed(parser, "select a")
    assert parsed(parser, "select a + 1") != parsed(parser, "select a + 2")


ALL = [*STATEMENTS, *(sql for sql, _ in CANONICAL.values()), *(sql for pair in DIFFERENT for sql in pair)]


@pytest.mark.parametrize("sql", ALL)
def test_canonical_is_idempotent(sql: str) -> None:
    once = canonical(sql)
    assert canonical(once) == once


@pytest.mark.parametrize("sql", ALL)
def test_tokens_are_the_text_at_their_offsets(sql: str) -> None:
    found = tokens(sql)
    assert [sql[token.offset : token.offset + len(token.text)] for token in found] == [token.text for token in found]
    between = [
        sql[before.offset + len(before.text) : token.offset] for before, token in zip(found, found[1:], strict=False)
    ]
    assert all(gap == "" or tokens(gap) == [] for gap in between)


UNFINISHED = ["select 'a", 'select "a', "select /* a /* b */", "select $$a", "select e'a\\'", "\\", "\0"]


@pytest.mark.parametrize("sql", UNFINISHED)
def test_unfinished_sql_ends(sql: str) -> None:
    assert canonical(canonical(sql)) == canonical(sql)


# Text, offset, line and column (from 1), and the line with a caret.
PLACES = [
    ("select a", 7, (1, 8), "select a\n       ^"),
    ("select a,\n  b\nfrom t", 12, (2, 3), "  b\n  ^"),
    ("a\n", 0, (1, 1), "a\n^"),
    ("select é, b", 10, (1, 11), "select é, b\n          ^"),
    ("\ta,\tb", 4, (1, 5), "\ta,\tb\n\t  \t^"),
    ("'漢e\u0301' b", 6, (1, 7), "'漢e\u0301' b\n      ^"),
    ("x" * 300, 200, (1, 201), "..." + "x" * 120 + "...\n" + " " * 63 + "^"),
]


@pytest.mark.parametrize(("text", "offset", "place", "shown"), PLACES)
def test_places(text: str, offset: int, place: tuple[int, int], shown: str) -> None:
    assert line_and_column(text, offset) == place
    assert pointed(text, offset) == shown


def test_the_end_of_a_text_has_a_place() -> None:
    assert line_and_column("select a\n", 9) == (2, 1)
    assert pointed("select a\n", 9) == "\n^"
    assert pointed("", 0) == "\n^"


def test_a_line_ends_where_the_count_of_lines_says() -> None:
    # What is no printable character would move the caret or the terminal.
    assert pointed("a\u2028b\x0bc", 4) == "a\ufffdb\ufffdc\n    ^"
    assert pointed("a\r\nb", 0) == "a\n^"


# SQL, a column, which occurrence, and what stands there (None: it stands nowhere).
OUTPUT_COLUMNS = [
    ("select a, b as c from t", "c", 0, "c from"),
    ("select a, t.b from t", "B", 0, "b from"),
    ('select 1 as "x y"', "x y", 0, '"x y"'),
    ("with t as (select 1 as a) select f(a) as b from t", "a", 0, None),
    ("select a, (select a from u) as b, 2 as a from t, a", "a", 1, "a from t, a"),
    ("select * from a, b", "b", 0, None),
    ("select 1 as n union all select 2 as m", "m", 0, "m"),
]


@pytest.mark.parametrize(("sql", "name", "occurrence", "at"), OUTPUT_COLUMNS)
def test_an_output_column_is_found_in_the_select_list(sql: str, name: str, occurrence: int, at: str | None) -> None:
    offset = output_column(sql, name, occurrence)
    assert (offset is None) == (at is None)
    assert at is None or sql[offset:].startswith(at)
