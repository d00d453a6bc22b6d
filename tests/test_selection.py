"""What `--select` selects: every method, alone and combined, and the slips that are told."""

from __future__ import annotations

import pytest

from warehouse.errors import ExitCode, WarehouseError
from warehouse.transform.project.graph import Graph
from warehouse.transform.project.model import Model
from warehouse.transform.project.model_patterns import select

# log -> run -> fast -> report; host -> run; feed.run (a feed, keyed by its qualified name) -> report; alone
READS = {
    "log": (), "host": (), "run": ("log", "host"), "feed.run": ("log",), "fast": ("run",), "report": ("fast", "feed.run"),
    "alone": (),
}
MODELS = {
    "log": Model("log", "staging", "models/staging/log.sql", ""),
    "host": Model("host", "main", "standard/models/dims/host.sql", "", tags=("nightly", "small")),
    "run": Model("run", "main", "models/facts/run.sql", "", tags=("nightly",)),
    "feed.run": Model("run", "feed", "feed run (models/facts/run.sql)", ""),
    "fast": Model("fast", "mart", "models/marts/fast.sql", "", tags=("hourly",)),
    "report": Model("report", "rollup", "queries/report.sql", ""),
    "alone": Model("alone", "mart", "models/marts_old/alone.sql", ""),
}
GRAPH = Graph(tuple(READS), {name: frozenset(read) for name, read in READS.items()}, {}, {}, {})
CHANGED = {"run", "alone"}
ALL = set(MODELS)

CASES: dict[str, set[str]] = {
    "fast": {"fast"},
    "mart.fast": {"fast"},
    "run": {"run", "feed.run"},  # bare: in every schema
    "main.run": {"run"},
    "feed.run": {"feed.run"},
    "*": ALL,
    "f*": {"fast"},  # not feed.run: its bare name is run
    "mart.*": {"fast", "alone"},
    "?ost": {"host"},
    "+fast": {"fast", "run", "log", "host"},
    "log+": {"log", "run", "feed.run", "fast", "report"},
    "+main.run+": {"log", "host", "run", "fast", "report"},
    "host+": {"host", "run", "fast", "report"},
    "alone+": {"alone"},
    "tag:nightly": {"host", "run"},
    "tag:*ly": {"host", "run", "fast"},
    "+tag:hourly": {"fast", "run", "log", "host"},
    "path:models/marts": {"fast"},  # not marts_old
    "path:models/marts/": {"fast"},
    "path:./models/marts/fast.sql": {"fast"},
    "path:models": {"log", "run", "fast", "alone"},
    "path:queries": {"report"},
    "path:standard/models": {"host"},
    "changed": {"run", "alone"},
    "changed+": {"run", "fast", "report", "alone"},
    "fast alone": {"fast", "alone"},
    "fast +fast": {"fast", "run", "log", "host"},
    "tag:nightly,changed": {"run"},
    "+fast,tag:nightly,path:models": {"run"},
    "fast,host": set(),
    "fast,host alone": {"alone"},
    "mart.*,changed+ log": {"fast", "alone", "log"},
}


@pytest.mark.parametrize("typed", CASES)
def test_selects(typed: str) -> None:
    assert select(typed.split(), MODELS, GRAPH, CHANGED) == CASES[typed]


def test_nothing_changed_is_no_slip() -> None:
    assert select(["changed+"], MODELS, GRAPH, ()) == set()


# A slip, a part of the message, and the hint.
SLIPS = {
    "fsat": ("no model is named fsat", "did you mean fast?"),
    "mart.fats": ("no model is named mart.fats", "did you mean mart.fast?"),
    "zzz*": ("no model is named zzz*", None),
    "+fsat": ("no model is named fsat", "did you mean fast?"),
    "tag:nigthly": ("no model is tagged nigthly", "did you mean nightly?"),
    "path:models/mart": ("no model is under models/mart", "did you mean models/marts?"),
    "path:odels": ("no model is under odels", "did you mean models?"),
    "tags:nightly": ("no method tags:", "did you mean tag?"),
    "fast,fsat": ("no model is named fsat", "did you mean fast?"),
    "": ("'' is not a selection", "for example: run,"),
    "fast,": ("'fast,' is not a selection", "for example: run,"),
    "++fast": ("'++fast' is not a selection", "for example: run,"),
    "+": ("'+' is not a selection", "for example: run,"),
}


@pytest.mark.parametrize("typed", SLIPS)
def test_slips_are_told(typed: str) -> None:
    with pytest.raises(WarehouseError) as caught:
        select([typed], MODELS, GRAPH, CHANGED)
    message, hint = SLIPS[typed]
    assert (caught.value.code, caught.value.exit_code) == ("WH225", ExitCode.NOT_FOUND)
    assert message in caught.value.message
    assert (caught.value.hint or "").startswith(hint or "") and (hint is None) == (caught.value.hint is None)


def test_a_long_chain_and_a_broad_fan() -> None:
    """Both ways through 5,000 models in a row, and up from a model that reads all of them."""
    names = [f"m{number}" for number in range(5000)]
    reads = {name: frozenset(names[max(0, number - 1) : number]) for number, name in enumerate(names)}
    reads["top"] = frozenset(names)
    models = {name: Model(name, "main", f"models/{name}.sql", "") for name in reads}
    graph = Graph(tuple(reads), reads, {}, {}, {})
    assert select(["+m4999"], models, graph, ()) == set(names)
    assert select(["m0+"], models, graph, ()) == {*names, "top"}
    assert select(["+top,m42+"], models, graph, ()) == {*names[42:], "top"}
