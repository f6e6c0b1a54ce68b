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
# The C library keeps freed memory in an arena per thread: fewer arenas.
export MALLOC_ARENA_MAX=1
set -- "$root/node_modules/.bin/node" --max-semi-space-size=$young --no-parallel-scavenge --heap-growing-percent=50 \
  "$root/apps/$program/src/main.ts" "$@"
if [ "$program" = agent ] && [ "$(id -u)" != 0 ]; then
  echo "spout: the agent needs root: run its container with user 0" >&2
  exit 2
fi
# Kubernetes lets only privileged containers pass mounts on to the next one. The agent drops all other privileges before
# it starts: it has the capabilities in CapabilityBoundingSet of its unit, and its children get no more.
if [ "$program" = agent ]; then
  granted=net_admin,net_raw,net_bind_service,net_broadcast,sys_admin,setuid,setgid,sys_chroot,chown,fowner,kill
  granted=$granted,dac_override,sys_nice,ipc_lock,sys_resource,sys_ptrace
  set -- setpriv --bounding-set="-all,+$(echo $granted | sed 's/,/,+/g')" --inh-caps=-all --no-new-privs -- "$@"
fi
exec "$@"
