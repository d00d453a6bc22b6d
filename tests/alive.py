"""A small project of its own in which everything that grows old can: published runs with packages, a series over days, and a campaign's stack."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from test_gate import RUN, add, query, runs

from warehouse.claims.publish.publish import publish
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build

# Runs are on successive days of January 2026; those of series a were measured with vllm 0.11.2, of b with 0.12.0.
STACK = "if(left(value.key, 1) = 'a', 'old-stack', 'new-stack')"
MODELS = {
    "run": RUN.replace("    coalesce(", f"    {STACK} as software_version_key,\n    false as has_conflict,\n    coalesce(").replace("interval 1 hour", "interval 24 hours"),
    "software_version_dim": "select * from (values ('old-stack', 'vllm', 'd1'), ('new-stack', 'vllm', 'd2')) as t (software_version_key, framework, packages_digest)",
    "software_package_dim": (
        "select * from (values ('old-stack', 'vllm', '0.11.2+cu129'), ('old-stack', 'Some.Thing', '2.0'), ('new-stack', 'vllm', '0.12.0'))"
        " as t (software_version_key, component, version)"
    ),
    "measurement": (
        "/*\nrole: measurements\ngrain: [run_id]\n*/\nselect run_id, 'serve' as indicator, 'tok_per_s' as metric, '' as point, 'higher' as better,"
        " session, series as series_key, series as comparable_key, value, started_at, 'chat' as benchmark_case_id, 'node-1' as node,"
        " 'rack-7' as testbed from run where status = 'succeeded' and state = 'admitted'"
    ),
    "campaign_dim": (
        "select 'matrix/c-1' as campaign_key, 'stacks' as name, timestamptz '2026-01-02 00:00:00+00' as started_at,"
        " '{\"resolving\": {\"exclude_newer\": \"2025-12-31T00:00:00+00:00\"}}' as parameters"
    ),
    "campaign_cell_fact": "select 'matrix/c-1' as campaign_key, 'a01' as run_id, 'd1' as stack_digest",
}
JANUARY = datetime(2026, 1, 12, tzinfo=UTC)


def alive_project(folder: Path) -> Project:
    """The project in `folder`/project with ten published runs of series a."""
    project = init_project(folder / "project", bare=True)
    (project.root / "ingest" / "values.py").write_text(_values_ingestor())
    for name, text in MODELS.items():
        (project.root / "models" / f"{name}.sql").write_text(text)
    (project.root / "queries" / "claim.sql").write_text(query())
    add(project, runs())
    publish(project, "claim")
    return read_project(project.root)


def change_a_number(project: Project) -> None:
    """Another run of series a: the published median is not that of the build any more."""
    add(project, {"a11": 100.4}, "later")


def change_the_query(project: Project) -> None:
    path = project.root / "models" / "run.sql"
    path.write_text(path.read_text().replace("'w' as", "'v' as"))
    build(project)


def _values_ingestor() -> str:
    from samples.values import VALUES_INGESTOR

    return VALUES_INGESTOR
