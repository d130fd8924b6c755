/**
 * The little language of variables inside a text of an entry.
 *
 *   ${NAME}  ${env:NAME}     a variable of the host
 *   ${NAME:-text}            the same, or `text` if it is unset or empty; `text` may hold references itself
 *   ${workspaceFolder}       the folder the host works in; likewise ${workspaceFolderBasename}, ${userHome},
 *                            ${pathSeparator} and ${/}
 *   ${input:ID}              what a person is asked for
 *   $NAME                    as ${NAME}, only in fields that take bare names (command, args, cwd)
 *   $$                       one literal `$`, if a single one would begin one of the above;
 *                            everywhere else dollars are left as they are
 *
 * Everything else is text, such as `$(…)`, `${name%.*}` and `${list[@]}`. In code for a shell or an interpreter, only
 * `${input:ID}` and the folders are replaced: the other references belong to the shell.
 *
 * T1. Pure: a template says what it wants; someone else looks it up.
 * T2. A looked-up value is final: it is never read as a template again.
 * T3. Every text is a template. It is read in linear time.
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
      /** Written `$NAME`. */
      readonly isBare: boolean;
    };

export type Variable = Extract<Part, { kind: 'variable' }>;

/** `plain`: references in braces. `command-line`: bare names as well. `code`: only inputs and folders. */
export type TemplateSyntax = 'plain' | 'command-line' | 'code';

const BUILTINS = ['workspaceFolder', 'workspaceFolderBasename', 'userHome', 'pathSeparator', '/'] as const;
export type Builtin = (typeof BUILTINS)[number];

/** No shell sets these. */
const IN_CODE: ReadonlySet<string> = new Set<Builtin>([
  'workspaceFolder',
  'workspaceFolderBasename',
  'userHome',
]);

const NAME = '[A-Za-z_][A-Za-z0-9_]*';
const SPECIAL = /[$}]/g;
const DOLLARS = /\$+/y;
const BRACED = new RegExp(`\\{(env:)?(${NAME})(:-|\\})`, 'y');
const NAMED_OTHERWISE = /\{(input:[^{}\s]+|\/)\}/y;
const BARE = new RegExp(NAME, 'y');
/** A default that is nested deeper is text. */
const DEEPEST_DEFAULT = 8;

export function parseTemplate(text: string, syntax: TemplateSyntax): readonly Part[] {
  return new TemplateBuilder(text, findReferences(text, syntax)).build();
}

/** The text with every variable replaced. `lookUp` returns undefined for an unset variable. */
export function renderTemplate(
  parts: readonly Part[],
  lookUp: (variable: Variable) => string | undefined,
  onMissing: (variable: Variable) => string,
): string {
  const render = (part: Part): string => {
    if (part.kind === 'text') return part.text;
    const value = lookUp(part);
    if (part.fallback !== undefined) return value || part.fallback.map(render).join('');
    return value ?? onMissing(part);
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

/** A template that renders to exactly this text. */
export function escapeTemplate(text: string, syntax: TemplateSyntax): string {
  return joinTemplate([{ text, isLiteral: true }], syntax);
}

/** A piece of a template: text that must stay text, or a reference or a part of one. */
export interface Piece {
  readonly text: string;
  readonly isLiteral: boolean;
}

/** The pieces as one template. The meaning of a dollar depends on all the text after it. */
export function joinTemplate(pieces: readonly Piece[], syntax: TemplateSyntax): string {
  const text = pieces.map((piece) => piece.text).join('');
  const ends = literalEnds(pieces);
  let written = '';
  let end = 0;
  for (const { from, dollars } of findReferences(text, syntax)) {
    const literal = Math.min(
      dollars,
      (ends.find((range) => range.end > from)?.literalTo(from) ?? from) - from,
    );
    written += text.slice(end, from) + '$'.repeat(literal);
    end = from;
  }
  return written + text.slice(end);
}

/** The end of each piece, and how far the literal text extends from an offset in it. */
function literalEnds(pieces: readonly Piece[]) {
  let end = 0;
  const ranges = pieces.map(({ text, isLiteral }) => ({ end: (end += text.length), isLiteral }));
  return ranges.map(({ end: own, isLiteral }, index) => ({
    end: own,
    literalTo: (from: number): number => {
      if (!isLiteral) return from;
      let last = index;
      while (ranges[last + 1]?.isLiteral === true) last += 1;
      return ranges[last]?.end ?? own;
    },
  }));
}

export function isBuiltin(name: string): name is Builtin {
  return BUILTINS.some((builtin) => builtin === name);
}

/** A run of dollars and what follows it. It is a reference if the number of dollars is odd. */
interface Found {
  /** Offset of its first dollar. */
  readonly from: number;
  readonly dollars: number;
  readonly origin: Variable['origin'];
  readonly name: string;
  readonly isBare: boolean;
  /** Offset after the name: the end of the reference, or the start of its default. */
  readonly bodyAt: number;
  /** Offset of the brace that closes the default; undefined without a default. */
  closedAt?: number;
}

/** In the order of the text. A reference in a default follows the reference that contains it. */
function findReferences(text: string, syntax: TemplateSyntax): readonly Found[] {
  const found: Found[] = [];
  /** References whose default is open, the innermost last; undefined for another brace inside a default. */
  const open: (Found | undefined)[] = [];
  const unclosed = new Set<Found>();
  for (let at = nextSpecial(text, 0); at !== -1;) {
    if (text[at] === '}') {
      const closed = open.pop();
      if (closed !== undefined) {
        closed.closedAt = at;
        unclosed.delete(closed);
      }
      at = nextSpecial(text, at + 1);
      continue;
    }
    const dollars = matchAt(DOLLARS, text, at)?.[0].length ?? 1;
    const next = referenceAt(text, at, dollars, syntax);
    if (next === undefined || (next.hasDefault && unclosed.size >= DEEPEST_DEFAULT)) {
      if (unclosed.size > 0 && text[at + dollars] === '{') open.push(undefined);
      at = nextSpecial(text, at + dollars);
      continue;
    }
    found.push(next.found);
    if (next.hasDefault) {
      open.push(next.found);
      unclosed.add(next.found);
    }
    at = nextSpecial(text, next.found.bodyAt);
  }
  return unclosed.size === 0 ? found : found.filter((reference) => !unclosed.has(reference));
}

function nextSpecial(text: string, from: number): number {
  SPECIAL.lastIndex = from;
  return SPECIAL.exec(text)?.index ?? -1;
}

/** The reference that starts with a run of dollars; undefined if there is none. */
function referenceAt(
  text: string,
  from: number,
  dollars: number,
  syntax: TemplateSyntax,
): { readonly found: Found; readonly hasDefault: boolean } | undefined {
  const at = from + dollars;
  const other = matchAt(NAMED_OTHERWISE, text, at);
  if (other?.[1] !== undefined) {
    const [whole, name] = other;
    const origin = originOf(name);
    if (syntax === 'code' && origin !== 'input') return undefined;
    const found = { from, dollars, origin, name, isBare: false, bodyAt: at + whole.length };
    return { found, hasDefault: false };
  }
  const braced = matchAt(BRACED, text, at);
  if (braced !== null) {
    const [whole, prefix, name = '', end] = braced;
    if (syntax === 'code' && (prefix !== undefined || end !== '}' || !IN_CODE.has(name))) return undefined;
    const origin = prefix === undefined ? originOf(name) : 'host';
    const found = { from, dollars, origin, name, isBare: false, bodyAt: at + whole.length };
    return { found, hasDefault: end === ':-' };
  }
  const bare = syntax === 'command-line' ? matchAt(BARE, text, at) : null;
  if (bare === null) return undefined;
  const [name] = bare;
  return {
    found: { from, dollars, origin: 'host', name, isBare: true, bodyAt: at + name.length },
    hasDefault: false,
  };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function originOf(name: string): Variable['origin'] {
  if (name.startsWith('input:')) return 'input';
  return isBuiltin(name) ? 'builtin' : 'host';
}

class TemplateBuilder {
  #at = 0;
  #next = 0;

  constructor(
    private readonly text: string,
    private readonly found: readonly Found[],
  ) {}

  build(end = this.text.length): readonly Part[] {
    const parts: Part[] = [];
    const add = (text: string): void => {
      if (text !== '') parts.push({ kind: 'text', text });
    };
    for (;;) {
      const reference = this.found[this.#next];
      if (reference === undefined || reference.from >= end) break;
      this.#next += 1;
      const { from, dollars, origin, name, isBare, bodyAt, closedAt } = reference;
      add(this.text.slice(this.#at, from) + '$'.repeat(Math.floor(dollars / 2)));
      if (dollars % 2 === 0) {
        this.#at = from + dollars;
        continue;
      }
      this.#at = bodyAt;
      const fallback = closedAt === undefined ? undefined : this.build(closedAt);
      if (closedAt !== undefined) this.#at = closedAt + 1;
      parts.push({ kind: 'variable', origin, name, fallback, isBare });
    }
    add(this.text.slice(this.#at, end));
    this.#at = end;
    return parts;
  }
}
