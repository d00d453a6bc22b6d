"""The text of an ingestor for one form of file, as `wh new ingestor` writes it."""

from __future__ import annotations

from warehouse.starting.sample import Sample, SampleColumn

_ARROW = {"varchar": "pa.string()", "bigint": "pa.int64()", "double": "pa.float64()"}

_TEXT = '''"""Reads {what} into the landing table {table}. See docs/ingestors.md for what an ingestor is."""

{imports}

# Name in the file, name in the table, type.
COLUMNS = (
{columns}
)
TABLES = {{"{table}": landing_schema(*(pa.field(name, type_) for _, name, type_ in COLUMNS))}}


class {class_name}:
    name = "{name}"
    version = 1  # raise it when parsing changes: the evidence is parsed again
    formats = ("{formats}",)
    tables = TABLES

    def bundles(self, tree):
        """A bundle for each file that has these columns and no other."""
        for path, file in tree.files.items():
            if path.endswith("{suffix}") and {recognise}:
                yield BundleDraft((DraftFile(path.rpartition("/")[2], file),))

    def parse(self, bundle):
        buffer = RowBuffer(TABLES, bundle.digest)
        for raw_path in bundle.manifest.by_path:
            report = Report(buffer, raw_path, None)
            for offset, length, line_number, record in records(bundle.read(raw_path), report):
                values = {{}}  # what is missing stays NULL
                for key, name, type_ in COLUMNS:
                    try:
                        values[name] = value(record.get(key), type_)
                    except ValueError:
                        report("not-a-number", f"{{name}}: {{record[key]!r}}"[:200], offset, length, line_number, "error")
                buffer.add("{table}", raw_path, offset, length, **values)
                yield from buffer.full()
        yield from buffer.rest()

{reader}

NUMBER = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?")


def value(stated, type_):
    """A value in the column's type. Raises ValueError for what is not a number of it."""
    if stated is None:
        return None
    if pa.types.is_string(type_):
        return stated if isinstance(stated, str) else json.dumps(stated)
    if isinstance(stated, bool) or not NUMBER.fullmatch(str(stated)):
        raise ValueError
    if pa.types.is_integer(type_):
        number = int(stated)  # ValueError for "1.5"
        if number != stated and isinstance(stated, float) or abs(number) >= 1 << 63:
            raise ValueError
        return number
    number = float(stated)
    if abs(number) == float("inf"):
        raise ValueError
    return number


INGESTOR = {class_name}()
'''

_CSV_READER = '''
def header(data):
    """The names in the first line of a file."""
    return next(csv.reader([data.partition(b"\\n")[0].decode("utf-8-sig", "replace")]), [])


def records(data, report):
    """Offset, length, line number and values of each record; a record may have line breaks inside its quotes."""
    names, offset, line_number, pending = header(data), 0, 0, b""
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        start, pending = line_number or number, pending + line
        line_number = start
        if pending.count(b'"') % 2 == 0:
            record = pending.rstrip(b"\\r\\n")
            cells = next(csv.reader(StringIO(record.decode("utf-8-sig", "replace"), newline="")), [])
            if start > 1 and len(cells) == len(names):
                yield offset, len(record), start, {name: cell.strip() or None for name, cell in zip(names, cells)}
            elif start > 1 and cells:
                report("columns-differ", f"{len(cells)} cells, {len(names)} columns", offset, len(record), start, "error")
            offset, line_number, pending = offset + len(pending), 0, b""
    if pending:
        report("not-csv", "a quote is not closed", offset, len(pending), line_number, "error")
'''

_JSON_LINES_READER = '''
def keys(data):
    """The keys of the first record of a file."""
    try:
        record = json.loads(data.partition(b"\\n")[0])
    except ValueError:
        return set()
    return set(record) if isinstance(record, dict) else set()


def records(data, report):
    """Offset, length, line number and values of each record."""
    for found in json_lines(data, report):
        for line, record in found.objects(report):
            yield line.offset, line.length, line.number, record.values
'''

_JSON_READER = '''
def keys(data):
    """The keys of the first record of a file, of which this may be the beginning."""
    try:
        record, _ = json.JSONDecoder().raw_decode(data.decode("utf-8-sig", "ignore").lstrip("[ \\r\\n\\t"))
    except ValueError:
        return set()
    return set(record) if isinstance(record, dict) else set()


def records(data, report):
    """Offset, length, line number and values of each record of the array."""
    with JsonStream(data, report) as stream:
        if stream.kind() != "[":
            report("not-an-array", "the file is not an array of records", severity="error")
            return
        for offset, length, record in stream.objects():
            yield offset, length, stream.line_number(offset), record.values
'''

_OBJECT_READER = '''
def keys(data):
    """The keys of the object in a file."""
    try:
        record = json.loads(data)
    except ValueError:
        return set()
    return set(record) if isinstance(record, dict) else set()


def records(data, report):
    """Offset, length, line number and values of the only record: the whole file."""
    try:
        record = json.loads(data)
    except (ValueError, RecursionError) as error:
        report("not-json", str(error), severity="error")
        return
    if isinstance(record, dict):
        yield 0, len(data), 1, record
    else:
        report("not-an-object", "the file is not an object", severity="error")
'''

_READERS = {"csv": _CSV_READER, "json lines": _JSON_LINES_READER, "json array": _JSON_READER, "json object": _OBJECT_READER}
_WHAT = {
    "csv": "CSV files", "json lines": "JSON lines", "json array": "JSON arrays of records", "json object": "JSON files of one object",
}
_HELPERS = {
    "json lines": "from warehouse.landing.readers.json_lines import json_lines\n",
    "json array": "from warehouse.landing.readers.json_stream import JsonStream\n",
}
_HEAD_BYTES = {"json object": 16 << 20}  # of a file that is recognised by all of it; of others the first record is enough


def ingestor_text(name: str, sample: Sample) -> str:
    """The module of an ingestor `name` that reads files like the sample."""
    standard = "import csv\nimport json\nimport re\nfrom io import StringIO\n" if sample.form == "csv" else "import json\nimport re\n"
    imports = (
        f"{standard}\nimport pyarrow as pa\n\nfrom warehouse.landing.contract import BundleDraft, DraftFile\n{_HELPERS.get(sample.form, '')}"
        "from warehouse.landing.readers.text import Report\nfrom warehouse.landing.rows import RowBuffer, landing_schema"
    )
    return _TEXT.format(
        name=name, table=name, class_name="".join(part.capitalize() for part in name.split("_")), what=_WHAT[sample.form],
        imports=imports, columns="\n".join(map(_column, sample.columns)), suffix=sample.suffix, formats=_WHAT[sample.form],
        recognise=_recognised(sample), reader=_READERS[sample.form],
    )


def _column(column: SampleColumn) -> str:
    return f"    ({column.stated!r}, {column.name!r}, {_ARROW[column.type]}),"


def _recognised(sample: Sample) -> str:
    head = f"tree.head(path, {_HEAD_BYTES.get(sample.form, 1 << 16)})"
    if sample.form == "csv":
        return f"header({head}) == [key for key, _, _ in COLUMNS]"
    return f"set() < keys({head}) <= {{key for key, _, _ in COLUMNS}}"
