# shellcheck shell=bash disable=SC2154 # start_node sets a and b
# nodes.sh: two nodes on one machine, for bash scripts that test worlds over several: sourced by test_nodes.sh.
#
# Each node has its own network, host name, processes and /proc, shared memory, and a boot id of its own, by which libraries tell
# machines apart; the file system is shared. Between the nodes lies one virtual cable. They are namespaces that only the script's
# processes hold: when it ends, however it ends, the kernel ends them all and their network is gone. Root only.
#
#   nodes_enter SCRIPT_ARGUMENT...   runs the script again as the nodes' parent, within which nodes_enter returns at once, with
#                                    $room, an empty folder; exits 77, with the reason, where nodes cannot be made
#   nodes_make                       makes nodes a (10.77.0.1) and b (10.77.0.2); $a and $b are their first processes
#   on $a WORD...                    runs a command on a node; $room/remote HOST WORD... is a remote shell for Open MPI
#   plug                             puts the cable in again (after: on $b ip link set right down)
#   others                           what runs on the nodes but their first processes
# Of NODE_B, settings such as CUDA_VISIBLE_DEVICES=0, what the remote shell starts on node b has the environment, of NODE_A what it
# starts on node a. What `on` runs has the script's.

skip() {
  echo "skipped: $*"
  exit 77
}

nodes_enter() {
  if [ -n "${NODES_ROOM:-}" ]; then
    room=$NODES_ROOM
    unset NODES_ROOM
    return
  fi
  [ "$(id -u)" = 0 ] || skip "only root can make nodes"
  for tool in unshare nsenter setpriv ip ps mpirun; do command -v "$tool" >/dev/null || skip "there is no $tool"; done
  unshare --net --uts --pid --fork --mount --mount-proc true 2>/dev/null || skip "namespaces cannot be made here"
  unshare --net ip link add left type veth peer name right 2>/dev/null || skip "a virtual cable cannot be made here"
  room=$(mktemp -d /tmp/foldproof-nodes-XXXXXX) || exit 99
  trap 'rm -rf "$room"' EXIT
  # In the background, so that a trap runs at once. A killed process takes what it started along.
  NODES_ROOM=$room setpriv --pdeathsig KILL unshare --net --pid --fork --kill-child --mount --mount-proc "$0" "$@" &
  local inside=$!
  # shellcheck disable=SC2064 # of now
  trap "kill -KILL $inside; exit 130" INT TERM HUP
  wait $inside
  exit
}

# A node's first process: it starts what comes through the node's door, as a remote shell's server would, and buries orphans.
# shellcheck disable=SC2016 # the node's own shell expands it
serve='set -e
  echo "$1" >/proc/sys/kernel/hostname; mount --bind "$2/$1.boot" /proc/sys/kernel/random/boot_id
  mount -t tmpfs shm /dev/shm; exec 3<>"$2/$1.door"; echo up >"$2/$1.up"
  set +e
  while read -r line <&3; do bash -c "$line" </dev/null >/dev/null 2>&1 3>&- & done'
start_node() { # NAME SETTINGS
  mkfifo "$room/$1.door"
  cat /proc/sys/kernel/random/uuid >"$room/$1.boot"
  # shellcheck disable=SC2086 # settings are words
  env $2 unshare --net --uts --mount --pid --fork --kill-child --mount-proc bash -c "$serve" node "$1" "$room" &
  until [ -s "$room/$1.up" ]; do
    kill -0 $! 2>/dev/null || skip "node $1 cannot be made here"
    sleep 0.02
  done
  read -r "${1?}" <"/proc/$!/task/$!/children" # no newline ends it
  true
}
on() { nsenter -t "$1" --net --uts --mount --pid "${@:2}"; }

plug() {
  on "$b" ip link set right up
  # 10.78.0.1 is an address of node a that node b has no way to: what is sent there vanishes.
  on "$b" ip neighbour replace 10.77.0.77 lladdr 02:00:00:00:00:77 dev right
  on "$b" ip route replace 10.78.0.0/24 via 10.77.0.77
}

nodes_make() {
  unset FOLDPROOF_LAUNCH FOLDPROOF_RANKS FOLDPROOF_TIMEOUT FOLDPROOF_ADDRESS FOLDPROOF_PROGRAM FOLDPROOF_REQUIRE_GPUS
  start_node a "${NODE_A:-}"
  start_node b "${NODE_B:-}"
  own_space=$(($(ps -o pidns= $$))) a_space=$(($(ps -o pidns= "$a"))) # of process ids
  printf '127.0.0.1 localhost\n10.77.0.1 a\n10.77.0.2 b\n' >"$room/hosts"
  cat >"$room/remote" <<'END'
#!/usr/bin/env bash
host=$1 door=${0%/*}/$1.door
shift
[ -p "$door" ] || { echo "no way to node $host" >&2; exit 255; }
printf '%s\n' "$*" >"$door"
END
  chmod +x "$room/remote"
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_mpi_yield_when_idle=1 # more ranks than cores
  export OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent=$room/remote OMPI_MCA_orte_tmpdir_base=$room
  set -e
  ip link add left netns "$a" type veth peer name right netns "$b"
  for n in "$a" "$b"; do
    on "$n" mount --bind "$room/hosts" /etc/hosts
    on "$n" ip link set lo up
  done
  on "$a" ip address add 10.77.0.1/24 dev left
  on "$a" ip address add 10.78.0.1/32 dev lo
  on "$a" ip link set left up
  on "$b" ip address add 10.77.0.2/24 dev right
  plug
  set +e
}

# By node and name; processes that ended and were not waited for yet are left out.
others() {
  local space state pid name node
  ps -eo pidns=,stat=,pid=,comm= | while read -r space state pid name; do
    case $space in "$own_space" | -) continue ;; "$a_space") node=a ;; *) node=b ;; esac
    case $state in Z*) continue ;; esac
    if [ "$pid" != "$a" ] && [ "$pid" != "$b" ]; then printf ' %s:%s ' $node "$name"; fi
  done
}

# Bytes that came to node b over the cable.
received() { on "$b" grep right: /proc/net/dev | { read -r _ bytes _ && echo "$bytes"; }; }
