"""`wh push`; `wh pull` is the same the other way."""

from __future__ import annotations

import argparse
from pathlib import Path

from warehouse.cli.output import notice, print_json_line, say, size
from warehouse.errors import ExitCode, WarehouseError

_LAST = ""  # of --build without a digest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared_arguments(parser)
    parser.add_argument("--create", action="store_true", help="make a store in a folder that is not there")


def add_shared_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("store", metavar="STORE", help="the other store: s3://bucket/folder, or a folder of a store or project")
    parser.add_argument(
        "wanted", metavar="DIGEST", nargs="*",
        help="bundles and publications, by the beginning of their digests; a publication with its bundles (all that there is)",
    )
    parser.add_argument(
        "--build", nargs="?", const=_LAST, metavar="ID",
        help="a build, by the beginning of its digest (the last one); alone, if no DIGEST is given",
    )
    parser.add_argument("--json", action="store_true", help="print what was moved as JSON, one a line")


def run(args: argparse.Namespace) -> ExitCode:
    return move(args, is_pull=False)


def move(args: argparse.Namespace, *, is_pull: bool) -> ExitCode:
    """Bring what is asked for from the project's store to the other one, or with `is_pull` from there."""
    from warehouse.evidence.objects.location import open_store
    from warehouse.maintenance.transfer import select, transfer
    from warehouse.project import find_project, project_of_place
    from warehouse.project_file import PROJECT_FILE

    project = find_project()
    place = project_of_place(project, args.store)
    own, other = open_store(project), open_store(place)
    if own.objects.url == other.objects.url:
        raise WarehouseError("WH004", "that is the project's own store", args.store, exit_code=ExitCode.USAGE)
    # A project says where its store is to be; a mistyped folder does not.
    if not (is_pull or args.create or place.store_url or place.store_root.exists() or (Path(args.store) / PROJECT_FILE).is_file()):
        raise WarehouseError(
            "WH004", "there is no store, and no such folder", args.store, "correct the path, or make a store there: --create",
            ExitCode.USAGE,
        )
    source, target = (other, own) if is_pull else (own, other)
    new = there = total = 0
    if args.build is None or args.wanted:
        if source.is_empty():
            raise WarehouseError("WH004", "there is no evidence in this store", source.objects.url, exit_code=ExitCode.USAGE)
        selection = select(source, args.wanted)
        try:
            for moved in transfer(source, target, selection):
                new, there, total = new + moved.is_new, there + (not moved.is_new), total + moved.bytes * moved.is_new
                _tell(args, moved.kind, moved.digest, moved.bytes, is_new=moved.is_new)
        except WarehouseError as error:
            if new or there:
                notice(f"{_summary(new, total, there)}; {1 + len(error.also)} failed")
            raise
    if args.build is not None:
        from warehouse.transform.finished.builds import current_build, find_build
        from warehouse.transform.finished.exchange import pull_build, push_build

        if is_pull:
            build = pull_build(project, other.objects, args.build)
        else:
            build = push_build(find_build(project, args.build) if args.build else current_build(project), other)
        new, there, total = new + build.is_new, there + (not build.is_new), total + build.bytes * build.is_new
        _tell(args, "build", build.digest, build.bytes, is_new=build.is_new)
    notice(_summary(new, total, there))
    return ExitCode.OK


def _summary(new: int, bytes: int, there: int) -> str:
    return f"{new} new, {size(bytes)}; {there} were there before"


def _tell(args: argparse.Namespace, kind: str, digest: str, bytes: int, *, is_new: bool) -> None:
    if args.json:
        print_json_line({"kind": kind, "digest": digest, "bytes": bytes, "is_new": is_new})
    else:
        say(f"{digest}  {kind}, {size(bytes)}{'' if is_new else ', was there'}", flush=True)
