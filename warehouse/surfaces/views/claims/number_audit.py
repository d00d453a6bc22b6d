"""What of a number is worked out when it is asked: whether it still follows from its evidence, and which runs were left out of it."""

from __future__ import annotations

from warehouse.claims.numbers.exclusion import Excluded, excluded_by
from warehouse.claims.numbers.lineage import lineage
from warehouse.claims.numbers.number import IdArgument, parse_argument
from warehouse.claims.verify.verdict import CellNumber
from warehouse.claims.verify.verification import verify_number
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.surfaces.parts import Column, Fact, Facts, Figure, Page, Table, without_empty
from warehouse.surfaces.view import Parameter, View, Visit, address
from warehouse.surfaces.views.claims.number_runs import RUN
from warehouse.transform.finished.query import plain_cell

NUMBER_ID = Parameter("number_id", "A number id, as in n-2nimndq6tma4.")
_NUMBER = "/numbers/{number_id}"
_MOST_RUNS = 500
_WITNESSES = 3
_OF_ROW = {True: "yes", False: "no", None: "not known"}


def read_id(visit: Visit) -> IdArgument:
    """The number id of a visit. Raises WH601."""
    text = visit["number_id"]
    try:
        argument = parse_argument(text)
    except WarehouseError:
        argument = None
    if not isinstance(argument, IdArgument):
        hint = "a number id is n- and 12 characters; /numbers?q= finds a number by its cell or its value"
        raise WarehouseError("WH601", f"{printable(text)!r} is not a number id", "number_id", hint, ExitCode.USAGE)
    return argument


def _verify(visit: Visit) -> Page:
    number_id = read_id(visit).number_id
    found = verify_number(visit.project, number_id)
    code = found.code
    facts = [
        Fact("number", number_id, link=address(_NUMBER, number_id=number_id), kind="code"), Fact("cell", printable(found.key), kind="code"),
        Fact("value", found.value), Fact("files_hashed", found.files_checked, kind="number"),
        Fact("bundles_replayed", len(found.evidence), kind="number", note="parsed again into an empty store, and the recorded SQL run on them"),
        *([Fact("engine", found.engines.recorded, note=str(found.engines))] if found.engines else []),
        *([Fact("code", ", ".join(code.recorded), note=f"recorded; replayed with {', '.join(code.here)}")] if code and code.differ else []),
        Fact("checked_at", visit.now.replace(microsecond=0), kind="moment"),
        Fact("signatures", str(found.signings) if found.signings else None),
        *([_other("now", found.now)] if found.now else []),
        *([_other("published_instead", found.published_instead)] if found.published_instead else []),
    ]
    problems = tuple((each.code, each.place, each.message, each.hint) for each in found.problems)
    columns = (Column("code", kind="code"), Column("place", kind="code"), Column("message"), Column("hint"))
    return Page(
        f"{number_id} is {found.state}",
        (
            Figure("verdict", found.state, interval=found.reason, states=(found.state,)), Facts("checked", tuple(facts), "What was checked"),
            Table("problems", without_empty(columns, problems), problems, "Where it differs", empty="no file and no record differs from its digest"),
        ),
        crumbs=_crumbs(number_id),
    )


def _crumbs(number_id: str) -> tuple[tuple[str, str], ...]:
    return ("Numbers", "/numbers"), (number_id, address(_NUMBER, number_id=number_id))


def _other(name: str, cell: CellNumber) -> Fact:
    link = address(_NUMBER, number_id=cell.number_id) if cell.number_id else None
    return Fact(name, cell.value, link=link, note=f"published {cell.place}" if cell.publication else "not published")


def _excluded(visit: Visit) -> Page:
    number_id = read_id(visit).number_id
    number = lineage(visit.project, number_id)
    found = excluded_by(visit.project, number)
    columns = (
        Column("run_id", "run", "code", link=RUN), Column("reason", "left out by"), Column("clause", kind="code"), Column("place", "at", "code"),
        Column("is_of_row", "of this row by its grain"), Column("decision"), Column("witnesses", "against it", is_minor=True),
    )
    rows = tuple(_row(each) for each in found.excluded)
    elsewhere = tuple(
        (each.run_id, ", ".join(f"{name} = {plain_cell(value)}" for name, value in each.grain.items()), each.rows) for each in found.elsewhere
    )
    population = (
        Fact("runs", found.population, kind="number", note=f"of {', '.join(found.tables) or 'no table of runs'}"),
        Fact("used", found.own, kind="number"), Fact("not_used", found.population - found.own, kind="number"),
        Fact("build", found.build, kind="code"),
    )
    of_others = (Column("run_id", "run", "code", link=RUN), Column("grain", "the first row that has it"), Column("rows", kind="number"))
    return Page(
        f"The runs that were left out of {number_id}",
        (
            Facts("population", population),
            Table("excluded", without_empty(columns, rows), rows[:_MOST_RUNS], "Left out", empty="no clause left a run out", total=len(rows)),
            Table("elsewhere", of_others, elsewhere[:_MOST_RUNS], "In other rows of the result", total=len(elsewhere), is_folded=True),
        ),
        f"{number.query}.{number.column}", crumbs=_crumbs(number_id),
        next_steps={"The number": address("/numbers/{number_id}", number_id=number_id)},
    )


def _row(each: Excluded) -> tuple[str | None, ...]:
    reason = f"{each.reason}: the condition is NULL" if each.is_null else each.reason
    more = f" and {len(each.witnesses) - _WITNESSES} more" if len(each.witnesses) > _WITNESSES else ""
    witnesses = ", ".join(each.witnesses[:_WITNESSES]) + more
    return each.run_id, reason, each.clause, each.place, _OF_ROW[each.is_of_row], each.decision, witnesses or None


VIEWS = (
    View(
        "verify", "/numbers/{number_id}/verify", "Verify a number",
        "Hashes a number's raw files again, replays it from them, and tells whether it still follows and where it differs.",
        _verify, (NUMBER_ID,), needs_build=False, is_costly=True, is_act=True,
    ),
    View(
        "excluded", "/numbers/{number_id}/excluded", "Runs left out",
        "The runs that did not contribute to a number of the current build, each with the clause of the SQL that left it out.",
        _excluded, (NUMBER_ID,), is_costly=True,
    ),
)
