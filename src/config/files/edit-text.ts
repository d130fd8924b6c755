/**
 * Changes a configuration text in one place. Comments, the order and everything else stay as they are.
 *
 * E1. The result is read again: if it does not say exactly what it should, it is not used.
 * E2. No library keeps the comments of TOML. A table is only added at its end; every other change is left to the person.
 */
import { isDeepStrictEqual } from 'node:util';
import { printable } from '../entry/problem.js';
import { isObject } from '../entry/read-shape.js';
import { readerOf, type Syntax } from './layout.js';
import { makePositionFinder, repeatsIn, valueOf, type TextTree } from './text-tree.js';

/** Sets the value at a path, or removes what is there if there is no value. */
export interface TextEdit {
  readonly path: readonly [string, ...string[]];
  readonly value?: unknown;
}

/** The text cannot be changed so. The message says why, as the end of a sentence that begins with the file. */
export class EditRefused extends Error {
  override readonly name = 'EditRefused';
}

type Apply = (text: string, edit: TextEdit) => string;

/** Rejects with an `EditRefused`. */
export async function editText(text: string, syntax: Syntax, edit: TextEdit): Promise<string> {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const body = text.slice(mark.length);
  const before = await treeOf(body, syntax);
  if (before !== undefined && repeatsIn(before, before.root).length > 0)
    throw new EditRefused('has a name twice, so it is not clear which one is meant; remove one of them');
  const value = before === undefined ? {} : valueOf(before.root);
  const wanted = changed(value, edit.path, edit.value);
  const apply = await APPLY[syntax]();
  const edited = apply(body, edit);
  const after = await treeOf(edited, syntax);
  if (!isDeepStrictEqual(after === undefined ? {} : valueOf(after.root), wanted))
    throw new EditRefused('cannot be changed without changing more than that; edit it by hand');
  return mark + edited;
}

const APPLY: Readonly<Record<Syntax, () => Promise<Apply>>> = {
  json: async () => (await import('./edit-json.js')).editJson,
  yaml: async () => (await import('./edit-yaml.js')).editYaml,
  toml: async () => {
    const { stringify } = await import('smol-toml');
    return (text, edit) => appendTable(text, edit, stringify);
  },
};

async function treeOf(text: string, syntax: Syntax): Promise<TextTree | undefined> {
  const parsed = (await readerOf(syntax))(text);
  if (parsed.kind === 'broken')
    throw new EditRefused(`${parsed.line}:${parsed.column}: ${parsed.message}; correct that first`);
  return parsed.kind === 'tree' ? parsed.tree : undefined;
}

/** What the text should say. Later names of an object come last, as they do in the text. */
function changed(value: unknown, [first, ...rest]: readonly string[], to: unknown): unknown {
  if (first === undefined) return to;
  if (value !== undefined && !isObject(value))
    throw new EditRefused(`has no object around '${printable(first)}'`);
  const { [first]: inner, ...others } = value ?? {};
  const next = changed(inner, rest, to);
  return next === undefined ? others : { ...others, [first]: next };
}

function appendTable(
  text: string,
  { path, value }: TextEdit,
  stringify: (value: Record<string, unknown>) => string,
): string {
  const name = path.join('.');
  const line = lineOf(text, path);
  if (line !== undefined)
    throw new EditRefused(
      value === undefined
        ? `${line}: TOML is not edited, to keep its comments; remove '${printable(name)}' there`
        : `${line}: TOML is not edited, to keep its comments; set '${printable(name)}' there`,
    );
  const [eol] = /\r?\n/.exec(text) ?? ['\n'];
  const table = stringify(path.reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as never);
  const start = text === '' || /\n\s*\n$/.test(text) ? '' : text.endsWith('\n') ? eol : eol + eol;
  return text + start + table.trimEnd().replaceAll('\n', eol) + eol;
}

/** The line of the table that the path leads to, or of the one around it. */
function lineOf(text: string, path: readonly string[]): number | undefined {
  const positionAt = makePositionFinder(text);
  for (let length = path.length; length > 1; length -= 1) {
    const key = path.slice(0, length).map((step) => `["']?${step.replaceAll(/[^\w-]/g, '\\$&')}["']?`);
    const header = new RegExp(String.raw`^[ \t]*\[\s*${key.join(String.raw`\s*\.\s*`)}\s*\]`, 'm').exec(text);
    if (header !== null) return positionAt(header.index).line;
  }
  return undefined;
}
