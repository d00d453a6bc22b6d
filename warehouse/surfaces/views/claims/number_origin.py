"""What a number was made from and by: the conditions of its runs, the query and its models, the raw files, and how to do all of it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from warehouse.claims.numbers.lineage import Lineage
from warehouse.claims.numbers.raw_bytes import OpenedFile
from warehouse.claims.numbers.recorded import recorded_specification
from warehouse.claims.publish.guarantees import MEANINGS
from warehouse.errors import counted
from warehouse.surfaces.parts import Column, Fact, Facts, Part, Table, Text, without_empty
from warehouse.surfaces.view import Visit
from warehouse.surfaces.views.evidence.shown_bytes import FILE
from warehouse.transform.export.docs.published_pages import short
from warehouse.transform.finished.role_tables import role_table
from warehouse.transform.project.model import CONDITIONS
from warehouse.transform.sql.text import body

_MOST_FILES = 100
_MOST_RANGES = 4  # shown of each file
_MOST_CONDITIONS = 60
_MOST_MODELS = 20  # to read; the files have all
_ASKED_RUNS = 200  # of those under a number: their conditions are compared
_UNFOLDED = 12  # lines of SQL


def reproduction(visit: Visit, number: Lineage) -> Iterator[Part]:
    """What the runs ran on and with, where the project has a table of conditions, and the commands that check the number."""
    lines = [(f"wh verify {number.number_id}", "hashes its files again, and computes it again from them")]
    if number.publication:
        lines.append((f"wh audit-packet {number.number_id} -o number.whp", "all of its evidence in one file, to check anywhere"))
    lines.append((f"wh lineage {number.number_id} --rows --excluded --open", "every row, run and byte under it"))
    yield Text("commands", "\n".join(f"{command:<50}  # {words}" for command, words in lines), "commands", "Do it yourself")
    yield conditions(visit, number)


def conditions(visit: Visit, number: Lineage) -> Table:
    """What the runs ran on and with, as the current build has it: one row a condition, with how many of the runs state it, and whether they
    differ."""
    columns = (
        Column("kind"), Column("name"), Column("value"), Column("agreement", "in its runs", "state"),
        Column("runs", "runs that state it", "number", is_minor=True),
    )
    title = "What its runs ran on and with"
    run_ids = [str(run["run_id"]) for run in number.runs[:_ASKED_RUNS]]
    # The numbers of one row have the same runs. A tuple, because a build without the table has no list.
    (found,) = visit.of_build(f"conditions of {run_ids}", lambda: (_stated(visit, run_ids),)) if visit.build and run_ids else (None,)
    if found is None:
        return Table("conditions", columns, (), title, empty="this project has no table of conditions, or nothing is built")
    rows = []
    for (kind, name), group in groupby(found, key=lambda row: row[:2]):
        (_, _, value, runs), *others = group
        said = f"{value} and {counted(len(others), 'other value')}" if others else value
        rows.append((kind, name, said, "differs" if others else "the same", runs + sum(count for *_, count in others)))
    note = "" if len(run_ids) == len(number.runs) else f"Of the first {len(run_ids)} of {len(number.runs)} runs."
    return Table(
        "conditions", columns, tuple(rows[:_MOST_CONDITIONS]), title, note, "its runs state nothing of it", len(rows), is_folded=len(rows) > 12
    )


def _stated(visit: Visit, run_ids: Sequence[str]) -> list[tuple[Any, ...]] | None:
    """Kind, name and value of each condition with how many of the runs state it; None where the build has no table of conditions."""
    from warehouse.transform.finished.query import open_build

    assert visit.build
    if (table := role_table(visit.build.path, CONDITIONS)) is None:
        return None
    con = open_build(visit.build.path)
    try:
        # By value, of which each run states one: counts of distinct values and runs take the engine twice as long to plan.
        return con.execute(
            f"select kind, name, value_text, count(*) from {table.sql} where run_id in ({', '.join('?' * len(run_ids))})"
            " and value_number is null and value_text is not null group by all order by all",
            run_ids,
        ).fetchall()
    finally:
        con.close()


def query(visit: Visit, number: Lineage) -> Iterator[Part]:
    """The SQL that made it, the models under it, and what is guaranteed of its runs."""
    specification = recorded_specification(visit.project, number)
    text, words = _sql(visit, number, specification)
    yield Text("sql", text, "sql", "The query that made it", f"{number.query}: {words}", is_folded=text.count("\n") > _UNFOLDED)
    digests = [Fact("query_spec_digest", number.query_spec_digest)]
    if number.publication:
        digests += [Fact("publication", number.publication), Fact("why_digest", number.why_digest, note="of its runs")]
    promised = [Fact(name, number.guarantees[name]["established"], note=words) for name, words in MEANINGS.items() if number.guarantees]
    yield Facts("digests", (*digests, *promised), "Digests and guarantees")
    if number.guarantees and (left_out := number.guarantees.get("left_out", {}).get("rows")):
        yield Text("left_out", "\n".join(map(str, left_out)), "raw", "Rows that break a test, which are left out of its tables")
    yield Table(
        "models", (Column("model", link="/catalogue/{model}"), Column("digest", kind="code")), number.models, "Models under it",
        listed=_MOST_MODELS, is_folded=True,
    )


def _sql(visit: Visit, number: Lineage, specification: Mapping[str, Any]) -> tuple[str, str]:
    """The SQL of the query, and in words which text it is: as its author wrote it where the current build has the same query, else as the
    spec keeps it, which has neither comments nor line breaks."""
    from warehouse.transform.finished.query import open_build

    def read(build: Path) -> list[tuple[str, str]]:
        con = open_build(build)
        try:
            return con.execute("select sql, digest from catalog.model where schema_name = 'rollup' and name = ?", [number.query]).fetchall()
        finally:
            con.close()

    if build := visit.build:
        written = visit.of_build(f"query {number.query}", lambda: read(build.path))
        if written and written[0][1] == number.query_spec_digest:
            return body(written[0][0]).strip(), "the very query of the current build"
    return str(specification["document"]["sql"]), "as the spec keeps it, without comments and line breaks"


def files(number: Lineage, opened: Sequence[OpenedFile]) -> Table:
    """The raw files that its value was read from."""
    states = {each.file: each.state for each in opened}
    rows = tuple(
        (
            file.artifact_manifest_digest, file.raw_path, file.ranges[0][0] if file.ranges else None,
            ", ".join(f"{offset:,} to {offset + length:,}" for offset, length in file.ranges[:_MOST_RANGES])
            + (f" and {len(file.ranges) - _MOST_RANGES} more" if len(file.ranges) > _MOST_RANGES else ""),
            file.sha256, file.origin and f"{file.origin}, sha256 {short(file.origin.sha256)}", states.get(file),
        )
        for file in number.raw_files[:_MOST_FILES]
    )
    columns = (
        Column("bundle", kind="code", link="/evidence/{bundle}"), Column("raw_path", "file", link=f"{FILE}?offset={{offset}}"),
        Column("offset", kind="number", is_hidden=True), Column("ranges", "bytes"), Column("sha256", kind="code", is_minor=True),
        Column("origin", "unpacked from"), Column("state", "hashed now", "state"),
    )
    return Table("files", without_empty(columns, rows), rows, "Raw files", empty="it was read from no file", total=len(number.raw_files))
