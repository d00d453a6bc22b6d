"""The projects that are built: models as plain SQL with bare names, and what tools need to say them in their form."""

from __future__ import annotations

import graphlib
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

STAR = Path(__file__).resolve().parent / "star"
_WORD = re.compile(r"[a-z]\w*")


@dataclass(frozen=True)
class Model:
    """One model. `kind` is view, table or incremental. An incremental one has the columns that tell its rows apart
    (`grain`, by its `key` first) and the SQL of its rows' day, by which tools without keys find what is new."""

    name: str
    sql: str
    kind: str = "table"
    key: tuple[str, ...] = ()
    grain: tuple[str, ...] = ()
    day: str = ""


# Of the facts: what tells rows apart, and their day.
_FACTS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "fct_run": (("run_id",), "r.day"), "fct_sample": (("run_id", "metric_id", "iteration"), "s.day")
}


def star() -> list[Model]:
    """Twenty models of a performance warehouse: six views over files, twelve tables, two incremental facts."""
    return [_star_model(path.stem, path.read_text(encoding="utf-8")) for path in sorted(STAR.glob("*.sql"))]


def _star_model(name: str, sql: str) -> Model:
    if name in _FACTS:
        grain, day = _FACTS[name]
        return Model(name, sql, "incremental", ("run_id",), grain, day)
    return Model(name, sql, "view" if name.startswith("stg_") else "table")


def chain(length: int) -> list[Model]:
    """One-row tables, each reading the one before: nothing but what a tool itself costs."""
    first = Model("m0001", "select 1 as id, 'a' as v\n")
    rest = [Model(f"m{i:04}", f"select id + 1 as id, v from m{i - 1:04}\n") for i in range(2, length + 1)]
    return [first, *rest]


def changed(models: list[Model]) -> list[Model]:
    """The same models after an analyst's edit of one that others read: a longer window in the star, another
    step half-way down a chain."""
    half_way = f"m{len(models) // 2:04}"
    edits = {"mart_commit_delta": ("3 preceding", "4 preceding"), half_way: ("id + 1", "id + 2")}
    return [
        replace(model, sql=model.sql.replace(*edits[model.name])) if model.name in edits else model
        for model in models
    ]


def ordered(models: list[Model]) -> list[Model]:
    """The models in an order in which a plain script can run them."""
    by_name = {model.name: model for model in models}
    reads = {model.name: _WORD.findall(model.sql) for model in models}
    sorter = graphlib.TopologicalSorter({name: by_name.keys() & set(words) - {name} for name, words in reads.items()})
    return [by_name[name] for name in sorter.static_order()]


def touched(before: Collection[Model], models: list[Model]) -> set[str]:
    """The names of what an edit touches: models that are not among those before, and what reads such, at any depth."""
    found: set[str] = set()
    for model in ordered(models):
        if model not in before or found.intersection(_WORD.findall(model.sql)):
            found.add(model.name)
    return found


def renamed(model: Model, names: Collection[str], reference: Callable[[str], str]) -> str:
    """A model's SQL with every one of `names` written as `reference` writes it; no column is called as a model."""
    return _WORD.sub(lambda word: reference(word[0]) if word[0] in names else word[0], model.sql)
