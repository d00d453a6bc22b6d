#!/bin/sh
# A build whose tasks run as Slurm arrays. Run it where `wh build` would run, in the project's folder; workers need the same `wh`, and the
# store: a shared folder, or a bucket with its keys in their environment. Usage: slurm-build.sh SLICES [sbatch options]
# Tasks that are done have receipts: after a failure, or when a node was lost, run it again.
slices=${1:?how many slices}
shift
tasks=$PWD/.wh/tasks.jsonl
last=
# One round parses, the next runs the models, the last finishes the build.
while rm -f "$tasks" && ! wh build --engine file --address "$tasks"; do
    [ -s "$tasks" ] || exit 1
    now=$(sha256sum "$tasks")
    [ "$now" != "$last" ] || exit 1
    last=$now
    sbatch --wait --requeue --array="0-$((slices - 1))" --cpus-per-task=1 --mem=4G "$@" \
        --wrap="wh task '$tasks' --index \$SLURM_ARRAY_TASK_ID --of $slices" || exit 1
done
