/** `troupe completion`: prints the script that teaches a shell to complete command lines. It asks `troupe __complete`. */
import type { Command } from 'commander';
import { candidates } from '../completion.js';
import type { Flags, Shell } from '../arguments/flags.js';
import { knownServers } from '../cached-offers.js';
import { EXIT, type ExitCode } from '../exit.js';
import { fit } from '../output/fit-text.js';
import { oneLine, type Terminal } from '../output/terminal.js';

const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# eval "$(troupe completion bash)"   in ~/.bashrc
_troupe() {
  local IFS=$'\\n' cur words cword line
  if declare -F _get_comp_words_by_ref > /dev/null; then
    _get_comp_words_by_ref -n ':=' cur words cword
  else
    words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD cur="\${COMP_WORDS[COMP_CWORD]}"
  fi
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done \\
    < <(troupe __complete -- "\${words[@]:1:cword}" 2> /dev/null)
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]] && compopt -o nospace
  declare -F __ltrim_colon_completions > /dev/null && __ltrim_colon_completions "$cur"
  return 0
}
complete -o default -F _troupe troupe`,
  zsh: `#compdef troupe
# eval "$(troupe completion zsh)"   in ~/.zshrc, after compinit
_troupe() {
  local -a found; local line
  for line in "\${(@f)$(troupe __complete -- "\${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#found} )); then _describe troupe found; else _files; fi
}
if [[ $funcstack[1] == _troupe ]]; then _troupe "$@"; else compdef _troupe troupe; fi`,
  fish: `# troupe completion fish > ~/.config/fish/completions/troupe.fish
function __troupe_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (troupe __complete -- $words[2..-1] 2> /dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c troupe -f -a '(__troupe_complete)'`,
  powershell: `# troupe completion powershell | Out-String | Invoke-Expression   in $PROFILE
Register-ArgumentCompleter -Native -CommandName troupe -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '""' }
  troupe __complete '--' @words 2> $null | ForEach-Object {
    $word, $meaning = $_ -split "\`t", 2
    [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $(if ($meaning) { $meaning } else { $word }))
  }
}`,
};

export async function completion(_: Flags, terminal: Terminal, shell: Shell): Promise<ExitCode> {
  terminal.print(SCRIPTS[shell]);
  return EXIT.fine;
}

const MEANING_WIDTH = 60;

/** One candidate a line, with its meaning after a tab. Fails silently: a shell shows what it prints. */
export async function complete(
  program: Command,
  terminal: Terminal,
  given: readonly string[],
): Promise<ExitCode> {
  // PowerShell 5 drops an empty argument.
  const words = given.map((word) => (word === '""' ? '' : word));
  const flags = { config: valuesOf('--config', words), add: [], discover: !words.includes('--no-discover') };
  const discover = flags.config.length === 0 && flags.discover;
  const found = await candidates(program, words, (wanted) =>
    knownServers({ ...flags, discover }, wanted),
  ).catch(() => []);
  for (const { word, meaning = '' } of found) {
    const text = fit(oneLine(meaning), MEANING_WIDTH).trimEnd();
    terminal.print(text === '' ? oneLine(word) : `${oneLine(word)}\t${text}`);
  }
  return EXIT.fine;
}

function valuesOf(option: string, words: readonly string[]): readonly string[] {
  return words.slice(0, -1).flatMap((word, index) => {
    if (word.startsWith(`${option}=`)) return [word.slice(option.length + 1)];
    const value = words[index + 1];
    return word === option && value !== undefined && index + 1 < words.length - 1 ? [value] : [];
  });
}
