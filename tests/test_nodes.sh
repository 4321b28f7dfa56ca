#!/usr/bin/env bash
# test_nodes.sh: a world over two nodes, made on one machine (nodes.sh). What is judged over it holds; what fails there (a rank, the
# cable, the address, the program) ends in time, with exit code 99 and a line that says what, and no process is left on either node.
#
#   test_nodes.sh mpi|nccl FOLDPROOF FOLDPROOF_MUTANTS [CASE...]
# Cases mostly wait: over MPI several go side by side, each on two nodes of its own; one after the other where they are named. The
# verdicts of what is judged go to $NODES_RECORDS/verify_nodes.jsonl, where that folder is named.
# Over NCCL each node has two of this machine's GPUs, or one where there are fewer than four, and the mutants are
# foldproof-gpu-mutants.
set -uo pipefail
# shellcheck source=tests/nodes.sh
. "$(dirname "$0")/nodes.sh"

usage() {
  echo "usage: $0 mpi|nccl FOLDPROOF FOLDPROOF_MUTANTS [CASE...]" >&2
  exit 2
}
case ${1:-} in mpi | nccl) ;; *) usage ;; esac
[ -x "${2:-}" ] && [ -x "${3:-}" ] || usage
engine=$1 foldproof=$(realpath "$2") mutants=$(realpath "$3")
subjects=$("$foldproof" list subjects --engine "$engine" 2>/dev/null) || exit 99
[ -n "$subjects" ] || skip "this build has no subjects on $engine"
each=2 world=3 # ranks on a node, and of the world that is judged where one of them fails: 0 and 2 on a, 1 and 3 on b
if [ "$engine" = nccl ]; then
  environment=$("$foldproof" env --json) || exit 99
  n=$(grep -c '"arch"' <<<"$environment")
  [ "$n" -ge 2 ] || skip "needs 2 GPUs, there are $n"
  gpus=${CUDA_VISIBLE_DEVICES:-0,1,2,3}
  IFS=, read -ra gpu <<<"${gpus// /}"
  NODE_A=CUDA_VISIBLE_DEVICES=${gpu[0]},${gpu[1]} NODE_B=CUDA_VISIBLE_DEVICES=${gpu[2]:-},${gpu[3]:-}
  if [ "$n" -lt 4 ]; then
    each=1 world=2 NODE_A=CUDA_VISIBLE_DEVICES=${gpu[0]} NODE_B=CUDA_VISIBLE_DEVICES=${gpu[1]}
  fi
fi
cases=(held rank_killed_there rank_hangs_there cable_cut cable_cut_and_time_enough harness_killed harness_killed_and_cable_cut)
# What has nothing to do with the library by which the ranks talk; every seventh is one after the other, the long after the short.
[ "$engine" != mpi ] || cases+=(address_out_of_reach_and_little_time cable_cut_and_a_daemon_that_waits address_of_each_node_itself
  address_of_nobody other_version_there address_out_of_reach node_missing rank_stopped_there)

# So many at once, every so manyth case each; a skip is one of all.
side_by_side() {
  local at=7 k code worst=0 running=() said
  said=$(mktemp -d /tmp/foldproof-nodes-XXXXXX) || exit 99
  # shellcheck disable=SC2064 # of now
  trap "rm -rf $said" EXIT
  trap 'kill "${running[@]}"; exit 130' INT TERM HUP
  for ((k = 0; k < at; k++)); do
    local own=()
    for ((i = k; i < ${#cases[@]}; i += at)); do own+=("${cases[i]}"); done
    "$0" "$@" "${own[@]}" >"$said/$k" 2>&1 &
    running+=($!)
  done
  for ((k = 0; k < at; k++)); do
    wait "${running[k]}"
    code=$?
    cat "$said/$k"
    [ $code = 0 ] || worst=$code
  done
  exit $worst
}
[ $# != 3 ] || [ "$engine" != mpi ] || [ -n "${NODES_ROOM:-}" ] || side_by_side "$@"
nodes_enter "$@"
only=" ${*:4} "
nodes_make

# A program whose ranks on node b are another version: this one with another number in its text.
number=$("$foldproof" --version | grep -o '[0-9]\+\.[0-9]\+\.[0-9]\+')
LC_ALL=C sed "s/${number//./\\.}/${number//[0-9]/9}/g" "$mutants" >"$room/other"
cat >"$room/mixed" <<END
#!/bin/sh
[ "\$(hostname)" = b ] && exec "$room/other" "\$@"
exec "$mutants" "\$@"
END
chmod +x "$room"/{other,mixed}

# --- what a case is

failed=0
fail() {
  echo "FAILED: $name: $*"
  failed=$((failed + 1))
}

# No process is there any more, within so many seconds; a program of the second name may be.
expect_empty() {
  local end=$((${EPOCHREALTIME/./} + ($1 + room_to_end) * 1000000)) left
  while left=$(others) && left=${left// b:${2:-nobody} /} && [ -n "$left" ] && [ "${EPOCHREALTIME/./}" -lt $end ]; do
    sleep 0.2
  done
  if [ -n "$left" ]; then
    fail "left behind after $(($1 + room_to_end)) s:$left"
    for n in "$a" "$b"; do on "$n" sh -c 'ps -eo pid,ppid,stat,wchan:24,etimes,args; ss -tnpo'; done 2>&1 | cut -c -200
  fi
  for n in "$a" "$b"; do on "$n" sh -c 'kill -KILL -1'; done 2>/dev/null # for the next case
}

# No verdict hangs on how busy the machine is: what waits for a limit (seconds, FOLDPROOF_TIMEOUT) has `limit`, five times what a
# world without a fault takes here, 4 at least, or the one that it is about; what ends by itself has one that is never met. That a
# case ends in time leaves a minute of room.
limit=240 room_to_end=60
never=FOLDPROOF_TIMEOUT=$limit

# start SETTINGS WORD...: a command line of foldproof on node a, in the background.
start() {
  began=${EPOCHREALTIME/./} before=$(received)
  : >"$room/printed"
  # shellcheck disable=SC2016,SC2086 # the inner shell expands; settings are words
  on "$a" env ${NODE_A:-} FOLDPROOF_ADDRESS=10.77.0.1 FOLDPROOF_RANKS=$((2 * each)) FOLDPROOF_TIMEOUT=$limit \
    FOLDPROOF_OUTPUT="$room/printed" FOLDPROOF_LAUNCH="mpirun --host a:$each,b:$each --map-by node --bind-to none -n {ranks}" $1 \
    sh -c 'echo $$ >"$0"; exec "$@"' "$room/pid" "${@:2}" >"$room/said" 2>&1 </dev/null &
  running=$!
}

# finish CODE SECONDS WORDS...: it ends so many seconds after the limit, or after it was seen to run, at the latest, and the room, with
# that code; it said each of the words. With GPUs it has three limits more: until all are awake they may take so long.
finish() {
  local got took words most=$(($2 + limit + room_to_end))
  [ "$engine" = mpi ] || most=$((most + 3 * limit))
  wait "$running"
  got=$?
  took=$(((${EPOCHREALTIME/./} - began) / 1000))
  [ $got = "$1" ] || fail "exit code $got, want $1: $(tail -n 3 "$room/said")"$'\n'"$(tail -n 20 "$room/printed")"
  [ $took -lt "${most}000" ] || fail "took $took ms, not $most s"
  for words in "${@:3}"; do grep -qF -- "$words" "$room/said" || fail "no '$words' in: $(head -n 3 "$room/said")"; done
  echo "$name, $took ms: $(grep -m1 -e ' of [0-9]' -e FOLDPROOF -e ' held, ' -e ' is foldproof ' "$room/said" | cut -c -200)"
}

one=(--engine "$engine" --fixtures "normal/f32/sum/1000x$world/*")
broken=("$mutants" verify "${one[@]}" --claims writes_output --subjects)
calls=("${one[@]}" --claims run_to_run --repeats 1000000 --subjects)
endless=("$foldproof" verify "${calls[@]}" collective/canonical)
# Ranks that sleep where they wait for long, as for whom a cable was cut off (idle.c).
[ "$engine" != mpi ] || endless=("$mutants" verify "${calls[@]}" mutant/last_rank_in_five)

# As many bytes as a hundred calls send came over the cable since the start: the endless line is in its loop. From now on its time
# is counted.
runs() {
  local end=$((${EPOCHREALTIME/./} + 120000000))
  while [ $(($(received) - before)) -lt 1000000 ]; do
    if [ "${EPOCHREALTIME/./}" -gt $end ] || ! kill -0 "$running" 2>/dev/null; then
      fail "never ran: $(tail -n 3 "$room/said")"
      break
    fi
    sleep 0.1
  done
  # When a cable is cut, ranks ask again and again for the ranks that do not answer: with time that no other process wants.
  for n in "$a" "$b"; do on "$n" sh -c "renice -n 19 -g \$(pgrep -f '^${endless[0]} rank ')"; done >/dev/null 2>&1
  began=${EPOCHREALTIME/./}
}

healthy() {
  start '' "${broken[@]}" mutant/own_first
  finish 0 0 ' held, 0 refuted'
  took=$((5 * (${EPOCHREALTIME/./} - began) / 1000000 + 1))
  limit=$((took > 4 ? took : 4))
}

# --- the cases

# Where the cable is cut, orted on node b ends by TCP's keepalive. TCP sends none while bytes of orted's own are under way: then it
# tries again for a quarter of an hour. Which of the two it is, is chance; only Open MPI can mend it, and ranks don't need it.
daemon=orted

held() {
  local bytes records=${NODES_RECORDS:-$room}/verify_nodes.jsonl
  start $never "$foldproof" verify --engine "$engine" --fixtures "normal/f32/sum/1000x$world/*,mixed/f64/sum/*/seed1" \
    --jsonl "$records"
  finish 0 60 ' held, 0 refuted'
  grep -q '"engine":"'"$engine"'".*"verdict":"held"' "$records" || fail "no verdict in $records"
  bytes=$(($(received) - before))
  # Half of the ranks got their parts and messages over the cable, not by memory that both nodes have.
  [ $bytes -gt 1000000 ] || fail "only $bytes bytes came to node b"
  expect_empty 3
}

rank_killed_there() {
  start $never "${broken[@]}" broken/rank_killed
  finish 99 12 "rank 1 of $world (process " ' on b) died in call 1 (allreduce of 1000 f32) of broken/rank_killed'
  expect_empty 5
}

rank_hangs_there() {
  start '' "${broken[@]}" broken/rank_hangs
  finish 99 12 "rank 1 of $world hangs: no further than in broken/rank_hangs within $limit s"
  expect_empty 5
}

# That it is stopped cannot be seen from another node.
rank_stopped_there() {
  start '' "${broken[@]}" broken/rank_stops
  finish 99 12 "rank 1 of $world hangs: no further than in broken/rank_stops within $limit s"
  expect_empty 5
}

cable_cut() {
  start '' "${endless[@]}"
  runs
  on "$b" ip link set right down
  finish 99 15 "rank 1 of $world (process " " on b) cannot be reached any more, in"
  expect_empty 20 $daemon
  plug
}

# With the default limit, mpirun misses the other node before the limit, and ends the ranks on its own.
cable_cut_and_time_enough() {
  start FOLDPROOF_TIMEOUT=$((limit > 20 ? limit : 20)) "${endless[@]}"
  runs
  on "$b" ip link set right down
  finish 99 30 "rank 1 of $world (process " " on b) cannot be reached any more, in"
  expect_empty 10 $daemon
  plug
}

# No process says goodbye to node b, which only sees that its peers are gone.
harness_killed() {
  start '' "${endless[@]}"
  runs
  on "$a" sh -c "kill -KILL $(cat "$room/pid")"
  finish 137 12
  expect_empty 10
}

harness_killed_and_cable_cut() {
  start '' "${endless[@]}"
  runs
  on "$b" ip link set right down
  on "$a" sh -c "kill -KILL $(cat "$room/pid")"
  finish 137 12
  expect_empty 20 $daemon
  plug
}

# A launcher's daemon may be in no haste, as others than Open MPI's are: ranks do not need it to end.
cable_cut_and_a_daemon_that_waits() {
  start OMPI_MCA_oob_tcp_keepalive_time=300 "${endless[@]}"
  runs
  on "$b" ip link set right down
  finish 99 15 "rank 1 of $world (process " " on b) cannot be reached any more, in"
  expect_empty 20 $daemon
  plug
}

address_of_each_node_itself() {
  start "FOLDPROOF_ADDRESS=127.0.0.1 $never" "${broken[@]}" 'mutant/*'
  finish 99 12 ' of 4 did not start: ' 'no way to the harness at 127.0.0.1:' '(FOLDPROOF_ADDRESS): Connection refused'
  expect_empty 5
}
address_of_nobody() {
  start FOLDPROOF_ADDRESS=10.99.0.1 "${broken[@]}" 'mutant/*'
  finish 99 12 'FOLDPROOF_ADDRESS=10.99.0.1: Cannot assign requested address'
  expect_empty 0
}
address_out_of_reach() {
  start "FOLDPROOF_ADDRESS=10.78.0.1 $never" "${broken[@]}" 'mutant/*'
  finish 99 25 ' of 4 did not start: ' 'no way to the harness at 10.78.0.1:' '(FOLDPROOF_ADDRESS): Connection timed out'
  expect_empty 5
}
# Less than the ten seconds after which a rank gives up by itself.
address_out_of_reach_and_little_time() {
  start 'FOLDPROOF_ADDRESS=10.78.0.1 FOLDPROOF_TIMEOUT=5' "${broken[@]}" 'mutant/*'
  finish 99 12 ' of 4 did not start: no word from it in time'
  expect_empty 15
}

other_version_there() {
  start "FOLDPROOF_PROGRAM=$room/mixed $never" "${broken[@]}" 'mutant/*'
  finish 99 12 " on b is foldproof ${number//[0-9]/9}, this is $number"
  expect_empty 5
}

node_missing() {
  start $never env FOLDPROOF_LAUNCH='mpirun --host a:2,c:2 --map-by node -n {ranks}' "${broken[@]}" 'mutant/*'
  # Open MPI may say something else before.
  finish 99 12 'rank 0 of 4 did not start: the launcher ended: ' 'no way to node c'
  expect_empty 5
}

ran=0
name=healthy
healthy
for name in "${cases[@]}"; do
  [ "$only" = "  " ] || [[ $only == *" $name "* ]] || continue
  ran=$((ran + 1))
  $name
done
[ $ran -gt 0 ] || { echo "no case$only over $engine" >&2; exit 2; }
[ $failed = 0 ]
