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
  local IFS=$'\\n' words=() word plain line i breaks cur
  # Bash splits words at : and =, too. They are joined where the line has no space between them.
  line=\${COMP_LINE:0:COMP_POINT}
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    plain=\${word//[\\'\\"\\\\]/}
    if ((i > 0)) && [[ $line != [[:blank:]]* ]]; then
      words[\${#words[@]} - 1]+=$plain
    else
      line=\${line#"\${line%%[![:blank:]]*}"} words+=("$plain")
    fi
    line=\${line#"$word"}
  done
  cur=\${words[\${#words[@]} - 1]} COMPREPLY=()
  while IFS= read -r line; do printf -v line %q "\${line%%$'\\t'*}" && COMPREPLY+=("$line"); done \\
    < <(troupe __complete -- "\${words[@]:1}" 2> /dev/null)
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]] && compopt -o nospace 2> /dev/null
  breaks=\${COMP_WORDBREAKS//[^:=]/}
  [[ -n $breaks && $cur == *["$breaks"]* ]] && COMPREPLY=("\${COMPREPLY[@]#"\${cur%"\${cur##*["$breaks"]}"}"}")
  return 0
}
complete -o default -F _troupe troupe`,
  zsh: `#compdef troupe
# eval "$(troupe completion zsh)"   in ~/.zshrc, after compinit
_troupe() {
  local -a found open; local line word
  for line in "\${(@f)$(troupe __complete -- "\${(@Q)words[2,CURRENT]}" 2> /dev/null)}"; do
    word="\${\${line%%$'\\t'*}//:/\\\\:}"
    if [[ $line == *$'\\t'* ]]; then found+=("$word:\${line#*$'\\t'}")
    elif [[ $line == *= ]]; then open+=("$word")
    elif [[ -n $line ]]; then found+=("$word")
    fi
  done
  if (( \${#found} + \${#open} == 0 )); then _files; return; fi
  _describe troupe found
  _describe troupe open -S ""
}
if [[ $funcstack[1] == _troupe ]]; then _troupe "$@"; else compdef _troupe troupe; fi`,
  fish: `# troupe completion fish > ~/.config/fish/completions/troupe.fish
function __troupe_complete
  set -l words (commandline -opc) (string unescape -- (commandline -ct))
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
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object {
    if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.ToString() }
  })
  if ($wordToComplete -eq '') { $words += '""' }
  troupe __complete '--' @words 2> $null | ForEach-Object {
    $word, $meaning = $_ -split "\`t", 2
    $shown = if ($word -match '\\s') { "'$word'" } else { $word }
    [System.Management.Automation.CompletionResult]::new($shown, $word, 'ParameterValue', $(if ($meaning) { $meaning } else { $word }))
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
