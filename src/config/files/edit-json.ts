/**
 * Changes JSON with comments in one place. `jsonc-parser` removes and moves comments around a member that comes or goes, so
 * whole lines are added and removed here.
 */
import { applyEdits, findNodeAtLocation, modify, parseTree, type Edit, type Node } from 'jsonc-parser';
import type { TextEdit } from './edit-text.js';

/** What follows a member on its line, if that is at most a comment. */
const REST_OF_LINE = /^[ \t]*(?:\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/[ \t]*)?(?=\r?\n|$)/;
const SPACE_AND_COMMENTS = /^(?:\s|\/\/[^\r\n]*|\/\*[^]*?\*\/)*/;
const START_OF_LINE = /(?:^|\r?\n)([ \t]*)$/;

/** Keeps the indentation and the line ends of the text. A text without indentation gets two spaces. */
export function editJson(text: string, { path, value }: TextEdit): string {
  const body = text.trim() === '' ? `{}${endOfLine(text)}` : text;
  const root = parseTree(body, [], { allowTrailingComma: true });
  const edits =
    root && (value === undefined ? removal(body, root, path) : insertion(body, root, [...path], value));
  if (edits !== undefined) return applyEdits(body, edits);
  const indent = indentOf(body);
  const isTabs = indent.startsWith('\t');
  const tabSize = isTabs ? 1 : indent.length;
  const formattingOptions = { insertSpaces: !isTabs, tabSize, eol: endOfLine(body) };
  return applyEdits(body, modify(body, [...path], value, { formattingOptions }));
}

/** Without the member, its comma and the comment behind it on its line. */
function removal(text: string, root: Node, path: readonly string[]): Edit[] | undefined {
  const member = findNodeAtLocation(root, [...path])?.parent;
  const siblings = member?.parent?.children;
  if (member === undefined || siblings === undefined) return [];
  const comma = commaAfter(text, member);
  let from = member.offset;
  let to = comma === undefined ? endOf(member) : comma + 1;
  const line = START_OF_LINE.exec(text.slice(0, from));
  const rest = REST_OF_LINE.exec(text.slice(to));
  if (line !== null && rest !== null) {
    from = line.index;
    to += rest[0].length;
  } else if (comma === undefined) from -= (/[ \t]*$/.exec(text.slice(0, from)) ?? [''])[0].length;
  else to += (/^[ \t]*/.exec(text.slice(to)) ?? [''])[0].length;
  const edits = [{ offset: from, length: to - from, content: '' }];
  const previous = siblings[siblings.indexOf(member) - 1];
  const before = comma === undefined && previous !== undefined ? commaAfter(text, previous) : undefined;
  return before === undefined ? edits : [{ offset: before, length: 1, content: '' }, ...edits];
}

/** As a line of its own behind the last member. Undefined if the object has none, or if it shares its line. */
function insertion(text: string, root: Node, path: string[], value: unknown): Edit[] | undefined {
  const known = path.findIndex(
    (_, index) => findNodeAtLocation(root, path.slice(0, index + 1)) === undefined,
  );
  if (known === -1) return undefined;
  const last = findNodeAtLocation(root, path.slice(0, known))?.children?.at(-1);
  if (last?.type !== 'property') return undefined;
  const comma = commaAfter(text, last);
  const behind = comma === undefined ? endOf(last) : comma + 1;
  const line = START_OF_LINE.exec(text.slice(0, last.offset));
  const rest = REST_OF_LINE.exec(text.slice(behind));
  if (line === null || rest === null) return undefined;
  const [name = '', ...inner] = path.slice(known);
  const nested = inner.reduceRight<unknown>((within, step) => ({ [step]: within }), value);
  const start = `${endOfLine(text)}${line[1] ?? ''}`;
  const written = JSON.stringify(nested, null, indentOf(text)).replaceAll('\n', start);
  const content = `${start}${JSON.stringify(name)}: ${written}${comma === undefined ? '' : ','}`;
  const added = { offset: behind + rest[0].length, length: 0, content };
  return comma === undefined ? [{ offset: endOf(last), length: 0, content: ',' }, added] : [added];
}

function commaAfter(text: string, node: Node): number | undefined {
  const at = endOf(node) + (SPACE_AND_COMMENTS.exec(text.slice(endOf(node))) ?? [''])[0].length;
  return text[at] === ',' ? at : undefined;
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

function endOfLine(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

function indentOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}
