export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * Each script asks `toolherd completion --at` for the words that fit, one a line. The shell does not expand or run anything
 * in them. If there are none, the shell completes names of files.
 */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# toolherd completion for bash. In ~/.bashrc: source <(toolherd completion bash)
_toolherd() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <("\${COMP_WORDS[0]}" completion --at "$COMP_CWORD" -- "\${COMP_WORDS[@]}" 2>/dev/null)
  case "\${COMPREPLY[0]}" in
    *[.=]) compopt -o nospace 2>/dev/null ;;
  esac
}
complete -o default -F _toolherd toolherd
`,
  zsh: `#compdef toolherd
# toolherd completion for zsh. In ~/.zshrc, after compinit: source <(toolherd completion zsh)
_toolherd() {
  local word
  local -a open closed
  while IFS= read -r word; do
    case "$word" in
      *[.=]) open+=("$word") ;;
      *) closed+=("$word") ;;
    esac
  done < <("\${words[1]}" completion --at $((CURRENT - 1)) -- "\${words[@]}" 2>/dev/null)
  if (( \${#open} + \${#closed} == 0 )); then
    _files
    return
  fi
  (( \${#open} )) && compadd -S '' -a open
  (( \${#closed} )) && compadd -a closed
}
if [ "$funcstack[1]" = "_toolherd" ]; then
  _toolherd "$@"
else
  compdef _toolherd toolherd
fi
`,
  fish: `# toolherd completion for fish. In ~/.config/fish/config.fish: toolherd completion fish | source
function __toolherd_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    $before[1] completion --at (count $before) -- $before "$current" 2>/dev/null
end
complete -c toolherd -a '(__toolherd_complete)'
`,
};
