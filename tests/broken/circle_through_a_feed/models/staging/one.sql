/*
description: one
feeds: outcome
*/
select run_id, speed from outcome_fact
