"""Feeds: how evidence families meet the canonical tables without anyone editing a fact.

A model whose header says `collects: X` sets the contract of feed X by its own columns; every model that says
`feeds: X` is a feeder. `feed.X` is the union of all feeders by name, NULL where a feeder has no such column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from warehouse.errors import WarehouseError, did_you_mean
from warehouse.transform.project.model import Column, Model
from warehouse.transform.sql.duck import quote

FEED_SCHEMA = "feed"


def with_feeds(
    models: Mapping[str, Model], *, is_whole: bool = True
) -> tuple[dict[str, Model], list[WarehouseError]]:
    """`models` and one generated view a feed, keyed `feed.X`; and WH208 for every feed that no model collects, or that two collect.
    Where `models` are not the whole project, who collects a feed may be among the others."""
    collectors: dict[str, Model] = {}
    faults: list[WarehouseError] = []
    for model in models.values():
        if model.collects:
            if model.collects in collectors:
                other = collectors[model.collects].place
                faults.append(
                    model.header_fault(
                        "WH208", f"feed {model.collects} is collected by {other} too", "collects",
                        hint="one table collects a feed; others read that table",
                    )
                )
            collectors.setdefault(model.collects, model)
    feeders: dict[str, list[Model]] = {feed: [] for feed in collectors}
    for model in models.values():
        if model.feeds:
            if model.feeds not in collectors:
                if not is_whole:
                    continue
                hint = did_you_mean(model.feeds, collectors) or (
                    f"feeds are: {', '.join(sorted(collectors))}" if collectors
                    else f"the table that gathers them says in its header: collects: {model.feeds}"
                )
                faults.append(model.header_fault("WH208", f"no model collects feed {model.feeds}", "feeds", hint=hint))
                continue
            feeders[model.feeds].append(model)
    feeds = (_feed(name, collectors[name], feeders[name]) for name in collectors)
    return {**models, **{feed.qualified: feed for feed in feeds}}, faults


def _feed(name: str, collector: Model, feeders: list[Model]) -> Model:
    # The tests are of the collector's rows: it may group or choose among what feeders state.
    contract = {
        column.name: replace(column, tests=()) for column in collector.columns.values() if column.in_feed and column.type
    }
    names = sorted(feeder.qualified for feeder in feeders)
    return Model(
        name=name,
        schema=FEED_SCHEMA,
        place=f"feed {name} ({collector.place})",
        text=feed_text(contract, names),
        description=f"All rows that feed {collector.name}, from: {', '.join(names) or 'no feeder'}.",
        materialized="view",
        columns=contract,
    )


def feed_text(columns: Mapping[str, Column], feeders: Iterable[str]) -> str:
    """The SQL of a feed with these columns and these feeders, by their qualified names: a view is also read by clients that do
    not know our search path."""
    # The empty first branch gives the union its columns, their order and their types.
    typed = ",\n    ".join(f"cast(null as {column.type}) as {quote(column.name)}" for column in columns.values())
    return "\nunion all by name\n".join([f"select\n    {typed}\nwhere false", *(f"select * from {feeder}" for feeder in feeders)])


def feeder_faults(feeder: Model, found: Mapping[str, str], contract: Mapping[str, str]) -> Iterator[WarehouseError]:
    """Where what a feeder yields (column to type) differs from the feed's contract: WH208 at the feeder's column."""
    for name, kind in found.items():
        if contract.get(name) == kind:
            continue
        if name in contract:
            message = f"column {name} is {kind}, feed {feeder.feeds} takes {contract[name]}"
            hint = f"cast it: {name}::{contract[name].lower()}"
        else:
            message = f"feed {feeder.feeds} has no column {name}"
            hint = did_you_mean(name, contract) or f"leave it out, or take it up in the table that collects {feeder.feeds}"
        yield feeder.column_fault("WH208", message, name, hint)
