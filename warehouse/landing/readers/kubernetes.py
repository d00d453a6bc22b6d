"""Kubernetes objects from strangers, for ingestors: each object of a file with the bytes that state it, whether the file is JSON or YAML, one
object, a List or several documents, as `kubectl get --watch` prints them, too. What a tool printed before the payload, a JSON object a
line, is skipped.

Conditions and times are read in one way here: a condition's place in its list decides where two have the same second.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import pyarrow as pa

from warehouse.landing.contract import Tree
from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.records import Record, shown
from warehouse.landing.readers.text import Place, Report, clean, number_in, report_cut, whole
from warehouse.landing.readers.yaml_text import Node, yaml_tree
from warehouse.landing.rows import parse_utc

_HEAD_BYTES = 1 << 20
_SUFFIXES = (".yaml", ".yml", ".json", ".jsonl", ".ndjson", ".txt", ".log")
_KIND = re.compile(rb"""(?:^|[\s{,"'-])kind["']?\s*:\s*["']?(\w+)""", re.MULTILINE)
_MANTISSA = re.compile(r"([+-]?[0-9.]+)([a-zA-Z]*|e[+-]?[0-9]+)", re.ASCII)
_FACTORS: Mapping[str, float] = {
    "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60,
}
OBJECT_FIELDS = (  # as `KubernetesObject.columns` gives them
    pa.field("api_version", pa.string()),
    pa.field("name", pa.string()),
    pa.field("namespace", pa.string()),
    pa.field("uid", pa.string()),
    pa.field("resource_version", pa.string()),  # grows with each change of the object
    pa.field("created_at", pa.timestamp("us", tz="UTC")),
)
_GPU_RESOURCES = ("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi")


class KubernetesObject(NamedTuple):
    """An object: its place, its kind and API version, and what it states."""

    place: Place
    kind: str
    api_version: str
    record: Record

    def columns(self) -> dict[str, Any]:
        """What every object has: name, namespace, uid, and the version that orders its snapshots."""
        meta = self.record.within("metadata")
        return {
            "api_version": self.api_version or None, "name": meta.text("name"), "namespace": meta.text("namespace"), "uid": meta.text("uid"),
            "resource_version": meta.text("resourceVersion"), "created_at": moment(meta, "creationTimestamp"),
        }


class Condition(NamedTuple):
    """A condition, as `status.conditions` lists them."""

    position: int
    type: str
    status: str | None
    reason: str | None
    message: str | None
    transition_at: datetime | None
    heartbeat_at: datetime | None


def kinds_of(tree: Tree, path: str) -> set[str]:
    """The kinds of objects that a file names near its beginning; of a typed list, also that of its items."""
    if not path.endswith(_SUFFIXES) or b"apiVersion" not in tree.head(path):
        return set()
    named = {kind.decode(errors="replace") for kind in _KIND.findall(tree.head(path, _HEAD_BYTES))}
    return named | {kind.removesuffix("List") for kind in named}


def objects(data: bytes, kinds: Collection[str], report: Report) -> Iterator[KubernetesObject]:
    """The objects of some kinds, in the order of the file. Every other kind is reported in a note."""
    data, is_json = _payload(data)
    others: dict[str, Place] = {}
    if not is_json:
        report_cut(data, report)
    found = _of_json(data, report) if is_json else _of_yaml(data, report)
    for each in found:
        if each.kind in kinds:
            yield each
        else:
            others.setdefault(each.kind, each.place)
    for kind, place in others.items():
        report.at("other-kind", f"objects of kind {kind[:80] or 'that is not stated'} are not read here", place, "note")


def conditions(record: Record, *path: str) -> Iterator[Condition]:
    """The conditions of an object, in their order."""
    for position, each in enumerate(items(record, *path)):
        if (kind := each.text("type")) is None:
            each.flag("no-condition-type", f"a condition without a type, the {position + 1}. of its object")
            continue
        transition, heartbeat = moment(each, "lastTransitionTime"), moment(each, "lastHeartbeatTime")
        status = each.values.get("status")  # Unknown is a status
        status = clean(status) if isinstance(status, str) else None
        yield Condition(position, kind, status, each.text("reason"), each.text("message"), transition, heartbeat)


def items(record: Record, *path: str) -> Iterator[Record]:
    """The objects of the list at a path of keys; anything else in it is reported."""
    found = record.within(*path[:-1]).values.get(path[-1])
    if found is not None and not isinstance(found, list):
        record.flag("not-a-list", f"{'/'.join(path)}: {shown(found)}")
    for each in found if isinstance(found, list) else ():
        if isinstance(each, dict):
            yield Record(each, record.flag)
        else:
            record.flag("not-an-object", f"{'/'.join(path)}: {shown(each)}")


def owner(record: Record) -> Record:
    """The object that owns this one: its controller, else the first that is named."""
    owners = list(items(record, "metadata", "ownerReferences"))
    controllers = [each for each in owners if truth(each, "controller")]
    return (controllers or owners or [Record({}, record.flag)])[0]


def texts(record: Record, key: str) -> dict[str, str]:
    """The labels, annotations or quantities at a key: those whose value is text or a number."""
    inner = record.within(key)
    return {clean(name): text for name in inner.values if (text := inner.text(name)) is not None}


def moment(record: Record, key: str) -> datetime | None:
    """A time as Kubernetes writes it, RFC 3339 with a zone."""
    if (text := record.text(key)) is None:
        return None
    try:
        return parse_utc(text)
    except (ValueError, OverflowError):
        record.flag("not-a-time", f"{key}: {text}"[:200])
        return None


def truth(record: Record, key: str) -> bool | None:
    """A boolean, as JSON or YAML has it."""
    text = (record.text(key) or "").casefold()
    return text == "true" if text in ("true", "false") else None


def quantity(text: str | None) -> float | None:
    """The number that a quantity is, in its base unit: 500m is 0.5, 512Mi is 536870912."""
    found = _MANTISSA.fullmatch(text or "")
    if found is None:
        return None
    if found[2] in _FACTORS:
        number = number_in(found[1])
        return None if number is None else number * _FACTORS[found[2]]
    return number_in(found[0])


def amount(record: Record, key: str) -> float | None:
    """The quantity at a key; any other value is reported."""
    value = record.values.get(key)
    if value is None or value == "":
        return None
    number = quantity(str(value)[:400]) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None
    if number is None or number < 0:
        record.flag("not-a-quantity", f"{key}: {shown(value)}")
        return None
    return number


def integer(record: Record, key: str) -> int | None:
    """A whole number; any other value is reported."""
    value, found = record.values.get(key), record.count(key)
    if isinstance(value, str) and value.strip().casefold() == "nan":  # which says elsewhere that nothing is known
        record.flag("non-finite-number", f"{key}: {value[:80]}")
    return found


def count(record: Record, key: str) -> int | None:
    """A number of things; any other value, and one below 0, is reported."""
    found = integer(record, key)
    if found is not None and found < 0:
        record.flag("impossible-count", f"{key}: {found}")
        return None
    return found


def gpu_count(record: Record) -> int | None:
    """How many GPUs a list of resources names. None: it names none."""
    stated = [number for key in _GPU_RESOURCES if (number := amount(record, key)) is not None]
    if not stated:
        return None
    if (counted := whole(sum(stated))) is None:
        record.flag("impossible-count", f"GPUs: {sum(stated)}")
    return counted


def container_gpus(container: Record) -> int | None:
    """How many GPUs a container has: its limit, which for such resources is also the request, else the request."""
    limit = gpu_count(container.within("resources", "limits"))
    return limit if limit is not None else gpu_count(container.within("resources", "requests"))


def _payload(data: bytes) -> tuple[bytes, bool]:
    """The data with what precedes its payload blanked, so that every place stays; whether the payload is JSON."""
    start = 0
    while True:
        stop = data.find(b"\n", start)
        line = data[start : stop if stop >= 0 else len(data)].strip()
        is_wrapper = line.startswith(b"{") and line.endswith(b"}") and b'"kind"' not in line and b'"apiVersion"' not in line
        if stop < 0 or (line and not is_wrapper):
            break
        start = stop + 1
    if start:
        data = re.sub(rb"[^\n]", b" ", data[:start]) + data[start:]
    return data, data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def _of_json(data: bytes, report: Report) -> Iterator[KubernetesObject]:
    with JsonStream(data, report) as stream:
        while stream.kind() == "{":
            yield from _of_document(stream, report)


def _of_document(stream: JsonStream, report: Report) -> Iterator[KubernetesObject]:
    start = stream.offset
    whole_object: dict[str, Any] = {}
    has_items = False
    for pair in stream.pairs():
        if pair.key != "items":
            whole_object[pair.key] = stream.value()
            continue
        has_items = True
        listed = _text(whole_object, "kind").removesuffix("List")
        for offset, length, record in stream.objects():
            place = Place(offset, length, stream.line_number(offset))
            yield _object(place, record, listed, _text(whole_object, "apiVersion"))
    if not has_items and whole_object:
        place = Place(start, stream.offset - start, stream.line_number(start))
        watched = whole_object.get("object")  # kubectl --output-watch-events, and the API: {type, object}
        found = watched if isinstance(watched, dict) and whole_object.keys() == {"type", "object"} else whole_object
        yield _object(place, Record(found, report.flag(place)))


def _of_yaml(data: bytes, report: Report) -> Iterator[KubernetesObject]:
    offset_of = _Offsets(data)
    for document in yaml_tree(data, report):
        if not isinstance(document.value, dict):
            if document.value is not None:
                report.at("not-an-object", shown(document.value), offset_of.place(document))
            continue
        listed = next((node for key, node in document.pairs if key == "items"), None)
        if listed is None:
            place = offset_of.place(document)
            yield _object(place, Record(document.value, report.flag(place)))
            continue
        kind, version = _text(document.value, "kind").removesuffix("List"), _text(document.value, "apiVersion")
        for node in listed.items:
            place = offset_of.place(node)
            if isinstance(node.value, dict):
                yield _object(place, Record(node.value, report.flag(place)), kind, version)
            else:
                report.at("not-an-object", shown(node.value), place, "error")


def _object(place: Place, record: Record, listed_kind: str = "", listed_version: str = "") -> KubernetesObject:
    """An item of a typed list, as the API gives one, has no kind of its own."""
    kind, version = _text(record.values, "kind"), _text(record.values, "apiVersion")
    return KubernetesObject(place, kind or listed_kind, version or listed_version, record)


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return clean(value) if isinstance(value, str) else ""


class _Offsets:
    """Byte places of ever later nodes of a YAML file, whose own are counted in characters."""

    def __init__(self, data: bytes) -> None:
        try:
            self._text, self._encoding = data.decode(), "utf-8"
        except UnicodeDecodeError:
            self._text, self._encoding = data.decode("latin-1"), "latin-1"  # as `yaml_text` reads what is not UTF-8
        self._is_plain = self._encoding == "latin-1" or self._text.isascii()
        self._character = self._offset = 0

    def place(self, node: Node) -> Place:
        start = self._at(node.start)
        length = node.stop - node.start if self._is_plain else len(self._text[node.start : node.stop].encode())
        return Place(start, length, node.line + 1)

    def _at(self, character: int) -> int:
        if self._is_plain:
            return character
        if character < self._character:
            self._character = self._offset = 0
        self._offset += len(self._text[self._character : character].encode())
        self._character = character
        return self._offset
