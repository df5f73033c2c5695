# bash completion of research.
# Written by `research completion`; it is replaced when that is run again.
_research() {
  local value about kind='' width=0 i line
  local -a values abouts
  COMPREPLY=()
  while IFS=$'\t' read -r value about; do
    case "$value" in
      :files | :folders) kind=$value ;;
      ?*)
        values[${#values[@]}]=$value
        abouts[${#abouts[@]}]=$about
        if [ "${#value}" -gt "$width" ]; then width=${#value}; fi
        ;;
    esac
  done < <(RESEARCH_COMPLETION_BREAKS="$COMP_WORDBREAKS" command research __complete bash \
    "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null </dev/null)
  if [ -n "$kind" ]; then
    if type compopt >/dev/null 2>&1; then
      if [ "$kind" = :files ]; then compopt -o default; else compopt -o dirnames; fi
    else
      while IFS= read -r line; do COMPREPLY[${#COMPREPLY[@]}]=$line; done \
        < <(if [ "$kind" = :files ]; then compgen -f -- "${COMP_WORDS[COMP_CWORD]}"; else compgen -d -- "${COMP_WORDS[COMP_CWORD]}"; fi)
    fi
    return 0
  fi
  if type compopt >/dev/null 2>&1; then compopt -o nosort 2>/dev/null; fi
  for ((i = 0; i < ${#values[@]}; i++)); do
    # Add descriptions only if bash lists words. It inserts a single word, and in menu (37) and insert completion (42).
    case "${#values[@]}:${COMP_TYPE:-}" in
      1:* | *:37 | *:42 | *:) COMPREPLY[i]=${values[i]} ;;
      *) printf -v line '%-*s  %s' "$width" "${values[i]}" "${abouts[i]}" && COMPREPLY[i]=$line ;;
    esac
  done
}
complete -F _research research
