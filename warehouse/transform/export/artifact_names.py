"""What dbt's artifacts of one project have in common: who made them, and the ids of what is in them."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from warehouse.digest import bytes_digest
from warehouse.transform.export.dbt_tests import test_name
from warehouse.transform.export.description import LANDING, ProjectDescription, Promise, Table
from warehouse.transform.finished.builds import POINTER
from warehouse.transform.sql.duck import quote

DBT_VERSION = "1.10.0"  # the shape's version: readers choose their parser by it
# What the engine calls the database of the current build, when a client opens it by its pointer.
DATABASE = POINTER.removesuffix(".duckdb")
_INVOCATIONS = uuid.UUID("5b0c1d0a-0f0e-5d7b-9b6c-6f1f0c2c7a51")  # any fixed one: equal builds have equal ids


def metadata(project: ProjectDescription, schema: str, generated_at: datetime) -> dict[str, Any]:
    build = project.last_build
    invocation = f"{build.digest} {time_text(build.started_at)}" if build else time_text(generated_at)
    return {
        "dbt_schema_version": schema,
        "dbt_version": DBT_VERSION,
        "generated_at": time_text(generated_at),
        "invocation_id": str(uuid.uuid5(_INVOCATIONS, f"{project.name} {invocation}")),
        "env": {},
    }


def time_text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def package_name(project: ProjectDescription) -> str:
    """The project's name as dbt would have it: readers cut ids at their dots."""
    return re.sub(r"\W+", "_", project.name) or "project"


def unique_id(package: str, table: Table) -> str:
    # The schema keeps a feed, whose bare name is free, apart from a model of that name.
    name = table.name if table.schema == "feed" else table.bare_name
    return f"source.{package}.{LANDING}.{name}" if table.model is None else f"model.{package}.{name}"


def relation_name(table: Table) -> str:
    return ".".join(quote(part) for part in (DATABASE, table.schema, table.bare_name))


def promises(package: str, table: Table) -> Iterator[tuple[str, Promise]]:
    """The tests of a table and their ids: two of one name differ by the digest of their SQL."""
    for promise in table.promises:
        digest = bytes_digest(f"{table.name} {promise.text} {promise.sql}".encode())
        yield f"test.{package}.{test_name(table, promise)}.{digest[:10]}", promise
