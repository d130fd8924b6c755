/** Messages between actors, for the sequence view: one arrow each. */
import { connectionName, isMachineAddress, MANAGER, rootId } from '../../../src/actor-system/actor-path.js';
import type { LogEntry } from '../../../src/event-log/format/entry.js';
import { commandWords, inWords } from './in-words.js';
import { chartOf, laneAt } from './lane-names.js';

export interface Arrow {
  readonly position: number;
  readonly seq: number;
  readonly at: number;
  /** Names of the life lines. */
  readonly from: string;
  readonly to: string;
  readonly text: string;
  /** What it carries, if that is an event of a machine. */
  readonly event?: { readonly chart: string; readonly type: string };
  readonly tone: 'plain' | 'good' | 'bad' | 'warn' | 'wire';
  /** It is a consequence of the message above. */
  readonly isDerived: boolean;
  /** From a request to its answer, milliseconds. */
  readonly ms?: number;
}

export const HOST = 'host';
export const TIMER = 'timer';
export const MANAGER_LINE = 'manager';
const OTHERS: ReadonlySet<string> = new Set([HOST, TIMER, MANAGER_LINE]);
/** A connection may have the name of one of the other life lines. */
const connectionOf = (name: string): string => (OTHERS.has(name) ? `${name} · connection` : name);
/** An auxiliary machine, whose name may equal a connection's. */
const machineOf = (id: string): string => `${id} · machine`;
/** All effects of a machine share one line. */
const effectsOf = (name: string): string => `${name} · work`;
const serverOf = (name: string): string => `${name} · server`;

/**
 * `isFolded`: a machine, its effects and its server share one line, because there are several of them. `label` names the
 * recording, if several are shown: each has life lines of its own.
 */
export function arrowsOf(position: number, entry: LogEntry, isFolded = false, label?: string): Arrow[] {
  const arrows = arrowsIn(position, entry, isFolded);
  if (label === undefined) return arrows;
  const own = (line: string): string => (line === HOST || line === TIMER ? line : `${line} (${label})`);
  return arrows.map((arrow) => ({ ...arrow, from: own(arrow.from), to: own(arrow.to) }));
}

function arrowsIn(position: number, entry: LogEntry, isFolded: boolean): Arrow[] {
  const base = { position, seq: entry.seq, at: entry.at, isDerived: false };
  if (entry.kind === 'snapshot') return [];
  if (entry.kind === 'note') return noteArrows(base, entry.note, isFolded);
  const sender =
    entry.kind === 'send' ? HOST : entry.kind === 'timer' ? TIMER : lineOf(entry.from ?? '', isFolded);
  const first = {
    ...base,
    from: sender,
    to: lineOf(entry.to, isFolded),
    ...eventAt(entry.to, entry.event.type),
  };
  const derived = (entry.derived ?? []).map(({ to, from, event }) => ({
    ...base,
    from: lineOf(from ?? entry.to, isFolded),
    to: lineOf(to, isFolded),
    ...eventAt(to, event.type),
    isDerived: true,
  }));
  return [first, ...derived];
}

/** The life line of an address. */
function lineOf(address: string, isFolded: boolean): string {
  if (address === MANAGER) return MANAGER_LINE;
  const id = rootId(address);
  const name = connectionName(address) ?? '?';
  if (!isFolded && !isMachineAddress(address)) return effectsOf(id === undefined ? name : machineOf(id));
  return id === undefined ? connectionOf(name) : machineOf(id);
}

/** An event that the machine at that address receives. */
function eventAt(address: string, type: string): Pick<Arrow, 'text' | 'event' | 'tone'> {
  return { text: type, event: { chart: chartOf(laneAt(address)), type }, tone: toneOf(type) };
}

function toneOf(type: string): Arrow['tone'] {
  if (type.startsWith('xstate.done.actor.')) return 'good';
  if (type.startsWith('xstate.error.actor.') || type === 'session.lost') return 'bad';
  return type.startsWith('xstate.after.') ? 'warn' : 'plain';
}

type Base = Pick<Arrow, 'position' | 'seq' | 'at' | 'isDerived'>;

function noteArrows(
  base: Base,
  note: Readonly<Record<string, unknown>> & { readonly type: string },
  isFolded: boolean,
): Arrow[] {
  const { type, server: name } = note;
  if (typeof name !== 'string') return [];
  const line = connectionOf(name);
  const server = isFolded ? line : serverOf(name);
  if (type === 'wire') {
    const isSent = note['direction'] === 'sent';
    const [from, to] = isSent ? [line, server] : [server, line];
    const method = typeof note['method'] === 'string' ? note['method'] : 'message';
    const took = tookOf(note['ms']);
    const text = took.ms === undefined ? method : `${method} ↩`;
    return [{ ...base, from, to, text, tone: 'wire', ...took }];
  }
  if (type === 'call.started')
    return [{ ...base, from: HOST, to: line, text: `call ${inWords(note['tool'])}`, tone: 'plain' }];
  if (type === 'call.finished') {
    const outcome = inWords(note['outcome']);
    const tone = outcome === 'answered' ? 'good' : 'bad';
    const text = `${inWords(note['tool'])}: ${outcome}`;
    return [{ ...base, from: line, to: HOST, text, tone, ...tookOf(note['durationMs']) }];
  }
  if (type === 'connection.rejected')
    return [{ ...base, from: line, to: HOST, text: `${commandWords(note['event'])} rejected`, tone: 'bad' }];
  return [];
}

function tookOf(ms: unknown): Pick<Arrow, 'ms'> {
  return typeof ms === 'number' ? { ms } : {};
}
