"""Plants faults in the tracer and in what is claimed of a trace, one at a time, and runs the tests that must find them.

`make mutants` runs all; with words as arguments only those whose name has one of them. Each is a replacement of text in a copy
of the checkout. It fails when the tests do not, and when its text is no longer there once: then write it anew.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
CLAIMS, TRACER = "warehouse/claims/", "warehouse/claims/trace/provenance/"
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "docs", "benchmarks")
WORKERS = 2
LIMIT_S = 600


@dataclass(frozen=True)
class Mutant:
    """In `path` the one `old` becomes `new`; `tests` are arguments of pytest. One of these tests must fail."""

    name: str
    path: str
    old: str
    new: str
    tests: str


MUTANTS = (
    # --- the tracer
    Mutant("outer joins pair as inner joins do", f"{TRACER}narrowing.py",
           "return not is_nested and not any(join.side or join.method for join in joins)", "return not is_nested", "tests/test_hop.py"),
    Mutant("a hop compares no values", f"{CLAIMS}trace/trace_step.py",
           "same += [_same_value(catalog, model, column) for column in _columns(catalog, model) if column not in keys]", "", "tests/test_hop.py"),
    Mutant("a hop may lose rows", f"{CLAIMS}trace/trace_step.py", "if found < wanted:", "if found < wanted - 1:", "tests/test_hop.py"),
    Mutant("NULL keys are not looked for", f"{CLAIMS}trace/trace_step.py", 'alternatives = ["{value} is null"] if nulls else []', "alternatives = []",
           "tests/test_hop.py"),
    Mutant("a NOT EXISTS within CASE has no witnesses", f"{TRACER}witnesses.py", "return _is_conjunct(above, clause)", "return True",
           "tests/test_provenance_oracle.py -k features"),
    Mutant("a shift that skips NULLs reads one row", f"{TRACER}windows.py", 'reach = "UNBOUNDED"', "reach = exp.Literal.number(1)",
           "tests/test_provenance.py tests/test_provenance_oracle.py -k windows"),
    Mutant("a rank reads its own row", f"{TRACER}windows.py",
           'return {**over, "spec": _spec("RANGE", "UNBOUNDED", "PRECEDING", "CURRENT ROW", None)}',
           'return {**over, "spec": _spec("RANGE", "CURRENT ROW", None, "CURRENT ROW", None)}', "tests/test_provenance_oracle.py -k windows"),
    Mutant("INTERSECT asks one side", f"{TRACER}unions.py", "return exp.And(this=first, expression=second)", "return first",
           "tests/test_provenance.py"),
    Mutant("EXCEPT takes nothing away", f"{TRACER}unions.py", "return exp.Not(this=second)", "return None", "tests/test_provenance.py"),
    Mutant("a group whose key may be left out is told by it", f"{TRACER}blocks.py",
           "source.token_key in block.group_keys and not block.has_grouping_sets", "source.token_key in block.group_keys",
           "tests/test_provenance_oracle.py -k grouping_sets"),
    # --- guarantees
    Mutant("EXCEPT is monotone", f"{CLAIMS}trace/monotony.py", "case exp.Except() | exp.Window()", "case exp.Window()", "tests/test_guarantees.py"),
    Mutant("an IN beside an OR is asserted", f"{CLAIMS}trace/monotony.py", "while isinstance(above, (exp.And, exp.Paren)):",
           "while isinstance(above, (exp.And, exp.Or, exp.Paren)):", "tests/test_guarantees.py"),
    Mutant("a total of no rows is no row", f"{CLAIMS}trace/sufficiency.py",
           "rows.level < Level.GENUINE or ((has_sets or not keys) and not rows.is_vacuous)", "rows.level < Level.GENUINE", "tests/test_guarantees.py"),
    Mutant("IN is as EXISTS where NULL counts", f"{CLAIMS}trace/sufficiency.py", "if isinstance(holder, exp.In) or is_equal_any:", "if False:",
           "tests/test_guarantees.py"),
    Mutant("every frame is closed", f"{CLAIMS}trace/sufficiency.py", "is_closed = rows.level == Level.EXACT and frames_are_closed(windows)",
           "is_closed = True", "tests/test_guarantees.py"),
    Mutant("an anti join needs nothing", f"{CLAIMS}trace/sufficiency.py", "if not right.never_gains:", "if False:", "tests/test_guarantees.py"),
    Mutant("an outer join needs no emptiness", f"{CLAIMS}trace/sufficiency.py", "fills_in and not other.is_vacuous and not has_partner", "False",
           "tests/test_guarantees.py"),
    Mutant("a CTE has one reader", f"{CLAIMS}trace/sufficiency.py", "if readers > 1:", "if readers > 9:", "tests/test_guarantees.py"),
    Mutant("a join is one to one", f"{CLAIMS}trace/sufficiency.py", "Level.EXACT if is_one_to_one else Level.GENUINE", "Level.EXACT",
           "tests/test_guarantees.py"),
    # --- ties and determinism
    Mutant("place in an order is no tie", f"{TRACER}ties/tie_points.py", "if name in _PLACES_IN_ORDER:\n        return True", "if False:\n        return True",
           "tests/test_ties.py"),
    Mutant("a query is not compared with itself", f"{CLAIMS}publish/tie_probe.py", "create or replace temp table broken as {sql}",
           "create or replace temp table broken as {broken(sql, WAYS[0], only)}", "tests/test_ties.py"),
    Mutant("the odd row is not looked for", f"{TRACER}ties/tie_points.py",
           "return (*WAYS, *(Way(is_descending, 0, turn) for turn in range(1, turns + 1) for is_descending in (False, True)))", "return WAYS",
           "tests/test_ties.py"),
    Mutant("what is unknown adds no floats", f"{CLAIMS}publish/operations.py", "return NONE if name in _EXACT or is_sum_of_exact",
           'return NONE if name in _EXACT or name == "entropy" or is_sum_of_exact', "tests/test_determinism.py"),
    Mutant("any order of a sum is enough", f"{CLAIMS}publish/operations.py", "(_is_ordered(expression) or not any(",
           '(expression.get("order_bys") or not any(', "tests/test_determinism.py"),
    Mutant("what one branch adds all branches add", f"{CLAIMS}publish/freezing.py", "(rowid, name) not in adding", "not adding", "tests/test_determinism.py -k copied"),
    Mutant("nobody checks whether a cell is exact", f"{CLAIMS}verify/retrace.py", '"is_exact": cell.is_exact}', '"is_exact": (record.determinism or {}).get("is_exact")}',
           "tests/test_retrace.py"),
    # --- what is left out
    Mutant("an outer join keeps the rows that fill in", f"{CLAIMS}trace/excluded/readings.py", 'elif not words & {"LEFT", "SEMI", "ANTI"}:',
           'elif not words & {"SEMI", "ANTI"}:', "tests/test_excluded.py"),
)


def copied(folder: Path) -> Path:
    """A copy of the checkout, without what tests do not read."""
    return Path(shutil.copytree(ROOT, folder / "checkout", ignore=LEFT_OUT, symlinks=True))


def survives(mutant: Mutant) -> str | None:
    """Why a mutant is not killed; None when it is."""
    text = (ROOT / mutant.path).read_text()
    if text.count(mutant.old) != 1:
        return f"its text is in {mutant.path} {text.count(mutant.old)} times"
    with tempfile.TemporaryDirectory() as folder:
        checkout = copied(Path(folder))
        (checkout / mutant.path).write_text(text.replace(mutant.old, mutant.new))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *_arguments(mutant.tests)], cwd=checkout,
            env={**os.environ, "PYTHONPATH": str(checkout)}, capture_output=True, text=True, timeout=LIMIT_S,
        )
    if done.returncode == 1:
        return None
    return f"{mutant.tests} passes" if done.returncode == 0 else f"pytest ends with {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}"


def _arguments(tests: str) -> list[str]:
    files, _, words = tests.partition(" -k ")
    return [*files.split(), *(["-k", words] if words else [])]


def main() -> int:
    chosen = [mutant for mutant in MUTANTS if not sys.argv[1:] or any(word in mutant.name for word in sys.argv[1:])]
    with ThreadPoolExecutor(WORKERS) as pool:
        alive = 0
        for mutant, why in zip(chosen, pool.map(survives, chosen), strict=True):
            alive += why is not None
            print(f"{'SURVIVES' if why else 'killed  '}  {mutant.name}{f': {why}' if why else ''}", flush=True)
    print(f"{len(chosen) - alive} of {len(chosen)} mutants killed")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
