"""The commands of `wh`: their groups, names and summaries. A command's module is imported only when it runs or its help is shown."""

from __future__ import annotations

# Group, which is also the folder of its modules: heading, then name and summary of each command.
GROUPS: dict[str, tuple[str, dict[str, str]]] = {
    "evidence": (
        "Start, and collect evidence",
        {
            "init": "make a project in a folder",
            "status": "show where the project stands, and what needs a decision",
            "record": "run a command under observation and keep it as evidence",
            "matrix": "run a campaign: stacks and parameters as cells, measured in sessions",
            "ingest": "copy evidence into the store and recognise it",
            "ingestors": "list the ingestors, the formats they read and the tables they fill",
            "validate": "check a run declaration against its rules",
        },
    ),
    "models": (
        "Write, build and query models",
        {
            "new": "start a model, a query spec or an ingestor",
            "check": "find every fault of the models without reading evidence",
            "plan": "show what a build would do with every model, and why",
            "build": "bring facts, dimensions and rollups up to date",
            "task": "run a slice of the tasks of a build: for Slurm arrays and Kubernetes indexed jobs",
            "builds": "list the builds that are kept",
            "test": "test the current build, or models on given rows without any data",
            "docs": "make the documentation site, and manifest.json for catalogues",
            "tables": "list the tables of the current build",
            "describe": "show the columns of a table, with unit and description",
            "sql": "query the current build",
            "metrics": "print hot metrics of recent runs and of the warehouse, for Prometheus",
            "contracts": "print what this warehouse promises, or render a BenchmarkRun",
            "columns": "show what a column is computed from, down to the landing columns",
        },
    ),
    "numbers": (
        "Publish numbers and prove them",
        {
            "judge": "say what numbers are worth by a policy, before they are published",
            "publish": "freeze a rollup under its query_spec_digest",
            "lineage": "walk a number back to the bytes",
            "verify": "hash a number's raw files again, and replay it from them",
            "impact": "list the published numbers that depend on a run, bundle, file or model",
            "withdraw": "say that a publication does not count any more, and why",
            "supersede": "say which publication counts in place of one, and why",
            "audit-packet": "pack a published number with all that it depends on",
        },
    ),
    "change": (
        "Ask what changed",
        {
            "compare": "compare two sets of runs, metric by metric",
            "changes": "list what changed over time, and whether it is still so",
            "explain": "ask why a run is slower than others, and which evidence says so",
            "similar": "find the runs, workloads or stacks that are most like one",
            "advise": "say which stacks of a campaign may be the best, and how sure that is",
            "diff": "show what differs between two numbers, or which numbers moved between two builds",
            "freshness": "list what is no longer fresh, each with the command that ends it",
        },
    ),
    "serving": (
        "Ask about serving",
        {
            "frontier": "show which measured points of load curves no other point beats",
            "goodput": "show which share of requests keeps to latency limits, load by load",
            "validity": "show which runs of served models can be trusted, and which rules the others break",
        },
    ),
    "surfaces": (
        "Show it to others",
        {
            "serve": "serve pages in which every number leads to its evidence",
            "report": "write a report for one audience, whose numbers can be checked",
            "export": "write a run into an experiment tracker: MLflow",
            "mcp": "serve the same to agents, as tools that only read",
            "notify": "tell people what is new and what is over: one digest, or issues",
            "token": "list, make and end the tokens that wh serve accepts",
        },
    ),
    "decisions": (
        "Decide about runs",
        {
            "retract": "withdraw a run, or replace it by another",
            "reinstate": "undo the retraction of a run",
            "settle": "choose the bundle that is a run's evidence, where several state it differently",
            "note": "attach a note to a run, or a dated one to a cluster, testbed, node or series",
            "ledger": "list what arrived, was published and was decided, when and by whom",
        },
    ),
    "store": (
        "Look after the store and its keys",
        {
            "fsck": "check every object of the store against its digest and the ledger",
            "gc": "remove files left behind by crashes, and work of builds that is not used any more",
            "push": "copy evidence, publications or a build to another store",
            "pull": "copy evidence, publications or a build from another store",
            "doctor": "test what the store promises, and show what protects it",
            "retention": "remove raw evidence past its age, except what is needed",
            "keygen": "make a pair of keys to sign with",
            "sign": "sign bundles of evidence, publications and decisions on runs",
        },
    ),
}

# What people come for; a terminal shows these with their summaries, and of the others the names.
FIRST = (
    "init", "ingest", "record", "build", "status", "tables", "sql", "judge", "publish", "lineage", "verify", "compare", "changes", "explain",
    "frontier", "serve", "report",
)
COMMANDS = {name: summary for _, commands in GROUPS.values() for name, summary in commands.items()}


def module_of(name: str) -> str:
    """The module of a command."""
    group = next(group for group, (_, commands) in GROUPS.items() if name in commands)
    return f"warehouse.cli.{group}.{name.replace('-', '_')}"
