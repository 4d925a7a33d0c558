#!/bin/bash
# A sweep in the tasks of a HyperQueue array, each with its share of the points; waits for them and joins their tables.
#
# Usage: sweep.hq.sh SPEC.toml OUT.csv TASKS [CPUS]
#
# A server (hq server start) and workers (hq worker start, or hq alloc) must be there. Task i of TASKS simulates share i/TASKS into
# OUT.csv.parts/ in CPUS threads (2 if nothing is said); the ending of OUT.csv may be .jsonl or .parquet too. Say the same line again after a
# failure: shares that are whole are left alone, others go on where they were.
set -euo pipefail

usage() {
    echo "Usage: sweep.hq.sh SPEC.toml OUT.csv TASKS [CPUS]" >&2
    exit 2
}

# What a task does; HQ_TASK_ID counts from 1.
if [ "${1:-}" = --task ]; then
    [ $# -eq 5 ] || usage
    spec=$2 out=$3 count=$4 cpus=$5
    mkdir -p "$out.parts"
    part=$(printf '%s.parts/%04d-of-%04d.%s' "$out" "$HQ_TASK_ID" "$count" "${out##*.}")
    exec collective sweep "$spec" -o "$part" --resume --threads "$cpus" --shard "$HQ_TASK_ID/$count"
fi

[ $# -eq 3 ] || [ $# -eq 4 ] || usage
spec=$1 out=$2 count=$3 cpus=${4:-2}
script=$(realpath "${BASH_SOURCE[0]}")

hq submit --name collective-sweep --array "1-$count" --cpus "$cpus" --wait -- \
    bash "$script" --task "$spec" "$out" "$count" "$cpus"
collective sweep -o "$out" --merge "$out".parts/*-of-"$(printf %04d "$count")"."${out##*.}"
