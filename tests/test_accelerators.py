"""Which accelerator a text names, whatever its spelling: by public names of vendors, drivers, clouds and submissions.

Expectations are those of the vendors' data sheets, not of the warehouse's own answers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import unpacked_evidence
from samples import bench_serving as sample
from samples import genai_perf
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

# The text; then vendor, family, form factor, memory in GB, and why the product is not known.
NAMES = """
H100                                            | NVIDIA | H100     |           |     | form-factor-unknown
NVIDIA H100                                     | NVIDIA | H100     |           |     | form-factor-unknown
8xH100                                          | NVIDIA | H100     |           |     | form-factor-unknown
H100x8                                          | NVIDIA | H100     |           |     | form-factor-unknown
NVIDIA H100 NVLink                              | NVIDIA | H100     |           |     | form-factor-unknown
nvidia-h100-80gb                                | NVIDIA | H100     |           | 80  | form-factor-unknown
Standard_ND96isr_H100_v5                        | NVIDIA | H100     |           |     | form-factor-unknown
H100 SXM                                        | NVIDIA | H100     | SXM       | 80  |
h100_sxm                                        | NVIDIA | H100     | SXM       | 80  |
h100sxm5                                        | NVIDIA | H100     | SXM       | 80  |
H100-SXM-80GB                                   | NVIDIA | H100     | SXM       | 80  |
NVIDIA H100-SXM5-80GB                           | NVIDIA | H100     | SXM       | 80  |
NVIDIA HGX H100                                 | NVIDIA | H100     | SXM       | 80  |
NVIDIA H100 80GB HBM3                           | NVIDIA | H100     | SXM       | 80  |
NVIDIA-H100-80GB-HBM3                           | NVIDIA | H100     | SXM       | 80  |
H100-SXM-2-80G                                  | NVIDIA | H100     | SXM       | 80  |
a3-highgpu-8g                                   | NVIDIA | H100     | SXM       | 80  |
p5.48xlarge                                     | NVIDIA | H100     | SXM       | 80  |
H100 PCIe                                       | NVIDIA | H100     | PCIe      | 80  |
NVIDIA H100-PCIe-80GB                           | NVIDIA | H100     | PCIe      | 80  |
NVIDIA-H100-PCIe                                | NVIDIA | H100     | PCIe      | 80  |
H100 NVL                                        | NVIDIA | H100     | NVL       | 94  |
NVIDIA H100-NVL-94GB                            | NVIDIA | H100     | NVL       | 94  |
NVIDIA H100 SXM5 96GB                           | NVIDIA | H100     | SXM       |     | product-unknown
H100-SXM5-96GB                                  | NVIDIA | H100     | SXM       |     | product-unknown
H100 96GB HBM3                                  | NVIDIA | H100     |           |     | product-unknown
H100 CNX                                        | NVIDIA | H100 CNX | PCIe      | 80  |
H100 SXM/PCIe                                   | NVIDIA | H100     |           |     | product-unknown
H100-SXM-MIG-1g10gb                             | NVIDIA | H100     | SXM       |     | partition
h100_sxm_1g.10gb                                | NVIDIA | H100     | SXM       |     | partition
NVIDIA H100 SXM5 (OAM)                          | NVIDIA | H100     |           |     | product-unknown
NVIDIA H200                                     | NVIDIA | H200     |           | 141 | form-factor-unknown
NVIDIA H200-SXM-141GB                           | NVIDIA | H200     | SXM       | 141 |
NVIDIA H200-SXM-141GB-CTS                       | NVIDIA | H200     | SXM       | 141 |
NVIDIA H200 NVL                                 | NVIDIA | H200     | NVL       | 141 |
NVIDIA B200                                     | NVIDIA | B200     | SXM       |     |
Dell B200                                       | NVIDIA | B200     | SXM       |     |
NVIDIA Blackwell GPU (B200-SXM-180GB)           | NVIDIA | B200     | SXM       | 180 |
NVIDIA B300 SXM6 AC                             | NVIDIA | B300     | SXM       |     |
NVIDIA GB200                                    | NVIDIA | GB200    | superchip |     |
NVIDIA Blackwell GPU (GB200)                    | NVIDIA | GB200    | superchip |     |
GB200 NVL72                                     | NVIDIA | GB200    | superchip |     |
NVIDIA Blackwell Ultra GPU (GB300)              | NVIDIA | GB300    | superchip |     |
NVIDIA GH200 144G HBM3e                         | NVIDIA | GH200    | superchip | 144 |
NVIDIA GH200 480GB                              | NVIDIA | GH200    | superchip |     | product-unknown
A100                                            | NVIDIA | A100     |           |     | form-factor-unknown
A100-SXM4-40GB                                  | NVIDIA | A100     | SXM       | 40  |
NVIDIA A100-SXM4-80GB                           | NVIDIA | A100     | SXM       | 80  |
NVIDIA A100 80GB PCIe                           | NVIDIA | A100     | PCIe      | 80  |
NVIDIA-A100-PCIE-40GB                           | NVIDIA | A100     | PCIe      | 40  |
A100 PCI-E 40 GB                                | NVIDIA | A100     | PCIe      | 40  |
a100-40gb                                       | NVIDIA | A100     |           | 40  | form-factor-unknown
A100 SXM                                        | NVIDIA | A100     | SXM       |     | memory-unknown
a2-highgpu-8g                                   | NVIDIA | A100     | SXM       | 40  |
NVIDIA A100-SXM4-40GB MIG 1g.5gb                | NVIDIA | A100     | SXM       |     | partition
NVIDIA L40S-48Q                                 | NVIDIA | L40S     | PCIe      |     | partition
L40S-48Q                                        | NVIDIA | L40S     | PCIe      |     | partition
NVIDIA-H100-80GB-HBM3, nvidia.com/mig-1g.10gb   | NVIDIA | H100     |           |     | partition
GRID A100-1-5C                                  | NVIDIA | A100     |           |     | partition
mi300x-cpx-nps4                                 | AMD    | MI300X   | OAM       |     | partition
Tesla-T4-SHARED                                 | NVIDIA | T4       | PCIe      |     | partition
h100sxm_vs_b200                                 |        |          |           |     | several-accelerators
H100 SXM, H100 PCIe                             | NVIDIA | H100     |           |     | product-unknown
NVIDIA L40S-2B4                                 | NVIDIA | L40S     | PCIe      |     | partition
Tesla V100-SXM2-32GB                            | NVIDIA | V100     | SXM       | 32  |
Tesla T4                                        | NVIDIA | T4       | PCIe      | 16  |
NVIDIA L4                                       | NVIDIA | L4       | PCIe      | 24  |
NVIDIA L40                                      | NVIDIA | L40      | PCIe      | 48  |
L40S                                            | NVIDIA | L40S     | PCIe      | 48  |
tm-l40sx2                                       | NVIDIA | L40S     | PCIe      | 48  |
NVIDIA A10G                                     | NVIDIA | A10G     | PCIe      | 24  |
NVIDIA GeForce RTX 4090                         | NVIDIA | RTX 4090 | PCIe      | 24  |
RTX4090                                         | NVIDIA | RTX 4090 | PCIe      | 24  |
NVIDIA GeForce RTX 4090 D                       | NVIDIA | RTX 4090 D | PCIe    | 24  |
NVIDIA GeForce RTX 4090 Laptop GPU              | NVIDIA | RTX 4090 Laptop | mobile | 16 |
RTX4090D                                        | NVIDIA | RTX 4090 D | PCIe    | 24  |
RTX 5090 D v2                                   | NVIDIA | RTX 5090 D v2 | PCIe | 24  |
RTX 3060 Ti                                     | NVIDIA | RTX 3060 Ti | PCIe   | 8   |
RTX 4090 Mobile                                 | NVIDIA | RTX 4090 |           |     | product-unknown
NVIDIA RTX 5000 Ada Generation Laptop GPU       | NVIDIA | RTX 5000 Ada |       |     | product-unknown
NVIDIA RTX A6000                                | NVIDIA | RTX A6000 | PCIe     | 48  |
NVIDIA RTX 6000 Ada Generation                  | NVIDIA | RTX 6000 Ada | PCIe  | 48  |
NVIDIA RTX PRO 6000 Blackwell Server Edition    | NVIDIA | RTX PRO 6000 Blackwell Server Edition | PCIe | 96 |
NVIDIA Jetson AGX Orin 64G                      | NVIDIA | Jetson AGX Orin | module | 64 |
MI300X                                          | AMD    | MI300X   | OAM       | 192 |
AMD Instinct MI300X 192GB HBM3                  | AMD    | MI300X   | OAM       | 192 |
AMD Instinct MI300X-NPS1-SPX-192GB-750W         | AMD    | MI300X   | OAM       | 192 |
AMD Instinct MI300X-NPS4-CPX-192GB              | AMD    | MI300X   | OAM       |     | partition
mi300x_cpx_nps4                                 | AMD    | MI300X   | OAM       |     | partition
AMD Instinct MI325X 256GB HBM3e                 | AMD    | MI325X   | OAM       | 256 |
mi355x-amds                                     | AMD    | MI355X   | OAM       | 288 |
AMD Instinct MI250X                             | AMD    | MI250X   | OAM       | 128 |
AMD Instinct MI210                              | AMD    | MI210    | PCIe      | 64  |
Intel Gaudi 2                                   | Intel  | Gaudi 2  | OAM       | 96  |
gaudi3                                          | Intel  | Gaudi 3  |           | 128 | form-factor-unknown
Intel Gaudi 3 PCIe                              | Intel  | Gaudi 3  | PCIe      | 128 |
TPU v5e                                         | Google | TPU v5e  |           | 16  |
tpu-v5-lite-podslice                            | Google | TPU v5e  |           | 16  |
TPU-trillium                                    | Google | TPU v6e  |           | 32  |
tpu-v6e-slice                                   | Google | TPU v6e  |           | 32  |
tpu7x                                           | Google | TPU v7   |           | 192 |
AWS Trainium2                                   | AWS    | Trainium2 |          | 96  |
trn1.32xlarge                                   | AWS    | Trainium1 |          | 32  |
NVIDIA A100 + NVIDIA H100                       |        |          |           |     | several-accelerators
H100 SXM, L40S                                  |        |          |           |     | several-accelerators
H100;L40S                                       |        |          |           |     | several-accelerators
Foo9000                                         |        |          |           |     | no-rule
A100X                                           |        |          |           |     | no-rule
T4G                                             |        |          |           |     | no-rule
A10M                                            |        |          |           |     | no-rule
MI300                                           |        |          |           |     | no-rule
Foo Accelerator X1                              |        |          |           |     | no-rule
H100 + Foo9000                                  |        |          |           |     | unknown-word
Foo9000 and H100                                |        |          |           |     | unknown-word
NVIDIA H100 and Intel Gaudi9                    |        |          |           |     | several-accelerators
Intel Gaudi9                                    |        |          |           |     | unknown-word
Intel Gaudi 2C                                  |        |          |           |     | unknown-word
Trainium9                                       |        |          |           |     | unknown-word
Intel Gaudi                                     | Intel  | Gaudi    |           |     |
H100 and Ascend 910B                            |        |          |           |     | unknown-word
RTX 4090, RTX 9999                              |        |          |           |     | unknown-word
TPU v5e and v9                                  |        |          |           |     | unknown-word
H100 and H100 CNX                               |        |          |           |     | several-accelerators
RTX 4090 + RTX 4090 D                           |        |          |           |     | several-accelerators
L40-S                                           | NVIDIA | L40S     | PCIe      | 48  |
L40 S                                           | NVIDIA | L40S     | PCIe      | 48  |
NVIDIA L40_S 48GB                               | NVIDIA | L40S     | PCIe      | 48  |
8xL40-S                                         | NVIDIA | L40S     | PCIe      | 48  |
L40-Z                                           |        |          |           |     | unknown-word
L4-S                                            |        |          |           |     | unknown-word
A100-X                                          |        |          |           |     | unknown-word
A100 X                                          |        |          |           |     | unknown-word
A100-X_8                                        |        |          |           |     | unknown-word
A100 x 8                                        | NVIDIA | A100     |           |     | form-factor-unknown
H100-S                                          |        |          |           |     | unknown-word
H200 Ultra                                      |        |          |           |     | unknown-word
T4-G                                            |        |          |           |     | unknown-word
A10-M                                           |        |          |           |     | unknown-word
A10-G                                           | NVIDIA | A10G     | PCIe      | 24  |
RTX 4090 SUPER                                  |        |          |           |     | unknown-word
RTX 3080 Max-Q                                  |        |          |           |     | unknown-word
RTX A6000 Ada                                   |        |          |           |     | unknown-word
Tesla V100-FHHL-16GB                            |        |          |           |     | unknown-word
RTX 6000                                        |        |          |           |     | no-rule
RTX PRO 6000                                    | NVIDIA | RTX PRO 6000 Blackwell | PCIe | 96 |
MI300 A                                         | AMD    | MI300A   | APU       | 128 |
MI300A                                          | AMD    | MI300A   | APU       | 128 |
MI250 X 8                                       | AMD    | MI250    | OAM       | 128 |
H100-NVL                                        | NVIDIA | H100     | NVL       | 94  |
H200-NVL                                        | NVIDIA | H200     | NVL       | 141 |
H20                                             | NVIDIA | H20      |           |     | memory-unknown
NVIDIA H20-3e                                   | NVIDIA | H20      |           | 141 |
H800                                            | NVIDIA | H800     |           | 80  | form-factor-unknown
A800                                            | NVIDIA | A800     |           |     | form-factor-unknown
Gaudi2                                          | Intel  | Gaudi 2  | OAM       | 96  |
Intel(R) Gaudi(R) 3                             | Intel  | Gaudi 3  |           | 128 | form-factor-unknown
trn2.48xlarge                                   | AWS    | Trainium2 |          | 96  |
TPU v5p                                         | Google | TPU v5p  |           | 95  |
tpu-v5e-8                                       | Google | TPU v5e  |           | 16  |
RTX 4090 x H100                                 |        |          |           |     | several-accelerators
8 x NVIDIA H100 SXM                             | NVIDIA | H100     | SXM       | 80  |
8 x H100 SXM x 8                                | NVIDIA | H100     | SXM       | 80  |
NVIDIA H100 Tensor Core GPU                     | NVIDIA | H100     |           |     | form-factor-unknown
nvidia-h100-mega-80gb                           | NVIDIA | H100     | SXM       | 80  |
g5.12xlarge A10G                                | NVIDIA | A10G     | PCIe      | 24  |
gb200-nv                                        | NVIDIA | GB200    | superchip |     |
"""
CASES = [tuple(part.strip() or None for part in line.split("|")) for line in NAMES.strip().splitlines()]
HEADER = "accelerator,unit,price_usd_per_hour,effective_date,source\n"
OWN_RULE = """\
/*
description: Our node pool's label.
feeds: accelerator_rule
*/
select 'foo accelerator x1' as name, 'Foo' as vendor, 'X1' as family, 'OAM' as form_factor, 64::bigint as memory_gb, 'our contract' as source
"""


def built(project_folder: Path, *evidence: Path) -> Warehouse:
    warehouse = Warehouse(standard_project(project_folder))
    for path in evidence:
        ingest(plan_ingest(path, load_ingestors(warehouse.project).values()), open_store(warehouse.project), "test")
    assert not build(warehouse.project).damaged
    return warehouse


def prices(path: Path, *rows: tuple[str, float]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER + "".join(f'"{name}",accelerator_hour,{price},2020-01-01,list\n' for name, price in rows))
    return path


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What is known of each text, as the accelerator of a price list."""
    root = tmp_path_factory.mktemp("names")
    warehouse = built(root / "p", prices(root / "prices.csv", *((str(case[0]), 1.0) for case in CASES)))
    sql = """
        select stated_name, named.*, fp8_dense_tflops
        from staging.named_accelerator as named
        inner join staging.stated_accelerator using (stated_by)
        left join staging.accelerator_peak using (accelerator_family, accelerator_form_factor)
    """
    return {row["stated_name"]: row for row in warehouse.sql(sql).to_pylist()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case[0]))
def test_every_spelling_has_its_accelerator(named: dict[str, dict[str, Any]], case: tuple[str | None, ...]) -> None:
    row = named[str(case[0])]
    found = tuple(row[f"accelerator_{column}"] for column in ("vendor", "family", "form_factor", "memory_gb", "reason"))
    padded = (*case[1:], *[None] * (6 - len(case)))
    assert found == (*padded[:3], int(padded[3]) if padded[3] else None, padded[4])


def test_one_product_has_one_name(named: dict[str, dict[str, Any]]) -> None:
    names: dict[tuple, set] = {}
    for row in named.values():
        if row["accelerator_reason"] is None and row["accelerator_family"] != "B200":
            product = (row["accelerator_family"], row["accelerator_form_factor"], row["accelerator_memory_gb"])
            names.setdefault(product, set()).add(row["accelerator_name"])
    assert all(len(spellings) == 1 for spellings in names.values())
    assert len(set().union(*names.values())) == len(names)
    # Sizes of B200 are stated as 180 and as 192 GB.
    assert {row["accelerator_name"] for row in named.values() if row["accelerator_family"] == "B200"} == {"B200"}


def test_a_part_and_an_unknown_product_have_no_name(named: dict[str, dict[str, Any]]) -> None:
    """Theirs would be that of the whole accelerator, or of another product."""
    for row in named.values():
        assert (row["accelerator_name"] is None) == (row["accelerator_reason"] not in (None, "form-factor-unknown", "memory-unknown"))


def test_every_spelling_has_the_peak_of_its_accelerator(named: dict[str, dict[str, Any]]) -> None:
    """Model FLOP utilisation was that of the spellings of MLPerf's submissions alone."""
    peaks = {name: row["fp8_dense_tflops"] for name, row in named.items()}
    assert {peaks[name] for name in ("H100 SXM", "NVIDIA H100 80GB HBM3", "NVIDIA H100-SXM5-80GB", "p5.48xlarge")} == {1979}
    assert peaks["NVIDIA GB200"] == peaks["NVIDIA Blackwell GPU (GB200)"] == 5000
    assert peaks["NVIDIA B200"] == peaks["Dell B200"] == peaks["NVIDIA Blackwell GPU (B200-SXM-180GB)"] == 4500
    assert peaks["H100"] is None and peaks["NVIDIA H100-PCIe-80GB"] is None


def test_a_project_adds_rules_of_its_own(tmp_path: Path) -> None:
    list_of_prices = prices(tmp_path / "prices.csv", ("Foo Accelerator X1", 1.0))
    project = standard_project(tmp_path / "p")
    (tmp_path / "p/models/staging").mkdir(parents=True, exist_ok=True)
    (tmp_path / "p/models/staging/our_accelerators.sql").write_text(OWN_RULE)
    ingest(plan_ingest(list_of_prices, load_ingestors(project).values()), open_store(project), "test")
    build(project)
    (row,) = Warehouse(project).sql("from staging.named_accelerator").to_pylist()
    assert (row["accelerator_vendor"], row["accelerator_name"], row["accelerator_memory_gb"]) == ("Foo", "X1", 64)


# What a record states as its accelerator; what is landed of it as InferenceX's `hw`; the name under all spellings; why there is no cost.
STATED = """
H100 SXM                       | H100 SXM                       | H100 SXM 80GB |
H100-SXM5-80GB                 | H100-SXM5-80GB                 | H100 SXM 80GB |
L40S                           | L40S                           | L40S          |
foo-9000                       | foo-9000                       |               |
H100-SXM5-96GB                 | H100-SXM5-96GB                 |               | product-unknown
H100 96GB HBM3                 | H100 96GB HBM3                 |               | product-unknown
H100 CNX                       | H100 CNX                       | H100 CNX      | no-price
A100-SXM4-40GB                 | A100-SXM4-40GB                 | A100 SXM 40GB | no-price
a100-40gb                      | a100-40gb                      | A100 40GB     | form-factor-unknown
H100-SXM-MIG-1g10gb            | H100-SXM-MIG-1g10gb            |               | partition
MI300X-CPX                     | MI300X-CPX                     |               | partition
mi300x-cpx_1                   | mi300x-cpx_1                   |               | partition
L40S-48Q                       | L40S-48Q                       |               | partition
RTX 4090 D                     | RTX 4090 D                     | RTX 4090 D    | no-price
H100 SXM, L40S                 | H100 SXM, L40S                 |               | several-accelerators
H100;L40S                      | H100;L40S                      |               | several-accelerators
A100X                          | A100X                          |               | accelerator-unknown
T4G                            | T4G                            |               | accelerator-unknown
A10M                           | A10M                           |               | accelerator-unknown
MI300                          | MI300                          |               | accelerator-unknown
NVIDIA RTX 6000 Ada Generation | NVIDIA RTX 6000 Ada Generation | RTX 6000 Ada  | no-price
h200-nb_1                      | h200                           | H200          | no-price
mi355x-amds_03                 | mi355x                         | MI355X        | no-price
b200-dgxc-slurm_05             | b200                           | B200          | no-price
gb200-nv                       | gb200-nv                       | GB200         | no-price
l40-s_1                        | l40-s_1                        | L40S          |
a100-x_01                      | a100-x_01                      |               | accelerator-unknown
H100 + Foo9000                 | H100 + Foo9000                 |               | accelerator-unknown
"""
STATEMENTS = [tuple(part.strip() or None for part in line.split("|")) for line in STATED.strip().splitlines()]


# What a record states as its accelerator, and parallel sizes beside it.
SIZES = (("8xH100 SXM", {"tp": 2, "pp": 1, "dp": 1}), ("2xH100 SXM", {"tp": 2, "pp": 1, "dp": 1}), ("8xH100 SXM", {"tp": 2}))


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Runs whose records state the accelerator, as InferenceX does and otherwise, and exports of AIPerf that such a record restates."""
    root = tmp_path_factory.mktemp("stated")
    for index, (text, *_) in enumerate(STATEMENTS):
        for key in ("hw", "gpu"):
            record = sample.vllm_record(sample.requests(10), detailed=False, tensor_parallel_size=8, **{key: text})
            sample.write(root / f"tree/{key}{index}.json", record)
        values = genai_perf.measured(40 + index, 9 + index)
        sample.write(root / f"tree/aiperf{index}/profile_export_aiperf.json", genai_perf.aiperf_summary(values))
        sample.write(root / f"tree/aiperf{index}/record.json", genai_perf.inferencex_of(values) | {"hw": text})
    for number, (hw, sizes) in enumerate(SIZES):
        values = genai_perf.measured(140 + number, 109 + number)
        sample.write(root / f"tree/sizes{number}/profile_export_aiperf.json", genai_perf.aiperf_summary(values))
        sample.write(root / f"tree/sizes{number}/record.json", genai_perf.inferencex_of(values) | {"hw": hw} | sizes)
    sample.write(root / "tree/count.json", sample.vllm_record(sample.requests(4), False, gpu="8", gpu_type="H100 SXM"))
    # Of the family of each, the whole product has a price.
    listed = ("H100 SXM", "L40S", "Foo 9000", "A100 SXM 80GB", "MI300X", "RTX 4090")
    return built(root / "p", root / "tree", prices(root / "prices.csv", *((name, 2.5) for name in listed)))


@pytest.fixture(scope="module")
def stated(records: Warehouse) -> dict[str, dict[str, Any]]:
    rows = {row["run_id"].split("/")[1]: row for row in records.sql("from rollup.serving_results").to_pylist()}
    exports = {row["completed_count"]: row for row in rows.values() if row["family"] == "genai_perf"}
    named = {f"aiperf{index}": exports[40 + index] for index in range(len(STATEMENTS))}
    return rows | named | {f"sizes{number}": exports[140 + number] for number in range(len(SIZES))}


@pytest.mark.parametrize("index", range(len(STATEMENTS)), ids=lambda index: str(STATEMENTS[index][0]))
@pytest.mark.parametrize("source", ["hw", "gpu", "aiperf"])
def test_a_records_accelerator_is_landed_whole(stated: dict[str, dict[str, Any]], source: str, index: int) -> None:
    """A name that was cut to a known one was priced as another product, or said to be stated nowhere."""
    text, of_runner, name, reason = STATEMENTS[index]
    row = stated[f"{source}{index}"]
    assert (row["accelerator"], row["accelerator_name"]) == (text if source == "gpu" else of_runner, name)
    without_cost = "no-output-token-throughput" if source == "aiperf" else None  # which those exports do not state
    assert row["cost_reason"] == (reason or without_cost) and (row["cost_per_request_usd"] is None) == (reason is not None)


def test_a_count_is_no_name(stated: dict[str, dict[str, Any]]) -> None:
    row = stated["count"]
    assert (row["accelerator"], row["accelerator_name"]) == ("H100 SXM", "H100 SXM 80GB")


def test_an_aiperf_run_whose_sizes_contradict_the_count_has_none(records: Warehouse, stated: dict[str, dict[str, Any]]) -> None:
    assert [stated[f"sizes{number}"]["accelerator_count"] for number in range(len(SIZES))] == [None, 2, None]
    own = tuple(stated[f"sizes{number}"]["run_id"] for number in range(len(SIZES)))
    sql = f"select severity, message from ingest_issue where code = 'accelerator-count-disagrees' and run_id in {own} order by severity"
    issues = records.sql(sql).to_pylist()
    assert [issue["severity"] for issue in issues] == ["note", "warning"]  # the third may be four replicas
    assert issues[1]["message"].startswith("8 accelerators are stated, but the parallel sizes (tensor 2 and pipeline 1 and data 1) multiply to 2")


def test_a_price_of_a_part_or_of_several_is_of_nothing_else(tmp_path: Path) -> None:
    """The price list's own line names no whole product: it prices runs that state the same text."""
    listed = prices(
        tmp_path / "prices.csv", ("L40S-48Q", 1.0), ("H100-SXM-MIG-1g10gb", 1.0), ("H100 SXM 96GB", 1.0), ("H100 CNX", 1.0), ("MI300", 1.0),
        ("RTX 4090 D", 1.0), ("H100 SXM, MI300X", 1.0),
    )
    for index, text in enumerate(("L40S", "H100 SXM", "H100 PCIe", "MI300X", "RTX 4090", "L40S-48Q", "MI300")):
        record = sample.vllm_record(sample.requests(10), detailed=False, tensor_parallel_size=8, gpu=text)
        sample.write(tmp_path / f"tree/{index}.json", record)
    rows = built(tmp_path / "p", tmp_path / "tree", listed).sql("from rollup.serving_results").to_pylist()
    assert {row["accelerator"] for row in rows if row["cost_reason"] is None} == {"L40S-48Q", "MI300"}


SPELLINGS = ("pod_h100sxm", "8xh100-sxm5-80gb", "h100_sxm", "h100_pcie", "pod_h100", "h100nvl", "pod_h200", "pod_a100_sxm", "h800_pcie", "pod_l40s", "nowhere",
    "compare_h100sxm_vs_mi300x", "h100sxm-vs-b200", "l40s-and-h100sxm", "h100-h200", "H100-SXM-MIG-1g10gb", "h100-sxm-96gb", "mi300",
)


@pytest.fixture(scope="module")
def priced(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Runs on folders of many spellings, and a list that prices the SXM of each."""
    root = tmp_path_factory.mktemp("priced")
    record = sample.vllm_record(sample.requests(10), detailed=False)
    for folder in SPELLINGS:
        sample.write(root / f"tree/{folder}/M/run_TP8.json", record)
    sample.write(root / "tree/pod_h100sxm/M/uncounted.json", record)
    sample.write(root / "tree/pod_h100sxm/M/failed_TP8.json", sample.vllm_record([sample.FAILED] * 5, detailed=False))
    listed = prices(root / "prices.csv", ("H100 SXM", 2.5), ("H200 SXM", 3.0), ("A100", 1.0), ("H800", 1.0))
    warehouse = built(root / "p", root / "tree", listed)
    rows = warehouse.sql("from rollup.serving_results").to_pylist()
    return {"/".join(row["run_id"].split("/")[1:-1]).replace("/M/run_TP8", "").replace("/M", ""): row for row in rows}


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        ("pod_h100sxm", None),
        ("8xh100-sxm5-80gb", None),
        ("h100_sxm", None),
        ("h100_pcie", "no-price"),
        ("h100nvl", "no-price"),
        ("pod_h100", "form-factor-unknown"),
        ("pod_h200", "form-factor-unknown"),
        ("pod_a100_sxm", "memory-unknown"),
        ("h800_pcie", "price-form-factor-unknown"),  # the list prices H800, and does not say which
        ("pod_l40s", "no-price"),
        ("compare_h100sxm_vs_mi300x", "several-accelerators"),
        ("h100sxm-vs-b200", "several-accelerators"),
        ("l40s-and-h100sxm", "several-accelerators"),
        ("h100-h200", "several-accelerators"),
        ("H100-SXM-MIG-1g10gb", "partition"),
        ("h100-sxm-96gb", "product-unknown"),
        ("mi300", "accelerator-unknown"),
        ("pod_h100sxm/uncounted", "accelerator-count-unknown"),
        ("pod_h100sxm/failed_TP8", "no-throughput"),
    ],
)
def test_a_price_reaches_every_spelling_of_its_accelerator_and_no_other(
    priced: dict[str, dict[str, Any]], run: str, reason: str | None
) -> None:
    row = priced[run]
    assert row["cost_reason"] == reason
    assert (row["cost_per_token_usd"] is not None) == (row["cost_per_request_usd"] is not None) == (reason is None)


def test_a_run_that_names_no_accelerator_says_so(priced: dict[str, dict[str, Any]]) -> None:
    (row,) = (row for name, row in priced.items() if row["accelerator"] is None)
    assert (row["cost_reason"], row["accelerator_name"]) == ("accelerator-not-stated", None)


@pytest.mark.exhaustive
def test_a_price_of_h100_sxm_on_the_evidence(tmp_path: Path) -> None:
    """H100 SXM in the evidence: folders `runpod_h100sxm`, and nvidia-smi's name; Google's `nvidia-h100-80gb` states no form factor."""
    warehouse = built(tmp_path / "p", unpacked_evidence("serving"), prices(tmp_path / "prices.csv", ("H100 SXM", 2.5)))
    rows = warehouse.sql("from rollup.serving_results").to_pylist()
    stated = [row for row in rows if "h100sxm" in row["run_id"] or row["accelerator"] == "NVIDIA-H100-80GB-HBM3"]
    assert len(stated) > 27
    measured = [row for row in stated if row["accelerator_count"] and row["output_token_throughput_per_s"]]
    assert measured and all(row["cost_per_token_usd"] is not None for row in measured)
    assert [row for row in rows if row["cost_per_token_usd"] is not None and row not in stated] == []
    assert all((row["cost_reason"] is None) == (None not in (row["cost_per_token_usd"], row["cost_per_request_usd"])) for row in rows)
    google = {row["cost_reason"] for row in rows if row["accelerator"] == "nvidia-h100-80gb"}
    assert google == {"form-factor-unknown"}
