"""The identifiers of the contract: what each one is, and the column that holds it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Identifier:
    """One identifier. `column`: the name that it has in tables."""

    name: str
    means: str
    column: str


def _named(name: str, means: str, column: str | None = None) -> Identifier:
    return Identifier(name, means, column or name)


# Those of the contract's section "Core identifiers", and the id of a published number.
IDENTIFIERS = (
    _named("run_id", "One execution of one benchmark case: the unit of replication"),
    _named("benchmark_case_id", "What is measured, over all runs of it"),
    _named("workload_spec_digest", "sha256 of the canonical workload document, without seed, host and time"),
    _named("artifact_manifest_digest", "sha256 of the manifest of an evidence bundle: the bundle's identity and its place in the store"),
    _named("query_spec_digest", "Digest of a query spec and, by Merkle chaining, of every model under it and of the code that parses"),
    _named(
        "number_id", "n- and 12 base32 characters that commit to query, row, column and exact value of a cell: another value has another id",
        "number_ids",
    ),
    _named("scheduler_run_id", "The scheduler's own id of a run"),
    _named("job_uid", "The job's id in the cluster"),
    _named("pod_uid", "The pod's id in the cluster"),
    _named("node_name", "The node that a row is about"),
    _named("gpu_uuid", "The GPU that a row is about"),
    _named("rank_id", "The rank that a row is about, in distributed work"),
    _named("request_id", "The request that a row is about, in serving"),
    _named("trace_id", "The trace of a request, in serving"),
)
