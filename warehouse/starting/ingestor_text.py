"""The text of an ingestor for one form of file, as `wh new ingestor` writes it."""

from __future__ import annotations

from warehouse.starting.sample import Sample, SampleColumn

_ARROW = {"varchar": "pa.string()", "bigint": "pa.int64()", "double": "pa.float64()"}

_TEXT = '''"""Reads {what} into the landing table {table}. docs/ingestors.md describes what an ingestor is."""

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
            for offset, length, record in records(bundle.read(raw_path), report):
                values = {{name: value(record, key, type_) for key, name, type_ in COLUMNS}}
                buffer.add("{table}", raw_path, offset, length, **values)
                yield from buffer.full()
        yield from buffer.rest()

{reader}

def value(record, key, type_):
    """What a record states under a key. Nothing is NULL; so is what is not such a number, with an issue."""
    if type_ == pa.int64():
        return record.count(key)
    if type_ == pa.float64():
        return record.number(key)
    text = json_text(record.values.get(key))  # a list or object as JSON
    return text and clean(text)


INGESTOR = {class_name}()
'''

_CSV_READER = '''
def header(data):
    """The names in the first line of a file."""
    first = data.partition(b"\\n")[0]
    return [name.strip() for name in next(csv.reader([first.decode("utf-8-sig", "replace")]), [])]


def records(data, report):
    """Offset, length and values of each record; a record may have line breaks inside its quotes."""
    names, offset, first, pending = header(data), 0, 0, b""
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        first, pending = first or number, pending + line
        if pending.count(b'"') % 2 == 0:
            row = pending.rstrip(b"\\r\\n")
            cells = [cell.strip() for cell in next(csv.reader(StringIO(row.decode("utf-8-sig", "replace"), newline="")), [])]
            flag = partial(report, offset=offset, length=len(row), line_number=first, severity="error")
            if len(cells) == len(names) and cells != names:
                yield offset, len(row), Record({name: cell or None for name, cell in zip(names, cells)}, flag)
            elif cells and cells != names:
                flag("columns-differ", f"{len(cells)} cells, {len(names)} columns")
            offset, first, pending = offset + len(pending), 0, b""
    if pending:
        report("not-csv", "a quote is not closed", offset, len(pending), first, "error")
'''

_NO_COMMENT = '''\
        if not pending and line.startswith(b"#"):
            offset += len(line)
            continue
'''
_POINT = '''

def point(cell):
    """A number with a decimal comma, and points between thousands, as Python writes it; any other text as it is."""
    is_number = re.fullmatch(r"[+-]?(?:[0-9]{1,3}(?:[.][0-9]{3})+(?:,[0-9]+)?|[0-9]+,[0-9]+)", cell)
    return cell.replace(".", "").replace(",", ".") if is_number else cell
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
    """Offset, length and values of each record."""
    for found in json_lines(data, report):
        for line, record in found.objects(report):
            yield line.offset, line.length, record
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
    """Offset, length and values of each record of the array."""
    with JsonStream(data, report) as stream:
        if stream.kind() == "[":
            yield from stream.objects()
        else:
            report("not-an-array", "the file is not an array of records", severity="error")
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
    """Offset, length and values of the only record: the whole file."""
    try:
        record = json.loads(data)
    except (ValueError, RecursionError) as error:
        report("not-json", str(error), severity="error")
        return
    if isinstance(record, dict):
        yield 0, len(data), Record(record, partial(report, offset=0, length=len(data), line_number=1, severity="error"))
    else:
        report("not-an-object", "the file is not an object", severity="error")
'''

_READERS = {"csv": _CSV_READER, "json lines": _JSON_LINES_READER, "json array": _JSON_READER, "json object": _OBJECT_READER}
_WHAT = {
    "csv": "CSV files", "json lines": "JSON lines", "json array": "JSON arrays of records", "json object": "JSON files of one object",
}
# By form: of the standard library, then of warehouse.landing.readers before and after json_text.
_IMPORTS = {
    "csv": ("import csv\nfrom functools import partial\nfrom io import StringIO\n", "", "from warehouse.landing.readers.records import Record\n"),
    "json lines": ("import json\n", "from warehouse.landing.readers.json_lines import json_lines\n", ""),
    "json array": ("import json\n", "from warehouse.landing.readers.json_stream import JsonStream\n", ""),
    "json object": ("import json\nfrom functools import partial\n", "", "from warehouse.landing.readers.records import Record\n"),
}
_HEAD_BYTES = {"json object": 16 << 20}  # of a file that is recognised by all of it; of others the first record is enough


def ingestor_text(name: str, sample: Sample) -> str:
    """The module of an ingestor `name` that reads files like the sample."""
    standard, before, after = _IMPORTS[sample.form]
    standard = standard.replace("import csv\n", "import csv\nimport re\n") if "decimal" in sample.dialect else standard
    imports = (
        f"{standard}\nimport pyarrow as pa\n\nfrom warehouse.landing.contract import BundleDraft, DraftFile\n{before}"
        f"from warehouse.landing.readers.json_text import json_text\n{after}"
        "from warehouse.landing.readers.text import Report, clean\nfrom warehouse.landing.rows import RowBuffer, landing_schema"
    )
    return _TEXT.format(
        name=name, table=name, class_name="".join(part.capitalize() for part in name.split("_")), what=_WHAT[sample.form],
        imports=imports, columns="\n".join(map(_column, sample.columns)), suffix=sample.suffix, formats=_WHAT[sample.form],
        recognise=_recognised(sample), reader=_reader(sample),
    )


def _reader(sample: Sample) -> str:
    """The functions that read a form; of a CSV as its cells are written."""
    text = _READERS[sample.form]
    if mark := sample.dialect.get("delimiter"):
        text = text.replace('"replace")])', f'"replace")], delimiter={mark!r})').replace('newline=""))', f'newline=""), delimiter={mark!r})')
    if "comment" in sample.dialect:
        text = text.replace('data.partition(b"\\n")[0]', 'next((line for line in data.splitlines() if not line.startswith(b"#")), b"")')
        text = text.replace("        first, pending = first or", _NO_COMMENT + "        first, pending = first or")
    if "decimal" in sample.dialect:
        text = text.replace("name: cell or None", "name: point(cell) or None") + _POINT
    return text


def _column(column: SampleColumn) -> str:
    return f"    ({column.stated!r}, {column.name!r}, {_ARROW[column.type]}),"


def _recognised(sample: Sample) -> str:
    head = f"tree.head(path, {_HEAD_BYTES.get(sample.form, 1 << 16)})"
    if sample.form == "csv":
        return f"header({head}) == [key for key, _, _ in COLUMNS]"
    return f"set() < keys({head}) <= {{key for key, _, _ in COLUMNS}}"
