#!/bin/sh
# One shard of a sweep per task of a Slurm array. TRACE and OUT must be paths
# that all nodes see; settings follow the script's name:
#
#   export TRACE=$HOME/trace.jsonl.zst OUT=$HOME/sweep
#   job=$(sbatch --parsable slurm-array.sh --vary router-temperature=0:1:0.1)
#   sbatch --dependency=afterok:$job --wrap "routesim sweep merge $OUT/part-* -o $OUT/merged"
#
# A task that was killed is repeated by submitting it again
# (sbatch --array=7 --export=ALL,SHARDS=16 slurm-array.sh ...): it makes only
# what is missing.
#SBATCH --job-name=routesim-sweep
#SBATCH --array=0-15
#SBATCH --cpus-per-task=4
#SBATCH --mem=1G
#SBATCH --time=02:00:00
#SBATCH --requeue
set -eu

: "${TRACE:?names the trace}" "${OUT:?names the folder of results}"
shard=${SLURM_ARRAY_TASK_ID:?is set in a Slurm array}
# The array of a repeated task is shorter than the sweep's.
shards=${SHARDS:-$SLURM_ARRAY_TASK_COUNT}
if [ -n "${SLURM_CPUS_PER_TASK:-}" ]; then
	export GOMAXPROCS="$SLURM_CPUS_PER_TASK"
fi
exec routesim sweep "$TRACE" "$@" --shard "$shard/$shards" -o "$OUT/part-$shard"
