"""One build's work in one database: every model brought up to date in order, each with its state in the same transaction.

The database is a shadow that no reader sees, so it is written in groups of models: what was finished before a failure or a
kill is there to go on from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from warehouse.digest import memo_digest
from warehouse.errors import WarehouseError
from warehouse.landing.parse.batches import REJECTED_TABLE
from warehouse.transform.build.material import Material
from warehouse.transform.build.other_clients import bare_name, create_view
from warehouse.transform.build.plan import (
    BUILD,
    DROP,
    KEEP,
    LEAST_ROWS,
    NEVER_BUILT,
    UPDATE,
    Emptiness,
    Step,
    as_empty,
    decide,
    file_leaves,
    has_no_rows,
    inputs_of,
    is_small,
    rows_read,
)
from warehouse.transform.build.readers import Readers
from warehouse.transform.build.rollup_table import rollup_types, write_rollup
from warehouse.transform.build.state import TableState, create_state_table, has_passed, view_content
from warehouse.transform.build.tables_made import TablesMade
from warehouse.transform.check.project_check import create_schemas
from warehouse.transform.incremental import detail_rows, incremental
from warehouse.transform.incremental.aged_out import create_away_table
from warehouse.transform.incremental.changed_keys import KeyPlan
from warehouse.transform.incremental.incremental import Leaf
from warehouse.transform.incremental.row_delta import keep_delta, renamed, set_aside
from warehouse.transform.incremental.row_order import GROWN, PARTS, PATCHED, WHOLE, has_grain_over_key, order_of, put_in_order, rewrite
from warehouse.transform.incremental.warm_tier import age_of
from warehouse.transform.inputs.content import NO_ROWS, Content, content_of
from warehouse.transform.inputs.made_elsewhere import NOTHING, MadeElsewhere, content_of_parts, patch, take, take_rejected
from warehouse.transform.inputs.part_tables import show_parts
from warehouse.transform.project.data_tests import DataTest, data_tests
from warehouse.transform.sql.duck import execute, quote, quoted
from warehouse.transform.sql.engine_faults import translated_elsewhere
from warehouse.transform.testing.rejected_rows import (
    Rejection,
    content_of_rejected,
    create_rejected_table,
    forget_affected,
    forget_rejected,
)

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class ModelResult:
    """What became of one model: its qualified name, action (`build`, `update`, `empty`, `keep`, `drop`), why, its rows (None for a
    view), how many keys changed where it was updated, and seconds."""

    name: str
    action: str
    reason: str
    rows: int | None = None
    keys: int | None = None
    seconds: float = 0.0


class Session:
    """The build of one database. `run` does the work; tables already there are taken to be in the states given. Where it `is_first`, these
    are of another project's build, and of this one nothing was ever built. Rows that were made `elsewhere` are taken from there. Landing tables
    are closed after the last model that reads them, unless it `keeps_landing`."""

    def __init__(
        self, con: "duckdb.DuckDBPyConnection", material: Material, states: Mapping[str, TableState],
        on_model: Callable[[ModelResult], None] = lambda result: None, content_of: Callable[..., Content] = content_of, *,
        is_first: bool = False, elsewhere: MadeElsewhere = NOTHING, keeps_landing: bool = False,
    ) -> None:
        self._con, self._elsewhere = con, elsewhere
        self._material = material
        self._checked = material.checked
        self._on_model, self._content_of, self._is_first, self._keeps_landing = on_model, content_of, is_first, keeps_landing
        self._tables = TablesMade(con, states, material.inputs.content_ids())
        self._before, self._now, self.contents = self._tables.before, self._tables.now, self._tables.contents
        self.remade: set[str] = set()  # tables and views that are other ones than before: no comment of theirs is left
        self.unique: set[str] = set()  # incremental tables whose grain was seen to tell their rows apart
        self._emptiness = Emptiness(
            material.checked, material.landing, lambda name: has_no_rows(self._now.get(name)),
            lambda: self.contents[REJECTED_TABLE] != self._none_rejected,
        )
        self._readers = Readers(con, material, self._tables.opened)
        self._recorded: dict[str, str] = {}  # keys of files that a table records (`record_keys`)
        self._deltas: set[str] = set()  # tables whose changed rows are at hand
        self._none_rejected = self.contents.get(REJECTED_TABLE, "")
        self._kept_tests: dict[str, list[DataTest]] = {}
        for test in data_tests(self._checked.models):
            if test.is_kept and test.model:
                self._kept_tests.setdefault(test.model, []).append(test)

    def run(self, chosen: Collection[str] | None = None) -> list[ModelResult]:
        """Bring every model up to date, or those `chosen`, among which is all that they read; then nothing is dropped. Raises WH209 at the
        place of what failed; what was built before it is kept."""
        every, late = self._checked.order, self._checked.late
        order = every if chosen is None else [name for name in every if name in chosen]
        self._tables.begin()
        create_state_table(self._con)
        create_away_table(self._con)
        create_rejected_table(self._con)
        create_schemas(self._con)
        results = [self._drop(name) for name in sorted(self._before.keys() - set(every))] if chosen is None else []
        self._tables.commit()
        self._tables.begin()
        last_reads = self._readers.last_reads(order)
        for name in order:
            if name in late:  # all others have left out what they do
                self.contents[REJECTED_TABLE] = content_of_rejected(self._con) or self._none_rejected
            results.append(self._timed(name))
            self._on_model(results[-1])
            if not self._keeps_landing:
                self._readers.close_landing(last_reads.get(name, ()))
            self._tables.commit_if_due()
        for name in order:
            if not self._checked.is_stored(name):
                self._con.execute(f"drop view if exists {quoted(self._checked.models[name].qualified)}")
        self._tables.commit()
        return [result for result in results if not (self._is_first and result.action == DROP)]

    def _timed(self, name: str) -> ModelResult:
        started, kept = time.monotonic(), set(self._deltas)
        try:
            result = self._bring_up_to_date(name)
        except WarehouseError:
            self._save_unsaved(kept)
            raise
        result = replace(result, seconds=time.monotonic() - started)
        return self._as_first(name, result) if self._is_first else result

    def _as_first(self, name: str, result: ModelResult) -> ModelResult:
        """What became of a model that was never built: what is as in another project's build need not run, but is new here."""
        step = Step(name, BUILD, NEVER_BUILT)
        if result.rows == 0 and self._emptiness.of_table(name):
            step = as_empty(step)
        return replace(result, action=step.action, reason=step.reason, keys=None)

    def _save_unsaved(self, deltas: set[str]) -> None:
        """A failed statement takes its whole transaction with it: make again what was good in it, so that `--retry` need not. It
        took no longer than a group does."""
        again = self._tables.roll_back()
        incremental.as_ever(self._con)
        self._deltas = deltas - set(again)
        self._readers.forget()
        self._recorded.clear()
        for name in sorted(again, key=self._checked.place_of):
            # One that was brought up to date and saved before it was only written again: a reader will ask anew.
            if name not in self._now or self._now[name] is self._before.get(name):
                self._bring_up_to_date(name)
        self._tables.commit()

    def without_rows(self) -> set[str]:
        """The tables that have no rows, as far as they are made."""
        return {name for name, state in self._now.items() if has_no_rows(state)}

    # --- one model ----------------------------------------------------------------------------------------------

    def _bring_up_to_date(self, name: str) -> ModelResult:
        model = self._checked.models[name]
        step = decide(
            name, self._checked, self._material.logic[name], self.contents, self._material.inputs, self._before.get(name), self._read_by(name)
        )
        if model.materialized == "view":
            self._keep_view(name, step)
            return ModelResult(model.qualified, step.action, step.reason)
        keys = None
        if step.action == KEEP and not self._lies_elsewhere(name):
            self.contents[name] = self._before[name].content_id
        elif self._emptiness.of_table(name):
            step = as_empty(step)
            self._leave_empty(name)
        elif name in self._elsewhere.as_parts:
            self._show(name)
        else:
            update = self._patch if name in self._elsewhere.tables else self._update
            keys = update(name) if step.action == UPDATE else None
            if keys is None:
                step = replace(step, action=BUILD)
                self._build(name)
        content = self._now[name].content
        return ModelResult(model.qualified, step.action, step.reason, content.rows if content else None, keys)

    def _keep_view(self, name: str, step: Step) -> None:
        model, inputs = self._checked.models[name], self._inputs(name)
        if step.action == BUILD:
            self._remove(name)
            if self._checked.is_stored(name):
                self.remade.add(name)
                create_view(self._con, model, self._checked.graph.trees[name], self._checked.models)
        self._tables.made(name, TableState(
            model.qualified, "view", self._material.logic[name], inputs, view_content(self._material.logic[name], inputs)
        ))

    def _lies_elsewhere(self, name: str) -> bool:
        """Whether a table that stays in parts has other parts now."""
        before = self._before[name]
        made = self._elsewhere.tables.get(name)
        if made is None:  # nobody made it now: it stays where it is
            return False
        now = {part.sha256 for part in made} if name in self._elsewhere.as_parts else set[str]()
        return before.layout == PARTS and now != set(before.parts)

    def _show(self, name: str) -> None:
        """Leave a table's rows in its parts, and show them as a view."""
        model, types, parts = self._checked.models[name], self._checked.columns[name], self._elsewhere.tables[name]
        self._remove(name)
        show_parts(self._con, model, types, parts)
        take_rejected(self._con, model, self._elsewhere.rejected)
        content = content_of_parts(parts)
        self.remade.add(name)
        if name in self._elsewhere.unique:
            self.unique.add(name)
        self._tables.made(name, TableState(
            model.qualified, "view", self._material.logic[name], self._inputs(name), content.id(types, order_of(model, types)), content,
            self._files_of(name), PARTS, tuple(part.sha256 for part in parts),
        ))

    def in_parts(self) -> dict[str, tuple[str, ...]]:
        """The digests of the parts of each table that stays in parts, by its qualified name."""
        return {state.qualified: state.parts for state in self._now.values() if state.layout == PARTS}

    def _leave_empty(self, name: str) -> None:
        """Make a table without rows, of which nothing is run; one that has none already stays as it is."""
        model, types, before = self._checked.models[name], self._checked.columns[name], self._before.get(name)
        is_there = before and has_no_rows(before) and before.layout == WHOLE and before.logic.own == self._material.logic[name].own
        former = None if is_there else self._set_aside(name)
        if not is_there:
            self._remove(name)
            columns = rollup_types(model, types) if model.schema == "rollup" else types
            listed = ", ".join(f"{quote(column)} {kind}" for column, kind in columns.items())
            self._con.execute(f"create table {quoted(model.qualified)} ({listed})")
        self._made(name, NO_ROWS, former, is_new=not is_there)
        if model.retention_tier:
            detail_rows.forget_away(self._con, model.qualified)

    def _build(self, name: str) -> None:
        """Make a table from nothing."""
        model, types = self._checked.models[name], self._checked.columns[name]
        plan = self._checked.key_plans.get(name)
        parts = self._elsewhere.tables.get(name)
        left_out = detail_rows.left_out(self._con, name, self._material.tier)
        shares = incremental.shares_of(self._read_by(name)()) if plan and plan.can_narrow and not left_out else 1
        by_key = plan.reads_by_key if plan and shares > 1 else ()
        if parts is None:
            self._open_inputs(name, by_key)
        former = self._set_aside(name)
        numbered = self._set_numbers_aside(name)
        self._remove(name)
        is_unique, rejection = False, self._rejection(name)
        if model.schema == "rollup":
            write_rollup(self._con, model, self._material.made[name], rejection.reject if rejection else lambda rows: False, numbered)
        elif plan:
            if parts is None and shares > 1:
                if name in self._now:  # it has no state until all its rows are there
                    self._tables.dropped(name)
                every = {path.leaf: self._readers.every_row(path.leaf) for path in plan.paths}
                reads = self._readers.rows_in_order(name, by_key, self._now)
                is_unique = incremental.build_in_shares(self._con, model, plan, types, every, reads, shares, self._tables.commit_and_begin)
            elif parts is None:
                sees_layout = self._checked.sees_layout(name)
                is_unique = incremental.build(self._con, model, plan, types, sees_layout=sees_layout, left_out=left_out)
            else:
                take(self._con, model, types, parts)
                take_rejected(self._con, model, self._elsewhere.rejected)
                is_unique, rejection = name in self._elsewhere.unique, None
            leaves = {leaf: self._readers.leaf(leaf, None) for leaf in file_leaves(self._checked, name)} if self._checked.keeps_keys(name) else {}
            if leaves:
                incremental.record_keys(self._con, model, plan, leaves, self._recorded)
        else:
            within, rest = ("select * from (", f") where not {left_out}") if left_out else ("", "")
            execute(self._con, model, f"create table {quoted(model.qualified)} as {within}", rest)
            if self._checked.is_put_in_order(name):
                is_unique = put_in_order(self._con, model, types)
        if is_unique:
            self.unique.add(name)
        if rejection and model.schema != "rollup" and rejection.reject(quoted(model.qualified), is_unique=is_unique):
            rewrite(self._con, model, types, GROWN)
        if model.retention_tier:
            detail_rows.record_away(self._con, model, left_out)
        content = self._content_of(self._con, model.qualified, types, is_ordered=not plan) if parts is None else content_of_parts(parts)
        self._made(name, content, former)

    def _made(self, name: str, content: Content, former: str | None, *, is_new: bool = True) -> None:
        """A table was made from nothing, its former rows being set aside in `former`; unless it `is_new` it is the one that was there."""
        model, types = self._checked.models[name], self._checked.columns[name]
        if is_new:
            self.remade.add(name)
        order = order_of(model, types) if name in self._checked.key_plans else ()
        self._tables.made(name, TableState(
            model.qualified, "table", self._material.logic[name], self._inputs(name), content.id(types, order), content, self._files_of(name),
            parts=tuple(part.sha256 for part in self._elsewhere.tables.get(name, ())),
        ))
        if former and keep_delta(self._con, model.qualified, former, types):
            self._deltas.add(name)

    def _rejection(self, name: str) -> Rejection | None:
        """What leaves rows out of a table; None where no test of it is kept so."""
        tests, model = self._kept_tests.get(name), self._checked.models[name]
        return Rejection(self._con, model, self._checked.columns[name], tests, is_late=name in self._checked.late) if tests else None

    def _update(self, name: str) -> int | None:
        """Bring a table up to date by the keys that changed, or where it has none by the rows that leave it, and return how many
        keys those were; None where that cannot be, or is more work than a build."""
        model, types, plan = self._checked.models[name], self._checked.columns[name], self._checked.key_plans.get(name)
        before, content, layout, keys = self._before[name], self._before[name].content, self._now[name].layout, 0
        left_out = detail_rows.left_out(self._con, name, self._material.tier)
        returning = detail_rows.returning(self._con, model, left_out) if model.retention_tier else ""
        leaves = self._changed_leaves(plan, before, keeps_keys=self._checked.keeps_keys(name)) if plan else {}
        if layout == PARTS or leaves is None or content is None or (returning and not (plan and plan.can_narrow)):
            return None
        if plan and name in self._kept_tests and model.grain and not has_grain_over_key(model):
            return None  # which rows break the grain, those of one key do not tell
        if plan and (leaves or returning):
            updated = self._updated(name, plan, content, leaves, returning)
            if updated is None:
                return None
            self._deltas.add(name)
            if updated.is_unique and self._is_tested(name):
                self.unique.add(name)
            content, layout, keys = updated.content, _layout_after(layout, updated), updated.keys
        left = detail_rows.leave(self._con, model, types, left_out, has_delta=name in self._deltas)
        if left_out:
            forget_rejected(self._con, model.qualified, left_out)
        if left.runs:
            self._deltas.add(name)
            content = Content(content.rows - left.content.rows, content.hash_sum - left.content.hash_sum)
        if plan:
            content_id, layout = content.id(types, order_of(model, types)), PATCHED if left.runs else layout
        else:  # its rows lie as they lay, so what is left follows from what was there
            content_id = memo_digest("wh/left/1", [before.content_id, vars(left.content)]) if left.runs else before.content_id
        self._tables.made(name, TableState(
            model.qualified, "table", self._material.logic[name], self._inputs(name), content_id, content, self._files_of(name), layout,
        ))
        return keys + left.runs

    def _patch(self, name: str) -> int | None:
        """Bring a table up to date by the parts that are new, and those that are gone, and return how many keys are in them; None where that
        cannot be, or is more work than to take all parts."""
        model, types, before = self._checked.models[name], self._checked.columns[name], self._before[name]
        if not before.parts or before.layout == PARTS or self._checked.keeps_keys(name):
            return None
        now = {part.sha256: part for part in self._elsewhere.tables[name]}
        gone = [self._elsewhere.find(model.qualified, sha256) for sha256 in before.parts if sha256 not in now]
        come = [part for sha256, part in now.items() if sha256 not in before.parts]
        old = [part for part in gone if part is not None]
        keys = patch(self._con, model, types, old, come, self._elsewhere.rejected) if len(old) == len(gone) else None
        if keys is None:
            return None
        self._deltas.add(name)
        content = content_of_parts(self._elsewhere.tables[name])
        self._tables.made(name, TableState(
            model.qualified, "table", self._material.logic[name], self._inputs(name), content.id(types, order_of(model, types)), content,
            self._files_of(name), PATCHED if keys else self._now[name].layout, tuple(now),
        ))
        return keys

    def _updated(
        self, name: str, plan: KeyPlan, content: Content, leaves: Mapping[str, Leaf], returning: str
    ) -> incremental.Updated | None:
        import duckdb

        model, types = self._checked.models[name], self._checked.columns[name]
        self._open_inputs(name, plan.reads_by_key)
        reads = self._readers.rows_in_order(name, plan.reads_by_key, self._now)
        rejection = self._rejection(name)

        def reject(rows: str) -> None:
            if rejection:
                forget_affected(self._con, model)
                rejection.reject(rows)

        least_keys = LEAST_ROWS if content.rows < LEAST_ROWS and not self._checked.keeps_keys(name) else 0
        try:
            updated = incremental.update(self._con, model, plan, types, content, leaves, reads, returning, reject, least_keys=least_keys)
        except duckdb.Error as error:
            raise translated_elsewhere(error, "WH209", model.text, model.place) from error
        if updated and model.retention_tier:
            detail_rows.forget_affected(self._con, model)
        return updated

    def _is_tested(self, name: str) -> bool:
        """Whether the grain of a table was seen to hold before this build touched it."""
        before = {name: self._before[name].content_id}
        return any(has_passed(self._con, test, before) for test in self._checked.tests if test.is_grain and test.model == name)

    def _changed_leaves(self, plan: KeyPlan, before: TableState, *, keeps_keys: bool) -> dict[str, Leaf] | None:
        """What changed of each leaf since a table was made; None where that is not known any more."""
        found: dict[str, Leaf] = {}
        for leaf in {path.leaf for path in plan.paths}:
            if leaf not in before.inputs:  # a view was there, which was not a leaf
                return None
            if self.contents[leaf] == before.inputs[leaf]:
                continue
            if leaf not in self._checked.models:
                found[leaf] = replace(self._readers.leaf(leaf, before), has_files=keeps_keys)
            elif leaf in self._deltas and self._before[leaf].content_id == before.inputs[leaf]:
                found[leaf] = self._readers.delta(leaf)
            else:
                return None
        return found

    def _open_inputs(self, name: str, by_key: Collection[str] = ()) -> None:
        for other, state in self._readers.open(name, self._now, by_key).items():
            self._tables.rewritten(other, state)
            self.remade.add(other)
        read = self._readers.tables(name, by_key)
        if self._checked.sees_layout(name):
            self._tables.compress(read)
        if self._checked.follows_plan(name):
            self._tables.save(read | self._readers.landing(name))
            self._readers.analyze(read)

    # --- what is around it --------------------------------------------------------------------------------------

    def _inputs(self, name: str) -> dict[str, str]:
        return {source: self.contents[source] for source in inputs_of(name, self._checked)}

    def _files_of(self, name: str) -> dict[str, dict[str, str]]:
        return {leaf: self._material.inputs.by_file(leaf) for leaf in sorted(file_leaves(self._checked, name))}

    def _drop(self, name: str) -> ModelResult:
        qualified = self._now[name].qualified
        self._remove(name)
        self._tables.dropped(name)
        return ModelResult(qualified, DROP, "no model makes it any more")

    def _remove(self, name: str) -> None:
        """Drop what a model made before, under the name and of the kind that it had then."""
        state = self._now.get(name)
        if state:
            if bare := bare_name(state.qualified):  # its name is free again, for a table of main too
                self._con.execute(f"drop view if exists {quoted(bare)}")
            self._con.execute(f"drop {state.kind} if exists {quoted(state.qualified)}")
            forget_rejected(self._con, state.qualified)
            if state.files:
                incremental.forget_keys(self._con, state.qualified)
            if age_of(name) in state.inputs:
                detail_rows.forget_away(self._con, state.qualified)

    def _is_followed(self, name: str) -> bool:
        """Whether a table that is local to a key can be updated by it."""
        return name in self._before and (self._checked.keeps_keys(name) or not is_small(self._before[name], self._read_by(name)))

    def _read_by(self, name: str) -> Callable[[], int]:
        return partial(rows_read, name, self._checked, self._material.landing, self._now)

    @cached_property
    def _followers(self) -> Mapping[str, Collection[str]]:
        """By table, the models that find the keys that changed in it."""
        found: dict[str, dict[str, None]] = {}
        for other, plan in self._checked.key_plans.items():
            for path in plan.paths:
                found.setdefault(path.leaf, {})[other] = None
        return found

    def _set_aside(self, name: str) -> str | None:
        """Keep a table's rows, under another name, for an incremental model that is to learn from them which of its keys
        changed. None where it is not needed, where the columns are others now, and in a first build, in which all keys are new."""
        state = self._now.get(name)
        if self._is_first or not state or state.kind != "table" or not any(map(self._is_followed, self._followers.get(name, ()))):
            return None
        return set_aside(self._con, state.qualified, self._checked.columns[name])

    def _set_numbers_aside(self, name: str) -> str | None:
        """Keep a rollup's rows, under another name, for the ids of those that come out the same. None of any other table, and where the spec is
        another one now."""
        state = self._now.get(name)
        if not state or self._checked.models[name].schema != "rollup" or state.logic.own != self._material.logic[name].own:
            return None
        return renamed(self._con, state.qualified)


def _layout_after(layout: str, updated: incremental.Updated) -> str:
    """How a table's rows lie after an update."""
    if not updated.keys:
        return layout
    return GROWN if updated.has_grown and layout != PATCHED else PATCHED
