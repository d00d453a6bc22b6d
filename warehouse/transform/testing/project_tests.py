"""`wh test`: a project's tests by name, run without building anything.

Data tests run on the current build, read-only; unit tests need neither a build nor data.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from warehouse.errors import ExitCode, WarehouseError
from warehouse.project.project import Project
from warehouse.transform.check.project_check import check_project
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build
from warehouse.transform.inputs.landing_tables import project_landing_types
from warehouse.transform.project.data_tests import DataTest, data_tests, load_sql_tests
from warehouse.transform.project.model import Model
from warehouse.transform.project.model_files import load_models, load_queries
from warehouse.transform.sql.tree import references
from warehouse.transform.testing.run_tests import TestResult, run_tests
from warehouse.transform.testing.unit_cases import load_unit_cases
from warehouse.transform.testing.unit_tests import UnitResult, run_unit_cases

if TYPE_CHECKING:
    import duckdb

Tested = TypeVar("Tested")


def rerun_data_tests(
    project: Project, names: Sequence[str] = (), on_result: Callable[[TestResult], None] = lambda result: None
) -> tuple[TestResult, ...]:
    """Run the project's data tests on its current build: all, or those whose own name or whose model's matches one of
    `names`. Raises WH211 without a build and WH241 for a name that nothing has."""
    con = open_build(current_build(project).path)
    try:
        tests = data_tests({**load_models(project), **load_queries(project)}, load_sql_tests(project))
        return run_tests(con, chosen(tests, names, lambda test: {test.name, *_models_of(con, test)}), on_result)
    finally:
        con.close()


def run_unit_tests(
    project: Project, names: Sequence[str] = (), on_result: Callable[[UnitResult], None] = lambda result: None
) -> tuple[UnitResult, ...]:
    """Check the project and run its unit tests: all, or those whose own name or whose model's matches one of `names`.
    Raises what the check raises, WH240 for a case that is not valid and WH241 for a name that nothing has."""
    landing = project_landing_types(project)
    checked = check_project(project, landing).sound()
    cases = chosen(load_unit_cases(project), names, lambda case: {case.name, str(case.model.content)})
    return run_unit_cases(cases, checked, landing, on_result)


def _models_of(con: "duckdb.DuckDBPyConnection", test: DataTest) -> Iterable[str]:
    if test.model is not None:
        return [test.model]
    read = references(con, Model(test.name, "", test.place, test.source.text))
    return [reference.name.rpartition(".")[2] for reference in read]


def chosen(
    items: Sequence[Tested], patterns: Sequence[str], names_of: Callable[[Tested], set[str]]
) -> Sequence[Tested]:
    """Those of `items` one of whose names matches a pattern (`*` and `?` as in a shell); all without patterns. Raises
    WH241 for a pattern that matches nothing."""
    if not patterns:
        return items
    named = [(item, names_of(item)) for item in items]
    known = sorted({name for _, names in named for name in names})
    for pattern in patterns:
        if not fnmatch.filter(known, pattern):
            near = difflib.get_close_matches(pattern, known, n=1)
            raise WarehouseError(
                "WH241", f"nothing to test is named {pattern}", None, f"did you mean {near[0]}?" if near else None,
                ExitCode.NOT_FOUND,
            )
    return [item for item, names in named if any(fnmatch.filter(names, pattern) for pattern in patterns)]
