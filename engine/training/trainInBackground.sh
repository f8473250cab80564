#!/bin/sh
# Starts or resumes a run that outlives the terminal and yields to everything else:
#   engine/training/trainInBackground.sh RUN --data FILE:WEIGHT... --held FILE [--config FILE] [--from CHECKPOINT]
# Pause and continue:   kill -STOP / -CONT "$(cat ~/.cache/slipstream-training/train.pid)"
# Stop, with a checkpoint:   kill -TERM "$(cat ~/.cache/slipstream-training/train.pid)"
set -eu
cache="${SLIPSTREAM_TRAINING_CACHE:-$HOME/.cache/slipstream-training}"
run="$1"
if [ -f "$cache/train.pid" ] && kill -0 "$(cat "$cache/train.pid")" 2>/dev/null; then
  echo "a run is under way: process $(cat "$cache/train.pid")" >&2
  exit 1
fi
mkdir -p "$cache/runs/$run"
# A thread that waits for its sibling sleeps soon instead of spinning: the processor belongs to others.
# Freed memory is kept for the next pass: giving it back costs a quarter of the time in page faults.
export MALLOC_MMAP_THRESHOLD_=4000000000 MALLOC_TRIM_THRESHOLD_=8000000000 MALLOC_TOP_PAD_=500000000
OMP_NUM_THREADS=2 GOMP_SPINCOUNT=2000 PYTHONDONTWRITEBYTECODE=1 nohup setsid nice -n 19 \
  "${PYTHON:-/usr/bin/python3}" "$(dirname "$0")/model/train.py" "$@" >>"$cache/runs/$run/output.log" 2>&1 &
