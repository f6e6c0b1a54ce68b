#!/bin/sh
# What the image starts: PROGRAM ARGUMENTS..., with the options and the environment of deploy/systemd.
# Programs: control-plane, agent, connector, cli.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
program=${1:-}
case $program in
control-plane | agent | connector | cli) shift ;;
*)
  echo "spout: '$program' is none of control-plane, agent, connector, cli" >&2
  exit 2
  ;;
esac
young=2
[ "$program" = agent ] && young=1
[ "$program" = connector ] && young=8
# The C library keeps what is freed apart for each thread that allocated it.
export MALLOC_ARENA_MAX=1
exec "$root/node_modules/.bin/node" --max-semi-space-size=$young --no-parallel-scavenge --heap-growing-percent=50 \
  "$root/apps/$program/src/main.ts" "$@"
