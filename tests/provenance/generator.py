"""Random small databases and random queries over them, each from a seed.

Databases have NULLs, ties, dangling keys and empty groups; integers and quarters only, so that sums are exact.
Queries are text in the analyst's form, of every construct that the rewriter traces. The mix favours what keeps rows out
or shares them: outer joins, negations, nested aggregates, windows. Every third query is composed: such clauses over whole
queries, two or three deep, where a row that is gone can bring in another.
"""

from __future__ import annotations

from random import Random

from provenance.subject import Database

from warehouse.transform.sql.duck import connect

CATALOG = {
    "host": ["id", "name", "gpus", "zone"],
    "run": ["id", "host", "conc", "tput", "status"],
    "sample": ["id", "run_id", "latency", "kind"],
}
_TYPES = {
    "host": "id integer, name varchar, gpus integer, zone varchar",
    "run": "id integer, host varchar, conc integer, tput double, status varchar",
    "sample": "id integer, run_id integer, latency integer, kind varchar",
}
Scope = list[tuple[str, str]]  # the FROM items in sight: (alias, table)

_NUMBERS = {"host": ["gpus"], "run": ["conc", "tput"], "sample": ["latency"]}
_WORDS = {"host": ["name", "zone"], "run": ["host", "status"], "sample": ["kind"]}
_LITERALS = {"gpus": [1, 4, 8], "conc": [1, 2, 4], "tput": [5, 10, 20], "latency": [3, 6, 9]}
# Which columns join two tables, in either order.
_ON = {
    ("host", "run"): ("name", "host"), ("run", "host"): ("host", "name"), ("run", "sample"): ("id", "run_id"),
    ("sample", "run"): ("run_id", "id"), ("host", "sample"): ("id", "latency"), ("sample", "host"): ("latency", "id"),
    ("host", "host"): ("zone", "zone"), ("run", "run"): ("conc", "conc"), ("sample", "sample"): ("run_id", "run_id"),
}  # fmt: skip
_JOINS = ["join", "join", "left join", "left join", "right join", "full join"]


def database(seed: int) -> Database:
    """A new database in memory; the seed decides every row."""
    random = Random(seed)
    names = ["a", "b", "c", "d"]
    pick = random.choice
    quarters = [None, *(quarter / 4 for quarter in range(20, 100, 9))]
    hosts = [(i, names[i - 1], pick([1, 4, 8]), pick(["x", "y", None])) for i in range(1, random.randint(4, 5))]
    runs = [
        (i, pick([*names, None]), pick([1, 2, 4]), pick(quarters), pick(["ok", "ok", "failed"]))
        for i in range(1, random.randint(7, 11))
    ]
    run_ids = [*range(1, len(runs) + 1), 99, None]
    samples = [(i, pick(run_ids), pick([None, *range(2, 10)]), pick("pqr")) for i in range(1, random.randint(9, 15))]
    connection = connect()
    for table, rows in (("host", hosts), ("run", runs), ("sample", samples)):
        connection.execute(f"create table {table} ({_TYPES[table]})")
        one = f"({', '.join('?' * len(CATALOG[table]))})"
        cells = [cell for row in rows for cell in row]
        connection.execute(f"insert into {table} values {', '.join([one] * len(rows))}", cells)
    return Database(connection, CATALOG)


def query(seed: int) -> tuple[str, list[str]]:
    """A query and the output columns whose cells are to be asked for."""
    return _Writer(Random(seed)).query()


class _Writer:
    """Writes one query; a clause reads only what its scope has in sight."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.aliases = 0

    def query(self) -> tuple[str, list[str]]:
        shapes = [self.plain, self.plain, self.grouped, self.grouped, self.windowed, self.windowed, self.distinct,
                  self.set_operation, self.nested, self.shared, self.limited, self.first_of_each, self.as_of, self.lateral,
                  self.pivoted, self.recursive]  # fmt: skip
        if self.chance(0.35):
            return self.composed(self.random.choice([1, 1, 2])), []
        return self.random.choice(shapes)(), ["v"]

    # --- whole queries; all have the columns k (a word) and v (a number) ------------------------------------------

    def plain(self) -> str:
        source, scope = self.source()
        value = self.value(scope)
        if self.chance(0.3):
            value = f"coalesce({value}, {self.value(scope)})"
        elif self.chance(0.2):
            value = f"case when {self.comparison(scope)} then {value} else {self.value(scope)} end"
        elif self.chance(0.2):
            inner, [(alias, table)] = self.one_source()
            condition = self.correlation(scope[0], (alias, table))
            value = f"(select {self.aggregate([(alias, table)])} from {inner} where {condition})"
        return f"select {self.word(scope)} as k, {value} as v from {source}{self.where(scope)}"

    def grouped(self) -> str:
        source, scope = self.source()
        key = self.word(scope)
        aggregate = self.aggregate(scope)
        if self.chance(0.3):
            aggregate += f" filter (where {self.comparison(scope)})"
        text = f"select {key} as k, {aggregate} as v from {source}{self.where(scope)}"
        if self.chance(0.15):
            return f"select 'all' as k, {aggregate} as v from {source}{self.where(scope)}"
        if self.chance(0.15):
            sets = self.random.choice([f"rollup ({key})", f"cube ({key})", f"grouping sets (({key}), ())"])
            return f"{text} group by {sets}"
        text += f" group by {key}"
        if self.chance(0.3):
            text += f" having {self.random.choice(['count(*) > 1', 'count(*) < 3', self.having(scope)])}"
        return text

    def windowed(self) -> str:
        source, scope = self.source()
        key = self.word(scope)
        order = ", ".join([self.number(scope), *(f"{alias}.id" for alias, _ in scope)])
        partition = self.random.choice(["", f"partition by {key} "])
        frame = self.random.choice([
            "", " rows between 1 preceding and current row", " rows between 1 following and 2 following",
            " rows between unbounded preceding and unbounded following",
        ])  # fmt: skip
        argument = self.number(scope)
        framed, unframed = f"over ({partition}order by {order}{frame})", f"over ({partition}order by {order})"
        function = self.random.choice([
            f"sum({argument}) {framed}", f"max({argument}) {framed}", f"count(*) {framed}", f"row_number() {unframed}",
            f"rank() over ({partition}order by {argument})", f"lag({argument}) {unframed}",
            f"lead({argument}, 2) {unframed}", f"ntile(2) {unframed}", f"first_value({argument}) {framed}",
            f"avg({argument}) over ({partition.strip()})",
        ])  # fmt: skip
        text = f"select {key} as k, {function} as v from {source}{self.where(scope)}"
        if self.chance(0.3):
            text += f" qualify row_number() over ({partition}order by {order}) <= {self.random.randint(1, 2)}"
        return text

    def distinct(self) -> str:
        source, scope = self.source()
        return f"select distinct {self.word(scope)} as k, {self.number(scope)} as v from {source}{self.where(scope)}"

    def set_operation(self) -> str:
        operation = self.random.choice(["union all", "union all", "union", "union", "except", "intersect"])
        left, right = (self.random.choice([self.plain, self.grouped, self.distinct])() for _ in range(2))
        if operation in ("except", "intersect"):
            table = self.random.choice(["run", "sample", "host"])
            word, number = self.random.choice(_WORDS[table]), self.random.choice(_NUMBERS[table])
            left, right = (
                f"select {word} as k, {number} as v from {table} t{self.where([('t', table)])}" for _ in range(2)
            )
        return f"{left} {operation} {right}"

    def nested(self) -> str:
        inner = self.random.choice([self.plain, self.grouped, self.windowed, self.set_operation])()
        if self.chance(0.5):
            function = self.random.choice(["sum", "count", "max"])
            return f"select d.k as k, {function}(d.v) as v from ({inner}) d group by d.k"
        condition = f"d.v {self.random.choice(['>', '<='])} {self.random.randint(1, 12)}"
        return f"select d.k as k, d.v as v from ({inner}) d where {condition}"

    def shared(self) -> str:
        """A CTE that is read twice."""
        inner = self.random.choice([self.plain, self.grouped])()
        second = self.random.choice([
            "select a.k as k, a.v as v from c a where a.v >= (select avg(b.v) from c b)",
            "select a.k as k, b.v as v from c a left join c b on a.k = b.k and b.v > a.v",
            "select a.k as k, a.v as v from c a where not exists (select 1 from c b where b.k = a.k and b.v > a.v)",
            "select a.k as k, sum(b.v) as v from c a join c b on a.k = b.k group by a.k",
        ])  # fmt: skip
        return f"with c as ({inner}) {second}"

    def limited(self) -> str:
        inner = self.random.choice([self.plain, self.grouped])()
        tail = f"order by d.v desc nulls last, d.k nulls last limit {self.random.randint(1, 3)}"
        return f"select d.k as k, d.v as v from ({inner}) d {tail}"

    def first_of_each(self) -> str:
        inner = self.random.choice([self.plain, self.grouped])()
        direction = self.random.choice(["", " desc"])
        return f"select distinct on (d.k) d.k as k, d.v as v from ({inner}) d order by d.k, d.v{direction} nulls last"

    def as_of(self) -> str:
        left, [(a, table)] = self.one_source()
        right, [(b, other)] = self.one_source()
        equal = f"{a}.{_WORDS[table][0]} = {b}.{_WORDS[other][0]} and " if self.chance(0.3) else ""
        order = self.random.choice([">=", ">", "<=", "<"])
        kind = self.random.choice(["asof join", "asof left join"])
        scope = [(a, table), (b, other)]
        value = self.number([(b, other)])
        source = f"{left} {kind} {right} on {equal}{a}.id {order} {b}.id{self.where(scope)}"
        if self.chance(0.5):
            return f"select {self.word(scope)} as k, {value} as v from {source}"
        key = self.word(scope)
        return f"select {key} as k, sum({value}) as v from {source} group by {key}"

    def lateral(self) -> str:
        outer, scope = self.source()
        inner, joined = self.one_source()
        condition = self.correlation(self.random.choice(scope), joined[0])
        value = self.aggregate(joined) if self.chance(0.6) else self.number(joined)
        derived = f"(select {value} as n from {inner} where {condition})"
        source = self.random.choice([
            f"{outer} cross join lateral {derived} l", f"{outer} left join lateral {derived} l on l.n > 2",
            f"{outer} join lateral {derived} l on true",
        ])  # fmt: skip
        return f"select {self.word(scope)} as k, l.n as v from {source}{self.where(scope)}"

    def pivoted(self) -> str:
        source, scope = self.source()
        function = self.random.choice(["sum", "count", "max"])
        inner = f"select {self.word(scope)} as k, {self.word(scope)} as w, {self.number(scope)} as n from {source}{self.where(scope)}"
        column = self.random.choice(["p", "ok", "a", "x"])
        return (
            f"select d.k as k, d.{column} as v from (pivot ({inner}) on w in ('p', 'ok', 'a', 'x') using {function}(n) group by k) d"
        )

    def recursive(self) -> str:
        anchor = self.random.choice([self.plain, self.grouped])()
        step, [(alias, table)] = self.one_source()
        number = self.random.choice(_NUMBERS[table])
        kind = self.random.choice(["join", "join", "left join"])
        union = self.random.choice(["union all", "union"])
        walk = f"select r.k, r.v + {alias}.{number}, r.depth + 1 from r {kind} {step} on {alias}.id = r.depth + 1 where r.depth < 3"
        return f"with recursive r as (select c.k as k, c.v as v, 0 as depth from ({anchor}) c {union} {walk}) select k, v from r"

    # --- clauses over whole queries ---------------------------------------------------------------------------------

    def composed(self, depth: int) -> str:
        """A clause over one or two queries, which may be composed themselves."""
        forms = [self.collected, self.collected, self.filtered, self.filtered, self.kept_out, self.kept_out, self.compared,
                 self.chosen_by_case, self.paired, self.paired, self.subtracted, self.over_windows, self.cut, self.read_twice]  # fmt: skip
        return self.random.choice(forms)(depth)

    def part(self, depth: int) -> str:
        """A query with the columns k and v, small or composed."""
        if depth > 1 and self.chance(0.6):
            return self.composed(depth - 1)
        shape = self.random.choice([self.simple, self.simple, self.plain, self.grouped, self.windowed, self.distinct, self.total])
        return shape()

    def simple(self) -> str:
        source, [(alias, table)] = self.one_source()
        return f"select {self.word([(alias, table)])} as k, {self.number([(alias, table)])} as v from {source}"

    def total(self) -> str:
        """An aggregate of all rows, which has a row of no rows, too."""
        source, scope = self.one_source()
        having = self.random.choice(["", "", " having count(*) = 0", " having count(*) < 3", " having sum(id) > 20"])
        where = f" where {self.comparison(scope)}" if self.chance(0.6) else ""
        return f"select max({self.word(scope)}) as k, {self.random.choice(['count(*)', self.aggregate(scope)])} as v from {source}{where}{having}"

    def test(self, alias: str) -> str:
        """A condition on the columns of a query."""
        number = self.random.randint(0, 9)
        return self.random.choice([
            f"{alias}.v is null or {alias}.v > {number}", f"{alias}.v is null", f"{alias}.v < {number}", f"{alias}.k is null",
            f"{alias}.v <> {number}",
        ])  # fmt: skip

    def collected(self, depth: int) -> str:
        function = self.random.choice(["sum(d.v)", "count(*)", "count(d.v)", "max(d.v)", "count(distinct d.v)"])
        where = f" where {self.test('d')}" if self.chance(0.4) else ""
        group, key = self.random.choice([
            (" group by d.k", "d.k"), (" group by d.k", "d.k"), ("", "'all'"), (" group by rollup (d.k)", "d.k"), (" group by cube (d.k)", "d.k"),
            (" group by grouping sets ((d.k), ())", "d.k"),
        ])  # fmt: skip
        having = self.random.choice(["", "", "", " having count(*) = 0", " having count(*) < 3", " having count(*) > 1", " having max(d.v) > 4"])
        return f"select {key} as k, {function} as v from ({self.part(depth)}) d{where}{group}{having}"

    def filtered(self, depth: int) -> str:
        return f"select d.k as k, d.v as v from ({self.part(depth)}) d where {self.test('d')}"

    def kept_out(self, depth: int) -> str:
        """NOT IN, NOT EXISTS, ANTI JOIN and what they negate, with NULLs on both sides."""
        left, right = self.part(depth), self.part(depth)
        negated = self.random.choice(["", "not ", "not "])
        column = self.random.choice("kv")
        correlated = f" where {self.random.choice(['e.k = d.k', 'e.v > d.v', 'e.v = d.v', self.test('e')])}"
        head = f"select d.k as k, d.v as v from ({left}) d"
        return self.random.choice([
            f"{head} where d.{column} {negated}in (select e.{column} from ({right}) e)",
            f"{head} where {negated}exists (select 1 from ({right}) e{correlated})",
            f"{head} where {negated}exists (select 1 from ({right}) e) and d.v > 1",
            f"{head} {'anti' if negated else 'semi'} join ({right}) e on e.{column} = d.{column}",
            f"{head} where d.v {negated}in (select count(*) from ({right}) e)",
            f"{head} where d.{column} {negated}in (select e.{column} from ({right}) e) or d.v > 3",
            f"{head} where {negated}exists (select count(*) from ({right}) e having count(*) = 0)",
        ])  # fmt: skip

    def compared(self, depth: int) -> str:
        left, right = self.part(depth), self.part(depth)
        operator = self.random.choice([">=", "<", "<>", "="])
        one = self.random.choice([
            f"(select {self.random.choice(['max', 'avg', 'count', 'min'])}(e.v) from ({right}) e)", f"(select count(*) from ({right}) e where e.k = d.k)",
            f"(select count(*) from ({right}) e having count(*) = 0)", f"all (select e.v from ({right}) e)", f"any (select e.v from ({right}) e)",
            f"(select sum(e.v) from ({right}) e where e.v > d.v)",
        ])  # fmt: skip
        return f"select d.k as k, d.v as v from ({left}) d where d.v {operator} {one}"

    def chosen_by_case(self, depth: int) -> str:
        left, right = self.part(depth), self.part(depth)
        column = self.random.choice("kv")
        test = self.random.choice([
            f"d.{column} in (select e.{column} from ({right}) e)", f"(d.{column} in (select e.{column} from ({right}) e)) is null",
            f"not (d.{column} in (select e.{column} from ({right}) e))", f"exists (select 1 from ({right}) e where e.k = d.k)",
            f"d.v > all (select e.v from ({right}) e)",
        ])  # fmt: skip
        chosen = f"case when {test} then d.v when not ({test}) then 0 else 99 end"
        return self.random.choice([
            f"select d.k as k, {chosen} as v from ({left}) d", f"select d.k as k, d.v as v from ({left}) d where {chosen} > 2",
            f"select d.k as k, sum({chosen}) as v from ({left}) d group by d.k",
        ])  # fmt: skip

    def paired(self, depth: int) -> str:
        left, right = self.part(depth), self.part(depth)
        kind = self.random.choice(["join", "left join", "left join", "right join", "full join"])
        on = self.random.choice(["e.k = d.k", "e.k = d.k", "e.v = d.v", "e.k = d.k and e.v > d.v", "true", "e.v < d.v", "e.k is not distinct from d.k"])
        value = self.random.choice(["d.v", "e.v", "coalesce(e.v, -1)", "d.v + e.v"])
        where = f" where {self.random.choice(['e.k is null', 'e.v is null', 'd.v > 2', 'd.v is null or e.v > 1'])}" if self.chance(0.5) else ""
        text = f"({left}) d {kind} ({right}) e on {on}{where}"
        key = self.random.choice(["d.k", "e.k"])
        if self.chance(0.4):
            return f"select {key} as k, {self.random.choice(['sum', 'count'])}({value}) as v from {text} group by {key}"
        return f"select {key} as k, {value} as v from {text}"

    def subtracted(self, depth: int) -> str:
        operation = self.random.choice(["except", "except", "intersect", "union", "union all"])
        left, right = (f"select p.k, p.v::double as v from ({self.part(depth)}) p" for _ in range(2))
        return f"{left} {operation} {right}"

    def over_windows(self, depth: int) -> str:
        """What is computed from the rows around, then filtered and aggregated."""
        partition = self.random.choice(["", "partition by d.k "])
        order = "order by d.v, d.k"
        value = self.random.choice([
            f"lag(d.v) over ({partition}{order})", f"sum(d.v) over ({partition}{order} rows between 1 preceding and current row)",
            f"row_number() over ({partition}{order})", f"rank() over ({partition}{order})", f"sum(d.v) over ({partition.strip()})",
            f"count(*) over ({partition}{order})", f"lead(d.v) over ({partition}{order})", f"ntile(2) over ({partition}{order})",
        ])  # fmt: skip
        qualify = f" qualify row_number() over ({partition}{order}) {self.random.choice(['= 1', '<= 2'])}" if self.chance(0.3) else ""
        inner = f"select d.k as k, {value} as v from ({self.part(depth)}) d{qualify}"
        outer = f"select w.k as k, w.v as v from ({inner}) w where {self.test('w')}"
        return self.random.choice([inner, outer, f"select w.k as k, sum(w.v) as v from ({outer}) w group by w.k"])

    def cut(self, depth: int) -> str:
        head = f"({self.part(depth)}) d"
        return self.random.choice([
            f"select d.k as k, d.v as v from {head} order by d.v desc nulls last, d.k nulls last limit {self.random.randint(1, 3)}",
            f"select distinct on (d.k) d.k as k, d.v as v from {head} order by d.k, d.v nulls last",
            f"select distinct d.k as k, d.v as v from {head}",
        ])  # fmt: skip

    def read_twice(self, depth: int) -> str:
        second = self.random.choice([
            "select a.k as k, a.v as v from c a where a.v >= (select avg(b.v) from c b)",
            "select a.k as k, b.v as v from c a left join c b on a.k = b.k and b.v > a.v",
            "select a.k as k, a.v as v from c a where not exists (select 1 from c b where b.k = a.k and b.v > a.v)",
            "select a.k as k, a.v as v from c a where a.k not in (select max(b.k) from c b group by b.v)",
            "select a.k as k, sum(b.v) as v from c a join c b on a.k = b.k group by a.k",
            "select a.k as k, s.n as v from c a join (select b.k, count(*) as n from c b group by b.k) s on s.k = a.k",
            "select a.k as k, a.v - (select count(*) from c) as v from c a where a.v < 8",
            "select k, sum(v) as v from (select k, v from c where v > 3 union all select k, -v from c where v < 6) u group by k",
            "select a.k as k, a.v as v from c a where a.k in (select b.k from c b where b.v > 5)",
        ])  # fmt: skip
        return f"with c as ({self.part(depth)}) {second}"

    # --- FROM, WHERE and what stands in them ------------------------------------------------------------------------

    def one_source(self, table: str | None = None) -> tuple[str, Scope]:
        table = table or self.random.choice(list(CATALOG))
        self.aliases += 1
        alias = f"t{self.aliases}"
        return f"{table} {alias}", [(alias, table)]

    def source(self) -> tuple[str, Scope]:
        text, scope = self.one_source()
        for _ in range(self.random.choice([0, 0, 1, 1, 1, 2])):
            other, joined = self.one_source()
            condition = self.correlation(self.random.choice(scope), joined[0])
            kind = self.random.choice(_JOINS)
            if self.chance(0.1):
                kind = self.random.choice(["semi join", "anti join"])
            is_comma = kind == "join" and " join " not in text and self.chance(0.2)
            text += f", {other}" if is_comma else f" {kind} {other} on {condition}"
            scope = scope if kind in ("semi join", "anti join") else [*scope, *joined]
        return text, scope

    def correlation(self, left: tuple[str, str], right: tuple[str, str]) -> str:
        first, second = _ON[left[1], right[1]]
        condition = f"{left[0]}.{first} = {right[0]}.{second}"
        return f"{condition} and {self.comparison([right])}" if self.chance(0.2) else condition

    def where(self, scope: Scope) -> str:
        if self.chance(0.35):
            return ""
        conditions = [self.comparison, self.comparison, self.membership, self.existence, self.scalar, self.quantified]
        return " where " + self.random.choice(conditions)(scope)

    def comparison(self, scope: Scope) -> str:
        alias, table = self.random.choice(scope)
        name = self.random.choice(_NUMBERS[table])
        operator = self.random.choice([">", ">=", "<", "<>"])
        found = f"{alias}.{name} {operator} {self.random.choice(_LITERALS[name])}"
        return f"({found} or {alias}.{self.random.choice(_WORDS[table])} is null)" if self.chance(0.2) else found

    def membership(self, scope: Scope) -> str:
        negated = self.random.choice(["", "not "])
        alias, table = self.random.choice(scope)
        other = self.random.choice(list(CATALOG))
        first, second = _ON[table, other]
        inner, joined = self.one_source(other)
        guard = f"{joined[0][0]}.{second} is not null and {self.comparison(joined)}"
        return f"{alias}.{first} {negated}in (select {joined[0][0]}.{second} from {inner} where {guard})"

    def existence(self, scope: Scope) -> str:
        inner, joined = self.one_source()
        condition = self.correlation(self.random.choice(scope), joined[0])
        condition += f" and {self.comparison(joined)}"
        return f"{self.random.choice(['', 'not '])}exists (select 1 from {inner} where {condition})"

    def scalar(self, scope: Scope) -> str:
        inner, joined = self.one_source()
        correlated = f" where {self.correlation(self.random.choice(scope), joined[0])}" if self.chance(0.5) else ""
        function = self.random.choice(["avg", "min"])
        return f"{self.number(scope)} >= (select {function}({self.number(joined)}) from {inner}{correlated})"

    def quantified(self, scope: Scope) -> str:
        inner, joined = self.one_source()
        number = self.number(joined)
        compared = self.random.choice(["> all", "<= all", "= any", "> any", "<> all"])
        return f"{self.number(scope)} {compared} (select {number} from {inner} where {number} is not null and {self.comparison(joined)})"

    def having(self, scope: Scope) -> str:
        inner, joined = self.one_source()
        return f"max({self.number(scope)}) > (select min({self.number(joined)}) from {inner})"

    def aggregate(self, scope: Scope) -> str:
        functions = ["sum({})", "count({})", "min({})", "max({})", "avg({})", "median({})", "count(distinct {})"]
        if self.chance(0.2):
            return "count(*)"
        return self.random.choice(functions).format(self.number(scope))

    def value(self, scope: Scope) -> str:
        return self.number(scope) if self.chance(0.7) else f"{self.number(scope)} + {self.number(scope)}"

    def number(self, scope: Scope) -> str:
        alias, table = self.random.choice(scope)
        return f"{alias}.{self.random.choice(_NUMBERS[table])}"

    def word(self, scope: Scope) -> str:
        alias, table = self.random.choice(scope)
        return f"{alias}.{self.random.choice(_WORDS[table])}"

    def chance(self, share: float) -> bool:
        return self.random.random() < share
