"""OpenLineage: what the events of a build say, and that they arrive, or that their failing to harms nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from warehouse.cli.main import main
from warehouse.errors import WarehouseError
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
from warehouse.transform.export.describe import describe_project
from warehouse.transform.export.description import BuildOutcome, ModelOutcome, ProjectDescription
from warehouse.transform.export.lineage_delivery import deliver
from warehouse.transform.export.openlineage import run_events
from warehouse.transform.finished.builds import find_current

NOW = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)
FILES = {
    "models/run.sql": """\
/*
description: One row per run
columns:
  run_id: {type: integer, description: "The run"}
  speed_ms: {type: double, unit: ms}
*/
select i::integer as run_id, i * 1.5::double as speed_ms from range(1, 5) as r (i);""",
    "models/staging/arrival.sql": "select arrived_at from evidence_bundle",
    "queries/fastest.sql": "/*\ngrain: [run_id]\n*/ select run_id, speed_ms from run where speed_ms > 3",
}


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENLINEAGE_URL", "OPENLINEAGE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = init_project(tmp_path / "lab", bare=True)
    for name, text in FILES.items():
        (project.root / name).parent.mkdir(parents=True, exist_ok=True)
        (project.root / name).write_text(text)
    return project


@pytest.fixture
def description(project: Project) -> ProjectDescription:
    return replace(describe_project(project), lineage={
        ("rollup.fastest", "speed_ms"): [("main.run", "speed_ms", "value"), ("main.run", "run_id", "condition")],
        ("staging.arrival", "arrived_at"): [("evidence_bundle", "arrived_at", "value")],
    })


# --- what the events say -----------------------------------------------------------------------------------------


def told(description: ProjectDescription, *models: ModelOutcome, error: str = "") -> list[dict[str, Any]]:
    build = BuildOutcome("d1", NOW, NOW + timedelta(seconds=9), models, error=error)
    return list(run_events(replace(description, last_build=build)))


def names(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(event["eventType"], event["job"]["name"]) for event in events]


def without_schema(facet: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facet.items() if not name.startswith("_")}


def test_a_build_and_each_model_it_made_start_and_complete(description: ProjectDescription) -> None:
    started_at = NOW + timedelta(seconds=2)
    events = told(
        description,
        ModelOutcome("main.run", "built", 0.5, 4, started_at=started_at),
        ModelOutcome("staging.arrival", "kept"),
        ModelOutcome("rollup.fastest", "updated", 0.25, 2),
    )
    assert names(events) == [
        ("START", "build"), ("START", "main.run"), ("COMPLETE", "main.run"), ("START", "rollup.fastest"),
        ("COMPLETE", "rollup.fastest"), ("COMPLETE", "build"),
    ]
    assert [event["eventTime"][17:] for event in events] == [
        "00.000000Z", "02.000000Z", "02.500000Z", "00.000000Z", "09.000000Z", "09.000000Z"
    ]
    assert {event["job"]["namespace"] for event in events} == {"lab"}
    runs = [str(UUID(event["run"]["runId"])) for event in events]
    assert runs[0] == runs[5] and runs[1] == runs[2] and runs[3] == runs[4] and len(set(runs)) == 3
    parent = without_schema(events[1]["run"]["facets"]["parent"])
    assert parent == {"run": {"runId": runs[0]}, "job": {"namespace": "lab", "name": "build"}}


def test_the_facets_of_a_table(description: ProjectDescription) -> None:
    complete = told(description, ModelOutcome("main.run", "built", 0.5, 4))[2]
    assert without_schema(complete["job"]["facets"]["sql"]) == {
        "query": "select i::integer as run_id, i * 1.5::double as speed_ms from range(1, 5) as r (i)", "dialect": "duckdb"
    }
    (output,) = complete["outputs"]
    assert (output["namespace"], output["name"]) == ("duckdb://lab", "main.run")
    assert without_schema(output["facets"]["schema"]) == {
        "fields": [{"name": "run_id", "type": "INTEGER", "description": "The run"}, {"name": "speed_ms", "type": "DOUBLE"}]
    }
    assert without_schema(output["facets"]["documentation"]) == {"description": "One row per run"}
    assert without_schema(output["outputFacets"]["outputStatistics"]) == {"rowCount": 4}


def test_column_lineage_tells_values_from_conditions(description: ProjectDescription) -> None:
    complete = told(description, ModelOutcome("rollup.fastest", "built"))[2]
    assert [(dataset["name"], dataset["facets"]) for dataset in complete["inputs"]] == [("main.run", {})]
    assert without_schema(complete["outputs"][0]["facets"]["columnLineage"]) == {"fields": {"speed_ms": {"inputFields": [
        {"namespace": "duckdb://lab", "name": "main.run", "field": "speed_ms", "transformations": [{"type": "DIRECT"}]},
        {"namespace": "duckdb://lab", "name": "main.run", "field": "run_id", "transformations": [{"type": "INDIRECT"}]},
    ]}}}


def test_a_landing_table_brings_its_columns(description: ProjectDescription) -> None:
    complete = told(description, ModelOutcome("staging.arrival", "built"))[2]
    (source,) = complete["inputs"]
    assert source["name"] == "landing.evidence_bundle"
    assert "arrived_at" in [column["name"] for column in source["facets"]["schema"]["fields"]]
    fields = complete["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert fields["arrived_at"]["inputFields"][0]["name"] == "landing.evidence_bundle"


def test_a_failure_says_why(description: ProjectDescription) -> None:
    events = told(description, ModelOutcome("main.run", "failed", message="WH209 broken"), error="WH209 broken")
    assert names(events)[2:] == [("FAIL", "main.run"), ("FAIL", "build")]
    for event in events[2:]:
        assert event["run"]["facets"]["errorMessage"]["message"] == "WH209 broken"
        assert event["outputs"] == []


def test_every_event_and_facet_names_its_schema(description: ProjectDescription) -> None:
    def facets(value: Any) -> Iterator[dict[str, Any]]:
        if isinstance(value, dict):
            for name, inner in value.items():
                if name in ("facets", "outputFacets"):
                    yield from inner.values()
                yield from facets(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from facets(inner)

    events = told(description, *(ModelOutcome(name, "built", 1.0, 1) for name in description.tables), error="x")
    assert {event["schemaURL"] for event in events} == {"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"}
    found = [facet for event in events for facet in facets(event)]
    assert len(found) > 10
    for facet in found:
        assert facet["_producer"].startswith("urn:wh:")
        assert facet["_schemaURL"].startswith("https://openlineage.io/spec/facets/")


# --- delivery ----------------------------------------------------------------------------------------------------


@dataclass
class Endpoint:
    """A lineage server: what it was sent, and what it answers."""

    url: str
    answer: int = 201
    events: list[dict[str, Any]] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)
    keys: set[str | None] = field(default_factory=set)


@contextmanager
def endpoint(answer: int = 201) -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["Content-Type"] == "application/json"
            seen.paths.add(self.path)
            seen.keys.add(self.headers["Authorization"])
            seen.events.append(json.loads(body))
            self.send_response(seen.answer)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        seen = Endpoint(f"http://127.0.0.1:{server.server_address[1]}", answer)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield seen
        server.shutdown()
        thread.join()


def configure(project: Project, settings: str) -> Project:
    file = project.root / "warehouse.toml"
    file.write_text(f"{file.read_text()}\n[openlineage]\n{settings}\n")
    return read_project(project.root)


def test_a_build_is_told_to_a_file_and_an_endpoint(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint() as server:
        configure(project, f'file = "log/events.ndjson"\nurl = "{server.url}"')
        assert main(["--project", str(project.root), "build"]) == 0
    assert capsys.readouterr().err.startswith("built 2, 1 empty in ")
    written = [json.loads(line) for line in (project.root / "log" / "events.ndjson").read_text().splitlines()]
    assert written == server.events
    assert names(written)[0] == ("START", "build") and names(written)[-1] == ("COMPLETE", "build")
    assert {job for _, job in names(written)} == {"build", "main.run", "staging.arrival", "rollup.fastest"}
    rows = {
        event["job"]["name"]: event["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"]
        for event in written if event["eventType"] == "COMPLETE" and event["outputs"]
    }
    assert rows == {"main.run": 4, "staging.arrival": 0, "rollup.fastest": 2}
    assert (server.paths, server.keys) == ({"/api/v1/lineage"}, {None})


def test_a_second_build_adds_its_events_and_an_idle_one_none(project: Project) -> None:
    configure(project, 'file = "events.ndjson"')
    file = project.root / "events.ndjson"
    main(["--project", str(project.root), "build"])
    first = file.read_text()
    main(["--project", str(project.root), "build"])
    assert file.read_text() == first
    (project.root / "models" / "more.sql").write_text("select 1 as a")
    main(["--project", str(project.root), "build"])
    assert file.read_text().startswith(first) and '"main.more"' in file.read_text()


def test_the_environment_comes_first(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with endpoint() as server:
        monkeypatch.setenv("OPENLINEAGE_URL", f"{server.url}/elsewhere/lineage?source=wh")
        monkeypatch.setenv("OPENLINEAGE_API_KEY", "k-1")
        configured = configure(project, 'url = "http://127.0.0.1:9"')
        assert deliver(configured, [{"a": 1}]) == []
    assert (server.events, server.paths) == ([{"a": 1}], {"/elsewhere/lineage?source=wh"})
    assert server.keys == {"Bearer k-1"}


def test_an_endpoint_that_refuses_does_not_fail_a_build(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(answer=503) as server:
        configure(project, f'url = "{server.url}"')
        assert main(["--project", str(project.root), "build"]) == 0
    assert find_current(project) is not None
    assert len(server.events) == 1  # it is not asked again and again
    assert capsys.readouterr().err.startswith(
        f"WH228 {server.url}: answered 503 Service Unavailable; 0 of 8 events were delivered\nbuilt 2, 1 empty in "
    )


def test_an_endpoint_that_is_not_there_and_a_file_that_cannot_be(project: Project) -> None:
    (project.root / "taken").write_text("a file")
    configured = configure(project, 'file = "taken/events.ndjson"\nurl = "http://127.0.0.1:9"')
    problems = deliver(configured, [{"a": 1}])
    assert [(problem.code, problem.place) for problem in problems] == [
        ("WH228", str(project.root / "taken" / "events.ndjson")), ("WH228", "http://127.0.0.1:9")
    ]
    assert "Connection refused; 0 of 1" in problems[1].message


# How a build fails, and the jobs that are told to have failed.
FAILURES = {
    "it does not parse": ("selec 1", ["build"]),
    "it fails while it is built": ("select cast(run_id || 'x' as int) as a from run", ["main.broken", "build"]),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failed_build_is_told_and_stays_failed(case: str, project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    sql, failed = FAILURES[case]
    configure(project, 'file = "events.ndjson"')
    (project.root / "models" / "broken.sql").write_text(sql)
    assert main(["--project", str(project.root), "build"]) == 1
    error = capsys.readouterr().err
    events = [json.loads(line) for line in (project.root / "events.ndjson").read_text().splitlines()]
    assert [job for kind, job in names(events) if kind == "FAIL"] == failed
    said = [event["run"]["facets"]["errorMessage"]["message"] for event in events if event["eventType"] == "FAIL"]
    assert {f"{message}\n" for message in said} == {error.partition("done before that")[0]}


@pytest.mark.parametrize("setting", ['url = "ftp://host/x"', 'url = "host:5000"', 'url = "http://host:many"', "file = 1"])
def test_settings_that_cannot_be_right(setting: str, project: Project) -> None:
    with pytest.raises(WarehouseError) as caught:
        configure(project, setting)
    assert caught.value.code == "WH002"
