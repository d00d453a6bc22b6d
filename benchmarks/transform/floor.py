"""The floor: the same SQL from one plain script, in one transaction, so that it is all there or not.

`models.json` beside the database lists the models in order. `floor.py append` adds to incremental tables the days that
are new, as a script's author would, and makes the others anew; `floor.py changed` makes anew what an author who has just
edited a model knows to be touched: those listed with `is_touched`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import duckdb


def main(scenario: str) -> None:
    con = duckdb.connect("floor.duckdb")
    con.execute("begin")
    for model in json.loads(Path("models.json").read_text(encoding="utf-8")):
        name, sql = model["name"], model["sql"]
        if scenario == "changed" and not model["is_touched"]:
            continue
        if model["kind"] == "view":
            con.execute(f"create or replace view {name} as {sql}")
        elif model["kind"] == "incremental" and scenario == "append":
            last = con.execute(f"select max(day) from {name}").fetchall()[0][0]
            con.execute(f"insert into {name} select * from ({sql}) where day > ?", [last])
        else:
            con.execute(f"create or replace table {name} as {sql}")
    con.execute("commit")


if __name__ == "__main__":
    main(sys.argv[1])
