#!/bin/bash
# A sweep in the tasks of a Slurm array, each with its share of the points.
#
# Usage: sbatch --array=1-N [--cpus-per-task=C] sweep.slurm.sh SPEC.toml OUT.csv
#
# Task i of N simulates share i/N into OUT.csv.parts/; the ending of OUT.csv may be .jsonl or .parquet too. Submit the same line again
# after a failure or a time limit: shares that are whole are left alone, others go on where they were. When all tasks are done:
#
#   collective sweep -o OUT.csv --merge OUT.csv.parts/*.csv
#
# To have that done as well: sbatch --dependency=afterok:JOB --wrap 'collective sweep …'
#SBATCH --job-name=collective-sweep
#SBATCH --cpus-per-task=2
set -euo pipefail

if [ $# -ne 2 ]; then
    echo "Usage: sbatch --array=1-N [--cpus-per-task=C] sweep.slurm.sh SPEC.toml OUT.csv" >&2
    exit 2
fi
spec=$1 out=$2
: "${SLURM_ARRAY_TASK_ID:?submit it as an array: sbatch --array=1-N}"

# Arrays may begin at 0 or anywhere; shares are counted from 1. (An array of every k-th number, 1-16:2, has no such count.)
count=$SLURM_ARRAY_TASK_COUNT
index=$((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN + 1))

mkdir -p "$out.parts"
part=$(printf '%s.parts/%04d-of-%04d.%s' "$out" "$index" "$count" "${out##*.}")
exec collective sweep "$spec" -o "$part" --resume --threads "${SLURM_CPUS_PER_TASK:-1}" --shard "$index/$count"
