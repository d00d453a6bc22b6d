"""Takes secrets out of a command line before it becomes evidence, which nobody can change afterwards. The command itself runs as it
was given.

What goes: the value of an option or variable that is named like a password, token, secret, key or auth; the password in a URL; what
follows `Authorization:`; tokens of well-known shapes; and what a project's own patterns match. Rather too much than too little.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

HIDDEN = "[redacted]"
# `--max-tokens` is no such name, and neither is one of a token that a text is made of.
_NAME = (
    r"(?<![\w.-])(?![\w.-]*(?:bos|eos|pad|unk|sep|cls|mask|stop|image|audio|first|next|last|per|input|output|max|min)[-_]?token(?![\w-]))"
    r"(?P<name>[\w.-]*(?:password|passwd|passphrase|pwd|token|secret|api[-_]?key|access[-_]?key|auth|authorization))"
)
_VALUE = r"""\\*["']?(?P<secret>(?<=")[^"]+|(?<=')[^']+|[^\s"';&]+)"""
_OPTION = re.compile(rf"(?=-){_NAME}", re.IGNORECASE)
_NAMED = "the value of {}"
_RULES: Sequence[tuple[str, re.Pattern[str]]] = (
    ("the Authorization header", re.compile(r"""authorization["']?\s*[:=]\s*["']?(?P<secret>[^\r\n"']+)""", re.IGNORECASE)),
    (_NAMED, re.compile(rf"^{_NAME}=(?P<secret>.+)", re.IGNORECASE | re.DOTALL)),
    # Within a text, such as a shell's script, a JSON document or a URL; `http://auth:8080` has a port.
    (_NAMED, re.compile(rf"""{_NAME}\\*["']?\s*(?:=|:(?=[\s"'\\]))\s*{_VALUE}""", re.IGNORECASE)),
    (_NAMED, re.compile(rf"(?=-){_NAME}\s+(?!-){_VALUE}", re.IGNORECASE)),
    # A number that ends there is a port: `//host:22/a@b`.
    ("the password in a URL", re.compile(r"""//[^\s/:@"']*:(?!\d{1,5}(?:[/?#\s"']|$))(?P<secret>[^\s"']+)@""")),
    ("a token", re.compile(r"(?<![A-Za-z0-9])(?P<secret>(?:hf|gh[a-z]|github_pat)_\w{16,}|sk-(?=[\w-]*\d)[\w-]{16,}|(?:AKIA|ASIA)[A-Z0-9]{16})")),
)


@dataclass(frozen=True)
class Redaction:
    """What was taken out of which argument, counted from 0 as in `argv`; never the secret."""

    argument: int
    what: str


def redacted(argv: Sequence[str], patterns: Sequence[str] = ()) -> tuple[list[str], tuple[Redaction, ...]]:
    """A command line without its secrets, and what was taken out. Of a match of a project's `patterns` (regular expressions) the
    first group goes, or all of it where there is none."""
    rules = [*_RULES, *((f"a match of record.redact[{number}]", re.compile(pattern)) for number, pattern in enumerate(patterns))]
    found: list[str] = []
    redactions: list[Redaction] = []
    for position, argument in enumerate(argv):
        option = _OPTION.fullmatch(argv[position - 1]) if position else None
        if option and argument and not argument.startswith("-"):
            text, told = HIDDEN, [_NAMED.format(option["name"])]
        else:
            text, told = _without_secrets(argument, rules)
        found.append(text)
        redactions += [Redaction(position, what) for what in dict.fromkeys(told)]
    return found, tuple(redactions)


def _without_secrets(text: str, rules: Sequence[tuple[str, re.Pattern[str]]]) -> tuple[str, list[str]]:
    told: list[str] = []
    for what, rule in rules:

        def hide(match: re.Match[str], what: str = what) -> str:
            names = match.re.groupindex
            begin, end = match.span("secret" if "secret" in names else min(match.re.groups, 1))
            if begin < 0 or match.string[begin:end] in ("", HIDDEN):
                return match[0]
            told.append(what.format(match["name"]) if "name" in names else what)
            return match.string[match.start() : begin] + HIDDEN + match.string[end : match.end()]

        text = rule.sub(hide, text)
    return text, told
