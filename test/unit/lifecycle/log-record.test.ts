/** What a logger of the host receives: see docs/guide/logging.md. */
import { describe, expect, it } from 'vitest';
import type { LifecycleEventBody } from '../../../src/lifecycle/event.js';
import { NOTICES, toLogRecord } from '../../../src/lifecycle/log-record.js';
import { guardedLogger, withDetails, type Logger } from '../../../src/ports.js';
import { useLeakCheck } from '../../support/leak-check.js';

const { DIAGNOSTIC_KINDS } = (await import(
  new URL('../../../docs/generate/diagnostic-kinds.mjs', import.meta.url).href
)) as { DIAGNOSTIC_KINDS: Readonly<Record<string, { readonly severity: string }>> };

/** Names that pino, bunyan and winston give to fields of their own. */
const TAKEN = ['level', 'message', 'msg', 'time', 'timestamp', 'pid', 'hostname', 'name', 'v'];
const scope = { server: 'fs', generation: 1 };
const failure = { code: 'process-exited', message: 'It ended.', phase: 'session', at: 1 } as const;
const record = (body: LifecycleEventBody) => toLogRecord({ ...body, at: 1, seq: 2 });

describe('the record of an event', () => {
  it.each<[level: string, body: LifecycleEventBody]>([
    ['info', { type: 'connection.ready', toolCount: 2, ...scope }],
    ['warn', { type: 'connection.lost', failure, ...scope }],
    ['error', { type: 'connection.failed', failure, attempt: 1, maxAttempts: 1, ...scope }],
    ['info', { type: 'connection.authSettled', failure: null, ...scope }],
    ['warn', { type: 'connection.authSettled', failure, ...scope }],
    ['debug', { type: 'call.finished', call: 1, tool: 't', durationMs: 1, outcome: 'answered', ...scope }],
    ['debug', { type: 'server.log', stream: 'stderr', message: 'm', ...scope }],
    ['error', { type: 'server.log', stream: 'protocol', level: 'critical', message: 'm', ...scope }],
    ['info', { type: 'server.log', stream: 'protocol', level: 'odd', message: 'm', ...scope }],
    ['info', { type: 'diagnostic', kind: 'config-reloaded', message: 'm' }],
    ['warn', { type: 'diagnostic', kind: 'config-problem', message: 'm' }],
    ['error', { type: 'manager.failed', message: 'm' }],
  ])('has the level %s for %o.', (level, body) => {
    const { level: found, details } = record(body);
    expect(found).toBe(level);
    expect(details['event']).toBe(body.type);
    expect(Object.keys(details).filter((name) => TAKEN.includes(name))).toEqual([]);
  });

  it('has the fields of the event, but no parameters, and not the name that loggers use for their own time.', () => {
    expect(
      record({ type: 'server.notification', method: 'x/y', params: { a: 1 }, ...scope }).details,
    ).toEqual({
      event: 'server.notification',
      method: 'x/y',
      server: 'fs',
      generation: 1,
      seq: 2,
    });
    const rejected = {
      type: 'manager.rejected',
      state: 'idle',
      event: 'manager.start',
      allowed: [],
    } as const;
    expect(record({ ...rejected, reason: 'not-allowed' as never }).details).toMatchObject({
      event: 'manager.rejected',
      command: 'manager.start',
    });
  });

  it('warns of the diagnostics that the reference calls warnings.', () => {
    const infos = Object.entries(DIAGNOSTIC_KINDS).filter(([, { severity }]) => severity === 'info');
    expect([...NOTICES].toSorted()).toEqual(infos.map(([kind]) => kind).toSorted());
  });
});

describe('a logger of the host', () => {
  const taking = (shape: object): { readonly logger: Logger; readonly taken: unknown[][] } => {
    const taken: unknown[][] = [];
    const take = (...words: unknown[]): void => void taken.push(words);
    return { logger: { debug: take, info: take, warn: take, error: take, ...shape }, taken };
  };
  const nothing = (): object => ({});

  it.each([
    ['pino', { child: nothing, bindings: nothing }],
    ['bunyan', { child: nothing, fields: {}, addSerializers: nothing }],
  ])('in the shape of %s gets the details first, and always an object.', (_, shape) => {
    const { logger, taken } = taking(shape);
    const guarded = guardedLogger(logger);
    guarded.warn('m', { a: 1 });
    guarded.info('n');
    expect(taken).toEqual([
      [{ a: 1 }, 'm'],
      [{}, 'n'],
    ]);
  });

  it.each([
    ['console', {}],
    ['winston', { child: nothing, level: 'info' }],
  ])('in the shape of %s gets the message first.', (_, shape) => {
    const { logger, taken } = taking(shape);
    withDetails(guardedLogger(logger), { session: 's' }).error('m', { a: 1 });
    expect(taken).toEqual([['m', { a: 1, session: 's' }]]);
  });
});

useLeakCheck();
