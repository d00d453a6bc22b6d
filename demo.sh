#!/usr/bin/env bash
# In under a minute: a benchmark of this machine becomes evidence, then a published number, which is traced back to the bytes
# that it was read from. Usage: demo.sh BIN (the venv's bin folder).
set -euo pipefail
bin=$(cd "$1" && pwd)
export PATH="$bin:$PATH"
project=$(mktemp -d "${TMPDIR:-/tmp}/wh-demo.XXXXXX")

step() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }

step wh init "$project"
cd "$project"
step wh record --repeats 10 -- python -m warehouse.record.indicators.group_by --rows 2000000 --threads 2
step wh build
step wh judge indicator_results
step wh publish indicator_results --as provisional  # ten runs of one session: another session may differ
step wh sql --format table "
    select cpu_model, parameters, result_key, run_count, median, interval_low, interval_high, interval_coverage,
        number_ids.median as number_id
    from indicator_results
    where result_key = 'elapsed_ms'"
number=$(wh sql --format csv "select number_ids.median from indicator_results where result_key = 'elapsed_ms'" | tail -1)
step wh lineage "$number" 2>&1 | tee .wh/lineage.txt
step wh verify "$number" 2>&1 | tee .wh/verified.txt
printf '\nThe project is in %s: try wh tables, wh serve, or change a byte under .wh/store/raw and verify again.\n\n' "$project"
# What matters of all this: the number, the bytes that it was read from, and that it was computed again from them.
grep -m1 '^n-' .wh/lineage.txt
grep -m1 ' bytes ' .wh/lineage.txt
grep -m1 ' verified' .wh/verified.txt
