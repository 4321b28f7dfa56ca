# Completion for foldproof in bash: commands, options from --help, and names from foldproof list.
_foldproof() {
  local command=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words
  case $before in
    --engine) words='host cuda mpi nccl' ;;
    --what) words='messages strong weak' ;;
    --settings) words='default ring tree simple LL LL128' ;;
    --launch) words='mpirun threads' ;;
    --set) words='default large guests all' ;;
    --dtype) words='f16 bf16 f32 f64 e4m3 e5m2' ;;
    --format) words='text json dot svg' ;;
    --problem) words='sum dot' ;;
    --op) words='sum prod max min' ;;
    --claims | -c) words=$("$command" list claims 2>/dev/null | awk '/^[a-z]/ && NR > 1 && $1 != "gpu_to_gpu" { print $1 }') ;;
    --subjects | -s | --peer) words=$("$command" list subjects 2>/dev/null | awk '/ on / { print $1 }') ;;
    --claim) words='gpu_to_gpu run_to_run' ;;
    --across) words='host,cuda host,mpi mpi,nccl cuda,nccl' ;;
    --generator) words=$("$command" list generators 2>/dev/null | awk 'NR > 1 { print $1 }') ;;
    --jsonl | --npy | --guest | --output | -o | --fixture-folder | --golden)
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return
      ;;
    *)
      if [ "$COMP_CWORD" = 1 ]; then
        words=$("$command" --help 2>/dev/null | awk '/^  [a-z]/ { print $1 }')
      elif [[ $word == -* ]]; then
        words=$("$command" "${COMP_WORDS[1]}" --help 2>/dev/null | grep -o -e '--[a-z-]*')
      elif [ "${COMP_WORDS[1]}" = gen ]; then
        words=$("$command" list generators 2>/dev/null | awk 'NR > 1 { print $1 }')
      elif [ "${COMP_WORDS[1]}" = order ]; then
        words=$("$command" list orders 2>/dev/null | awk 'NR > 1 { print $1 }')
      elif [ "${COMP_WORDS[1]}" = reveal ] || [ "${COMP_WORDS[1]}" = certify ]; then
        words=$("$command" list subjects 2>/dev/null | awk '/ on / { print $1 }')
      elif [ "${COMP_WORDS[1]}" = list ]; then
        words='subjects claims generators orders fixtures'
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
      fi
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _foldproof foldproof
