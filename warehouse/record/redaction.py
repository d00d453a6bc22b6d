"""Takes secrets out of a command line before it becomes evidence, which cannot be changed afterwards. The command itself runs as it
was given.

`_RULES` is the whole list, in the order in which it is applied; docs/ingestors.md describes it, and a project adds patterns. A rule
would rather take too much than too little: what was taken is reported, and what was kept cannot be taken back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

HIDDEN = "[redacted]"
_END = "\0"  # of an argument: the rules see the whole command line as one text, and no argument has a NUL

# `--max-tokens` ends in no secret, and neither does a token that a text is made of, a pass over data or a switch.
_OTHER = (
    "added|assistant|audio|backward|bad|bos|by|chat|cls|com|completion|context|decode|draft|end|eos|first|forward|generated|image|input|inter|last|"
    "mask|max|min|multi|new|next|num|one|output|pad|per|prefill|prompt|reasoning|response|second|sep|single|special|speculative|start|stop|sur|"
    "think|thinking|tool|total|two|unk|video"
)
_KEYS = (
    "access|account|aes|anthropic|api|auth|azure|deploy|encryption|functions|hf|hmac|license|master|ngc|openai|private|secret|service|shared|"
    "signing|ssh|storage|subscription|wandb"
)
_SECRETS = (
    r"password|passwd|passphrase|pass(?:in|out)?|pwd|secrets?|credentials?|creds|bearer|jwt|cookie|token|auth(?:enticate|orization)?|connection[-_]?string|"
    rf"access[-_]?key[-_]?id|(?:{_KEYS})[-_]?keys?"
)
_NAMED = "the value of {}"
_WORD = (
    rf"(?![\w.-]*(?<![a-z])(?:{_OTHER})[-_]?(?:token|pass)(?![\w-]))(?!-*(?:check|disable|enable|no|require|skip)[-_])"
    rf"(?P<name>--?key|(?-i:KEY)(?==)|[\w.-]*(?:{_SECRETS}))(?![\w-])"
)
_NAME = rf"(?<![\w.-]){_WORD}"

# No secrets: switches, counts and the names of files.
_SECRET_NEXT = (
    r"(?!(?:true|false|yes|no|on|off|none|null|\d{1,2}|[^\s\0\"']*\.(?:cer|cfg|conf|crt|env|ini|json|key|p12|pem|pub|toml|txt|ya?ml))"
    r"(?=[,;]?(?:[\s\0\"'&)}\]\\]|$)))"
)
_QUOTE = r"""(?P<quote>\\*+["'])?+"""
_IN_TEXT = r"""(?(quote)(?:(?!(?P=quote))(?:\\.|[^\0]))+|(?!\{[\\\s"'])[^\s\0"';&]+)"""
_VALUE = rf"{_QUOTE}{_SECRET_NEXT}(?P<secret>\[[^\]\0]*\]|{_IN_TEXT})"
_NEXT_VALUE = rf"{_QUOTE}{_SECRET_NEXT}(?P<secret>(?(apart)[^\0]+|{_IN_TEXT}))"  # all of the next argument, or a word of a script

# `-p` is a port, a partition or a plugin of most programs, and a password of these.
_PROGRAMS = (
    (r"(?:mysql|mariadb)[\w-]*|mongo\w*|cqlsh|sshpass|(?:docker|podman|nerdctl|oc|az|registry)[ \t\0]+login", "-p"),
    (r"sqlcmd|bcp|ipmitool|mosquitto_\w+", "-P"),
    (r"(?:redis|valkey|keydb)-\w+|memtier_benchmark", "-a"),
    (r"ldap\w+", "-w"),
    (r"curl", "-[A-Za-z]*[uU]|--user|--proxy-user"),
    (r"ab|hey|https?|xh", "-[aAP]"),
)
_HAVE_USER = ("curl", "ab|hey|https?|xh")  # `-u user:password`
_SCRIPT = r"""(?:(?:"[^"\0]*"|'[^'\0]*'|[^\n\0;|&"'])*?\s)??"""  # words of the same command
_ARGUMENTS = r"(?:(?!(?:ssh|scp|sftp|rsync)\0)[^\0]*\0)*?"  # whose `-p` and `-P` are theirs


def _of_program(program: str, options: str) -> re.Pattern[str]:
    user = r"""["']?[^\s\0:]*:""" if program in _HAVE_USER else r"(?![\d.:]*:\d+(?:/\w+)?(?:[\s\0]|$))"  # `-p 3306:3306` maps ports
    return re.compile(
        rf"(?<![\w.-])(?:{program})(?:(?P<apart>\0)|[ \t]+)(?(apart){_ARGUMENTS}|{_SCRIPT})(?P<name>{options})(?(apart)[\0=]?|[\s=]*)(?!-)"
        rf"{user}(?P<secret>(?(apart)[^\0]+|[^\s\0\"';&]+))"
    )


_RULES: Sequence[tuple[str, re.Pattern[str]]] = (
    ("a private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?P<secret>[^\0]*?)(?=-----END|\0|$)")),
    (
        "the Authorization header",
        re.compile(r"""authorization\\*["']?\s*[:=]\s*\\*["']?(?P<secret>[^\r\n\0"']*[^\r\n\0"'\\])""", re.IGNORECASE),
    ),
    (_NAMED, re.compile(rf"""(?:-H|--[\w-]*headers?)[=\s\0]*["']?{_WORD}\s*:\s*(?P<secret>[^\r\n\0"']+)""", re.IGNORECASE)),
    # An argument of its own, but not a script: `sh -c 'TOKEN=... bench'`.
    (_NAMED, re.compile(rf"(?:^|(?<!-c)(?<!-lc)\0){_NAME}={_SECRET_NEXT}(?P<secret>[^\0]+)", re.IGNORECASE)),
    # Within a text, such as a shell's script, a JSON document or a URL; `http://auth:8080` has a port.
    (_NAMED, re.compile(rf"""{_NAME}\\*["']?\]?\s*(?:=|:(?=[\s"'\\\[]))\s*{_VALUE}""", re.IGNORECASE)),
    (_NAMED, re.compile(rf"(?=-){_NAME}(?:(?P<apart>\0)|\s+)(?!-){_NEXT_VALUE}", re.IGNORECASE)),
    *((_NAMED, _of_program(program, options)) for program, options in _PROGRAMS),
    # `-u 1000:1000` is a user and a group, `-u host:80` has a port.
    (
        _NAMED,
        re.compile(
            r"""(?<![^\s\0])(?P<name>-u|--user|--proxy-user)(?:(?P<apart>\0)|[=\s]+)["']?[^\s\0:/"']+:(?!/|\d{1,5}(?:[\s\0"']|$))"""
            r"""(?P<secret>(?(apart)[^\0]+|[^\s\0"']+))"""
        ),
    ),
    # A number that ends there is a port: `//host:22/a@b`.
    ("the password in a URL", re.compile(r"""//[^\s\0/:@"']*:(?!\d{1,5}(?:[/?#\s\0"']|$))(?P<secret>[^\s\0"']+)@""")),
    (_NAMED, re.compile(r"""[?&;](?P<name>key|[\w.-]*(?:sig|signature|credential))=(?P<secret>[^\s\0"'&#]+)""", re.IGNORECASE)),
    ("a token", re.compile(r"(?<![\w-])bearer\s+(?P<secret>(?=[\w.~+/=-]*\d)[\w.~+/=-]{16,})", re.IGNORECASE)),
    (
        "a token",
        re.compile(
            r"(?<![A-Za-z0-9])(?P<secret>(?:hf|gh[oprsu]|npm|gsk|r8|[rs]k_live)_[A-Za-z0-9]{16,}|(?:github|dckr)_pat_[\w-]{16,}|"
            r"sk-(?:ant|or|proj|svcacct|admin)-[\w-]{16,}|sk-(?=[A-Za-z_]*\d)\w{16,}|(?:nvapi|glpat|xai|pplx|pypi|xox[a-z]|xapp)-[\w-]{16,}|"
            r"(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{35}|ya29\.[\w-]{16,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*)"
        ),
    ),
)


@dataclass(frozen=True)
class Redaction:
    """What was taken out of which argument, counted from 0 as in `argv`; never the secret."""

    argument: int
    what: str


def redacted(argv: Sequence[str], patterns: Sequence[str] = ()) -> tuple[list[str], tuple[Redaction, ...]]:
    """A command line without its secrets, and what was taken out. In a match of a project's `patterns` (regular expressions, each
    applied to every argument) the first group goes, or all of it where there is none."""
    line, found = _END.join(argv), list[Redaction]()
    for what, rule in _RULES:
        line = _without(line, rule, what, 0, found)
    arguments = line.split(_END) if argv else []
    for number, pattern in enumerate(patterns):
        rule, what = re.compile(pattern), f"a match of record.redact[{number}]"
        arguments = [_without(argument, rule, what, position, found) for position, argument in enumerate(arguments)]
    return arguments, tuple(sorted(dict.fromkeys(found), key=lambda redaction: redaction.argument))


def _without(text: str, rule: re.Pattern[str], what: str, first_argument: int, found: list[Redaction]) -> str:
    """`text`, which begins with that argument, without the secrets that a rule matches; what they were is added to `found`."""

    def hidden(match: re.Match[str]) -> str:
        names = rule.groupindex
        begin, end = match.span("secret" if "secret" in names else min(rule.groups, 1))
        if begin < 0 or text[begin:end] in ("", HIDDEN):
            return match[0]
        found.append(Redaction(first_argument + text.count(_END, 0, begin), what.format(match["name"]) if "name" in names else what))
        return text[match.start() : begin] + HIDDEN + text[end : match.end()]

    return rule.sub(hidden, text)
