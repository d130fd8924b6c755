/**
 * The format of an event log, version 2: JSON lines, a header and then entries.
 *
 * Owns the content of a line and the message for an invalid one. Does not own bytes and lines (`read-log.ts`). Runs in
 * a browser. Longer than 300 lines because it holds both the types of the entries and their checks.
 *
 * L1. A cause is an entry; its consequences among the machines are in its `derived`.
 * L2. `seq` grows by one from entry to entry, over all parts of a log.
 * L3. A snapshot is an uninterrupted run of entries, one for each machine. Every part begins with one, and one follows
 *     whatever a recorder had to leave out.
 * L4. `check` covers everything since the part began, so an entry that was dropped, moved or altered is detected. It does
 *     not cover `host`, so the name of a computer can be removed from a log.
 * L5. All parts of one recording have the same `run`; logs of earlier writers have none.
 */
import { isJsonObject, type JsonObject } from '../../json/json-object.js';
import type { StatusDetails } from '../../lifecycle/status-details.js';
import type { StateValue, EventObject } from 'xstate';
import { isAddress } from '../../actor-system/actor-path.js';
import { crashIn } from '../../../machines/connection/connection.crash.js';

/** The version of the format that this package writes and reads. */
export const LOG_FORMAT = 2;
/** Maximum length of a line, bytes. Nothing longer is written. */
export const MAX_LINE_BYTES = 16 * 1_024 * 1_024;
/**
 * Grows if policies or chart updates decide differently on the same events. A hash of a chart does not show
 * such a change.
 */
export const POLICY_VERSION = 3;

/** First line of each part of an event log: what wrote it, and the input of the machines. */
export interface LogHeader {
  /** Version of the format. */
  readonly troupeLog: typeof LOG_FORMAT;
  /** The package that wrote the log. */
  readonly package: {
    /** Name in the package registry, such as `mcp-troupe`. */
    readonly name: string;
    /** Version of the package, such as `0.1.0`. */
    readonly version: string;
  };
  /** `POLICY_VERSION` of the writer. A replay with another version may decide differently. */
  readonly policyVersion: number;
  /** Hashes of the charts that may appear in a recording, by name. */
  readonly machines: Readonly<Record<string, string>> & {
    /** Hash of the connection chart (see `chartHash`). */
    readonly connection: string;
    /** Hash of the manager chart. */
    readonly manager: string;
  };
  /** Id of the recording, the same in all its parts and different in every other recording. Absent in older logs. */
  readonly run?: string;
  /** Name of the computer. Absent in older logs, and if the host or a report has left it out. */
  readonly host?: string;
  /** Id of the process that recorded. Absent in older logs. */
  readonly pid?: number;
  /** When this part began, milliseconds since the epoch. */
  readonly startedAt: number;
  /** Seed of the troupe's jitter. */
  readonly seed: number;
  /** Which part of the log this is, from 1. */
  readonly part: number;
  /** Number (`seq`) of the first entry in this part. */
  readonly firstSeq: number;
  /** Input of the manager chart. */
  readonly input: JsonObject;
  /** The other options of the host, with secrets masked. */
  readonly options: JsonObject;
}

/** An event as it was sent. An `Error` in it is written as `{ $error: { name, message } }`. */
export type LoggedEvent = JsonObject & {
  /** Type of the event, for instance `session.lost`. */
  readonly type: string;
};

/** An event that one machine received from another. */
export interface Delivery {
  /** Address of the receiving machine, such as `manager` or `manager/docs`. */
  readonly to: string;
  /** Address of the sender. Absent if the sender is not a machine. */
  readonly from?: string;
  /** The event with its data; secrets are masked. */
  readonly event: LoggedEvent;
}

/** The kinds of causes. */
export const CAUSE_KINDS = ['send', 'settle', 'callback', 'timer'] as const;
/** The kind of a cause: `send`, `settle`, `callback` or `timer`. */
export type CauseKind = (typeof CAUSE_KINDS)[number];

/** An event from outside the machines, and its consequences among them. */
export interface CauseEntry extends Delivery {
  /** Number of the entry. Grows by one from entry to entry, over all parts of a log. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /**
   * Source of the event: the host (`send`), a settled effect (`settle`), a running effect (`callback`) or a
   * delay of a machine (`timer`).
   */
  readonly kind: CauseKind;
  /** Number of the timer that fired, in the order in which the machines set them. Absent for other kinds. */
  readonly timer?: number;
  /** State of the receiver (`to`) once everything was at rest. */
  readonly state: StateValue;
  /** New states of the other machines that changed state in the same step, by address. Absent if none did. */
  readonly moved?: Readonly<Record<string, StateValue>>;
  /** Events that the machines sent to each other in consequence, in order. Absent if there are none. */
  readonly derived?: readonly Delivery[];
  /** Checksum as 16 hexadecimal digits. Null if the next entry came before everything was at rest. */
  readonly check: string | null;
}

/**
 * The state of one machine. A snapshot of all machines is a run of these entries; each part of a log begins
 * with one.
 */
export interface SnapshotEntry {
  /** Number of the entry, over all parts of a log. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Always `snapshot`. */
  readonly kind: 'snapshot';
  /** Address of the machine. */
  readonly to: string;
  /** Whether the actor still runs, in the terms of XState. */
  readonly status: 'active' | 'done' | 'error' | 'stopped';
  /** The state value of the machine, as XState writes it. */
  readonly state: StateValue;
  /** The context of the machine; secrets are masked. */
  readonly context: JsonObject;
  /** Status details, from the events that the connection has emitted so far. Absent for other machines. */
  readonly details?: StatusDetails | undefined;
  /** Number of entries of the same snapshot that still follow; 0 for the last one. */
  readonly left: number;
  /** Checksum over everything since the part began, as 16 hexadecimal digits. */
  readonly check: string;
}

/** A note for people, such as a message on the wire. A replay skips it. */
export interface NoteEntry {
  /** Number of the entry, over all parts of a log. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Always `note`. */
  readonly kind: 'note';
  /** The content, as plain JSON; its `type` says what the note is about. */
  readonly note: JsonObject & {
    /** What the note is about, for instance `wire`. */
    readonly type: string;
  };
  /** Checksum over everything since the part began, as 16 hexadecimal digits. */
  readonly check: string;
}

/** One line of an event log after the header. */
export type LogEntry = CauseEntry | SnapshotEntry | NoteEntry;

/** Why a value is not a header, as the rest of a sentence that begins with its line; undefined if it is one. */
export function headerProblem(value: JsonObject): string | undefined {
  return misfit(value, HEADER_FIELDS);
}

/** Why a value is not an entry, as the rest of a sentence that begins with its line; undefined if it is one. */
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
/** The latest time of a `Date`. */
const LATEST_MS = 8.64e15;
export const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= LATEST_MS;
const isCheck = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{1,32}$/.test(value);

/** A value that should be a text but was not checked; empty if it is not a text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** No event may have the name of XState's own wildcard: its development build refuses it. */
function isEvent(value: unknown): boolean {
  return isJsonObject(value) && typeof value['type'] === 'string' && value['type'] !== '*';
}

function isDelivery(value: unknown): boolean {
  if (!isJsonObject(value) || !isAddress(value['to']) || !isEvent(value['event'])) return false;
  return !Object.hasOwn(value, 'from') || isAddress(value['from']);
}

/** No chart is deeper, but a log may contain anything. */
const DEEPEST_STATE = 16;

export function isState(value: unknown, depth = 0): value is StateValue {
  if (typeof value === 'string') return true;
  if (!isJsonObject(value) || depth === DEEPEST_STATE) return false;
  return Object.values(value).every((below) => isState(below, depth + 1));
}

export function isMoved(value: unknown): value is NonNullable<CauseEntry['moved']> {
  if (!isJsonObject(value)) return false;
  return Object.entries(value).every(([address, state]) => isAddress(address) && isState(state));
}

const hasTexts =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    isJsonObject(value) && names.every((name) => Object.hasOwn(value, name) && isText(value[name]));

const NAME_AND_VERSION = { fits: hasTexts('name', 'version'), expected: 'a name and a version' };
const HASHES = { fits: hasTexts('connection', 'manager'), expected: 'the hashes of the charts' };
const TEXT = { fits: isText, expected: 'a text' };
const COUNT = { fits: isCount, expected: 'a whole number' };
const NUMBER = { fits: isNumber, expected: 'a whole number of at least 1' };
const AMOUNT = { fits: (value: unknown) => Number.isFinite(value), expected: 'a number' };
const TIME = { fits: isTime, expected: 'a time' };
const OBJECT = { fits: isJsonObject, expected: 'an object' };
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
  { name: 'run', ...TEXT, isOptional: true },
  { name: 'host', ...TEXT, isOptional: true },
  { name: 'pid', ...COUNT, isOptional: true },
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
      { name: 'details', ...OBJECT, isOptional: true },
      { name: 'left', ...COUNT },
      { name: 'check', ...CHECK },
    ],
  ],
  ['note', [...EVERY_ENTRY, { name: 'note', ...EVENT }, { name: 'check', ...CHECK }]],
]);

// Events as JSON, in both directions: an `Error` keeps its name, its message and its record.

/** Stands for a sent value that is not an event, which only a bug sends: an actor dies of it, in a replay as well. */
const NO_EVENT = 'troupe.noEvent';

export function toLogged(event: unknown): LoggedEvent {
  if (!isJsonObject(event) || typeof event['type'] !== 'string') return { type: NO_EVENT };
  const { error } = event;
  const isPlain = !(error instanceof Error);
  return (isPlain ? event : { ...event, error: { $error: partsOf(error) } }) as LoggedEvent;
}

export function fromLogged(event: LoggedEvent): EventObject {
  const { error, type } = event;
  if (type === NO_EVENT) return null as unknown as EventObject;
  if (!isJsonObject(error) || !isJsonObject(error['$error'])) return event;
  const { name, message, crash } = error['$error'];
  const restored = new Error(textOf(message));
  restored.name = textOf(name);
  if (crash !== undefined) Object.assign(restored, { crash });
  return Object.assign({ ...event }, { error: restored });
}

function partsOf(error: Error): object {
  const { name, message } = error;
  const crash = crashIn(error);
  return crash === undefined ? { name, message } : { name, message, crash };
}

// Checks the format version of a log. Every reader uses it. Runs in a browser.

/** Why a log cannot be read at all. */
export interface VersionProblem {
  readonly code: 'not-a-log' | 'older' | 'newer';
  /** The problem and its remedy. */
  readonly message: string;
}

/** `value` is the first line of a log, or of a part, and `line` its number. Undefined if what follows can be read. */
export function versionProblem(value: unknown, line: number): VersionProblem | undefined {
  const version = isJsonObject(value) && Object.hasOwn(value, 'troupeLog') ? value['troupeLog'] : undefined;
  if (!isVersion(version))
    return { code: 'not-a-log', message: `Line ${line} is not the header of an event log.` };
  if (version === LOG_FORMAT) return undefined;
  const versions = `This log has version ${version}; this version of mcp-troupe reads version ${LOG_FORMAT}.`;
  return version < LOG_FORMAT
    ? { code: 'older', message: `${versions} Convert it: node tools/convert-log.mjs OLD NEW` }
    : { code: 'newer', message: `${versions} Use the version that wrote it, or a newer one.` };
}

function isVersion(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}
