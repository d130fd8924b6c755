/**
 * The little language of variables inside a text of an entry.
 *
 *   ${NAME}  ${env:NAME}     a variable of the host
 *   ${NAME:-text}            the same, or `text` where it is unset or empty; `text` may hold references itself
 *   ${workspaceFolder}       the folder the host works in; likewise ${workspaceFolderBasename}, ${userHome},
 *                            ${pathSeparator} and ${/}
 *   ${input:ID}              what a person is asked for
 *   $NAME                    as ${NAME}, only where bare names count (command, args, cwd)
 *   $$                       one literal `$`, where a single one would begin one of the above or `$(`;
 *                            everywhere else dollars are left as they are
 *
 * Command substitution, `$(…)` or a pair of backticks, is refused.
 *
 * T1. Pure: a template says what it wants; somebody else looks it up.
 * T2. A looked-up value is final: it is never read as a template again.
 */

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'variable';
      /** `host`: an environment variable. `builtin`: a name with a fixed meaning. `input`: the answer of a person. */
      readonly origin: 'host' | 'builtin' | 'input';
      /** The name in the reference, without `env:`. */
      readonly name: string;
      /** Used if the variable is unset or empty; undefined if the text gives no default. */
      readonly fallback: readonly Part[] | undefined;
    };

export type Variable = Extract<Part, { kind: 'variable' }>;

export type Template = { readonly parts: readonly Part[] } | { readonly problem: string };

const BUILTINS = ['workspaceFolder', 'workspaceFolderBasename', 'userHome', 'pathSeparator', '/'] as const;
export type Builtin = (typeof BUILTINS)[number];

const NAME = '[A-Za-z_][A-Za-z0-9_]*';
const LITERAL = /[^$}]+/y;
const DOLLARS = /\$+/y;
const BRACED = new RegExp(`\\{(env:)?(${NAME})(:-|\\})`, 'y');
const NAMED_OTHERWISE = /\{(input:[^{}\s]+|\/)\}/y;
const BARE = new RegExp(NAME, 'y');
const BACKTICKS = /`[^`]*`/;
const DEEPEST_DEFAULT = 8;

class Refusal extends Error {}

/** Never throws: an unreadable text gives a `problem`, whose words contain nothing of the text. */
export function parseTemplate(text: string, bareNames: boolean): Template {
  if (BACKTICKS.test(text)) {
    return {
      problem:
        'command substitution (a pair of backticks) is refused; text with backticks can come from a variable',
    };
  }
  try {
    return { parts: new TemplateReader(text, bareNames).read(0) };
  } catch (error) {
    if (error instanceof Refusal) return { problem: error.message };
    throw error;
  }
}

/** The text with every variable replaced. `lookUp` returns undefined for an unset variable. */
export function renderTemplate(
  parts: readonly Part[],
  lookUp: (variable: Variable) => string | undefined,
  onMissing: (variable: Variable) => void,
): string {
  const render = (part: Part): string => {
    if (part.kind === 'text') return part.text;
    const value = lookUp(part);
    if (part.fallback !== undefined) return value || part.fallback.map(render).join('');
    if (value === undefined) onMissing(part);
    return value ?? '';
  };
  return parts.map(render).join('');
}

/** Every variable that a template refers to, including those inside defaults. */
export function variablesIn(parts: readonly Part[]): readonly Variable[] {
  return parts.flatMap((part) => (part.kind === 'text' ? [] : [part, ...variablesIn(part.fallback ?? [])]));
}

/** The texts between the variables of a template. */
export function textsIn(parts: readonly Part[]): readonly string[] {
  const texts = [''];
  for (const part of parts) {
    if (part.kind === 'variable') texts.push('');
    else texts.push(`${texts.pop() ?? ''}${part.text}`);
  }
  return texts;
}

/** A template that renders to exactly this text. A pair of backticks is refused all the same. */
export function escapeTemplate(text: string, bareNames: boolean): string {
  return text.replaceAll(bareNames ? /\$+(?=[{(A-Za-z_])/g : /\$+(?=[{(])/g, (dollars) => dollars + dollars);
}

export function isBuiltin(name: string): name is Builtin {
  return BUILTINS.some((builtin) => builtin === name);
}

function originOf(name: string): Variable['origin'] {
  if (name.startsWith('input:')) return 'input';
  return isBuiltin(name) ? 'builtin' : 'host';
}

class TemplateReader {
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly bareNames: boolean,
  ) {}

  /** Reads up to the end, or up to the brace that closes a default. */
  read(depth: number): readonly Part[] {
    if (depth > DEEPEST_DEFAULT) throw new Refusal('defaults are nested too deeply');
    const parts: Part[] = [];
    while (this.at < this.text.length) {
      const closing = this.text[this.at] === '}';
      if (closing && depth > 0) break;
      const literal = closing ? this.text[this.at++] : this.take(LITERAL)?.[0];
      if (literal !== undefined) parts.push({ kind: 'text', text: literal });
      else parts.push(...this.readDollars(depth));
    }
    return parts;
  }

  private readDollars(depth: number): readonly Part[] {
    const run = this.take(DOLLARS)?.[0] ?? '';
    if (!this.isSpecialNext()) return [{ kind: 'text', text: run }];
    const dollars = '$'.repeat(Math.floor(run.length / 2));
    const literal: readonly Part[] = dollars === '' ? [] : [{ kind: 'text', text: dollars }];
    const isEscaped = run.length % 2 === 0;
    if (!isEscaped) return [...literal, this.readVariable(depth)];
    return [...literal, { kind: 'text', text: this.text[this.at++] ?? '' }];
  }

  private isSpecialNext(): boolean {
    const next = this.text[this.at] ?? '';
    return next === '{' || next === '(' || (this.bareNames && /[A-Za-z_]/.test(next));
  }

  private readVariable(depth: number): Variable {
    if (this.text[this.at] === '(') {
      throw new Refusal('command substitution is refused; write $$( for a literal $(');
    }
    const bare = this.bareNames ? this.take(BARE) : null;
    if (bare !== null) return { kind: 'variable', origin: 'host', name: bare[0], fallback: undefined };
    const other = this.take(NAMED_OTHERWISE)?.[1];
    if (other !== undefined) {
      return { kind: 'variable', origin: originOf(other), name: other, fallback: undefined };
    }
    const braced = this.take(BRACED);
    if (braced === null) {
      throw new Refusal(
        'a reference is ${NAME}, ${NAME:-default} or ${env:NAME}; write $${ for a literal ${',
      );
    }
    const [, prefix, name = '', end] = braced;
    const origin = prefix === undefined ? originOf(name) : 'host';
    return { kind: 'variable', origin, name, fallback: end === '}' ? undefined : this.readDefault(depth) };
  }

  private readDefault(depth: number): readonly Part[] {
    const parts = this.read(depth + 1);
    if (this.text[this.at] !== '}') throw new Refusal('a default is not closed: } is missing');
    this.at++;
    return parts;
  }

  private take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match !== null) this.at = pattern.lastIndex;
    return match;
  }
}
