"""Which models a build may run on partitions, and the part of the project that runs them. Pure.

A partition holds all rows of its runs and bundles, so a model that is local to one of these gives there what it gives over everything.
Whatever is read whole must be the same everywhere: tables that no evidence changes.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from warehouse.landing.parse.batches import DECIDED_TABLES, OWN_TABLES
from warehouse.transform.build.known_project import SoundProject
from warehouse.transform.build.material import Material
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.incremental.row_order import has_grain_over_key
from warehouse.transform.project.data_tests import data_tests
from warehouse.transform.project.graph import constant_models
from warehouse.transform.project.model import BUNDLE_COLUMN

# Types that come back from Parquet as they went in: of HUGEINT it keeps a float, of INTERVAL milliseconds.
_KEPT_TYPE = re.compile(
    r"(BOOLEAN|U?TINYINT|U?SMALLINT|U?INTEGER|U?BIGINT|FLOAT|DOUBLE|VARCHAR|BLOB|DATE|UUID|TIMESTAMP|TIMESTAMP WITH TIME ZONE|DECIMAL\(\d+,\d+\))"
    r"(\[\])*"
)


def partitioned_models(material: Material) -> list[str]:
    """The tables that tasks make, in build order."""
    checked, found = material.checked, set[str]()
    constant, tests = constant_models(checked.graph), _kept_tests(checked)
    for name in checked.order:
        model, plan = checked.models[name], checked.key_plans.get(name)
        if model.materialized == "view" or plan is None or not plan.can_narrow or name in checked.late or name in constant:
            continue
        if model.schema == "rollup" or (model.retention_tier and material.tier and material.tier.leaves_out(name)):
            continue
        if plan.whole - constant or not all(_is_at_hand(path.leaf, material, found) for path in plan.paths):
            continue
        # Which rows break a grain, or are alike, the rows of one partition tell only if the key tells rows apart.
        if name in tests and not (tests[name] and (not model.grain or has_grain_over_key(model))):
            continue
        if all(map(_KEPT_TYPE.fullmatch, checked.columns[name].values())):
            found.add(name)
    return [name for name in checked.order if name in found]


def read_by_key(checked: CheckedProject, kept: Collection[str]) -> dict[str, list[str]]:
    """The tables and landing tables that nothing but `kept` models reads, each with these."""
    found: dict[str, list[str]] = {name: [] for name in kept}
    others = set[str]()
    for name in checked.order:
        if checked.models[name].materialized == "view":
            continue
        for view in checked.with_views(name):
            for read in checked.graph.models[view] | checked.graph.landing[view]:
                if name in kept:
                    found.setdefault(read, []).append(name)
                else:
                    others.add(read)
    named = {name for name, model in checked.models.items() if model.role}  # the engine reads these by their role
    return {read: readers for read, readers in found.items() if read not in others | named}


def _is_at_hand(leaf: str, material: Material, found: Collection[str]) -> bool:
    """Whether a partition has its own rows of an input: those of its bundles, or decisions on its runs."""
    table = material.landing.tables.get(leaf)
    return leaf in found or leaf in DECIDED_TABLES or (table is not None and leaf not in OWN_TABLES and BUNDLE_COLUMN in table.types)


def _kept_tests(checked: CheckedProject) -> dict[str, bool]:
    """The tables with tests that leave rows out, and whether the rows that such a test compares always have one key."""
    found: dict[str, bool] = {}
    for test in data_tests(checked.models):
        if test.is_kept and test.model:
            key = set(checked.models[test.model].key)
            found[test.model] = found.get(test.model, True) and (not test.apart or key <= set(test.apart))
    return found


def part_of_project(sound: SoundProject, chosen: Collection[str]) -> SoundProject:
    """The chosen models and all that they read, as a project of its own."""
    checked = sound.checked
    held, pending = set(chosen), list(chosen)
    while pending:
        for parent in checked.graph.models[pending.pop()] - held:
            held.add(parent)
            pending.append(parent)
    graph = replace(
        checked.graph,
        order=tuple(name for name in checked.graph.order if name in held),
        models={name: checked.graph.models[name] for name in sorted(held)},
        landing={name: checked.graph.landing[name] for name in sorted(held)},
        files={name: checked.graph.files[name] for name in sorted(held)},
    )
    part = replace(
        checked, graph=graph,
        models={name: replace(checked.models[name], retention_tier=None) for name in graph.order},  # no row is past its age here
        columns={name: checked.columns[name] for name in graph.order},
        file_columns={},
        key_plans={name: plan for name, plan in checked.key_plans.items() if name in held},
        whole_because={}, tests=(),
        known_facts={name: checked.facts(name) for name in graph.order},
    )
    return SoundProject("", part, {}, {name: sound.logic[name] for name in graph.order})
