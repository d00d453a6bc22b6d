"""What `wh changes` prints for people: events that fit a screen, one event with its members, or one finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from warehouse.cli.output import counted, is_verbose, notice, say, warn
from warehouse.errors import printable

if TYPE_CHECKING:
    from warehouse.analysis.changes import Changes
    from warehouse.analysis.events.event import Event
    from warehouse.analysis.events.findings import Finding
    from warehouse.analysis.succession import Outlier
    from warehouse.evidence.ledger.findings import Mark

WIDTH = 100  # characters of a line
_LINES = 40  # of an answer where --verbose is not given
_FEWEST_EVENTS = 10
_SILENCES, _OUTLIERS = 4, 3
_MEMBERS, _DIFFERENCES, _CONTROLS, _FAMILIES = 12, 6, 3, 4


def print_changes(found: "Changes", events: "Sequence[Event]", *, is_regressed: bool) -> None:
    """The events, the most important first, then single runs and silence, then what was tested: at most a screen of it."""
    notices = list(_notices(found, is_regressed=is_regressed))
    outliers = [] if is_regressed else _limited([_outlier(each) for each in found.outliers], _OUTLIERS, "single runs stand out")
    silences = [] if is_regressed else _limited([printable(str(each)) for each in found.silences], _SILENCES, "machines have no new data")
    most = max(_FEWEST_EVENTS, (_LINES - len(notices) - len(outliers) - len(silences) - 1) // 2)
    shown = events if is_verbose() or len(events) <= most else events[:most]
    for each in shown:
        for line in event_row(each):
            say(printable(line))
        if is_verbose():
            for line in _members(each):
                say(printable(line))
    if len(shown) < len(events):
        say(f"and {len(events) - len(shown)} more: wh changes -v")
    if not events:
        say("nothing regressed" if is_regressed else "no change was found")
    for line in outliers:
        say(line)
    for line in silences:
        warn(line)
    for line in notices:
        notice(line)


def event_row(event: "Event") -> tuple[str, str]:
    """An event in two lines: how sure, how much and what; then since when, how many series, what differs, and its state."""
    change, interval = _size(event.headline)
    head = f"{event.status} {event.way}{' (exploratory)' if event.is_exploratory else ''}  {change}{f' ({interval})' if interval else ''}  "
    of = len(event.members) + event.unmoved
    others = len(event.members) - len(event.leading)
    moved = f"{len(event.leading)} of {of} series" + (f", {others} another way" if others else "")
    parts = [_when(event), moved if of > 1 else "", event.doubt or (event.state if event.state != "open" else "")]
    if event.needs:
        parts.append(f"needs {counted(event.needs, 'more run')}")
    tail = f"  {event.event_id}  {'; '.join(filter(None, parts))}"
    return f"{head}{fitted(event.name, WIDTH - len(head))}", tail + _what_differs(event, WIDTH - len(tail))


def print_event(event: "Event") -> None:
    """One event: what moved, since when, what differs, what did not move, what was decided, and its members."""
    from warehouse.analysis.conditions import in_lines
    from warehouse.analysis.drawing import sparkline

    most = None if is_verbose() else _MEMBERS
    clearest, headline = event.clearest, event.headline
    lines = [
        f"{event.event_id}  {event.status} {event.way}{' (exploratory)' if event.is_exploratory else ''}  {event.state}",
        f"  {event.name}",
        f"  between {clearest.last.started_at:%Y-%m-%d %H:%M} and {clearest.first.started_at:%Y-%m-%d %H:%M}Z; {_now(event)}",
        f"  last run before {clearest.last.run_id}, first run after {clearest.first.run_id}",
        f"  {sparkline(headline.values, headline.place)}",
        f"  moved: {_families(event)}; {event.unmoved} other series of these cases did not",
    ]
    controls = [f"{label} ({counted(count, 'series', 'series')})" for label, count in event.controls]
    more = f" and {len(controls) - _CONTROLS} more" if most and len(controls) > _CONTROLS else ""
    lines.append(f"  did not move: {', '.join(controls[: _CONTROLS if most else None])}{more}" if controls else "  no control series on this machine")
    differences = [f"  differs: {each}" for each in in_lines(event.differences, is_short=not is_verbose())]
    lines += _limited(differences, _DIFFERENCES, "differences", "  ") if differences else [
        "  nothing else differs, as far as the evidence says"
    ]
    lines += [f"  noted on the {each.place} {each.subject}, {each} ({each.event.by})" for each in event.notes]
    if event.needs:
        lines.append(f"  needs {counted(event.needs, 'more run')} to be confirmed")
    lines += _decided(event.mark, event.earlier_mark)
    lines += _limited(_members(event), _MEMBERS, "members", "  ")
    for line in lines:
        say(printable(line))


def print_finding(found: "Finding", event: "Event") -> None:
    """One finding, with the event that it is part of."""
    from warehouse.analysis.conditions import in_lines
    from warehouse.analysis.drawing import sparkline
    from warehouse.statistics.interval import Interval

    first, unit = found.first, " of spread" if found.kind == "spread" else f" {found.first.unit}" if found.first.unit else ""
    size = f"{found.after / found.before:.3f}x" if found.before > 0 else "from zero"
    interval = f" ({found.ratio.low:.3f} to {found.ratio.high:.3f})" if isinstance(found.ratio, Interval) else ""
    needs = f", needs {counted(found.needs, 'more run')}" if found.needs else ""
    needs += ", may be one of two modes" if found.may_be_mode else ""
    now = {"still": "still so", "recovered": "recovered since"}[found.now]
    lines = [
        f"{found.finding_id}  {found.status} {found.way}{' (exploratory)' if found.is_exploratory else ''}{needs}  {found.state}",
        f"  {found.name}",
        f"  series {first.indicator} {first.metric} {first.point}".rstrip() + f"  {first.benchmark_case_id or ''}",
        f"  {found.before:.6g} -> {found.after:.6g}{unit}, {size}{interval}, {now}; {found.points[0]} runs before, {found.points[1]} after"
        f" in {counted(found.sessions_after, 'session')}",
        f"  between {found.last.started_at:%Y-%m-%d %H:%M} and {first.started_at:%Y-%m-%d %H:%M}Z, first run {first.run_id}",
        f"  {sparkline(found.values, found.place)}",
    ]
    moved, controls = found.controls
    lines.append(f"  control series on this machine: {moved} of {controls} changed there too" if controls else "  no control series on this machine")
    if found.variables and not found.differences:
        lines.append(f"  changed there: {', '.join(found.variables)}")
    elif not found.differences:
        lines.append("  nothing else changed there, as far as the evidence says")
    lines += [f"  changed there: {each}" for each in in_lines(found.differences, is_short=not is_verbose())]
    lines += _decided(found.mark, found.earlier_mark)
    role = "it ended the event" if found in event.returned else "part of the event"
    lines.append(f"  {role} {event.event_id}, {counted(len(event.members), 'member')}: wh changes {event.event_id}")
    for line in lines:
        say(printable(line))


def fitted(text: str, width: int) -> str:
    """A name of at most so many characters, cut in its middle."""
    if len(text) <= width:
        return text
    width = max(width, 20)
    end = width // 2
    return f"{text[: width - end - 1]}…{text[-end:]}"


def _size(found: "Finding") -> tuple[str, str]:
    """The change in percent with its interval, or as a factor from a doubling on."""
    from warehouse.statistics.interval import Interval

    if found.before <= 0:
        return "from zero", ""
    ratios = [found.after / found.before, *([found.ratio.low, found.ratio.high] if isinstance(found.ratio, Interval) else [])]
    if max(ratios) >= 2 or min(ratios) <= 0.5:
        words = [f"{ratio:.3g}x" for ratio in ratios]
    else:
        words = [f"{(ratio - 1) * 100:+.1f} %" for ratio in ratios]
        words[1:-1] = [word.removesuffix(" %") for word in words[1:-1]]
    return words[0], " to ".join(words[1:])


def _families(event: "Event") -> str:
    most = len(event.families) if is_verbose() else _FAMILIES
    words = [f"{count} {family}" for family, count in event.families[:most]]
    return ", ".join(words) + (f" and {len(event.families) - most} more metrics" if len(event.families) > most else "")


def _when(event: "Event") -> str:
    since = f"since {event.clearest.first.started_at:%Y-%m-%d %H:%M}"
    if event.back_at:
        some = f" for {len(event.members) - len(event.rest)} of {len(event.members)} series" if event.rest else ""
        return f"{since} until {event.back_at.started_at:%Y-%m-%d %H:%M}{some}"
    return since if event.now == "still" else f"{since}, recovered"


def _now(event: "Event") -> str:
    if event.end:
        return f"recovered, ended before {event.end.started_at:%Y-%m-%d %H:%M}Z, run {event.end.run_id}"
    if event.back_at:
        return f"{len(event.rest)} of {len(event.members)} series still so, the others until {event.back_at.started_at:%Y-%m-%d %H:%M}Z"
    return {"still": "still so", "recovered": "recovered since"}[event.now]


def _what_differs(event: "Event", width: int) -> str:
    """As many differences as fit, and how many more there are."""
    texts = [each.words for each in event.differences] or [f"{name} changed" for name in event.headline.variables]
    texts = [f"noted {each}" for each in event.notes] + texts
    for count in range(len(texts), 0, -1):
        words = [*texts[:count], *([f"and {len(texts) - count} more"] if count < len(texts) else [])]
        if len(shown := "".join(f"; {word}" for word in words)) <= width:
            return shown
    return f"; {counted(len(texts), 'difference')}" if texts else ""


def _members(event: "Event") -> list[str]:
    """A line for each member, those as sure as the event and the largest changes first."""
    ordered = sorted(event.members, key=lambda each: (each not in event.leading, each.status != event.status, each.kind, -abs(each.log_ratio)))
    return [_member(each, event) for each in ordered]


def _member(found: "Finding", event: "Event") -> str:
    change, interval = _size(found)
    unit = " of spread" if found.kind == "spread" else f" {found.first.unit}" if found.first.unit else ""
    words = [] if (found.status, found.way) == (event.status, event.way) else [found.status, found.way]
    words += [found.state] if found.state != event.state else []
    words += ["still so"] if event.back_at and found in event.rest else []
    said = f"{' '.join(words)}  " if words else ""
    head, tail = f"    {found.finding_id}  ", f"  {said}{change}{f' ({interval})' if interval else ''}"
    levels = f"  {found.before:.3g} -> {found.after:.3g}{unit}"
    room = WIDTH - len(head) - len(tail)
    return f"{head}{fitted(found.name, room)}{tail}{levels if len(found.name) + len(levels) <= room else ''}"


def _decided(mark: "Mark | None", earlier: "Mark | None") -> list[str]:
    lines = [f"  {mark.state} on {mark.event.at} by {mark.event.by}: {mark.reason}"] if mark else []
    if earlier and not mark:
        lines.append(f"  marked under an earlier rule: {earlier.state} on {earlier.event.at} by {earlier.event.by}: {earlier.reason}")
    return lines


def _limited(lines: list[str], most: int, what: str, indent: str = "") -> list[str]:
    """At most so many lines, the last of which says how many more there are."""
    if is_verbose() or len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"{indent}and {len(lines) - most + 1} more {what}: wh changes -v"]


def _outlier(found: "Outlier") -> str:
    each = found.measurement
    unit = f" {each.unit}" if each.unit else ""
    where = f" on {each.node}" if each.node else ""
    others = f"{len(found.others)} other runs are at {found.expected:.6g}"
    return printable(f"outlier  {each.metric} {each.point}: {each.value:.6g}{unit}{where}, while {others}; run {each.run_id}")


def _notices(found: "Changes", *, is_regressed: bool) -> Iterator[str]:
    statuses = ", ".join(f"{count} {status}" for status, count in sorted(Counter(each.status for each in found.series).items()))
    yield f"{counted(len(found.series), 'series', 'series')}: {statuses or 'none'}; {found.tested} tested"
    if not found.series:
        yield 'no run has a time and a number: a recorded command must print JSON with "name", "@parameters" and "@result" (docs/ingestors.md)'
    if is_regressed and (unknown := sum(each.outcome in ("higher", "lower") for each in found.events)):
        yield f"{counted(unknown, 'event')} of metrics without a direction: whether they are worse is not known; wh changes lists them"
    if found.lost:
        more = f" and {len(found.lost) - 3} more" if len(found.lost) > 3 else ""
        yield f"{counted(len(found.lost), 'confirmed event')} of before no longer detected: {', '.join(found.lost[:3])}{more}"
    if found.not_finite:
        yield f"{counted(found.not_finite, 'measurement')} without a number left out"
    if found.dropped:
        yield f"{counted(found.dropped, 'suspicion')} left out: of so many series, some look so by chance"
    for rule in found.precision:
        yield f"rule {printable(rule.rule)}: {rule.real} of {rule.real + rule.false_alarms} marked findings were real ({rule.share:.0%})"
