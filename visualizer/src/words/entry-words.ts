/** Words for the parts of a log: kinds of entries, events that every chart has, notes, fields. */
import type { Category } from '../log/labels.js';
import type { LogEntry } from '../../../src/event-log/format/entry.js';

export const CATEGORY_WORDS: Readonly<Record<Category, string>> = {
  rejection: 'rejection',
  failure: 'failure',
  call: 'call',
  list: 'list change',
  command: 'command',
  timer: 'timer',
  wire: 'message',
  other: 'other',
};

const KIND_WORDS: Readonly<Record<LogEntry['kind'], string>> = {
  send: 'command',
  settle: 'result',
  callback: 'report',
  timer: 'timer',
  snapshot: 'full state',
  note: 'note',
};

/** The kind of an entry. A log of another version may have other kinds. */
export function kindWords(category: Category, kind: string): string {
  if (category !== 'other') return CATEGORY_WORDS[category];
  return Object.hasOwn(KIND_WORDS, kind) ? KIND_WORDS[kind as LogEntry['kind']] : kind;
}

/** Events of every chart, and the types of notes. A snapshot has no type. */
export const EVENT_WORDS: Readonly<Record<string, string>> = {
  '': 'full state',
  'xstate.init': 'started',
  'xstate.stop': 'stopped',
  wire: 'protocol message',
  'call.started': 'call started',
  'call.finished': 'call ended',
  'connection.rejected': 'command rejected',
  gap: 'entries left out',
  'gap.notes': 'notes left out',
};

/** Why a command was rejected. */
export const REASON_WORDS: Readonly<Record<string, string>> = {
  unhandled: 'not possible in this state',
  guarded: 'its conditions are not met',
  ignored: 'it would change nothing',
  stopped: 'the connection has ended',
};

/** Fields of entries, notes and failures. The names that a chart has for its own fields come first. */
export const ENTRY_WORDS: Readonly<Record<string, string>> = {
  seq: 'number of the entry',
  at: 'time',
  kind: 'cause',
  to: 'receiver',
  from: 'sender',
  event: 'event',
  type: 'type',
  timer: 'number of the timer',
  state: 'state',
  moved: 'other machines that changed state',
  derived: 'events that followed',
  check: 'checksum',
  status: 'status',
  context: 'context',
  details: 'details',
  left: 'entries of the same kind that follow',
  note: 'note',
  server: 'server',
  direction: 'direction',
  method: 'method',
  bytes: 'size in bytes',
  ms: 'answered after',
  id: 'number of the request',
  durationMs: 'duration',
  output: 'result',
  error: 'error',
  startedAt: 'began',
  reason: 'reason',
  code: 'code',
  message: 'message',
  phase: 'phase',
  hint: 'hint',
  url: 'address',
  exit: 'end of the process',
  signal: 'signal',
  http: 'HTTP response',
  bodyStart: 'start of the body',
  wwwAuthenticate: 'WWW-Authenticate',
  retryAfterMs: 'retry after',
  canSignIn: 'sign-in is possible',
  rpcCode: 'JSON-RPC code',
  stderrTail: 'last lines of stderr',
  stdoutTail: 'last lines of stdout',
};

/** `shuttingDown` as `shutting down`, for names that are plain words. */
export function spaced(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
