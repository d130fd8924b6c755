/**
 * Reads TOML. The parser tells values but no places, so those of names are looked for in the text: a table by its
 * header, a field by the line that begins with it. A name that is not found there stands where its table does.
 */
import type { Node } from 'jsonc-parser';
import { parse, TomlError } from 'smol-toml';
import type { Path } from './problem.js';
import {
  makePositionFinder,
  toReading,
  TOO_DEEP,
  withoutByteOrderMark,
  type Reading,
  type ReadTree,
} from './text-tree.js';

const HEADER = /^\s*\[\[?([^\]]+)\]\]?\s*(?:#.*)?$/;
const FIELD = /^\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_.-])+)\s*=/;
const KEY_PART = /"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)/g;

export const readTomlText: ReadTree = (text) => {
  const body = withoutByteOrderMark(text);
  const positionAt = makePositionFinder(body);
  try {
    const value = parse(body);
    if (Object.keys(value).length === 0) return { kind: 'empty' };
    return toReading(toNode(value, [], findPlaces(body)), positionAt);
  } catch (error) {
    return toFailedReading(error);
  }
};

function toFailedReading(error: unknown): Reading {
  if (error instanceof RangeError) return TOO_DEEP;
  if (!(error instanceof TomlError)) throw error;
  const { line, column } = error;
  return { kind: 'broken', message: 'this is not TOML', line, column };
}

type Places = ReadonlyMap<string, number>;

function findPlaces(text: string): Places {
  const places = new Map<string, number>();
  let table: readonly string[] = [];
  const note = (path: readonly string[], offset: number): void => {
    for (const [index] of path.entries()) {
      const key = JSON.stringify(path.slice(0, index + 1));
      if (!places.has(key)) places.set(key, offset);
    }
  };
  for (const { index, 0: line } of text.matchAll(/[^\r\n]+/g)) {
    const offset = index + line.search(/\S|$/);
    const header = HEADER.exec(line)?.[1];
    const field = FIELD.exec(line)?.[1];
    if (header !== undefined) note((table = partsOf(header)), offset);
    else if (field !== undefined) note([...table, ...partsOf(field)], offset);
  }
  return places;
}

function partsOf(key: string): readonly string[] {
  return [...key.matchAll(KEY_PART)].map(([, double, single, bare]) => double ?? single ?? bare ?? '');
}

function toNode(value: unknown, path: Path, places: Places, inherited = 0): Node {
  const offset = places.get(JSON.stringify(path)) ?? inherited;
  const node = { offset, length: 0 };
  const inner = (item: unknown, step: string | number): Node => toNode(item, [...path, step], places, offset);
  if (Array.isArray(value)) return { ...node, type: 'array', children: value.map(inner) };
  if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    const children = Object.entries(value).map(([name, item]): Node => {
      const child = inner(item, name);
      const key: Node = { type: 'string', offset: child.offset, length: 0, value: name };
      return { type: 'property', offset: child.offset, length: 0, children: [key, child] };
    });
    return { ...node, type: 'object', children };
  }
  if (typeof value === 'number' || typeof value === 'boolean') {
    return { ...node, type: typeof value === 'number' ? 'number' : 'boolean', value };
  }
  return { ...node, type: 'string', value: value instanceof Date ? value.toISOString() : String(value) };
}
