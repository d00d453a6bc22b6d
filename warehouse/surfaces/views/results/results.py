"""Results of one rollup: facets with counts, sortable columns, the ones that people ask for first, and the SQL behind them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from warehouse.analysis.names import ENGINE, ENGINE_VERSION, GPU, GPU_COUNT, SEPARATOR, SUBJECT, name_of
from warehouse.claims.publish.specification import Units, units_of
from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.surfaces.parts import Column, Fact, Facts, Page, Part, Table
from warehouse.surfaces.parts import Facets as FacetsPart
from warehouse.surfaces.view import OFFSET, Parameter, View, Visit, address
from warehouse.surfaces.views.analysis.wording import choices
from warehouse.surfaces.views.facts.reading import Reader, reader
from warehouse.surfaces.views.results.conditions import Condition, read_conditions, where_sql
from warehouse.surfaces.views.results.facets import METRICS, facet_columns, facets, heading, metric_of_row, named_column, title
from warehouse.transform.export.docs.published_pages import is_digest, short
from warehouse.transform.sql.duck import quote

_HOME, _PATH = "/results", "/results/{query}"
_LISTED, _MOST = 50, 1000  # rows of a page, and of its files
_WHY_NULL = re.compile(r"Why (?P<what>an? .+?) is NULL: (?P<more>[^;]+)")
_ENDS = {"cost_reason": "To bring prices: wh ingest prices.csv, with the columns that docs/serving.md has under Prices."}
_LONGEST = 80  # characters of a value that are shown
_RARE = 20  # times fewer rows that state it than another column: for all columns alone
_FEW = 8  # columns beside the name that are shown before all are asked for
_MEDIAN, _INTERVAL, _HALF = "median", ("interval_low", "interval_high"), "half of the interval"
_MAIN, _BELOW = "serving_results", "parameters"
_RESERVED = ("query_spec_digest", "number_ids")
# What people ask for first, in the order in which they read it; then what has a unit, in the order of the query.
_FIRST = (
    "scenario", "system", "round", "division", "submitter", "slo", "nodes", "node_count", "trial", "parameters", "result_key", "input_length",
    "output_length", "concurrency_point", "request_rate_per_s", "load", "output_token_throughput_per_accelerator_per_s",
    "output_token_throughput_per_s", "interactivity_p50_tokens_per_s", "ttft_p50_ms", "ttft_p99_ms", "tpot_p50_ms", "itl_p50_ms", "e2e_p50_ms",
    "official_minutes", "performance_result", "performance_unit", "avg_bus_bandwidth_gb_per_s", "peak_bus_bandwidth_gb_per_s", "median", "unit",
    "score", "gain_pct",
    "cost_per_million_output_tokens_usd", "share", "goodput_per_s", "run_count", "status", "validity", "started_at", "last_run_at",
)
_ALWAYS_NAMED = (*GPU_COUNT, *ENGINE, *ENGINE_VERSION, "accelerators_per_node", "accelerator_family", "accelerator_name", "accelerator", "gpu_model")
_LENGTHS = frozenset(("input_length", "output_length", "concurrency_point", "request_rate_per_s", "load", "load_kind"))  # columns of their own here


def _home(visit: Visit) -> Page:
    with reader(visit) as found:
        rollups = _rollups(found)
        if not rollups:
            return Page("Results", (), notices=("This build has no rollup with rows: a file in queries/ makes one.",))
        return _page(visit, found, rollups, next(iter(rollups)))


def _answer(visit: Visit) -> Page:
    with reader(visit) as found:
        rollups = _rollups(found)
        if not found.columns(f"rollup.{visit['query']}"):
            hint = did_you_mean(visit["query"], sorted(rollups))
            raise WarehouseError("WH601", f"the build has no rollup {printable(visit['query'])}", "query", hint, ExitCode.NOT_FOUND)
        return _page(visit, found, rollups, visit["query"])


def _rollups(found: Reader) -> dict[str, int]:
    """The rollups that have rows, by how many."""
    rows = found.rows("select table_name as name, estimated_size as rows from duckdb_tables() where schema_name = 'rollup' order by name")
    found_rows = {row["name"]: row["rows"] for row in rows if row["rows"]}
    return dict(sorted(found_rows.items(), key=lambda each: (each[0] != _MAIN, not each[0].startswith("serving"), each[0])))


def _page(visit: Visit, found: Reader, rollups: dict[str, int], query: str) -> Page:
    table, qualified = f"rollup.{quote(query)}", f"rollup.{query}"
    columns = [(row["column_name"], row["column_type"]) for row in found.rows(f"describe {table}") if row["column_name"] not in _RESERVED]
    conditions = read_conditions(visit["where"], (name for name, _ in columns))
    where, values = where_sql(conditions)
    ((total,),) = found.con.execute(f"select count(*) from {table} where {where}", values).fetchall()
    given = {"where": visit["where"], "sort": visit["sort"], "columns": visit["columns"] if visit["columns"] != "first" else None}

    def link(**changed: Any) -> str:
        return address(_PATH, query=query, **{**given, **changed})

    shown = _shown(found, table, columns, conditions, visit["columns"] == "all")
    rows = _rows(visit, found, table, columns, conditions, _asked_first(found.described(qualified), shown))
    tabs = [
        Fact(name, f"{count:,}", title=title(name), link=None if name == query else address(_PATH, query=name)) for name, count in rollups.items()
    ]
    of_facets = tuple(facets(found, table, facet_columns(found, table, columns), conditions, lambda text: link(where=text)))
    offered = [("the first columns", None, None), ("all columns", "all", len(columns))]
    which = choices("columns", address(_PATH, query=query), given, "columns", offered)
    more = link(offset=visit["offset"] + _LISTED) if total > visit["offset"] + _LISTED else None
    results = _table(visit, found, qualified, shown, columns, rows, link)
    parts: list[Part] = [Facts("rollups", tuple(tabs), form="links")]
    parts += [FacetsPart("facets", of_facets)] if of_facets else []
    parts += [which, Table(**{**results, "total": total, "more": more})]
    described = found.rows("select description from catalog.model where schema_name = 'rollup' and name = ?", [query])
    said = " · ".join(f"{each.name.replace('_', ' ')} {'is not ' if each.is_negated else ''}{each.value or 'not stated'}" for each in conditions)
    words = said or (_first_sentence(described[0]["description"]) if described else "")
    return Page(
        title(query), tuple(parts), words, notices=tuple(_lacks(found, table, found.described(qualified), conditions)),
        crumbs=(("Results", _HOME),) if said else (),
        next_steps={
            "The SQL behind this": address("/catalogue/{table}", table=qualified) + "#sql",
            "Query it": address("/sql", query=f"from {qualified}" + (f" where {_typed(conditions)}" if conditions else "")),
            **({"Clear all filters": link(where=None)} if conditions else {}),
        },
    )


def _lacks(found: Reader, table: str, described: Mapping[str, tuple[str | None, str]], conditions: Sequence[Condition]) -> Iterator[str]:
    """What no row has a figure of, and why, where a column of reasons is described as 'Why a cost is NULL: what ends it'."""
    where, values = where_sql(conditions)
    for name, (_, description) in described.items():
        reason = _WHY_NULL.match(description)
        if reason is None:
            continue
        rows = found.rows(f"select {quote(name)} as reason, count(*) as rows from {table} where {where} group by all order by 2 desc, 1", values)
        if rows and all(row["reason"] for row in rows):
            counts = ", ".join(f"{row['reason'].replace('-', ' ')} in {row['rows']:,}" for row in rows)
            more = reason["more"].strip().replace("-", " ")
            ends = f" {_ENDS[name]}" if name in _ENDS else ""
            yield f"No row has {reason['what']}: {counts}. {more[:1].upper()}{more[1:]}.{ends}"


def _asked_first(described: Mapping[str, tuple[str | None, str]], shown: Sequence[str]) -> list[str]:
    """The figure that a rollup is read for, if it says why a row may have none: of 'Why a cost is NULL' the first column of costs shown."""
    nouns = [reason["what"].rpartition(" ")[2] for _, description in described.values() if (reason := _WHY_NULL.match(description))]
    return [name for noun in nouns for name in shown if name.startswith(noun)][:1]


def _first_sentence(text: str | None) -> str:
    return re.split(r"(?<=[.]) (?=[A-Z])", text or "", maxsplit=1)[0]


def _typed(conditions: Iterable[Condition]) -> str:
    clauses = []
    for each in conditions:
        clause, given = each.sql()
        clauses.append(clause.replace("?", "'" + given[0].replace("'", "''") + "'") if given else clause)
    return " and ".join(clauses)


def _shown(
    found: Reader, table: str, columns: Sequence[tuple[str, str]], conditions: Sequence[Condition], is_all: bool
) -> list[str]:
    """The columns to show beside the name, in the order in which people ask for them. None in which no row has a value, and of the first ones
    none that is the same in all rows, or that hardly any row states."""
    where, values = where_sql(conditions)
    names = [name for name, _ in columns]
    counted = found.con.execute(
        f"select {', '.join(f'count({quote(name)}), approx_count_distinct({quote(name)})' for name in names)} from {table} where {where}", values
    ).fetchone()
    assert counted
    filled = {name: counted[2 * place] for place, name in enumerate(names)}
    distinct = {name: counted[2 * place + 1] for place, name in enumerate(names)}
    kinds = dict(columns)
    offered = [name for name in _FIRST if name in kinds] + [name for name, kind in columns if name not in _FIRST and _is_number(kind)]
    offered += [name for name in names if name not in offered]
    in_name = {*_ALWAYS_NAMED, *(next((name for name in of if name in kinds), "") for of in (SUBJECT, GPU)), "run_id"}
    offered = [name for name in offered if filled[name] and name not in in_name]
    if is_all:
        return offered
    of_interval = {*_INTERVAL, "interval_coverage"} if {*_INTERVAL, _MEDIAN} <= set(kinds) else set()
    plain = [
        name for name in offered
        if name in _FIRST or _RARE * filled[name] >= max(filled.values()) and name not in of_interval
        and not name.endswith(("_key", "_digest", "_sha256", "_ids", "_id"))
    ]
    return [name for name in plain if _is_number(kinds[name]) and name not in _LENGTHS or distinct[name] > 1][:_FEW]


def _is_number(kind: str) -> bool:
    return kind in ("DOUBLE", "FLOAT", "BIGINT", "INTEGER", "HUGEINT", "UBIGINT") or kind.startswith("DECIMAL")


def _rows(
    visit: Visit, found: Reader, table: str, columns: Sequence[tuple[str, str]], conditions: Sequence[Condition], asked_first: Sequence[str],
) -> list[dict[str, Any]]:
    """The rows of a page: as they are asked to be sorted, or else those with what is asked of them first, then the newest."""
    where, values = where_sql(conditions)
    name = (visit["sort"] or "").lstrip("-")
    known = [each for each, _ in columns]
    if name and name not in known:
        raise WarehouseError("WH601", f"these results have no column {printable(name)}", "sort", did_you_mean(name, known), ExitCode.USAGE)
    default = next((each for each in ("started_at", "last_run_at") if each in known), None)
    order = [f"{quote(name)} {'desc' if visit['sort'].startswith('-') else 'asc'} nulls last"] if name else []
    order += [f"{quote(each)} is null" for each in asked_first if not name]
    order += [f"{default} desc nulls last"] if default and not name else []
    return found.rows(
        f"select * exclude (query_spec_digest) from {table} where {where} order by {', '.join([*order, 'rowid'])} limit {_MOST}"
        f" offset {visit['offset']}", values,
    )


def _table(
    visit: Visit, found: Reader, qualified: str, shown: Sequence[str], columns: Sequence[tuple[str, str]], rows: Sequence[dict[str, Any]], link: Any
) -> dict[str, Any]:
    """The table of results: the name of each row, the columns that are shown, and hidden all others with the ids of the numbers."""
    described, kinds, names = found.described(qualified), dict(columns), [name for name, _ in columns]
    units, metrics = _units(found, qualified), {metric_of_row(row) for row in rows}
    metric = metrics.pop() if len(metrics) == 1 else None  # that the statistics of all rows are of
    has_run, has_interval = "run_id" in kinds, {*_INTERVAL, _MEDIAN} <= set(kinds)
    apart = [] if has_run else _apart(found, qualified, rows, kinds, shown)
    if _BELOW in shown and not has_run and visit["columns"] != "all":  # too long for a column: below the name
        shown = [name for name in shown if name != _BELOW]
        apart = [SEPARATOR.join(filter(None, (row[_BELOW], words))) or None for row, words in zip(rows, apart, strict=True)]
    numbers = [name for name in shown if _is_number(kinds[name]) and name not in _LENGTHS]
    named = _named_metrics(found, rows, shown)
    parts = "model · GPU · engine" if "model" in kinds or "framework" in kinds else "what"
    made = [Column("name", parts, link="/runs/{run_id:path}" if has_run else None, below="apart" if any(apart) else None)]
    for name in shown:
        of_rows = {units.of(name, row) for row in rows if row[name] is not None}
        called, unit = named_column(found.metric_names, name, of_rows.pop() if len(of_rows) == 1 else units.declared.get(name))
        if metric and name in units.statistics:
            of, _, unit = found.metric_names.of(metric, unit)
            called = f"{of}, {called.lower()}"
        now: Literal["up", "down"] | None = "up" if visit["sort"] == name else "down" if visit["sort"] == f"-{name}" else None
        made.append(Column(
            f"{name}_called" if name in named else name, called,
            "number" if _is_number(kinds[name]) else "moment" if kinds[name].startswith("TIMESTAMP") else "text",
            unit if unit not in ("UTC", "bytes") else None, f"/numbers/{{number_of_{name}}}" if name in numbers else None,
            half=_HALF if name == _MEDIAN and has_interval else None, note=found.metric_names.definition(name) or described.get(name, (None, ""))[1],
            sort=link(sort=name if now == "down" else f"-{name}", offset=None), order=now, most=_LONGEST,
        ))
    others = [name for name in names if name not in shown or name in named]
    made += [Column(name, is_hidden=True) for name in others]
    made += [Column(_HALF, is_hidden=True)] if has_interval else []
    made += [Column(f"number_of_{name}", is_hidden=True) for name in numbers]
    made += [Column("apart", is_hidden=True)] if any(apart) else []
    told = tuple(
        (
            _name(row, kinds), *(named[name][place] if name in named else row[name] for name in shown), *(row[name] for name in others),
            *([_half(*(row[each] for each in _INTERVAL))] if has_interval else ()), *((row["number_ids"] or {}).get(name) for name in numbers),
            *([apart[place]] if any(apart) else ()),
        )
        for place, row in enumerate(rows)
    )
    return {"name": "rows", "columns": tuple(made), "rows": told, "listed": _LISTED, "empty": "no result is like that"}


def _named_metrics(found: Reader, rows: Sequence[dict[str, Any]], shown: Sequence[str]) -> dict[str, list[str | None]]:
    """Of rows that each hold a metric, what people call it and its unit, also where only its definition or its name states one: by the column
    that is shown, in the order of the rows."""
    holders = [name for name in shown if name in METRICS]
    if not holders:
        return {}
    of_rows = [found.metric_names.of(metric, row.get("unit")) if (metric := metric_of_row(row)) else (None, "", row.get("unit")) for row in rows]
    units = {"unit": [unit for _, _, unit in of_rows]} if "unit" in shown else {}
    return {holders[0]: [called for called, _, _ in of_rows], **units}


def _apart(found: Reader, qualified: str, rows: Sequence[dict[str, Any]], kinds: dict[str, str], shown: Sequence[str]) -> list[str | None]:
    """Of rows of one name that nothing shown beside it tells apart: what they differ in."""
    words = [name for name in shown if not _is_number(kinds[name]) or name in _LENGTHS]
    alike: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        alike.setdefault((_name(row, kinds), *(str(row[name]) for name in words)), []).append(row)
    grain = [name for name in kinds if name in found.grain(qualified)]
    differ = {key: [name for name in grain if len({str(row[name]) for row in of}) > 1] for key, of in alike.items()}

    def told(row: dict[str, Any]) -> str | None:
        names = differ[_name(row, kinds), *(str(row[name]) for name in words)]
        return SEPARATOR.join(f"{heading(name.removesuffix('_key'))} {short(row[name])}" for name in names if row[name] is not None) or None

    return [told(row) for row in rows]


def _units(found: Reader, qualified: str) -> Units:
    """The units of a rollup, by the spec that the build has of it."""
    rows = found.rows("select specification from catalog.model where schema_name || '.' || name = ?", [qualified])
    return units_of(json.loads(rows[0]["specification"]))


def _half(low: float | None, high: float | None) -> float | None:
    return None if low is None or high is None or low == high else (high - low) / 2


def _name(row: dict[str, Any], kinds: dict[str, str]) -> str:
    """What a row is of, without what has a column of its own."""
    said = {name: value for name, value in row.items() if name not in _LENGTHS}
    words = (value for value in said.values() if isinstance(value, str) and not is_digest(value))
    return str(name_of(said)) or str(row.get("run_id") or next(words, "not stated"))


_PARAMETERS = (
    Parameter("where", "Only results for which name=value,name!=value holds; * stands for any characters, nothing for what is not stated."),
    Parameter("sort", "The column to sort by; with - in front the greatest first."),
    Parameter("columns", "Whether all columns are shown.", default="first", choices=("first", "all")),
    OFFSET,
)
VIEWS = (
    View(
        "results", _HOME, "Results", "The results of the rollup that most people ask for, and which others there are.", _home, _PARAMETERS,
        menu="Results",
    ),
    View(
        "results_of", _PATH, "Results of a query", "The rows of one rollup, chosen by facets and sorted, each figure with its number.", _answer,
        (Parameter("query", "The rollup's name."), *_PARAMETERS),
    ),
)
