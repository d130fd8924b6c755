/**
 * Translates an entry from another host's form to Troupe's. Pure. The result is validated like any other entry, so a
 * translation may pass on a wrong value unchanged.
 */
import type { RawEntry } from '../entry/spelling.js';
import { fieldName, type Path } from '../entry/problem.js';
import { isObject } from '../entry/read-shape.js';
import { ENTRY_SCHEMA } from '../entry/entry-fields.js';

export interface Translation {
  readonly entry: RawEntry;
  /** The original place of a field of `entry`, if it had another name; keys are written as in `fieldName`. */
  readonly origins: Readonly<Record<string, Path>>;
  /** Fields that have a meaning for the other host and none here. */
  readonly unused: readonly string[];
  /** Fields that the other host knows and that apply here. */
  readonly words: readonly string[];
  /** Why only the other host can run it. */
  readonly foreign?: string;
}

export type Translate = (entry: RawEntry) => Translation;

interface Rules {
  /** Their name of a field, and ours. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Our field, with its value and the place that it came from; undefined if there is no value. */
  readonly made?: Readonly<Record<string, readonly [value: unknown, ...origin: string[]]>>;
  /** The places that parts of `made` came from. */
  readonly origins?: Readonly<Record<string, Path>>;
  /** Fields that `made` uses up, or that do not matter for a connection. */
  readonly known?: readonly string[];
  /** Which fields without a meaning here are reported; the others stay in the entry. Default: all. */
  readonly reports?: (field: string) => boolean;
}

/** A field with this name would lend its own fields to the entry. */
const PROTOTYPE = '__proto__';

export function translate(entry: RawEntry, rules: Rules): Translation {
  const { renamed = {}, made = {}, known = [], reports = () => true } = rules;
  const usedUp = new Set([...known, ...Object.values(made).flatMap(([, origin]) => origin ?? [])]);
  const fields: Record<string, unknown> = {};
  const origins: Record<string, Path> = { ...rules.origins };
  const unused: string[] = [];
  for (const [name, value] of Object.entries(entry)) {
    const ours = Object.hasOwn(renamed, name) ? renamed[name] : undefined;
    if (ours !== undefined) {
      fields[ours] = value;
      origins[ours] = [name];
    } else if (usedUp.has(name)) {
      continue;
    } else if (name !== PROTOTYPE && (Object.hasOwn(ENTRY_SCHEMA.properties, name) || !reports(name))) {
      fields[name] = value;
    } else {
      unused.push(name);
    }
  }
  for (const [ours, [value, ...origin]] of Object.entries(made)) {
    if (value === undefined) continue;
    fields[ours] = value;
    origins[ours] = origin;
  }
  return { entry: fields, origins, unused, words: [...Object.keys(renamed), ...usedUp] };
}

/** An entry that only the other host can start. */
export function foreign(why: string): Translation {
  return { entry: {}, origins: {}, unused: [], words: [], foreign: why };
}

export function reference(variable: string): string {
  return `\${${variable}}`;
}

/** Converts to milliseconds; a number may be text. A value that is not a number is passed on, for the validation to report. */
export function fromSeconds(value: unknown): unknown {
  const seconds = typeof value === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : value;
  return typeof seconds === 'number' ? Math.round(seconds * 1_000) : value;
}

/** Rules for the lists of tools in the fields of these names. */
export function toolLists(entry: RawEntry, allowField: string, denyField: string) {
  const { [allowField]: allow, [denyField]: deny } = entry;
  const filter = { ...(isAbsent(allow) ? {} : { allow }), ...(isAbsent(deny) ? {} : { deny }) };
  const isNone = Object.keys(filter).length === 0;
  return {
    made: { tools: [isNone ? undefined : filter, isAbsent(allow) ? denyField : allowField] },
    origins: { 'tools.allow': [allowField], 'tools.deny': [denyField] },
    known: [allowField, denyField],
  } as const;
}

/** The original place of a place in a translated entry. */
export function originOf(path: Path, origins: Translation['origins']): Path {
  for (let length = path.length; length > 0; length--) {
    const name = fieldName(path.slice(0, length));
    const origin = Object.hasOwn(origins, name) ? origins[name] : undefined;
    if (origin !== undefined) return [...origin, ...path.slice(length)];
  }
  return path;
}

/**
 * One object from all that are given. If one of them is not an object, returns the first such value, for the validation
 * to report.
 */
export function joined(...parts: readonly unknown[]): unknown {
  const present = parts.filter((part) => !isAbsent(part));
  if (present.length === 0) return undefined;
  const wrong = present.find((part) => !isObject(part));
  return wrong === undefined ? present.reduce((all, part) => ({ ...all, ...part })) : wrong;
}

export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}
