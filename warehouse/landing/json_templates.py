"""The templates of a file's records: learnt on the way, and tried on what follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from warehouse.landing.json_alike import Alike, alike, are_alike, commas_in
from warehouse.landing.json_records import Mixed, Records
from warehouse.landing.json_template import Template, template_of
from warehouse.landing.numbers_at import Ints, are_at, parts_of

_COMPANY = 8  # fewer records are decoded in less time
_MOST_LESSONS = 50  # a file whose records differ again and again is decoded
_VAIN_LESSONS = 4  # and one of whose records none has taught anything
_LOOKED_AT = 3  # of some records, for one that is a template
_MOST_KNOWN = 4
_MOST_SETTLEMENTS = 3  # so often is tried to expect that what was the same stays the same
_SPACE = ord(" ")


class Templates:
    """What a file's records are expected to be like: learnt from those that came before."""

    def __init__(self) -> None:
        self._known: list[Template] = []  # the latest first
        self._separator = b""  # between two elements of an array
        self._between = b""  # the same, and the brackets and the first key beside it
        self._lessons, self._settlements = 0, 0

    @property
    def is_new(self) -> bool:
        """Whether nobody has tried yet to teach it anything."""
        return not self._lessons

    def learn(self, records: Sequence[bytes], separator: bytes = b"") -> None:
        """Records that a library could decode, and what stood between the first two, if they were elements of an array."""
        if self._lessons == (_MOST_LESSONS if self._known else _VAIN_LESSONS):
            return
        self._lessons += 1
        looked_at = {len(records) * part // _LOOKED_AT for part in range(_LOOKED_AT)}
        templates = (template_of(records[place]) for place in sorted(looked_at))
        template = next((template for template in templates if template), None)
        if template is not None and template not in self._known:
            self._known = [template, *self._known[: _MOST_KNOWN - 1]]
            self._settlements = 0
        if separator:
            self._separator = separator
            self._between = b"}%b%b" % (separator, records[0][: records[0].find(b":") + 1])

    def of_array(self, data: bytes) -> tuple[Ints, Ints, Alike] | None:
        """Where the elements begin and end with which `data` begins, and which another follows, if all of them are alike."""
        separator = self._separator
        if not self._known or not separator:
            return None
        every = self._known[0].commas + 1
        commas = commas_in(data)
        stops = commas[every - 1 :: every] - separator.find(b",")
        stops = stops[stops + len(separator) <= len(data)]
        if len(stops) < _COMPANY or not are_at(data, stops, separator):
            return None
        starts = np.append(0, stops[:-1] + len(separator))
        found = self._alike(data, commas, starts, stops, (len(stops) - 1) * sum(map(_SPACE.__gt__, separator)))
        return (starts, stops, found) if found else None

    def cut(self, data: bytes) -> tuple[Ints, Ints] | None:
        """Where elements may begin and end, by what stood between those before them: no text is looked for, so that each is
        yet to be tried. Of what follows the last one that is cut off so nothing is said."""
        if not self._between:
            return None
        sizes = [len(part) for part in data.split(self._between)[:-1]]
        if not sizes:
            return None
        first = len(self._between) - len(self._separator) - 1  # of the bytes that are looked for, those of the next element
        stops = np.cumsum([size + len(self._between) for size in sizes]) - len(self._separator) - first
        return np.append(0, stops[:-1] + len(self._separator)), stops

    def of_lines(self, data: bytes, starts: Ints, stops: Ints) -> Alike | None:
        """The records from `starts` to `stops`, with nothing but line ends between them, if all of them are alike."""
        if len(starts) < _COMPANY:
            return None
        return self._alike(data, commas_in(data), starts, stops, int((starts[1:] - stops[:-1]).sum()))

    def _alike(self, data: bytes, commas: Ints, starts: Ints, stops: Ints, between: int) -> Alike | None:
        for template in self._known[:2]:
            found = alike(data, commas, starts, stops, between, template)
            if found:
                if template is not self._known[0] or not (template.settled or self._settlements):
                    self._settle(template, found)
                return found
        return None

    def _settle(self, template: Template, found: Alike) -> None:
        """Expect of the next records what is the same in all of these, unless that was wrong too often."""
        self._settlements += 1
        others = [known for known in self._known if not known.settled and known is not template]
        settled = [found.settled()] if self._settlements < _MOST_SETTLEMENTS else []
        self._known = [*settled, template, *others]

    def of_some(
        self, data: bytes, starts: Ints, stops: Ints, decoded: Callable[[list[bytes]], Records | None]
    ) -> Records | None:
        """The values from `starts` to `stops`, if some are alike; `decoded` gives the others, or None where it cannot."""
        parts: list[Records] = []
        rows: list[Ints] = []
        waiting = np.arange(len(starts))
        for template in self._known:
            rows_alike = waiting[are_alike(data, starts[waiting], stops[waiting], template)]
            if len(rows_alike) < _COMPANY:
                continue
            written = parts_of(data, starts[rows_alike], stops[rows_alike])
            is_plain = np.array([b"\\" not in record for record in written])
            together = b"\n".join([record for record in written if b"\\" not in record])
            ends = np.cumsum((stops - starts)[rows_alike[is_plain]] + 1) - 1
            found = len(ends) and alike(
                together, commas_in(together), np.append(0, ends[:-1] + 1), ends, len(ends) - 1, template
            )
            if found:
                parts.append(found)
                rows.append(rows_alike[is_plain])
                waiting = np.setdiff1d(waiting, rows[-1], assume_unique=True)
        if not parts:
            return None
        if len(waiting):
            others = decoded(parts_of(data, starts[waiting], stops[waiting]))
            if others is None:
                return None
            if len(waiting) >= _COMPANY:
                self.learn(parts_of(data, starts[waiting], stops[waiting]))
            parts.append(others)
            rows.append(waiting)
        return Mixed(parts, np.argsort(np.concatenate(rows)))
