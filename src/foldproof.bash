# Completion for foldproof in bash: commands, options from --help, their values, and names from foldproof list. Values come after a
# blank or a "="; of an option that takes a list, after each comma, less those that are there.
_foldproof_listed() { "$command" list "$1" 2>/dev/null | awk "$2 { print \$1 }"; }

# shellcheck disable=SC2016 # awk's own $1
# Sets `words` to the values of option $1, `list` where it takes several, `kind` to f (files) or d (folders). 1: nothing is known of it.
_foldproof_values() {
  case $1 in
    --engine) words='host cuda mpi nccl opencl' ;;
    --what) words='messages strong weak products' list=1 ;;
    --settings) words='default ring tree simple LL LL128' list=1 ;;
    --launch) words='mpirun threads' ;;
    --set) words='default large guests products all' ;;
    --dtype | --dtypes)
      words='f16 bf16 f32 f64 e4m3 e5m2'
      if [ "$sub" = bench ] || [ "$1" = --dtypes ]; then list=1; fi
      ;;
    --format)
      case $sub in
        report) words='html markdown junit text' ;;
        compare) words='text markdown json' ;;
        *) words='text json svg' ;;
      esac
      ;;
    --draw) words='tree text svg' ;;
    --problem)
      words='sum prod max min dot'
      [ "$sub" != reveal ] || words='sum dot'
      ;;
    --problems) words='sum prod max min' list=1 ;;
    --claims | -c) words=$(_foldproof_listed claims '/^[a-z]/ && NR > 1 && $1 != "gpu_to_gpu"') list=1 ;;
    --subjects | -s) words=$(_foldproof_listed subjects 'NF') list=1 ;;
    --peer | --same-bits-as) words=$(_foldproof_listed subjects 'NF') ;;
    --fixtures | -f) # fixtures' names, and behind one the cases of it
      list=1 words=$(_foldproof_listed fixtures '/^[a-z]/')
      [[ ${word##*,} == */* ]] || words=$(cut -d/ -f1 <<<"$words" | sort -u)
      ;;
    --claim) words='gpu_to_gpu run_to_run' ;;
    --across) words='host,cuda host,mpi mpi,nccl cuda,nccl' ;;
    --generator) words=$(_foldproof_listed generators 'NR > 1') ;;
    --generators) words=$(_foldproof_listed generators 'NR > 1') list=1 ;;
    --jsonl | --npy | --guest | --output | -o | --golden) kind=f ;;
    --fixture-folder) kind=d ;;
    -*) [[ $options == *" $1="* ]] ;; # a number or a text of its own: none
    *) return 1 ;;
  esac
}

_foldproof() {
  local command=${COMP_WORDS[0]} sub=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local words='' list='' kind='' prefix='' options='' i
  # Bash cuts words at "=", unless COMP_WORDBREAKS has none.
  if [ "$word" = '=' ]; then
    word=''
  elif [ "$before" = '=' ]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $word == --*=* ]]; then
    before=${word%%=*} prefix=${word%%=*}= word=${word#*=}
  fi
  if [ "$COMP_CWORD" = 1 ]; then
    words=$("$command" --help 2>/dev/null | awk '/^  [a-z]/ { print $1 }')
  else
    if [[ $word == -* || $before == -* ]]; then
      options=" $("$command" "$sub" --help 2>/dev/null | grep '^ \{2,6\}-' | grep -o -e '--[a-z-]*\[\{0,1\}=\{0,1\}' | tr '\n' ' ')"
    fi
    if _foldproof_values "$before"; then
      if [ "$before" = --draw ] && [[ $word == -* ]]; then words=${options//[\[=]/}; fi
    elif [[ $word == -* ]]; then
      words=${options//[\[=]/}
    else
      case $sub in
        gen) words=$(_foldproof_listed generators 'NR > 1') ;;
        order) words=$(_foldproof_listed orders 'NR > 1') ;;
        verify | bench | record | reveal | certify) words=$(_foldproof_listed subjects 'NF') ;;
        help) words=$("$command" --help 2>/dev/null | awk '/^  [a-z]/ { print $1 }') ;;
        list) words='subjects claims problems generators orders fixtures' ;;
        *) kind=f ;;
      esac
    fi
  fi
  if [ -n "$list" ] && [[ $word == *,* ]]; then
    prefix+=${word%,*},
    for i in ${word//,/ }; do [ "$i" = "${word##*,}" ] || words=" ${words//[[:space:]]/ } " words=${words// $i / }; done
    word=${word##*,}
  fi
  if [ -n "$kind" ]; then
    mapfile -t COMPREPLY < <(compgen -P "$prefix" "-$kind" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$words" -- "$word")
  fi
}
complete -F _foldproof foldproof
