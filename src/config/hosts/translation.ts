/**
 * How an entry that another host wrote is put into Troupe's words. Pure; what comes out is validated like any other
 * entry, so that a translation may hand on a wrong value as it is.
 */
import type { RawEntry } from '../entry-fields.js';
import { fieldName, type Path } from '../problem.js';
import { isObject } from '../read-shape.js';
import { ENTRY_SCHEMA } from '../schema.js';

export interface Translation {
  readonly entry: RawEntry;
  /** Where a field of `entry` stood, if it was called something else there; keys are written as `fieldName` does. */
  readonly origins: Readonly<Record<string, Path>>;
  /** Fields that mean something to the other host and nothing here. */
  readonly unused: readonly string[];
  /** Fields that the other host knows and that count here. */
  readonly words: readonly string[];
  /** Why only the other host can run it. */
  readonly foreign?: string;
}

export type Translate = (entry: RawEntry) => Translation;

interface Rules {
  /** Their name of a field, and ours. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Ours, with what it comes to and where that stood; undefined where there is nothing to say. */
  readonly made?: Readonly<Record<string, readonly [value: unknown, ...origin: string[]]>>;
  /** Where parts of what was made stood. */
  readonly origins?: Readonly<Record<string, Path>>;
  /** Fields that are used up by `made`, or of no importance for a connection. */
  readonly known?: readonly string[];
  /** Of the fields that mean nothing here, those worth telling; the others stay in the entry. Default: all. */
  readonly tells?: (field: string) => boolean;
}

/** A field of this name would lend its own fields to the entry. */
const PROTOTYPE = '__proto__';

export function translate(entry: RawEntry, rules: Rules): Translation {
  const { renamed = {}, made = {}, known = [], tells = () => true } = rules;
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
    } else if (name !== PROTOTYPE && (Object.hasOwn(ENTRY_SCHEMA.properties, name) || !tells(name))) {
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

/** An entry that cannot be started by anybody else. */
export function foreign(why: string): Translation {
  return { entry: {}, origins: {}, unused: [], words: [], foreign: why };
}

export function reference(variable: string): string {
  return `\${${variable}}`;
}

/** Milliseconds; what is no number is handed on, for the validation to tell. */
export function fromSeconds(value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 1_000) : value;
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

/** The origin of a place in a translated entry. */
export function originOf(path: Path, origins: Translation['origins']): Path {
  for (let length = path.length; length > 0; length--) {
    const name = fieldName(path.slice(0, length));
    const origin = Object.hasOwn(origins, name) ? origins[name] : undefined;
    if (origin !== undefined) return [...origin, ...path.slice(length)];
  }
  return path;
}

/** One object of all that are there; the first that is no object instead, for the validation to tell. */
export function joined(...parts: readonly unknown[]): unknown {
  const present = parts.filter((part) => !isAbsent(part));
  if (present.length === 0) return undefined;
  const wrong = present.find((part) => !isObject(part));
  return wrong === undefined ? present.reduce((all, part) => ({ ...all, ...part })) : wrong;
}

export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}
