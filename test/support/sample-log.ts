/** A small, handwritten log in the format of the recorder. */
import {
  LOG_FORMAT,
  POLICY_VERSION,
  type LogEntry,
  type LogHeader,
} from '../../src/event-log/format/entry.js';

export const SAMPLE_HEADER: LogHeader = {
  troupeLog: LOG_FORMAT,
  package: { name: 'mcp-troupe', version: '0.1.0' },
  policyVersion: POLICY_VERSION,
  machines: { connection: 'c0ffee', manager: 'decaf' },
  startedAt: 1_000_000,
  seed: 1,
  part: 1,
  firstSeq: 1,
  input: {
    startSlots: 2,
    slotHoldMs: 500,
    startGateMs: 10_000,
    retryBurst: 20,
    retryEveryMs: 100,
  },
  options: {},
};

export const SAMPLE_ENTRIES: readonly LogEntry[] = [
  {
    seq: 1,
    at: 1_000_000,
    kind: 'snapshot',
    to: '$',
    status: 'active',
    state: 'idle',
    context: { alive: 0 },
    left: 0,
    check: '0a',
  },
  {
    seq: 2,
    at: 1_000_001,
    to: '$',
    kind: 'send',
    event: { type: 'manager.start', specs: [] },
    derived: [{ to: '$/files#1', from: '$', event: { type: 'xstate.init', input: {} } }],
    state: 'starting',
    check: null,
  },
  {
    seq: 3,
    at: 1_000_002,
    to: '$/files#1',
    from: '$/files#1/resolveConfig#1',
    kind: 'settle',
    event: { type: 'xstate.done.actor.resolveConfig', output: { kind: 'untrusted' } },
    state: { configuring: 'awaitingTrust' },
    check: '0b',
  },
  {
    seq: 4,
    at: 1_000_003,
    to: '$',
    kind: 'timer',
    timer: 1,
    event: { type: 'slot.expired', name: 'files' },
    state: 'running',
    check: '0c',
  },
  {
    seq: 5,
    at: 1_000_004,
    to: '$/files#1',
    from: '$/files#1/watchSession#1',
    kind: 'callback',
    event: { type: 'session.quiet', generation: 1 },
    state: { ready: { liveness: 'probing', catalog: 'current' } },
    check: '0d',
  },
  { seq: 6, at: 1_000_005, kind: 'note', note: { type: 'call.started', tool: 'read' }, check: '0e' },
];

export const SAMPLE_LINES: readonly string[] = [SAMPLE_HEADER, ...SAMPLE_ENTRIES].map((line) =>
  JSON.stringify(line),
);

/** As in a file: every line ends with a line feed. */
export function toBytes(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => `${line}\n`).join(''));
}
