"""`wh new`: writes the start of a model, a query spec or an ingestor into a project. It replaces no file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.landing.described.checking import description_faults
from warehouse.landing.described.description import read_description
from warehouse.landing.ingest import plan_ingest
from warehouse.landing.parse.batches import schemas
from warehouse.landing.registry import find_ingestors, load_ingestors
from warehouse.project.project import Project, standard_folder
from warehouse.starting.description_text import description_text
from warehouse.starting.indicator_text import indicator_text
from warehouse.starting.ingestor_text import ingestor_text
from warehouse.starting.sample import Sample, SampleColumn, read_sample
from warehouse.transform.sql.text import RESERVED

_NAME_LENGTH = 48
_SAMPLE_BYTES = 1 << 20  # of a sample that is copied beside its description
_NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{_NAME_LENGTH - 1}}}")
_ALONE = Sample("csv", ".csv", (SampleColumn("run_id", "run_id", "varchar"), SampleColumn("elapsed_ms", "elapsed_ms", "double")))


@dataclass(frozen=True)
class Start:
    """The files that were written, the command lines that go on from them, and what to look at in them."""

    files: tuple[Path, ...]
    next: tuple[str, ...]
    notices: tuple[str, ...]
    has_faults: bool = False  # that keep a description from reading its own samples


def start(
    project: Project, kind: str, name: str, sample_file: Path | None = None, indicator: str | None = None, more_samples: Sequence[Path] = ()
) -> Start:
    """Write the start of a `model`, `query` or `ingestor`, with the columns of a file if one is given; or a model of a performance
    indicator with the columns that the current build has of it. An ingestor from files is a description of them, in a project that has the
    canonical tables. Raises WH004 for a name that is not valid, a file of the project that is there
    already, and a sample that cannot be read."""
    given = f" --from {shlex.quote(str(sample_file))}" if sample_file else ""
    if not _NAME.fullmatch(name) or name in RESERVED:
        raise _fault(
            "a name has 1 to 48 lower-case letters, digits and _, begins with a letter, and is not an SQL keyword", printable(name),
            f"for example: wh new {kind} {_possible(name)}{given}",
        )
    if kind == "ingestor" and name in _taken(project):
        raise _fault(
            "an ingestor, a table of one, or a model has this name", name, f"choose another one: wh new ingestor {_possible(f'our_{name}')}{given}"
        )
    if indicator is not None and (kind != "model" or sample_file):
        raise _fault("an indicator is for a model, and without a file", "--indicator", f"wh new model {name} --indicator {printable(indicator)}")
    if more_samples and not (kind == "ingestor" and sample_file):
        raise _fault("several files are for an ingestor", "--from", f"wh new ingestor {name} --from FILE --from FILE")
    if kind == "ingestor" and sample_file and standard_folder() / "models" in project.layers("models"):
        return _description(project, name, [sample_file, *more_samples])
    sample = read_sample(sample_file) if sample_file else None
    if kind == "ingestor":
        texts: dict[str, str | bytes] = {
            f"ingest/{name}.py": ingestor_text(name, sample or _ALONE), f"models/staging/stg_{name}.sql": _staging(name, sample or _ALONE),
        }
        shown = printable(shlex.quote(str(sample_file))) if sample_file else "PATH"
        steps = [f"wh ingest {shown}", "wh build", f"wh new query {name}_summary" + (f" --from {shown}" if sample_file else "")]
    elif kind == "query":
        texts = {f"queries/{name}.sql": _query(project, sample_file, sample)}
        steps = ["wh build", f"wh publish {name}", "wh verify --all"]
    else:
        text = indicator_text(project, indicator) if indicator is not None else _model(project, sample_file, sample)
        texts = {f"models/{name}.sql": text}
        steps = ["wh check", "wh build", f'wh sql "select * from {name}"']
    doubtful = [f"the column {each.name} is text: {each.why_text}" for each in (sample.columns if sample else ()) if each.why_text]
    return Start(_written(project, texts), tuple(steps), tuple(doubtful))


def _description(project: Project, name: str, samples: Sequence[Path]) -> Start:
    """A description, checked as it is read, and a copy of each sample beside it, for `wh check`."""
    guess = description_text(name, samples)
    notices = [*_known_already(project, samples), *guess.doubtful]
    folder = f"ingest/{name}"
    texts: dict[str, str | bytes] = {f"{folder}/format.toml": guess.text}
    for number, sample in enumerate(samples, 1):
        data = sample.read_bytes()
        if len(data) <= _SAMPLE_BYTES:
            texts[f"{folder}/sample{number if number > 1 else ''}{sample.suffix}"] = data
    files = _written(project, texts)
    shown = " ".join(printable(shlex.quote(str(sample))) for sample in samples)
    query = f"select * from indicator_results where indicator like '{name}%'"
    place = project.shown(files[0])
    try:
        faults = list(description_faults(read_description(files[0], place), files[0].parent, place))
    except WarehouseError as fault:
        faults = [fault]
    notices += [f"{fault}: edit {place}" for fault in faults]
    steps = (f"wh ingest --dry-run {shown}", f"wh ingest {shown}", "wh build", f'wh sql "{query}"')
    return Start(files, ("wh check", *steps) if faults else steps, tuple(notices), bool(faults))


def _known_already(project: Project, samples: Sequence[Path]) -> Iterator[str]:
    """Which samples an ingestor reads already."""
    ingestors = [*load_ingestors(project).values()]
    for sample in samples:
        for family in dict.fromkeys(family for family, _ in plan_ingest(sample, ingestors).recognised):
            shown = printable(sample.name)
            yield f'{family} reads {shown} already; a description with extends = "{family}" changes a standard one, docs/ingestors.md'


def _possible(name: str) -> str:
    """The nearest name that can be one."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[: _NAME_LENGTH - 4].rstrip("_")
    return plain if _NAME.fullmatch(plain) and plain not in RESERVED else f"our_{plain or 'results'}"


def _taken(project: Project) -> set[str]:
    """The names of ingestors, of their tables and those of the engine, and of models."""
    from warehouse.transform.project.model_files import read_models

    found = find_ingestors(project)
    return {*found, *schemas(found), *(model.name for model in read_models(project).models.values())}


def _written(project: Project, texts: Mapping[str, str | bytes]) -> tuple[Path, ...]:
    files = tuple(project.root / path for path in texts)
    for file in files:
        if file.exists():
            raise _fault("the file exists already", project.shown(file), "choose another name")
    for file, text in zip(files, texts.values(), strict=True):
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("xb") as stream:
                stream.write(text.encode() if isinstance(text, str) else text)
        except OSError as error:
            raise _fault(f"cannot be written: {error.strerror}", project.shown(file)) from error
    return files


def _staging(name: str, sample: Sample) -> str:
    selected = "".join(f"    {column.name},\n" for column in sample.columns)
    return (
        f"/*\ndescription: One row per record that the ingestor {name} read.\ncolumns:\n{_contract(sample.columns)}"
        "  artifact_manifest_digest: {type: varchar, description: The bundle that the record is in}\n"
        f"*/\nselect\n{selected}    artifact_manifest_digest\nfrom {name}\n"
    )


def _model(project: Project, file: Path | None, sample: Sample | None) -> str:
    if file is None or sample is None:
        table = _runs(project)
        if table:
            return (
                "/*\ndescription: One row per status, how many runs ended so.\ngrain: [status]\ncolumns:\n"
                '  status: {type: varchar, description: "How the runs ended"}\n  run_count: {type: bigint, description: "Runs that ended so"}\n'
                f"*/\nselect\n    status,\n    count(*) as run_count\nfrom {table}\ngroup by status\n"
            )
        return '/*\ndescription: One row. Write a select here; bare table names are those of other models and of ingestors.\n*/\nselect 1 as number\n'
    selected = ",\n".join(f"    {column.name}" for column in sample.columns)
    return (
        f"/*\ndescription: One row per record of {_table(project, file, sample)}.\ncolumns:\n{_contract(sample.columns)}*/\n"
        f"select\n{selected}\nfrom {_table(project, file, sample)}\n"
    )


def _query(project: Project, file: Path | None, sample: Sample | None) -> str:
    if file is None or sample is None:
        table = _runs(project)
        if table is None:
            message = "this project has no table of runs with benchmark_case_id and status to start from"
            raise _fault(message, "--from", "give a file that an ingestor reads: --from FILE")
        return (
            "/*\ndescription: Runs by benchmark case and status.\ngrain: [benchmark_case_id, status]\nclaim:\n"
            "  what: how many runs of each benchmark case ended how\n  population: all runs in the evidence\ncolumns:\n"
            '  benchmark_case_id: {type: varchar, description: "The benchmark case"}\n'
            '  status: {type: varchar, description: "How the runs ended"}\n  run_count: {type: bigint, description: "Runs that ended so"}\n'
            f"*/\nselect\n    benchmark_case_id,\n    status,\n    count(*) as run_count\nfrom {table}\ngroup by benchmark_case_id, status\n"
        )
    table = _table(project, file, sample)
    numbers = [column for column in sample.columns if column.type != "varchar"]
    texts = [column.name for column in sample.columns if column.type == "varchar"]
    grain = "run_id" if "run_id" in texts else texts[0] if texts else "artifact_manifest_digest"
    columns = [f'  {grain}: {{type: varchar, description: "The {grain} of the records"}}\n', '  row_count: {type: bigint, description: "Records"}\n']
    selected = [f"    {grain},\n    count(*) as row_count"]
    for column in numbers:
        unit = f", unit: {column.unit!r}" if column.unit else ""
        for word, call in (("smallest", "min"), ("median", "median"), ("largest", "max")):
            kind = "double" if call == "median" else column.type
            columns.append(f"  {column.name}_{call}: {{type: {kind}{unit}, description: \"The {word} {column.name}\"}}\n")
            selected.append(f"    {call}({column.name}) as {column.name}_{call}")
    body = ",\n".join(selected)
    return (
        f"/*\ndescription: One row per {grain} of {table}.\ngrain: [{grain}]\nclaim:\n  what: what was measured, by {grain}\n"
        f"  population: all records in the evidence\ncolumns:\n{''.join(columns)}*/\nselect\n{body}\nfrom {table}\ngroup by {grain}\n"
    )


def _contract(columns: tuple[SampleColumn, ...]) -> str:
    return "".join(
        f"  {column.name}: {{type: {column.type}" + (f", unit: {column.unit!r}" if column.unit else "") + "}\n" for column in columns
    )


def _runs(project: Project) -> str | None:
    """The table of runs, where the project has one with the columns that are asked for here."""
    from warehouse.transform.project.model import RUNS, model_of_role
    from warehouse.transform.project.model_files import read_models

    runs = model_of_role(read_models(project).models.values(), RUNS)
    return runs.name if runs and {"benchmark_case_id", "status"} <= runs.columns.keys() else None


def _table(project: Project, file: Path, sample: Sample) -> str:
    """The staging model of the ingestor that reads files like this one: it is named as the file is, or is the only one with its columns."""
    from warehouse.transform.project.model_files import read_models

    name = re.sub(r"[^a-z0-9]+", "_", file.stem.lower()).strip("_")
    stems = {path.stem for path in project.files("models", ".sql")}
    if f"stg_{name}" in stems:
        return f"stg_{name}"
    columns = {column.name for column in sample.columns}
    models = [model for model in read_models(project).models.values() if model.name in stems and model.name.startswith("stg_")]
    alike = [model.name for model in models if model.columns.keys() - {"artifact_manifest_digest"} == columns]
    if len(alike) == 1:
        return alike[0]
    raise _fault(
        f"there is no model stg_{name} yet, which holds the records of such a file", printable(str(file)),
        f"first: wh new ingestor {name} --from {printable(str(file))}",
    )


def _fault(message: str, place: str, hint: str | None = None) -> WarehouseError:
    return WarehouseError("WH004", message, place, hint, ExitCode.USAGE)
