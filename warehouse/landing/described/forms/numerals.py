"""How the numbers of a text or a table are written. The description says it: `1,500` is 1500 in one file and 1.5 in another."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from warehouse.landing.described.forms.nodes import NoNumber, Number

_NO_NUMBER = "[+-]?(?i:nan|inf(?:inity)?|n/a)"
_UNIT = r"(\s*[^\s\d.,][^\d,]*)?"
_WITH_POINT = re.compile(rf"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?{_UNIT}", re.ASCII)
_ADDRESS = re.compile(r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!\Z)|\Z)){4}", re.ASCII)  # of IPv4


@dataclass(frozen=True)
class Numerals:
    """The mark of a fraction, and the one between groups of three digits. Any other comma between digits makes a text that is no number."""

    decimal: str = "."
    thousands: str = ""

    def plain(self, text: str) -> str:
        """A number as Python writes it; before its unit, too: `1.155,5 ns` is `1155.5 ns`. Any other text stays as it is, and is no number if it
        has a fraction after a point, where the mark of a fraction is a comma."""
        if self.decimal == "." and not self.thousands or _ADDRESS.fullmatch(text):
            return text
        if not (found := self._written.fullmatch(text)):
            return NoNumber(text) if self.decimal != "." and _WITH_POINT.fullmatch(text) else text
        number = found[1].replace(self.thousands, "").replace(self.decimal, ".")
        return f"{number}{found[2]}" if found[2] else Number(number)

    @cached_property
    def _written(self) -> re.Pattern[str]:
        fraction = re.escape(self.decimal)
        grouped = rf"[1-9]\d{{0,2}}(?:{re.escape(self.thousands)}\d{{3}})+(?:{fraction}\d+)?|" if self.thousands else ""
        return re.compile(rf"([+-]?(?:{grouped}\d+{fraction}\d+(?:[eE][+-]?\d+)?)){_UNIT}", re.ASCII)

    def pattern(self, following: str) -> str:
        """A regular expression of one number in a line, by the part of the pattern that follows it: a mark that stands between two fields is no
        part of a number. What has marks in other places is taken whole, and is no number."""
        apart = following[:1] if following[1:2] == "{" else ""
        fraction, thousands = re.escape(self.decimal), re.escape(self.thousands)
        grouped = rf"\d{{1,3}}(?:{thousands}\d{{3}}(?!\d))++|" if thousands and self.thousands != apart else ""
        may_end = self.decimal == "." and following[:1] != "."  # with it, as 12. does
        digits = rf"(?:{fraction}\d{'*' if may_end else '+'}+{f'(?={fraction})' if apart == self.decimal else ''})?+"
        odd = re.escape("".join(sorted({",", self.thousands, self.decimal} - {apart, "", "." if self.decimal == "." else ""})))
        whole = rf"(?:(?:{grouped}\d++){digits}|{fraction}\d++)(?:[eE][+-]?\d++)?+"
        if not odd:
            return rf"((?>[+-]?{whole}|{_NO_NUMBER}))"
        return rf"((?>[+-]?{whole}(?![{odd}]\d)|[+-]?\d++(?:[{odd}.]\d++)++|{_NO_NUMBER}))"
