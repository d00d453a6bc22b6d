"""Small logs of `nvidia-smi -q -x`, with the elements of recent and of older drivers."""

from __future__ import annotations

from pathlib import Path

_HEAD = '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n'


def gpu(
    index: int, *, reason: str = "sw_power_cap", is_active: str = "Not Active", width: str = "16x", ecc: str = "0", pending: str = "No",
    reset: str = "No", power_cap_us: int = 91_403_239,
) -> str:
    """A GPU whose uuid ends in its index."""
    return f"""\
	<gpu id="00000000:0{index}:00.0">
		<product_name>NVIDIA H100 80GB HBM3</product_name>
		<mig_mode>
			<current_mig>Enabled</current_mig>
		</mig_mode>
		<mig_devices>
			<mig_device>
				<index>0</index>
				<fb_memory_usage><total>19968 MiB</total></fb_memory_usage>
			</mig_device>
			<mig_device>
				<index>1</index>
				<fb_memory_usage><total>19967 MiB</total></fb_memory_usage>
			</mig_device>
		</mig_devices>
		<uuid>GPU-00000000-{index}</uuid>
		<gpu_reset_status><reset_required>{reset}</reset_required></gpu_reset_status>
		<gpu_recovery_action>None</gpu_recovery_action>
		<pci>
			<pci_bus>0{index}</pci_bus>
			<pci_gpu_link_info>
				<pcie_gen><max_link_gen>5</max_link_gen><current_link_gen>1</current_link_gen></pcie_gen>
				<link_widths>
					<max_link_width>16x</max_link_width>
					<current_link_width>{width}</current_link_width>
				</link_widths>
			</pci_gpu_link_info>
			<tx_util>12 KB/s</tx_util>
		</pci>
		<fan_speed>N/A</fan_speed>
		<clocks_event_reasons>
			<clocks_event_reason_gpu_idle>Active</clocks_event_reason_gpu_idle>
			<clocks_event_reason_{reason}>{is_active}</clocks_event_reason_{reason}>
		</clocks_event_reasons>
		<clocks_event_reasons_counters>
			<clocks_event_reasons_counters_sw_power_cap>{power_cap_us} us</clocks_event_reasons_counters_sw_power_cap>
			<clocks_event_reasons_counters_hw_power_brake>N/A</clocks_event_reasons_counters_hw_power_brake>
		</clocks_event_reasons_counters>
		<ecc_errors>
			<volatile><dram_uncorrectable>{ecc}</dram_uncorrectable></volatile>
			<aggregate><dram_uncorrectable>{ecc}</dram_uncorrectable><sram_threshold_exceeded>No</sram_threshold_exceeded></aggregate>
			<channel_repair_pending>No</channel_repair_pending>
		</ecc_errors>
		<remapped_rows>
			<remapped_row_corr>3</remapped_row_corr>
			<remapped_row_pending>{pending}</remapped_row_pending>
			<remapped_row_failure>No</remapped_row_failure>
			<row_remapper_histogram><row_remapper_histogram_max>192 bank(s)</row_remapper_histogram_max></row_remapper_histogram>
		</remapped_rows>
		<gpu_power_readings>
			<instant_power_draw> 66.84 W </instant_power_draw>
			<current_power_limit>700.00 W</current_power_limit>
		</gpu_power_readings>
		<clocks><sm_clock>1980 MHz</sm_clock></clocks>
		<supported_clocks>
			<supported_mem_clock><value>2619 MHz</value><supported_graphics_clock>1980 MHz</supported_graphics_clock></supported_mem_clock>
		</supported_clocks>
	</gpu>
"""


def log(*gpus: str, at: str = "Mon Mar  2 08:20:05 2026") -> str:
    body = f"\t<timestamp>{at}</timestamp>\n\t<driver_version>550.54.15</driver_version>\n\t<cuda_version>12.4</cuda_version>\n"
    return f"{_HEAD}<nvidia_smi_log>\n{body}\t<attached_gpus>{len(gpus)}</attached_gpus>\n{''.join(gpus)}</nvidia_smi_log>\n"


def write_all(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "smi.xml").write_text(log(gpu(1), gpu(2)) + log(gpu(1), at="Mon Mar  2 08:20:15 2026"))
