/** Changes YAML in one place: whole lines come and go. Where there are none, the library writes the text anew. */
import { isMap, isScalar, parseDocument, stringify, type Document, type Node, type Pair } from 'yaml';
import type { TextEdit } from './edit-text.js';

type Member = Pair<Node, Node | null>;

/** Comments, anchors and the style of every value stay. */
export function editYaml(text: string, { path, value }: TextEdit): string {
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const indent = /\n( +)\S/.exec(text)?.[1]?.length ?? 2;
  const document = parseDocument(text, { stringKeys: true });
  const [members, [name = '', ...inner]] = placeOf(document, path);
  const member = members.find(({ key }) => isScalar(key) && key.value === name);
  if (value === undefined && member !== undefined && members.length > 1 && inner.length === 0) {
    const lines = linesOf(text, member);
    if (lines !== undefined) return text.slice(0, lines.from) + text.slice(lines.to);
  }
  if (value !== undefined && member === undefined) {
    const lines = linesOf(text, members.at(-1));
    const nested = inner.reduceRight<unknown>((within, step) => ({ [step]: within }), value);
    const added = stringify({ [name]: nested }, { lineWidth: 0, indent })
      .trimEnd()
      .split('\n');
    if (lines !== undefined)
      return `${text.slice(0, lines.to)}${added.map((line) => lines.indent + line).join(eol)}${eol}${text.slice(lines.to)}`;
  }
  const flowCollectionPadding = !/[[{][^\s\]}]/.test(text);
  change(document, path, value);
  return document.toString({ lineWidth: 0, indent, flowCollectionPadding }).replaceAll(/\r?\n/g, eol);
}

/** The members of the innermost object on the path, if they have lines of their own, and the rest of the path. */
function placeOf(
  document: Document,
  path: readonly string[],
): [members: readonly Member[], rest: readonly string[]] {
  let around: unknown = document.contents;
  for (const [depth, step] of path.entries()) {
    const next: unknown = isMap(around) && depth < path.length - 1 ? around.get(step, true) : undefined;
    if (!isMap(next))
      return [
        isMap<Node, Node | null>(around) && around.flow !== true ? around.items : [],
        path.slice(depth),
      ];
    around = next;
  }
  return [[], path];
}

/** The lines of a member, with a comment at the end of the last one. Undefined if it shares a line with others. */
function linesOf(text: string, member: Member | undefined) {
  const [start] = member?.key.range ?? [];
  const end = member?.value?.range?.[1];
  if (start === undefined || end === undefined) return undefined;
  const from = text.lastIndexOf('\n', start) + 1;
  const indent = text.slice(from, start);
  const rest = text[end - 1] === '\n' ? [''] : /^[ \t]*(?:[ \t]#.*|\r)?\n/.exec(text.slice(end));
  if (rest === null || indent.trim() !== '') return undefined;
  const to = end + (rest[0]?.length ?? 0);
  // Comments that are indented further are still about the member.
  const [about = ''] = new RegExp(String.raw`^(?:${indent}[ \t]+#.*\n)*`).exec(text.slice(to)) ?? [];
  return { from, to: to + about.length, indent };
}

function change(document: Document, path: TextEdit['path'], value: unknown): void {
  if (value === undefined) {
    document.deleteIn(path);
    return;
  }
  for (let length = 1; length < path.length; length += 1) {
    const around = path.slice(0, length);
    const there = document.getIn(around, true);
    if (!isMap(there)) document.setIn(around, document.createNode({}));
    else if (there.items.length === 0) there.flow = false;
  }
  document.setIn(path, document.createNode(value));
}
