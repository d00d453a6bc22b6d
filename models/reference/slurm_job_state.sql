/*
description: >
  One row per state of a Slurm job (https://slurm.schedmd.com/squeue.html, job state codes): whether a job in it has
  started, and whether it has ended. The controller estimates the start of a job that has not started and the end of one
  that has not ended. A state that is not listed says neither.
grain: [state]
columns:
  state: {type: varchar, description: "The state, without flags", tests: [not_null, unique]}
  has_started: {type: boolean, description: "Whether a start in this state is the job's own; NULL: it may be"}
  has_ended: {type: boolean, description: "Whether an end in this state is the job's own", tests: [not_null]}
  is_failure: {type: boolean, description: "Whether the job did not do what it was to do", tests: [not_null]}
*/
select
    state,
    has_started,
    has_ended,
    has_ended and state not in ('COMPLETED', 'REQUEUED', 'REVOKED') as is_failure
from (
    values
    ('PENDING', false, false),
    ('REQUEUE_HOLD', false, false),
    ('REQUEUE_FED', false, false),
    ('RESV_DEL_HOLD', false, false),
    ('SPECIAL_EXIT', false, false),
    ('CONFIGURING', true, false),
    ('RUNNING', true, false),
    ('SUSPENDED', true, false),
    ('STOPPED', true, false),
    ('RESIZING', true, false),
    ('SIGNALING', true, false),
    ('STAGE_OUT', true, false),
    ('COMPLETING', true, false),
    ('COMPLETED', true, true),
    ('FAILED', true, true),
    ('TIMEOUT', true, true),
    ('NODE_FAIL', true, true),
    ('OUT_OF_MEMORY', true, true),
    ('PREEMPTED', true, true),
    ('REQUEUED', true, true),
    ('BOOT_FAIL', null, true),
    ('DEADLINE', null, true),
    ('LAUNCH_FAILED', null, true),
    ('CANCELLED', null, true),
    ('REVOKED', null, true)
) as known (state, has_started, has_ended)
