"""Runs the campaign that docs/campaigns.md checks by hand, on this machine: about a quarter of an hour, most of it gaps between sessions.

    python benchmarks/stacks/documented.py FOLDER

FOLDER must not exist: it becomes a project with the spec and the program of the page. Prints the advice, the values by session for the page's table,
and what was published and verified. The machine should have nothing else to do: the advice names the sessions that were disturbed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VALUES = """
select
    json_extract_string(factors, '$.fields') as fields, json_extract_string(factors, '$.pydantic') as pydantic,
    string_agg(format('{:.4g}', session_value), ' | ' order by session) as sessions, format('{:.4g}', exp(avg(ln(session_value)))) as mean
from rollup.campaign_sessions
where metric = 'validation_ms'
group by all
order by fields desc, pydantic
"""


def main(folder: Path) -> None:
    page = (ROOT / "docs" / "campaigns.md").read_text(encoding="utf-8").partition("## A campaign, checked by hand")[2]
    [(spec, program)] = re.findall(r"```toml\n(.*?)```\s+```python\n(.*?)```", page, re.DOTALL)[:1]
    wh("init", str(folder))
    (folder / "pydantic.toml").write_text(spec)
    (folder / "validate.py").write_text(program)
    os.chdir(folder)
    wh("matrix", "pydantic.toml")
    wh("build")
    wh("advise", "pydantic")
    wh("sql", VALUES)
    wh("publish", "campaign_stacks", "--as", "provisional")
    wh("publish", "campaign_sessions")
    wh("verify", "--all")


def wh(*words: str) -> None:
    """Run a command of `wh`, and end with its exit code where it fails."""
    print(f"\n$ wh {' '.join(words[:2])}", flush=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", "warehouse.cli.main", *words], env=environment, check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).resolve())
