/**
 * The format of an event log, version 1: JSON lines, a header and then entries.
 *
 * Owns what a line may hold and what is said where it does not fit. Does not own bytes and lines (`read-log.ts`). Runs
 * in a browser.
 *
 * L1. What caused something is an entry; what followed from it among the machines is in its `derived`.
 * L2. `seq` grows by one from entry to entry, over all parts of a log.
 * L3. A snapshot is a run of entries, one for each machine, that nothing comes between. Every part begins with one, and
 *     whatever a recorder had to leave out is followed by one.
 * L4. `check` is over everything since the part began, so an entry that was dropped, moved or altered shows.
 */
import type { StateValue } from 'xstate';
import { isAddress } from './address.js';

/** The version of the format that is written, and the newest that is read. */
export const LOG_FORMAT = 1;
/** Grows whenever the policies or the updates of a chart decide otherwise on the same events, which no hash tells. */
export const POLICY_VERSION = 1;

export type JsonObject = Readonly<Record<string, unknown>>;

export interface LogHeader {
  readonly troupeLog: typeof LOG_FORMAT;
  /** What wrote it. */
  readonly package: { readonly name: string; readonly version: string };
  readonly policyVersion: number;
  /** Hashes of the charts that ran. */
  readonly machines: { readonly connection: string; readonly manager: string };
  /** When this part began, milliseconds since the epoch. */
  readonly startedAt: number;
  /** Of the troupe's jitter. */
  readonly seed: number;
  /** Which part of the log this is, from 1. */
  readonly part: number;
  /** Number of the first entry. */
  readonly firstSeq: number;
  /** What the manager was started with. */
  readonly input: JsonObject;
  /** What else the host had chosen, secrets masked. */
  readonly options: JsonObject;
}

/** An event as it was sent; an `Error` in it is `{ $error: { name, message } }`. */
export type LoggedEvent = JsonObject & { readonly type: string };

/** What one machine was told by another in the course of an entry. */
export interface Delivery {
  readonly to: string;
  readonly from?: string;
  readonly event: LoggedEvent;
}

/** What kinds of causes there are. */
export const CAUSE_KINDS = ['send', 'settle', 'callback', 'timer'] as const;
export type CauseKind = (typeof CAUSE_KINDS)[number];

export interface CauseEntry extends Delivery {
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The host sent it, an effect settled, an effect told it, or a timer of the machines fired. */
  readonly kind: CauseKind;
  /** Which timer fired: the how manieth that the machines have set. */
  readonly timer?: number;
  /** The state of `to` once everything was at rest. */
  readonly state: StateValue;
  /** Of the other machines those that came to another state with it, by address; left out where none did. */
  readonly moved?: Readonly<Record<string, StateValue>>;
  /** What followed among the machines, in order; left out where nothing did. */
  readonly derived?: readonly Delivery[];
  /** Null where the next entry came before everything was at rest. */
  readonly check: string | null;
}

export interface SnapshotEntry {
  readonly seq: number;
  readonly at: number;
  readonly kind: 'snapshot';
  readonly to: string;
  readonly status: 'active' | 'done' | 'error' | 'stopped';
  readonly state: StateValue;
  readonly context: JsonObject;
  /** How many entries of the same snapshot follow. */
  readonly left: number;
  readonly check: string;
}

/** Something for people; replay passes over it. */
export interface NoteEntry {
  readonly seq: number;
  readonly at: number;
  readonly kind: 'note';
  readonly note: JsonObject & { readonly type: string };
  readonly check: string;
}

export type LogEntry = CauseEntry | SnapshotEntry | NoteEntry;

/** Why a value is no header, as the rest of a sentence that begins with its line; undefined where it is one. */
export function headerProblem(value: JsonObject): string | undefined {
  return misfit(value, HEADER_FIELDS);
}

/** Why a value is no entry, as the rest of a sentence that begins with its line; undefined where it is one. */
export function entryProblem(value: JsonObject): string | undefined {
  const { kind } = value;
  if (typeof kind !== 'string') return "lacks 'kind'";
  const fields = FIELDS_OF.get(kind);
  return fields === undefined ? 'is of a kind that does not exist' : misfit(value, fields);
}

interface Field {
  readonly name: string;
  readonly fits: (value: unknown) => boolean;
  readonly expected: string;
  readonly isOptional?: true;
}

function misfit(value: JsonObject, fields: readonly Field[]): string | undefined {
  for (const { name, fits, expected, isOptional } of fields) {
    if (!Object.hasOwn(value, name)) {
      if (isOptional) continue;
      return `lacks '${name}'`;
    }
    if (!fits(value[name])) return `has a '${name}' that is not ${expected}`;
  }
  return undefined;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isNumber = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1;
/** What a `Date` can be. */
const LATEST_MS = 8.64e15;
export const isTime = (value: unknown): value is number =>
  Math.abs(Number(value)) <= LATEST_MS && typeof value === 'number';
const isCheck = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{1,32}$/.test(value);

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What is to be a text where nobody has looked whether it is one; empty where it is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The name of XState's own wildcard is none of an event: its development build refuses it. */
function isEvent(value: unknown): boolean {
  return isObject(value) && typeof value['type'] === 'string' && value['type'] !== '*';
}

function isDelivery(value: unknown): boolean {
  if (!isObject(value) || !isAddress(value['to']) || !isEvent(value['event'])) return false;
  return !Object.hasOwn(value, 'from') || isAddress(value['from']);
}

/** No chart is deeper; a log may say anything. */
const DEEPEST_STATE = 16;

export function isState(value: unknown, depth = 0): value is StateValue {
  if (typeof value === 'string') return true;
  if (!isObject(value) || depth === DEEPEST_STATE) return false;
  return Object.values(value).every((below) => isState(below, depth + 1));
}

export function isMoved(value: unknown): value is NonNullable<CauseEntry['moved']> {
  if (!isObject(value)) return false;
  return Object.entries(value).every(([address, state]) => isAddress(address) && isState(state));
}

const hasTexts =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    isObject(value) && names.every((name) => Object.hasOwn(value, name) && isText(value[name]));

const NAME_AND_VERSION = { fits: hasTexts('name', 'version'), expected: 'a name and a version' };
const HASHES = { fits: hasTexts('connection', 'manager'), expected: 'the hashes of the charts' };
const COUNT = { fits: isCount, expected: 'a whole number' };
const NUMBER = { fits: isNumber, expected: 'a whole number of at least 1' };
const AMOUNT = { fits: (value: unknown) => Number.isFinite(value), expected: 'a number' };
const TIME = { fits: isTime, expected: 'a time' };
const OBJECT = { fits: isObject, expected: 'an object' };
const ADDRESS = { fits: isAddress, expected: 'the address of an actor' };
const EVENT = { fits: isEvent, expected: 'an event' };
const STATE = { fits: (value: unknown) => isState(value), expected: 'a state' };
const STATUS = {
  fits: (value: unknown) => ['active', 'done', 'error', 'stopped'].includes(value as string),
  expected: 'a status',
};
const DERIVED = {
  fits: (value: unknown) => Array.isArray(value) && value.every(isDelivery),
  expected: 'a list of what followed',
};
const MOVED = { fits: isMoved, expected: 'a list of states' };
const CHECK = { fits: isCheck, expected: 'a check' };
const CHECK_OR_NULL = { fits: (value: unknown) => value === null || isCheck(value), expected: 'a check' };

const HEADER_FIELDS: readonly Field[] = [
  { name: 'package', ...NAME_AND_VERSION },
  { name: 'policyVersion', ...COUNT },
  { name: 'machines', ...HASHES },
  { name: 'startedAt', ...TIME },
  { name: 'seed', ...AMOUNT },
  { name: 'part', ...NUMBER },
  { name: 'firstSeq', ...NUMBER },
  { name: 'input', ...OBJECT },
  { name: 'options', ...OBJECT },
];

const EVERY_ENTRY: readonly Field[] = [
  { name: 'seq', ...NUMBER },
  { name: 'at', ...TIME },
];

const CAUSE_FIELDS: readonly Field[] = [
  ...EVERY_ENTRY,
  { name: 'to', ...ADDRESS },
  { name: 'event', ...EVENT },
  { name: 'state', ...STATE },
  { name: 'moved', ...MOVED, isOptional: true },
  { name: 'derived', ...DERIVED, isOptional: true },
  { name: 'check', ...CHECK_OR_NULL },
];

const FIELDS_OF: ReadonlyMap<string, readonly Field[]> = new Map([
  ['send', CAUSE_FIELDS],
  ['settle', [...CAUSE_FIELDS, { name: 'from', ...ADDRESS }]],
  ['callback', [...CAUSE_FIELDS, { name: 'from', ...ADDRESS }]],
  ['timer', [...CAUSE_FIELDS, { name: 'timer', ...NUMBER }]],
  [
    'snapshot',
    [
      ...EVERY_ENTRY,
      { name: 'to', ...ADDRESS },
      { name: 'status', ...STATUS },
      { name: 'state', ...STATE },
      { name: 'context', ...OBJECT },
      { name: 'left', ...COUNT },
      { name: 'check', ...CHECK },
    ],
  ],
  ['note', [...EVERY_ENTRY, { name: 'note', ...EVENT }, { name: 'check', ...CHECK }]],
]);
