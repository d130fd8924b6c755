/** What was told to whom, as the sequence view draws it: one arrow for each message. */
import { connectionName, MANAGER } from '../../../src/event-log/address.js';
import type { LogEntry } from '../../../src/event-log/entry.js';
import { inWords } from './in-words.js';

export interface Arrow {
  readonly position: number;
  readonly seq: number;
  readonly at: number;
  /** Names of the life lines. */
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly tone: 'plain' | 'good' | 'bad' | 'warn' | 'wire';
  /** It followed from the one above. */
  readonly isDerived: boolean;
  /** From a request to its answer, milliseconds. */
  readonly ms?: number;
}

export const HOST = 'host';
export const TIMER = 'timer';
export const MANAGER_LINE = 'manager';
const OTHERS: ReadonlySet<string> = new Set([HOST, TIMER, MANAGER_LINE]);
/** A connection can be called as one of the others is. */
const connectionOf = (name: string): string => (OTHERS.has(name) ? `${name} · connection` : name);
/** Every effect of a connection is on one line. */
const effectsOf = (name: string): string => `${name} · effects`;
const serverOf = (name: string): string => `${name} · server`;

export function arrowsOf(position: number, entry: LogEntry): Arrow[] {
  const base = { position, seq: entry.seq, at: entry.at, isDerived: false };
  if (entry.kind === 'snapshot') return [];
  if (entry.kind === 'note') return noteArrows(base, entry.note);
  const sender = entry.kind === 'send' ? HOST : entry.kind === 'timer' ? TIMER : lineOf(entry.from ?? '');
  const first = { ...base, from: sender, to: lineOf(entry.to), ...wordsOf(entry.event.type) };
  const derived = (entry.derived ?? []).map(({ to, from, event }) => ({
    ...base,
    from: lineOf(from ?? entry.to),
    to: lineOf(to),
    ...wordsOf(event.type),
    isDerived: true,
  }));
  return [first, ...derived];
}

/** The life line of an address. */
function lineOf(address: string): string {
  if (address === MANAGER) return MANAGER_LINE;
  const name = connectionName(address) ?? '?';
  return address.split('/').length > 2 ? effectsOf(name) : connectionOf(name);
}

function wordsOf(type: string): Pick<Arrow, 'text' | 'tone'> {
  if (type.startsWith('xstate.done.actor.')) return { text: `${type.slice(18)} done`, tone: 'good' };
  if (type.startsWith('xstate.error.actor.')) return { text: `${type.slice(19)} failed`, tone: 'bad' };
  if (type === 'xstate.init') return { text: 'is begun', tone: 'plain' };
  if (type === 'xstate.stop') return { text: 'is ended', tone: 'plain' };
  if (type.startsWith('xstate.after.'))
    return { text: `after ${type.slice(13).split('.')[0] ?? ''}`, tone: 'warn' };
  return { text: type, tone: type === 'session.lost' ? 'bad' : 'plain' };
}

type Base = Pick<Arrow, 'position' | 'seq' | 'at' | 'isDerived'>;

function noteArrows(
  base: Base,
  note: Readonly<Record<string, unknown>> & { readonly type: string },
): Arrow[] {
  const { type, connection } = note;
  if (typeof connection !== 'string') return [];
  const [line, server] = [connectionOf(connection), serverOf(connection)];
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
    return [{ ...base, from: line, to: HOST, text: `${inWords(note['event'])} rejected`, tone: 'bad' }];
  return [];
}

function tookOf(ms: unknown): Pick<Arrow, 'ms'> {
  return typeof ms === 'number' ? { ms } : {};
}
