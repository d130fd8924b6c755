/**
 * Finds the arguments of a command line that are code for a shell or an interpreter: the text after `sh -c`, `node -e`
 * and similar options, anywhere in the line, as in `docker run IMAGE sh -c TEXT`. Pure.
 */

interface Interpreter {
  /** Matches an option that code follows. */
  readonly takesCode: RegExp;
  /** Whether all further arguments are code, not only the next one. Default false. */
  readonly takesRest?: boolean;
}

const SHELL: Interpreter = { takesCode: /^-[a-z]*c[a-z]*$/i };
const POWERSHELL: Interpreter = {
  takesCode: /^[-/]c(?:o(?:m(?:m(?:a(?:n(?:d)?)?)?)?)?)?$/i,
  takesRest: true,
};
const JAVASCRIPT: Interpreter = { takesCode: /^(?:-[ep]|-pe|--eval|--print)$/ };

const INTERPRETERS: Readonly<Record<string, Interpreter>> = {
  sh: SHELL,
  ash: SHELL,
  bash: SHELL,
  dash: SHELL,
  fish: SHELL,
  ksh: SHELL,
  mksh: SHELL,
  zsh: SHELL,
  $SHELL: SHELL,
  '${SHELL}': SHELL,
  pwsh: POWERSHELL,
  powershell: POWERSHELL,
  node: JAVASCRIPT,
  bun: JAVASCRIPT,
  perl: { takesCode: /^-[a-z]*[eE]$/ },
  ruby: { takesCode: /^-[a-z]*e$/ },
  php: { takesCode: /^-[rBRE]$/ },
  python: { takesCode: /^-[a-zA-Z]*c$/ },
  deno: { takesCode: /^eval$/ },
};

/** Shell options that take a value, such as `-o pipefail`. */
const WITH_VALUE = /^(?:[-+][a-z]*[oO]|--rcfile|--init-file)$/;

/** The indices of the words that are code. The first word is the command. */
export function codeWords(words: readonly string[]): ReadonlySet<number> {
  const code = new Set<number>();
  words.forEach((word, index) => {
    const interpreter = interpreterOf(word);
    if (interpreter !== undefined) addCode(words, index + 1, interpreter, code);
  });
  return code;
}

function addCode(
  words: readonly string[],
  first: number,
  { takesCode, takesRest = false }: Interpreter,
  code: Set<number>,
): void {
  let isCode = false;
  for (let at = first; at < words.length; at++) {
    const word = words[at] ?? '';
    const isOption = /^[-+]/.test(word);
    if (isCode && (takesRest || !isOption)) {
      code.add(at);
      if (!takesRest) return;
    } else if (takesCode.test(word)) isCode = true;
    else if (!isOption) return;
    else if (WITH_VALUE.test(word)) at += 1;
  }
}

/** `bash` for `/bin/bash` and `C:\Program Files\Git\bin\bash.exe`; `python` for `python3.12`. */
function interpreterOf(word: string): Interpreter | undefined {
  const file = word.split(/[/\\]/).at(-1) ?? '';
  const name = file.replace(/\.exe$/i, '').replace(/^(python|ruby|php|perl)[\d.]+$/, '$1');
  return Object.hasOwn(INTERPRETERS, name) ? INTERPRETERS[name] : undefined;
}
