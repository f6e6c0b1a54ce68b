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
# The C library keeps what is freed apart for each thread that allocated it: two such arenas leave 8 MB less.
export MALLOC_ARENA_MAX=2
exec "$root/node_modules/.bin/node" --max-semi-space-size=2 --no-parallel-scavenge --heap-growing-percent=50 \
  "$root/apps/$program/src/main.ts" "$@"
