#!/bin/sh
# The nightly job: take in what arrived, build, and list what got worse. Usage: nightly.sh RESULTS_FOLDER
# What a command prints on standard error (notices, warnings, errors) is the job's log. Every step runs, also after one that failed:
# evidence that one ingestor cannot read must not keep the rest from being built. The exit code is the first that was not 0.
status=0
step() {
    "$@"
    code=$?
    if [ "$code" -ne 0 ]; then
        echo "nightly: exit code $code of: $*" >&2
        [ "$status" -ne 0 ] || status=$code
    fi
    return "$code"
}
step wh ingest "${1:?the folder with results}"
# Without a new build there is nothing new to look at.
step wh build && step wh changes --since 2w --regressed --fail-on confirmed
# People are told of what is new and what is over, also of a failed build; nothing is sent without rules (docs/alive.md).
step wh notify
exit "$status"
