"""`wh similar`: the runs, workloads or stacks that are most like one, with what they agree in and what differs.

A thing has features, in parts: what was measured, on which accelerators, with which engine, at which load. Two texts are alike by the words that
they share, and count the more the rarer they are. Two quantities are the more alike the nearer they are on a logarithmic scale. Each value is
compared once, however many runs state it, and runs that state the same of a part are one kind of it. Of many runs, the details (documents, options,
parameters) are compared only for those that these can still bring among the first, and count the more the rarer they are among them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from warehouse.analysis.names import name_of
from warehouse.errors import ExitCode, WarehouseError, counted, printable
from warehouse.project.project import Project
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build

if TYPE_CHECKING:
    import duckdb

Kind = Literal["run", "workload", "stack"]

LISTED = 10
_SAID = 3  # features, in a sentence
_COMMON, _QUANTITY = 0.5, 0.75  # the weights of a text that all have and of a quantity, beside a text that nothing else has, which is 1
_IN_PART = 0.8  # how alike two texts are that have all words in common, in another order
_UNASKED = 0.5  # the weight of what only the other one states
_UNIT = 10**9
_MANY, _SURE, _EPSILON = 10_000, 100, 1e-9  # of so many things, details are looked at of those that can be among so many first
_WORDS = "regexp_split_to_array({}.value, '[^a-z0-9.]+')"
_RUNS, _WORKLOADS, _STACKS = "benchmark_run_fact", "workload_dim", "software_version_dim"
_NAMES: Mapping[Kind, tuple[str, str]] = {
    "run": ("run_id", _RUNS), "workload": ("workload_spec_digest", _WORKLOADS), "stack": ("software_version_key", _STACKS),
}


@dataclass(frozen=True)
class _Part:
    """Features of one kind: their weight beside those of other kinds, the column by which a run has them, and the table. They are its `columns`, of
    which a number is a quantity, or the select `sql` of `key`, `name`, `value` and `number` (the value where it is a quantity) from `{source}`. Rows
    that are equal in `columns` are one kind; of a table in long form, where `columns` is empty, each key is one."""

    name: str
    weight: float
    key: str
    table: str
    columns: tuple[str, ...] = ()
    sql: str = ""
    source: str = ""  # what is read of the table
    is_detail: bool = False  # much of each thing

    def present(self, kinds: Mapping[str, str]) -> "_Features | None":
        """It as a build has it in whose table the columns have these types; None if that lacks the table, or its columns."""
        columns = tuple(name for name in self.columns if name in kinds)
        if self.key not in kinds or (self.columns and not columns):
            return None
        sql = self.sql
        if not sql:
            values = ", ".join(f"{name}::varchar as {name}" for name in columns)
            quantities = [name for name in columns if kinds[name] in ("BIGINT", "DOUBLE")]
            number = f"case when name in {(*quantities, '')} then value::double end"
            sql = (
                f"select key, name, value, {number} as number from (select {self.key} as key, {values} from {{source}})"
                f" unpivot (value for name in ({', '.join(columns)}))"
            )
        return _Features(self.key, self.source or self.table, columns, sql)


@dataclass(frozen=True)
class _Features:
    """The features of a part in a build: the key, the table or select with its rows, the columns in which rows of one kind are equal, and the select
    of features from `{source}`."""

    key: str
    source: str
    columns: tuple[str, ...]
    sql: str

    def of(self, con: "duckdb.DuckDBPyConnection", keys: Collection[Any]) -> dict[Any, dict[str, str]]:
        """The features of some keys: name to value."""
        some = f"(select * from {self.source} where {self.key} in (select unnest($keys::varchar[])))"
        found: dict[Any, dict[str, str]] = {}
        sql = f"select key, name, value from ({self.sql.format(source=some)}) order by key, name"
        for key, name, value in con.execute(sql, {"keys": list(keys)}).fetchall() if keys else ():
            found.setdefault(key, {})[name] = value.removeprefix('"').removesuffix('"')
        return found

    def likeness(self, among: str | None = None) -> str:
        """The select of each key that has a feature, with how alike to the features of $asked they are, from 0 to 1; `among`: of those alone that
        this table has."""
        listed, rows = ", ".join(self.columns), self.source
        if among:
            rows = f"(select * from {rows} where {self.key} in (select {self.key} from {among}) or {self.key} = $asked)"
        if listed:
            kinds = (
                f"with kind as materialized (select row_number() over () as kind, count(*) as things, list({self.key}) as keys, {listed}"
                f" from {rows} group by {listed}),"
            )
            source, things, joined = f"(select kind as {self.key}, {listed} from kind)", "sum(kind.things)", " inner join kind using (kind)"
            asked = "(select kind from kind where list_contains(keys, $asked))"
            keyed = "select unnest(kind.keys) as key, score from scored inner join kind using (kind)"
        else:
            kinds, source, things, joined, asked = "with", rows, "count(*)", "", "($asked)"
            keyed = "select kind as key, score from scored"
        return f"{kinds} {_SCORED.format(features=self.sql.format(source=source), things=things, joined=joined, asked=asked)} {keyed}"


# Terms are added up as whole numbers: their sum does not depend on the order of rows.
_SCORED = f"""
feature as materialized (select key as kind, name, lower(value) as value, number from ({{features}})),
counted as (select name, value, max(number) as number, {{things}} as things from feature{{joined}} group by name, value),
stated as (select name, sum(things) as things from counted group by name),
weighted as materialized (
    select counted.name, counted.value, counted.number,
        case when counted.number is not null then {_QUANTITY}
            else {_COMMON} + (1 - {_COMMON}) * ln(stated.things / counted.things) / ln(1 + stated.things) end as weight
    from counted inner join stated using (name)
),
own as materialized (
    select weighted.* from weighted semi join (select name, value from feature where kind in {{asked}}) as asked using (name, value)
),
pair as (
    select other.name, other.value, own.weight as own_weight,
        case when own.name is null then {_UNASKED} * other.weight else greatest(own.weight, other.weight) end as weight,
        case
            when own.name is null then 0
            when own.value = other.value then 1
            when own.number > 0 and other.number > 0 then exp(-abs(ln(own.number / other.number)))
            when own.number is null and other.number is null then {_IN_PART} * len(list_intersect({_WORDS.format('own')}, {_WORDS.format('other')}))
                / len(list_distinct({_WORDS.format('own')} || {_WORDS.format('other')}))
            else 0
        end as alike
    from weighted as other left join own using (name)
),
term as materialized (
    select name, value, (weight * alike * {_UNIT})::bigint as alike, (weight * {_UNIT})::bigint as weight,
        coalesce((own_weight * {_UNIT})::bigint, 0) as shared
    from pair
),
scored as (
    select kind, sum(alike) / nullif(sum(weight) + (select sum((weight * {_UNIT})::bigint) from own) - sum(shared), 0) as score
    from feature inner join term using (name, value) group by kind
)"""

# What the document of a workload states beside the model: its texts, or its quantities.
_LEAVES = (
    "select workload_spec_digest as key, ltrim(leaf.fullkey, '$.') as name, leaf.atom::varchar as value,"
    " try_cast(leaf.atom::varchar as double) as number"
    " from {{source}}, json_tree(workload_document) as leaf"
    " where leaf.atom is not null and leaf.fullkey <> '$.model' and leaf.type {} ('UBIGINT', 'BIGINT', 'DOUBLE')"
)
_PARTS = (
    _Part("subject", 4, "workload_spec_digest", _WORKLOADS, ("model",)),
    _Part("case", 4, "run_id", _RUNS, ("benchmark_case_id",)),
    _Part("family", 1, "run_id", _RUNS, ("family",)),
    _Part("accelerators", 3, "hardware_topology_key", "hardware_topology_dim", (
        "accelerator_family", "accelerator_name", "gpu_model", "gpu_count", "node_count")),
    _Part("engine", 2, "software_version_key", _STACKS, ("framework", "framework_version")),
    _Part("load", 2, "workload_spec_digest", _WORKLOADS, ("concurrency_point",)),
    _Part("lengths", 2, "run_id", "serving_configuration_fact", ("input_length", "output_length")),
    _Part("configuration", 2, "run_id", "serving_configuration_fact", (
        "tensor_parallel_size", "pipeline_parallel_size", "expert_parallel_size", "data_parallel_size", "precision", "is_prefix_caching_enabled")),
    _Part("workload", 2, "workload_spec_digest", _WORKLOADS, sql=_LEAVES.format("not in"), is_detail=True),
    _Part("quantities", 1, "workload_spec_digest", _WORKLOADS, sql=_LEAVES.format("in"), is_detail=True),
    _Part("parameters", 1, "run_id", "performance_indicator_fact", sql=(
        "select run_id as key, key as name, value_text as value, value_number as number from {source}"
        " where kind = 'parameter' and value_text is not null"), is_detail=True),
    _Part("options", 1, "run_id", "run_setting", ("options",), (
        "select run_id as key, entry.key as name, entry.value as value, null::double as number"
        " from (select run_id, unnest(map_entries(options)) as entry from {source}) where entry.value is not null"),
        f"(select run_id, options from run_setting semi join {_RUNS} using (run_id, artifact_manifest_digest))", is_detail=True),
    _Part("software", 1, "software_version_key", _STACKS, (
        "driver_version", "cuda_version", "rocm_version", "nccl_version", "runtime_version", "server_version", "software_stack",
        "operating_system", "kernel_version", "image_digest")),
    _Part("packages", 1, "software_version_key", "software_package_dim", sql=(
        "select software_version_key as key, component as name, min(coalesce(version, stated_as)) as value, null::double as number"
        " from {source} group by all")),
    _Part("host", 1, "hardware_topology_key", "hardware_topology_dim", (
        "system_name", "cpu_model", "cpu_logical_count", "host_memory", "host_memory_bytes", "nic", "network_fabric", "storage_fabric",
        "nvlink_topology")),
    _Part("testbed", 0.5, "cluster_region_key", "cluster_region_dim", ("cluster", "region", "node_pool", "queue")),
)
_OF_KIND: Mapping[Kind, Collection[str]] = {
    "run": [each.name for each in _PARTS], "workload": ("subject", "load", "workload", "quantities"), "stack": ("engine", "software", "packages"),
}


@dataclass(frozen=True)
class Neighbour:
    """One that is alike: `likeness` from 0 to 1, its name in words, the features that agree, and those that differ with its own value and that of
    the one that was asked about, None where it is not stated; the weightiest part first."""

    id: str
    name: str
    likeness: float
    agrees: tuple[tuple[str, str], ...]
    differs: tuple[tuple[str, str | None, str | None], ...]


@dataclass(frozen=True)
class Similar:
    """The nearest of `others` things of one kind. `asked` is the id of the one in question, of a number its first run."""

    kind: Kind
    asked: str
    name: str
    neighbours: tuple[Neighbour, ...]
    others: int


def similar(project: Project, what: str, most: int = LISTED) -> Similar:
    """The nearest to a run, a workload (by the start of its digest), a stack (by that of its key) or the runs of a number, in the current build.
    Raises WH502 if it is none of these, WH218, WH305 to WH307, WH501 where the build has no table of runs of the standard models."""
    build = current_build(project)
    con = open_build(build.path)
    try:
        if not con.execute("select 1 from duckdb_columns() where table_name = ?", [_RUNS]).fetchall():
            hint = "runs are compared by the dimensions of the standard models: wh init"
            raise WarehouseError("WH501", f"the build has no table {_RUNS}", build.path.name, hint)
        if found := _found(con, what):
            return nearest(con, *found, most)
        runs = _runs_of_number(project, what)
        return nearest(con, "run", runs[0], most, runs)
    finally:
        con.close()


def nearest(con: "duckdb.DuckDBPyConnection", kind: Kind, asked: str, most: int = LISTED, leave_out: Sequence[str] = ()) -> Similar:
    """The nearest to a thing of a kind in the build of a session, without those to leave out."""
    key, table = _NAMES[kind]
    tables: dict[str, dict[str, str]] = {}
    for of_table, column, data_type in con.execute("select table_name, column_name, data_type from duckdb_columns() where not internal").fetchall():
        tables.setdefault(of_table, {})[column] = data_type
    of_kind = (part for part in _PARTS if part.name in _OF_KIND[kind])
    parts = {part: present for part in of_kind if (present := part.present(tables.get(part.table, {})))}
    columns = sorted({part.key for part in parts})
    row = con.execute(f"select {', '.join(columns)} from {table} where {key} = ?", [asked]).fetchone()
    keys = dict(zip(columns, row or (), strict=False))
    stated = [(part, present) for part, present in parts.items() if keys.get(part.key) is not None and present.of(con, [keys[part.key]])]
    if not stated:
        return Similar(kind, asked, asked, (), 0)

    def scored(is_detail: bool, among: str | None = None) -> tuple[str, str]:
        """Those parts: their score, added up, and the joins that it needs."""
        of = [(f"likeness_{part.name}", part, present) for part, present in stated if part.is_detail == is_detail]
        for name, part, present in of:
            con.execute(f"create or replace temp table {name} as {present.likeness(among)}", {"asked": keys[part.key]})
        joins = " ".join(f"left join {name} on {name}.key = thing.{part.key}" for name, part, _ in of)
        return " + ".join(["0", *(f"{part.weight} * coalesce({name}.score, 0)" for name, part, _ in of)]), joins

    score, joins = scored(is_detail=False)
    where = f"thing.{key} not in (select unnest($out))"
    if kind == "run":  # an accuracy run is compared with no performance run
        where += f" and thing.state = 'admitted' and thing.mode is not distinct from (select mode from {table} where {key} = $asked)"
    con.execute(
        f"create or replace temp table near as select thing.{key} as thing_id, {', '.join(f'thing.{name}' for name in columns)}, {score} as score"
        f" from {table} as thing {joins} where {where}", {"out": [asked, *leave_out], **({"asked": asked} if kind == "run" else {})},
    )
    ((others,),) = con.execute("select count(*) from near").fetchall()
    total, detail = sum(part.weight for part, _ in stated), sum(part.weight for part, _ in stated if part.is_detail)
    is_many = others > _MANY
    if is_many:  # only those that details can still bring among the first are looked at further
        sql = f"delete from near where score + $detail + {_EPSILON} < (select score from near order by score desc limit 1 offset $sure)"
        con.execute(sql, {"detail": detail, "sure": max(most, _SURE) - 1})
    score, joins = scored(is_detail=True, among="near" if is_many else None)
    rows = con.execute(
        f"select thing.thing_id, round((thing.score + {score}) / {total}, 9) as likeness, {', '.join(f'thing.{name}' for name in columns)}"
        f" from near as thing {joins} order by likeness desc, thing.thing_id limit $most", {"most": most},
    ).fetchall()
    ordered = sorted(parts, key=lambda part: -part.weight)
    features = {part: parts[part].of(con, {keys[part.key], *(row[2 + columns.index(part.key)] for row in rows)} - {None}) for part in ordered}
    own = [(part, features[part].get(keys[part.key], {})) for part in ordered]
    neighbours = []
    for other, likeness, *other_keys in rows:
        theirs = {part: features[part].get(other_keys[columns.index(part.key)], {}) for part in ordered}
        neighbours.append(_neighbour(other, likeness, own, theirs))
    return Similar(kind, asked, _name(asked, dict(own)), tuple(neighbours), others)


def nearest_in_words(con: "duckdb.DuckDBPyConnection", run_id: str) -> tuple[str, ...]:
    """A sentence that names the nearest run, where the build has the standard models' dimensions and another run."""
    if not con.execute("select 1 from duckdb_columns() where table_name = ?", [_RUNS]).fetchall():
        return ()
    found = nearest(con, "run", run_id, 1).neighbours
    if not found:
        return ()
    names = [name for name, *_ in found[0].differs] or ["nothing stated"]
    said = f"differs in {', '.join(names[:_SAID])}" + (f" and {len(names) - _SAID} more" if len(names) > _SAID else "")
    return (f"the nearest other run {said}: wh explain {run_id} --baseline {found[0].id}",)


def _neighbour(other: str, likeness: float, own: Sequence[tuple[_Part, Mapping[str, str]]], theirs: Mapping[_Part, Mapping[str, str]]) -> Neighbour:
    agrees: dict[str, str] = {}
    differs: dict[str, tuple[str | None, str | None]] = {}
    for part, features in own:
        for name in sorted({*features, *theirs[part]} - {*agrees, *differs}):
            mine, other_value = features.get(name), theirs[part].get(name)
            if part.name == "quantities" and (other_value, mine) in differs.values():
                continue  # a column of the part above is read from it
            if mine is not None and other_value is not None and mine.lower() == other_value.lower():
                agrees[name] = mine
            else:
                differs[name] = (other_value, mine)
    return Neighbour(other, _name(other, theirs), likeness, tuple(agrees.items()), tuple((name, *values) for name, values in differs.items()))


def _name(identity: str, features: Mapping[_Part, Mapping[str, str]]) -> str:
    row: dict[str, Any] = {name: value for of in reversed(list(features.values())) for name, value in of.items()}
    for name in ("gpu_count", "node_count", "concurrency_point", "input_length", "output_length"):
        if name in row:
            row[name] = int(float(row[name]))
    return str(name_of(row)) or identity


def _found(con: "duckdb.DuckDBPyConnection", what: str) -> tuple[Kind, str] | None:
    """What has this id, or alone begins so."""
    for kind, (key, table) in _NAMES.items():
        if kind == "run":
            rows = con.execute(f"select {key} from {table} where {key} = ?", [what]).fetchall()
        elif len(what) >= 4:
            rows = con.execute(f"select {key} from {table} where starts_with({key}, ?) limit 2", [what]).fetchall()
        else:
            rows = []
        if len(rows) == 1:
            return kind, rows[0][0]
    return None


def _runs_of_number(project: Project, what: str) -> tuple[str, ...]:
    from warehouse.claims.numbers.lineage import lineage_of  # with all that lineage needs 0.1 s, which `wh explain` need not pay
    from warehouse.claims.numbers.search import asked_number, find_cell

    try:
        found = lineage_of(project, find_cell(project, asked_number(project, what)))
    except WarehouseError as error:
        if error.code in ("WH304", "WH305"):
            hint = "give a run id, a number, or the start of a workload's digest or a stack's key (wh sql \"from software_version_dim\")"
            raise WarehouseError("WH502", "no run, workload, stack or number has this id", printable(what), hint, ExitCode.NOT_FOUND) from error
        raise
    runs = tuple(sorted(str(run["run_id"]) for run in found.runs))
    if not runs:
        raise WarehouseError("WH502", f"the number rests on {counted(0, 'run')}", printable(what), exit_code=ExitCode.NOT_FOUND)
    return runs
