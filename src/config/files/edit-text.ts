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
import { locate, repeatsIn, valueOf, type TextTree } from './text-tree.js';

/** Sets the value at a path, or removes what is there if there is no value. */
export interface TextEdit {
  readonly path: readonly [string, ...string[]];
  readonly value?: unknown;
}

/** The text cannot be changed so. The message says why, as the end of a sentence that begins with the file. */
export class EditRefused extends Error {
  override readonly name = 'EditRefused';
}

type Apply = (text: string, edit: TextEdit, tree: TextTree | undefined) => string;

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
  const edited = apply(body, edit, before);
  if (!isDeepStrictEqual(await valueIn(edited, syntax), wanted))
    throw new EditRefused('cannot be changed without changing more than that; edit it by hand');
  return mark + edited;
}

const APPLY: Readonly<Record<Syntax, () => Promise<Apply>>> = {
  json: async () => (await import('./edit-json.js')).editJson,
  yaml: async () => (await import('./edit-yaml.js')).editYaml,
  toml: async () => {
    const { stringify } = await import('smol-toml');
    return (text, edit, tree) => appendTable(text, edit, { stringify, tree });
  },
};

/** Undefined if the text cannot be read. */
async function valueIn(text: string, syntax: Syntax): Promise<unknown> {
  const parsed = (await readerOf(syntax))(text);
  return parsed.kind === 'tree' ? valueOf(parsed.tree.root) : parsed.kind === 'empty' ? {} : undefined;
}

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
  { stringify, tree }: { readonly stringify: (value: never) => string; readonly tree: TextTree | undefined },
): string {
  const [first, second = '', ...rest] = path;
  const holder = tree?.memberOf(tree.root, first);
  const entry = holder && tree?.memberOf(holder.node, second);
  if (tree !== undefined && entry !== undefined) {
    const { line } = locate(tree, entry, rest);
    const name = printable(path.join('.'));
    const to = typeof value === 'boolean' ? ` to ${value}` : '';
    const what = value === undefined ? `remove '${name}'` : `set '${name}'${to}`;
    throw new EditRefused(`${line}: TOML is not edited, to keep its comments; ${what} there`);
  }
  const [eol] = /\r?\n/.exec(text) ?? ['\n'];
  const table = stringify(path.reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as never);
  const start = text === '' || /\n\s*\n$/.test(text) ? '' : text.endsWith('\n') ? eol : eol + eol;
  return text + start + table.trimEnd().replaceAll('\n', eol) + eol;
}
