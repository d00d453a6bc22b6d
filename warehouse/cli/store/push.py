"""`wh push`; `wh pull` is the same the other way."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warehouse.cli.output import SCREEN, is_on_terminal, is_verbose, notice, print_json_line, say, size, warn
from warehouse.errors import ExitCode, WarehouseError

PAGE = "docs/store.md"
EXAMPLES = ("wh push ../backup --create", "wh push ../backup --build", "wh push ../backup --json")
INTERRUPTED = "what was listed is in the other store; run the same command again to continue"

Store = Annotated[str, typer.Argument(metavar="STORE", help="the other store: s3://bucket/folder, or a folder of a store or project")]
Wanted = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="DIGEST", help="bundles and publications, by the beginning of their digests; a publication with its bundles (default: all)"
    ),
]
BuildId = Annotated[
    str | None,
    typer.Option("--build", metavar="[ID]", help="a build, by the beginning of its digest (default: the last one); alone, if no DIGEST is given"),
]
Json = Annotated[bool, typer.Option("--json", help="print what was copied as JSON, one a line")]


def command(
    store: Store,
    wanted: Wanted = None,
    build: BuildId = None,
    create: Annotated[bool, typer.Option("--create", help="make a store in a folder that does not exist")] = False,
    as_json: Json = False,
) -> ExitCode:
    return copy(store, wanted or [], build, as_json=as_json, is_pull=False, create=create)


def copy(place_text: str, wanted: list[str], build_id: str | None, *, as_json: bool, is_pull: bool, create: bool = False) -> ExitCode:
    """Copy the selected objects from the project's store to the other one, or with `is_pull` from there."""
    from warehouse.evidence.objects.location import open_store
    from warehouse.maintenance.transfer import select, transfer
    from warehouse.project.file import PROJECT_FILE
    from warehouse.project.project import find_project, project_of_place

    project = find_project()
    place = project_of_place(project, place_text)
    own, other = open_store(project), open_store(place)
    if own.objects.url == other.objects.url:
        raise WarehouseError("WH004", "that is the project's own store", place_text, exit_code=ExitCode.USAGE)
    # A project says where its store is to be; a mistyped folder does not.
    if not (is_pull or create or place.store_url or place.store_root.exists() or (Path(place_text) / PROJECT_FILE).is_file()):
        raise WarehouseError(
            "WH004", "there is no store, and no such folder", place_text, "correct the path, or make a store there: --create",
            ExitCode.USAGE,
        )
    source, target = (other, own) if is_pull else (own, other)
    new = there = total = 0
    if build_id is None or wanted:
        if source.is_empty():
            message = "there is no evidence in this store"
            raise WarehouseError("WH004", message, source.objects.url, "name a store that has some", ExitCode.USAGE)
        selection = select(source, wanted)
        try:
            for moved in transfer(source, target, selection):
                new, there, total = new + moved.is_new, there + (not moved.is_new), total + moved.bytes * moved.is_new
                if as_json or new + there <= SCREEN or is_verbose() or not is_on_terminal():
                    _report(moved.kind, moved.digest, moved.bytes, is_new=moved.is_new, as_json=as_json)
        except WarehouseError as error:
            if new or there:
                warn(f"{_summary(new, total, there)}; {1 + len(error.also)} failed")
            raise
        if not as_json and new + there > SCREEN and is_on_terminal() and not is_verbose():
            say(f"and {new + there - SCREEN:,} more: -v lists all")
    if build_id is not None:
        from warehouse.transform.finished.builds import current_build, find_build
        from warehouse.transform.finished.exchange import pull_build, push_build

        if is_pull:
            build = pull_build(project, other.objects, build_id)
        else:
            build = push_build(find_build(project, build_id) if build_id else current_build(project), other)
        new, there, total = new + build.is_new, there + (not build.is_new), total + build.bytes * build.is_new
        _report("build", build.digest, build.bytes, is_new=build.is_new, as_json=as_json)
    notice(_summary(new, total, there))
    return ExitCode.OK


def _summary(new: int, bytes: int, there: int) -> str:
    return f"{new} new, {size(bytes)}; {there} were there before"


def _report(kind: str, digest: str, bytes: int, *, is_new: bool, as_json: bool) -> None:
    if as_json:
        print_json_line({"kind": kind, "digest": digest, "bytes": bytes, "is_new": is_new})
    else:
        say(f"{digest}  {kind}, {size(bytes)}{'' if is_new else ', was there'}", flush=True)
