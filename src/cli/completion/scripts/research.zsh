#compdef research
# Written by `research completion`; it is replaced when that is run again.
_research() {
  local value about kind=''
  local -a values shown abouts
  local -i width=0
  while IFS=$'\t' read -r value about; do
    case "$value" in
      :files|:folders) kind=$value ;;
      ?*)
        values+=("$value")
        abouts+=("$about")
        (( ${#value} > width )) && width=${#value}
        ;;
    esac
  done < <(command research __complete zsh "${(@)words[2,CURRENT]}" 2>/dev/null </dev/null)
  if [[ -n $kind ]]; then
    compset -P '--*='
    if [[ $kind == :files ]]; then _files; else _files -/; fi
    return
  fi
  (( ${#values} )) || return 1
  local -i i
  for (( i = 1; i <= ${#values}; i++ )); do
    shown+=("${(r:width:)values[i]}  ${abouts[i]}")
  done
  compadd -l -V research -d shown -a values
}
if [[ ${funcstack[1]} == _research ]]; then
  _research "$@"
else
  (( ${+functions[compdef]} )) || { autoload -Uz compinit && compinit -i }
  compdef _research research
fi
