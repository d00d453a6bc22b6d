"""Feeds: how evidence families meet the canonical tables without anyone editing a fact.

A model whose header says `collects: X` sets the contract of feed X by its own columns; every model that says
`feeds: X` is a feeder. `feed.X` is the union of all feeders by name, NULL where a feeder has no such column.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace

from warehouse.errors import WarehouseError
from warehouse.transform.duck import quote
from warehouse.transform.model import Model

FEED_SCHEMA = "feed"


def with_feeds(models: Mapping[str, Model]) -> dict[str, Model]:
    """`models` and one generated view a feed, keyed `feed.X`. Raises WH208 for a feed that nobody collects, or two do."""
    collectors: dict[str, Model] = {}
    for model in models.values():
        if model.collects:
            if model.collects in collectors:
                other = collectors[model.collects].place
                raise WarehouseError("WH208", f"feed {model.collects} is collected by {other} too", model.place)
            collectors[model.collects] = model
    feeders: dict[str, list[Model]] = {feed: [] for feed in collectors}
    for model in models.values():
        if model.feeds:
            if model.feeds not in collectors:
                near = difflib.get_close_matches(model.feeds, collectors, n=1)
                hint = f"did you mean {near[0]}?" if near else f"feeds: {', '.join(sorted(collectors)) or 'none'}"
                raise WarehouseError("WH208", f"no model collects feed {model.feeds}", model.place, hint)
            feeders[model.feeds].append(model)
    feeds = (_feed(name, collectors[name], feeders[name]) for name in collectors)
    return {**models, **{feed.qualified: feed for feed in feeds}}


def _feed(name: str, collector: Model, feeders: list[Model]) -> Model:
    # The tests are of the collector's rows: it may group or choose among what feeders state.
    contract = {
        column.name: replace(column, tests=()) for column in collector.columns.values() if column.in_feed
    }
    # The empty first branch gives the union its columns, their order and their types.
    typed = ",\n    ".join(f"cast(null as {column.type}) as {quote(column.name)}" for column in contract.values())
    # Qualified: a view is also read by clients that do not know our search path.
    names = sorted(feeder.qualified for feeder in feeders)
    branches = [f"select\n    {typed}\nwhere false", *(f"select * from {feeder}" for feeder in names)]
    return Model(
        name=name,
        schema=FEED_SCHEMA,
        place=f"feed {name} ({collector.place})",
        text="\nunion all by name\n".join(branches),
        description=f"All rows that feed {collector.name}, from: {', '.join(names) or 'no feeder'}.",
        materialized="view",
        columns=contract,
    )


def check_feeder(feeder: Model, found: Mapping[str, str], contract: Mapping[str, str]) -> None:
    """Compare what a feeder yields (column to type) with the feed's contract. Raises WH208 at the feeder."""
    for name, kind in found.items():
        if name not in contract:
            near = difflib.get_close_matches(name, contract, n=1)
            raise WarehouseError(
                "WH208", f"feed {feeder.feeds} has no column {name}", feeder.place,
                f"did you mean {near[0]}?" if near else None,
            )
        if kind != contract[name]:
            raise WarehouseError(
                "WH208", f"column {name} is {kind}, feed {feeder.feeds} takes {contract[name]}", feeder.place,
                f"cast it: {name}::{contract[name].lower()}",
            )

