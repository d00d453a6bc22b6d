/*
description: A setting took effect otherwise than it was asked for, or otherwise than in the baseline
playbook: [low_gpu_utilization, slow_gpus, slow_host, tail_latency_regression]
evidence: the log of vLLM or SGLang in the output of a command that wh record ran
order: 9
*/
with usual as (
    select
        setting.setting,
        min(setting.effective) as effective
    from run_effective_setting as setting
    inner join explained
        on
            explained.run_id = setting.run_id
            and explained.role = 'baseline'
    where setting.setting not in ('kv_cache_tokens', 'gpu_blocks')
    group by setting.setting
    having count(distinct setting.effective) = 1
)

select
    setting.setting as subject,
    coalesce(setting.is_applied = false and setting.effective is distinct from usual.effective, false)
    or coalesce(setting.effective <> usual.effective, false) as is_found,
    0.4 as score,
    concat_ws(
        ', ',
        setting.effective || ' took effect',
        case when setting.is_applied = false then setting.requested || ' was asked for' end,
        'in the baseline ' || usual.effective
    ) as statement,
    try_cast(setting.effective as double) as observed,
    try_cast(coalesce(usual.effective, setting.requested) as double) as expected,
    null as unit,
    setting.artifact_manifest_digest,
    setting.raw_path
from run_effective_setting as setting
inner join explained
    on
        explained.run_id = setting.run_id
        and explained.role = 'run'
left join usual
    on usual.setting = setting.setting
where
    not starts_with(setting.setting, 'sm_clock_mhz ')
    and (setting.is_applied is not null or usual.effective is not null)
