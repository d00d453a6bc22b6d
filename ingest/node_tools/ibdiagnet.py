"""The log or the screen output of `ibdiagnet`: its summary, a stage with its warnings and errors a line, and the errors that it prints. It is about
a fabric, and states neither a node nor the time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.readers.text import Data, Report, decoded, lines

from .stated import Entry, Event, Stated, Tool

_STAGE = re.compile(r"-[IWE]- (.+?) {2,}(\d{1,18}) +(\d{1,18})(?: +(.*?))?\s*")
_TWO = re.compile(r"-[IWE]- .+? {2,}\S+ +\S+(?: .*)?")
_ERROR = re.compile(r"-E- (.+?)\s*")
_TITLE = re.compile(r"-I- Stage\s+Warnings\s+Errors(?:\s+Comment)?\s*")
_HEAD = re.compile(rb"[^\0]*?(?:-I- Stage\s+Warnings\s+Errors|ibdiagnet|-I- Using config file|Load Plugins from)")
_MARK = re.compile(rb"^-[IWE]- ", re.MULTILINE)


def _read(data: Data, report: Report) -> Iterator[Stated]:
    in_summary = False
    for line in lines(data, report):
        shown = decoded(line, report)
        if _TITLE.fullmatch(shown):
            in_summary = True
        elif in_summary and (found := _STAGE.fullmatch(shown)):
            stage, warnings, errors, comment = found.groups()
            yield Entry(line, "fabric", stage, "warnings", warnings)
            yield Entry(line, "fabric", stage, "errors", errors)
            if int(errors):
                yield Event(line, "fabric-errors", f"{stage}: {errors} errors" + (f": {comment}" if comment else ""), "fabric", stage)
            elif int(warnings):
                yield Event(line, "fabric-warnings", f"{stage}: {warnings} warnings" + (f": {comment}" if comment else ""), "fabric", stage)
        elif in_summary and _TWO.fullmatch(shown):
            report.at("unknown-line", shown[:200], line)
        elif not in_summary and (found := _ERROR.fullmatch(shown)):
            yield Event(line, "fabric-error", found[1], "fabric", found[1][:200])


TOOL = Tool("ibdiagnet", lambda head: bool(_HEAD.match(head[:4096]) and _MARK.search(head)), _read)
