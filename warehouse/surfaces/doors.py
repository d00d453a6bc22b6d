"""Where values lead by the name of their column: what every table of rows has in common."""

from __future__ import annotations

from warehouse.surfaces.parts import Column, Kind

DOORS = {
    "run_id": "/runs/{run_id:path}",
    "number_id": "/numbers/{number_id}",
    "artifact_manifest_digest": "/evidence/{artifact_manifest_digest}",
    "workload_spec_digest": "/workloads/{workload_spec_digest}",
    "hardware_topology_key": "/hardware/{hardware_topology_key}",
    "software_version_key": "/software/{software_version_key}",
}


def column_of(name: str, unit: str | None, is_number: bool) -> Column:
    """A column of rows of which nothing but the name, the unit, and whether its values are numbers is known."""
    kind: Kind = "number" if is_number else "text"
    return Column(name, name, "code" if name in DOORS else kind, unit, DOORS.get(name))
