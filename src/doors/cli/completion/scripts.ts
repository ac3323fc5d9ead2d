export type Shell = 'bash' | 'zsh' | 'fish'

/** What each shell is told once; it then asks `assay __complete` for every word, which knows the commands of the version that is installed. */
export const scripts: Record<Shell, string> = {
  bash: `# assay completion bash >> ~/.bashrc
_assay() {
  local IFS=$'\\n' word
  COMPREPLY=()
  while IFS= read -r word; do
    word="\${word%%$'\\t'*}"
    [[ "$word" == "\${COMP_WORDS[COMP_CWORD]}"* ]] && COMPREPLY+=("$(printf '%q' "$word")")
  done < <(assay __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _assay assay
`,
  zsh: `#compdef assay
# assay completion zsh > "\${fpath[1]}/_assay"
_assay() {
  local -a found
  local line
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(assay __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe 'assay' found; else _files; fi
}
if [ "\${funcstack[1]}" = _assay ]; then _assay "$@"; else compdef _assay assay; fi
`,
  fish: `# assay completion fish > ~/.config/fish/completions/assay.fish
function __assay_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (assay __complete -- $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c assay -f -a '(__assay_complete)'
`,
}
