/*
description: >
  One row per XID that the driver reports: its name, and where its cause usually lies, by NVIDIA's "XID Errors" document. A code that is
  not here has no class.
grain: [code]
columns:
  code: {type: bigint, description: "The XID", tests: [not_null, unique]}
  name: {type: varchar, description: "NVIDIA's name", tests: [not_null]}
  xid_class: {type: varchar, description: "Where the cause usually lies", tests: [not_null, {accepted_values: [application, memory, hardware, link, driver]}]}
*/
select
    code::bigint as code,
    name,
    xid_class
from (
    values
    (13, 'graphics engine exception', 'application'),
    (31, 'GPU memory page fault', 'application'),
    (32, 'invalid or corrupted push buffer stream', 'driver'),
    (38, 'driver firmware error', 'driver'),
    (43, 'GPU stopped processing', 'application'),
    (45, 'preemptive cleanup, due to previous errors', 'application'),
    (48, 'double bit ECC error', 'memory'),
    (61, 'internal micro-controller breakpoint or warning', 'hardware'),
    (62, 'internal micro-controller halt', 'hardware'),
    (63, 'ECC page retirement or row remapping recording event', 'memory'),
    (64, 'ECC page retirement or row remapper recording failure', 'memory'),
    (68, 'NVDEC0 exception', 'hardware'),
    (69, 'graphics engine class error', 'application'),
    (74, 'NVLink error', 'link'),
    (79, 'GPU has fallen off the bus', 'hardware'),
    (92, 'high single-bit ECC error rate', 'memory'),
    (94, 'contained ECC error', 'memory'),
    (95, 'uncontained ECC error', 'memory'),
    (109, 'context switch timeout', 'application'),
    (119, 'GSP RPC timeout', 'driver'),
    (120, 'GSP error', 'driver'),
    (121, 'C2C link corrected error', 'link'),
    (140, 'ECC unrecovered error', 'memory'),
    (143, 'GPU initialization failure', 'hardware'),
    (145, 'NVLINK: RLW error', 'link'),
    (149, 'NVLINK: NETIR error', 'link')
) as known (code, name, xid_class)
