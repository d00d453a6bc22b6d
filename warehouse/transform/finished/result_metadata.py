"""What the columns of a query's result are, for the files that it is written to: Arrow and Parquet metadata, from a build's catalog.

A column that is taken over as it is keeps its description and unit. One that is computed has neither: units are never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from warehouse.digest import canonical_json
from warehouse.transform.lineage.column_expressions import NotUnderstood
from warehouse.transform.lineage.column_sources import query_relation
from warehouse.transform.lineage.derived import ColumnRef, Relation, united

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


def described_schema(result: "duckdb.DuckDBPyConnection", sql: str, schema: "pa.Schema") -> "pa.Schema":
    """The schema of a query's result (`query.run_query`) with `wh.build_digest`, and where the query is understood `wh.tables` (what it
    reads) and `wh.columns`, both JSON. A field has its description and unit as well. The rows of failed tests have nothing."""
    import duckdb
    import pyarrow as pa

    con = result.cursor()  # the session's own result stays as it is
    try:
        con.execute("set search_path = 'main'")
        try:  # the engine's own list of its tables takes 8 to 20 ms
            con.execute("from catalog.model_column limit 0")
        except duckdb.CatalogException:
            return schema
        metadata = {"wh.build_digest": con.execute("select build_digest from catalog.build").fetchall()[0][0]}
        try:
            relation = query_relation(con, sql)
        except (NotUnderstood, duckdb.Error):
            return schema.with_metadata(metadata)
        columns = _columns(con, relation)
        metadata |= {"wh.tables": _json(_tables(con, relation)), "wh.columns": _json(dict(zip(schema.names, columns, strict=True)))}
    finally:
        con.close()
    fields = [
        field.with_metadata({key: value for key, value in column.items() if key != "source"} or None)
        for field, column in zip(schema, columns, strict=True)
    ]
    return pa.schema(fields, metadata)


def _json(document: Mapping[str, Mapping[str, str]]) -> str:
    return canonical_json({name: values for name, values in document.items() if values}).decode()


def _tables(con: "duckdb.DuckDBPyConnection", relation: Relation) -> dict[str, dict[str, str]]:
    """The models that a query reads: what each holds, and of a rollup the query spec."""
    read = {ref.table for ref in relation.rows | united(column.everything for column in relation.columns)}
    found = con.execute(
        "select schema_name || '.' || name as qualified, description, case schema_name when 'rollup' then digest end"
        " from catalog.model where qualified in (select unnest(?::varchar[])) order by qualified", [sorted(read)],
    ).fetchall()
    return {name: _known(description=description, query_spec_digest=digest) for name, description, digest in found}


def _columns(con: "duckdb.DuckDBPyConnection", relation: Relation) -> list[dict[str, str]]:
    """What is known of each column of a result, in order: if it comes from several, what they agree on."""
    copied = [sorted(column.copied) if not column.computed else [] for column in relation.columns]
    wanted = sorted({ref for refs in copied for ref in refs})
    if not wanted:
        return [{} for _ in copied]
    stated = {
        ColumnRef(table, column): _known(description=description, unit=unit)
        for table, column, description, unit in con.execute(
            "select schema_name || '.' || table_name as qualified, column_name, description, unit from catalog.model_column"
            " where (qualified, column_name) in (select unnest(?::varchar[]), unnest(?::varchar[]))",
            [[ref.table for ref in wanted], [ref.column for ref in wanted]],
        ).fetchall()
    }
    return [_agreed([stated.get(ref, {}) | {"source": str(ref)} for ref in refs]) for refs in copied]


def _agreed(several: list[dict[str, str]]) -> dict[str, str]:
    return {key: value for key, value in several[0].items() if all(other.get(key) == value for other in several)} if several else {}


def _known(**values: str | None) -> dict[str, str]:
    return {key: value for key, value in values.items() if value}
