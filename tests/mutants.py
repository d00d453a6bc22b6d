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
CLAIMS, TRACER = "warehouse/claims/", "warehouse/trace/provenance/"
LEFT_OUT = {"build", "dist", "docs", "benchmarks"}  # at the top; what is hidden or compiled, everywhere
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
    Mutant("a hop compares no values", "warehouse/trace/trace_step.py",
           "same += [_same_value(catalog, model, column) for column in _columns(catalog, model) if column not in keys]", "", "tests/test_hop.py"),
    Mutant("a hop may lose rows", "warehouse/trace/trace_step.py", "if found < wanted:", "if found < wanted - 1:", "tests/test_hop.py"),
    Mutant("NULL keys are not looked for", "warehouse/trace/trace_step.py", 'alternatives = ["{value} is null"] if nulls else []', "alternatives = []",
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
    Mutant("NOT (IN .. IS NULL) has no witnesses", f"{TRACER}witnesses.py", "while isinstance(above, exp.Paren) or (isinstance(above, exp.Is) and above.expression == exp.true()):",
           "while isinstance(above, (exp.Paren, exp.Is)):", "tests/test_provenance.py"),
    Mutant("ON beside a right join only filters", f"{TRACER}witnesses.py", 'return not any((other.side or "").upper() in ("RIGHT", "FULL") for other in node.args.get("joins") or [])',
           "return True", "tests/test_provenance.py"),
    Mutant("IGNORE NULLS skips values without cells", f"{TRACER}windows.py", "true=_never_null(cells))",
           "true=cells)", "tests/test_provenance.py"),
    Mutant("a shift has no order of its own", f"{TRACER}windows.py", "if name in _RANKS | _SHIFTS and any(",
           "if name in _RANKS and any(", "tests/test_provenance.py"),
    Mutant("a CTE that two branches read is listed twice", f"{TRACER}unions.py", "if len(kinds) > 1:",
           "if False:", "tests/test_ungrouping.py -k cases"),
    Mutant("what one branch looks up all branches look up", f"{TRACER}unions.py", "is_same = all(found == (kinds[0], lookups[0])",
           "is_same = all(found[0] == kinds[0]", "tests/test_provenance.py -k union_of_sub"),
    Mutant("a CTE is looked up by the name that it has outside", f"{TRACER}values.py", 'return f"__held_{cte}"', "return cte",
           "tests/test_provenance.py -k only_a_part"),
    Mutant("any CTE can be looked up by its name", f"{TRACER}resolve.py", " and self.names.count(cte.alias.lower()) == 1", "",
           "tests/test_provenance.py -k hides"),
    Mutant("rows that know lists by number are ungrouped", f"{TRACER}ungrouping.py", "and not term.is_numbered for terms", "for terms",
           "tests/test_ungrouping.py -k cases"),
    Mutant("PIVOT asks its first list alone", f"{TRACER}syntax/pivots.py", "condition = all_of(exp.EQ(this=listed.this.copy(), expression=value.copy()) for listed, value in pairs)",
           "condition = all_of(exp.EQ(this=listed.this.copy(), expression=value.copy()) for listed, value in list(pairs)[:1])", "tests/test_provenance.py"),
    # --- guarantees
    Mutant("EXCEPT is monotone", "warehouse/trace/monotony.py", "case exp.Except() | exp.Window()", "case exp.Window()", "tests/test_guarantees.py"),
    Mutant("an IN beside an OR is asserted", "warehouse/trace/monotony.py", "while isinstance(above, (exp.And, exp.Paren)):",
           "while isinstance(above, (exp.And, exp.Or, exp.Paren)):", "tests/test_guarantees.py"),
    Mutant("a total of no rows is no row", "warehouse/trace/sufficiency.py",
           "if is_less or ((has_sets or not keys) and not is_always):", "if is_less:", "tests/test_guarantees.py"),
    Mutant("IN is as EXISTS where NULL counts", "warehouse/trace/sufficiency.py", "if isinstance(test, (exp.In, exp.EQ)) and (test is", "if False and (test is",
           "tests/test_guarantees.py"),
    Mutant("every frame is closed", "warehouse/trace/sufficiency.py", "is_closed = rows.level == Level.EXACT and frames_are_closed(windows)",
           "is_closed = True", "tests/test_guarantees.py"),
    Mutant("an anti join needs nothing", "warehouse/trace/sufficiency.py", "if not right.never_gains:", "if False:", "tests/test_guarantees.py"),
    Mutant("an outer join needs no emptiness", "warehouse/trace/sufficiency.py", "fills_in and not other.is_vacuous and not has_partner", "False",
           "tests/test_guarantees.py"),
    Mutant("a CTE has one reader", "warehouse/trace/sufficiency.py", "if readers > 1:", "if readers > 9:", "tests/test_guarantees.py"),
    Mutant("a join is one to one", "warehouse/trace/sufficiency.py", "Level.EXACT if is_one_to_one else Level.GENUINE", "Level.EXACT",
           "tests/test_guarantees.py"),
    Mutant("a window beside row_number() = 1 needs no frame", "warehouse/trace/sufficiency.py", "if len(windows) == 1 and takes_first(node):",
           "if takes_first(node):", "tests/test_guarantees.py"),
    Mutant("OFFSET skips the same rows", "warehouse/trace/sufficiency.py", "level=self._unproven(offset) if rows.level == Level.ENOUGH else level,",
           "level=level,", "tests/test_guarantees.py"),
    Mutant("LIMIT of spurious rows takes the right ones", "warehouse/trace/sufficiency.py", "if clause is not None and rows.level == Level.ENOUGH:",
           "if False:", "tests/test_guarantees.py"),
    Mutant("LIMIT of more rows takes the right ones", "warehouse/trace/sufficiency.py", "elif clause is not None and rows.level == Level.GENUINE:",
           "elif False:", "tests/test_guarantees.py"),
    Mutant("a total of groups is genuine", "warehouse/trace/sufficiency.py", '        if has_sets:\n            return replace(rows, level=Level.ENOUGH, is_vacuous=False, key=None, is_one_row=False)\n',
           "", "tests/test_guarantees.py"),
    Mutant("UNNEST gives one row", "warehouse/trace/sufficiency.py", "if any(item.find(exp.Explode, exp.Unnest) for item in node.expressions):",
           "if False:", "tests/test_guarantees.py"),
    Mutant("a positional join is an inner join", "warehouse/trace/sufficiency.py", 'elif "POSITIONAL" in words:',
           "elif False:", "tests/test_guarantees.py"),
    Mutant("a subquery in ON is none", "warehouse/trace/sufficiency.py", "elif on is not None and on.find(exp.Query):",
           "elif False:", "tests/test_guarantees.py"),
    Mutant("a correlated IN is as any", "warehouse/trace/sufficiency.py", '        if self._is_correlated(query, ctes):\n            return self._unproven(test)\n',
           "", "tests/test_guarantees.py"),
    Mutant("NOT IN of shared rows is quiet", "warehouse/trace/sufficiency.py", "if not rows.is_vacuous or rows.is_shared or any(",
           "if not rows.is_vacuous or any(", "tests/test_guarantees.py"),
    Mutant("NOT IN of a CTE reads it alone", "warehouse/trace/sufficiency.py", "or any(table.name.lower() in ctes for table in query.find_all(exp.Table) if not table.db):",
           ":", "tests/test_guarantees.py"),
    Mutant("every CTE is genuine", "warehouse/trace/sufficiency.py", "return all(rows.level >= Level.GENUINE and rows.is_vacuous for rows in read)",
           "return True", "tests/test_guarantees.py"),
    Mutant("a semi join needs no genuine rows", "warehouse/trace/sufficiency.py", "is_safe = left.level == Level.EXACT or (right.level >= Level.GENUINE and right.is_vacuous)",
           "is_safe = True", "tests/test_guarantees.py"),
    Mutant("a full join keeps its key", "warehouse/trace/sufficiency.py", '            if "FULL" in words:\n                key = None\n            elif not',
           "            if not", "tests/test_guarantees.py"),
    Mutant("one value of spurious rows is the right one", "warehouse/trace/sufficiency.py", "if rows.level == Level.ENOUGH or not (rows.is_vacuous or rows.is_one_row):",
           "if not (rows.is_vacuous or rows.is_one_row):", "tests/test_guarantees.py"),
    Mutant("an outer join needs no genuine partners", "warehouse/trace/sufficiency.py", "if other.level < Level.GENUINE or (fills_in",
           "if (fills_in", "tests/test_guarantees.py"),
    Mutant("HAVING keeps a total's row", "warehouse/trace/sufficiency.py", 'is_one_row = not any(node.args.get(clause) for clause in ("having", "qualify", "limit", "offset"))',
           "is_one_row = True", "tests/test_guarantees.py"),
    Mutant("what is kept out leaves rows as they are", "warehouse/trace/sufficiency.py", '        return level if level == Level.EXACT or is_of_one else min(level, Level.ENOUGH)\n\n    def _expression',
           '        return level\n\n    def _expression', "tests/test_guarantees.py"),
    Mutant("every outer join is inner", "warehouse/trace/null_rejection.py", "and right not in rejected", "and False", "tests/test_guarantees.py"),
    Mutant("ALL rejects NULL", "warehouse/trace/null_rejection.py", "(exp.Any, exp.All)", "(exp.Any,)", "tests/test_guarantees.py"),
    Mutant("a count of nothing is NULL", "warehouse/trace/null_rejection.py", "(exp.Avg, exp.Max", "(exp.Count, exp.Max", "tests/test_guarantees.py"),
    Mutant("a join that reads two items reads one", "warehouse/trace/sufficiency.py", "len(mine) == 1 and mine", "mine", "tests/test_guarantees.py"),
    Mutant("a lateral join reads what its ON reads", "warehouse/trace/sufficiency.py", "or not is_apart or", "or", "tests/test_guarantees.py"),
    Mutant("groups of two items are those of one", "warehouse/trace/block_rows.py",
           "    if len(read) != 1 or any(key.find(exp.Query) for key in keys):\n        return False\n    return all(", "    return all(",
           "tests/test_guarantees.py"),
    Mutant("a group of what an outer join fills in is of its rows", "warehouse/trace/block_rows.py",
           "sources[alias].is_its_own and not sources[alias].is_optional for", "sources[alias].is_its_own for", "tests/test_guarantees.py"),
    Mutant("every group is one row", "warehouse/trace/block_rows.py", "bool(names) and found.key <= names", "bool(names)", "tests/test_guarantees.py"),
    Mutant("NOT IN in a branch is false or NULL", "warehouse/trace/block_rows.py", "case.this is None and not is_negated", "case.this is None", "tests/test_guarantees.py"),
    Mutant("a subquery beside OR is always asked", "warehouse/trace/block_rows.py", "while isinstance(above, (exp.And, exp.Paren)):",
           "while isinstance(above, (exp.And, exp.Or, exp.Paren)):", "tests/test_guarantees.py"),
    Mutant("a positional join is monotone", "warehouse/trace/monotony.py", '"ANTI", "ASOF", "POSITIONAL"})',
           '"ANTI", "ASOF"})', "tests/test_guarantees.py"),
    Mutant("PIVOT is monotone", "warehouse/trace/monotony.py", "exp.Window() | exp.Limit() | exp.Offset() | exp.Pivot():",
           "exp.Window() | exp.Limit() | exp.Offset():", "tests/test_guarantees.py"),
    Mutant("a right join is monotone", "warehouse/trace/monotony.py", '{"LEFT", "RIGHT", "FULL",',
           '{"LEFT", "FULL",', "tests/test_guarantees.py"),
    Mutant("EXCEPT by itself is monotone", "warehouse/trace/monotony.py", "or (node is query and isinstance(node, exp.Except))",
           "", "tests/test_guarantees.py"),
    Mutant("the last branch of a union is not outermost", "warehouse/trace/monotony.py", '        yield from _outermost_blocks(tree.right)\n',
           "", "tests/test_guarantees.py"),
    # --- ties and determinism
    Mutant("place in an order is no tie", f"{TRACER}ties/tie_points.py", "if name in _PLACES_IN_ORDER:\n        return True", "if False:\n        return True",
           "tests/test_ties.py"),
    Mutant("two rows of equal keys do not tie", f"{TRACER}ties/tied_groups.py", '"count(*) > 1"', '"count(*) > 2"', "tests/test_ties.py"),
    Mutant("a list over a window has the window's order", f"{TRACER}ties/tied_groups.py",
           "function_name(function) in _BY_ANOTHER or function.find(exp.Order)", "function_name(function) in _BY_ANOTHER", "tests/test_ties.py"),
    Mutant("a query is not compared with itself", f"{CLAIMS}publish/tie_probe.py", "create or replace temp table {_BROKEN} as {sql}",
           "create or replace temp table {_BROKEN} as {broken(sql, WAYS[0], only)}", "tests/test_ties.py"),
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
    Mutant("DISTINCT ON cuts no rows of one grain", f"{CLAIMS}publish/tie_probe.py", "if is_on or point is not tree or",
           "if point is not tree or", "tests/test_ties.py"),
    Mutant("one column of the grain orders rows", f"{CLAIMS}publish/tie_probe.py", "return bool(grain) and {name.lower() for name in grain} <= names",
           "return bool(grain) and bool({name.lower() for name in grain} & names)", "tests/test_ties.py"),
    # --- what a trace keeps, and what a publication leaves out
    Mutant("a window is a group key", "warehouse/trace/tracing.py", "isinstance(node, exp.Window | exp.Query | exp.Star) or is_aggregate(node)",
           "isinstance(node, exp.Query | exp.Star) or is_aggregate(node)", "tests/test_trace.py"),
    Mutant("an aggregate is a group key", "warehouse/trace/tracing.py", "isinstance(node, exp.Window | exp.Query | exp.Star) or is_aggregate(node)",
           "isinstance(node, exp.Window | exp.Query | exp.Star)", "tests/test_trace.py"),
    Mutant("ranges apart are joined", "warehouse/trace/tracing.py", "offset <= merged[-1][0] + merged[-1][1] + 1:",
           "offset <= merged[-1][0] + merged[-1][1] + 9:", "tests/test_trace.py"),
    Mutant("a range within another cuts it", "warehouse/trace/tracing.py", "max(covered, offset + length - start)",
           "offset + length - start", "tests/test_trace.py"),
    Mutant("a cell rests on the runs of its row alone", "warehouse/trace/tracing.py", "return tuple(sorted({*self.runs, *more})) if more else self.runs",
           "return self.runs", "tests/test_trace.py"),
    Mutant("a key that no own run states has no evidence", "warehouse/trace/tracing.py", 'f" from (select * from {_STATED} anti join {_OWN} using (target, value, c)) s',
           'f" from (select * from {_STATED} where false) s', "tests/test_trace.py"),
    Mutant("every run that states a key is evidence", "warehouse/trace/tracing.py", "from (select * from {_STATED} anti join {_OWN} using (target, value, c)) s",
           "from {_STATED} s", "tests/test_trace.py"),
    Mutant("every row is no more than its key", "warehouse/trace/tracing.py", "if _WHOLE_ROW in columns and len(group_keys(model, list(whole))) == len(whole):",
           "if _WHOLE_ROW in columns:", "tests/test_trace.py"),
    Mutant("a publication may state more rows", f"{CLAIMS}verify/completeness.py", '            fewer += 1\n',
           '            pass\n', "tests/test_retrace.py"),
    Mutant("evidence that arrived again was not there before", f"{CLAIMS}verify/completeness.py", "return there - (after - before)",
           "return there - after", "tests/test_retrace.py"),
    # --- what is left out
    Mutant("an outer join keeps the rows that fill in", "warehouse/trace/excluded/readings.py", 'elif not words & {"LEFT", "SEMI", "ANTI"}:',
           'elif not words & {"SEMI", "ANTI"}:', "tests/test_excluded.py"),
    Mutant("EXCEPT keeps both sides", "warehouse/trace/excluded/readings.py", "sides = (node.this,) if isinstance(node, exp.Except) else (node.this, node.expression)",
           "sides = (node.this, node.expression)", "tests/test_excluded.py -k not mlperf"),
    Mutant("a right join keeps both sides", "warehouse/trace/excluded/readings.py", 'kept = [(slot, join.this)]\n',
           'kept.append((slot, join.this))\n', "tests/test_excluded.py -k not mlperf"),
    Mutant("a left join is tried", "warehouse/trace/excluded/stages.py", 'words & {"LEFT" if slot > hop.slot else "RIGHT", "FULL"}',
           'words & {"FULL"}', "tests/test_excluded.py -k not mlperf"),
    Mutant("a left join leaves rows out", "warehouse/trace/excluded/stages.py", '        rows.set("joins", (rows.args.get("joins") or [])[: last_join + 1])\n',
           '        rows.set("joins", [exp.Join(this=join.this, on=join.args.get("on"), using=join.args.get("using")) for join in (rows.args.get("joins") or [])[: last_join + 1]])\n', "tests/test_excluded.py -k not mlperf"),
    Mutant("a join before the table is tried", "warehouse/trace/excluded/stages.py", "if slot < hop.slot or words &",
           "if words &", "tests/test_excluded.py -k not mlperf"),
    Mutant("IS NULL behind an inner join has partners", "warehouse/trace/excluded/stages.py", 'if is_its and join.side.upper() == "LEFT" and join.args.get("on"):',
           'if is_its and join.args.get("on"):', "tests/test_excluded.py -k not mlperf"),
    Mutant("a CTE reads no other", "warehouse/trace/excluded/stages.py", '            names |= {table.name.lower() for table in cte.this.find_all(exp.Table) if not table.db}\n',
           "", "tests/test_excluded.py -k not mlperf"),
    Mutant("LIMIT of a union leaves no rows out", "warehouse/trace/excluded/stages.py", '    if block.args.get("limit") is not None:\n        stages.append(Stage(_limit_clause(block), whole, True))\n',
           "", "tests/test_excluded.py -k not mlperf"),
    Mutant("a CTE sees those after it", "warehouse/trace/excluded/readings.py", '        if other is cte:\n            break\n',
           '        if other is cte:\n            continue\n', "tests/test_excluded.py -k not mlperf"),
    Mutant("all branches have the names of the first", "warehouse/trace/excluded/grain_sources.py", 'if slot == 0 or block.args.get("by_name"):',
           "if True:", "tests/test_excluded.py -k not mlperf"),
    Mutant("a star that replaces a column hands it on", "warehouse/trace/excluded/grain_sources.py", "if name.lower() not in _changed_by(star) else []",
           "", "tests/test_excluded.py -k not mlperf"),
    Mutant("a column is of any item that has its name", "warehouse/trace/excluded/grain_sources.py", 'is_alone = not hop.block.args.get("joins")',
           "is_alone = True", "tests/test_excluded.py -k not mlperf"),
    Mutant("an alias renames no columns", "warehouse/trace/excluded/grain_sources.py", 'or (source.args.get("alias") and source.args["alias"].columns)',
           "", "tests/test_excluded.py -k not mlperf"),
    Mutant("CASE is parted at its ANDs", "warehouse/trace/excluded/clauses.py", 'cases += (word.lower == "case") - (word.lower == "end")',
           "cases += 0", "tests/test_excluded.py -k not mlperf"),
    Mutant("NULL for one row is NULL for all", "warehouse/trace/excluded/survival.py", "having bool_and(wh_is_null)",
           "having bool_or(wh_is_null)", "tests/test_excluded.py -k not mlperf"),
    Mutant("a key known in part is known", "warehouse/trace/excluded/survival.py", "for run, found in rows}, len(keys) == len(names)",
           "for run, found in rows}, True", "tests/test_excluded.py -k not mlperf"),
    Mutant("an aggregate is of one row", "warehouse/trace/excluded/grain_sources.py", "return None if item is None or has_aggregate(item) or item.find(exp.Window, exp.Query) else item",
           "return item", "tests/test_excluded.py -k not mlperf"),
)


def copied(folder: Path) -> Path:
    """A copy of the checkout, without what tests do not read."""

    def ignored(parent: str, names: list[str]) -> set[str]:
        return {name for name in names if name[0] == "." or name == "__pycache__" or (Path(parent) == ROOT and name in LEFT_OUT)}

    return Path(shutil.copytree(ROOT, folder / "checkout", ignore=ignored, symlinks=True))


def survives(mutant: Mutant) -> str | None:
    """Why a mutant is not killed; None when it is."""
    text = (ROOT / mutant.path).read_text()
    if text.count(mutant.old) != 1:
        return f"its text is in {mutant.path} {text.count(mutant.old)} times"
    with tempfile.TemporaryDirectory() as folder:
        checkout = copied(Path(folder))
        (checkout / mutant.path).write_text(text.replace(mutant.old, mutant.new))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-m", "", "-p", "no:cacheprovider", *_arguments(mutant.tests)], cwd=checkout,
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
