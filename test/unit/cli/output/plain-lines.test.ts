import { describe, expect, it } from 'vitest';
import { toDetail, toHeadline } from '../../../../src/cli/output/plain-lines.js';
import type { LifecycleEvent, LifecycleEventBody } from '../../../../src/lifecycle/event.js';
import { makeFailure } from '../../../support/make-status.js';

const FILES = { server: 'files', generation: 1 };
const WHEN = '2026-08-31T10:20:30.400Z';

function makeEvent(body: LifecycleEventBody): LifecycleEvent {
  return { ...body, at: Date.parse(WHEN), seq: 1 };
}

const HEADLINES: readonly (readonly [LifecycleEventBody, string])[] = [
  [{ type: 'connection.ready', ...FILES, toolCount: 1 }, 'files ready, 1 tool'],
  [
    { type: 'connection.lost', ...FILES, failure: makeFailure() },
    'files lost: process-exited: The server exited with code 3.',
  ],
  [
    {
      type: 'connection.retrying',
      ...FILES,
      attempt: 2,
      maxAttempts: 5,
      delayMs: 1_240,
      failure: makeFailure({ hint: 'Look.' }),
    },
    'files attempt 2 of 5 in 1.2 s: process-exited: The server exited with code 3. Look.',
  ],
  [
    { type: 'connection.retrying', ...FILES, attempt: 2, maxAttempts: 5, delayMs: 0, failure: null },
    'files attempt 2 of 5 at once',
  ],
  [
    {
      type: 'connection.failed',
      ...FILES,
      failure: makeFailure({ hint: 'Look.' }),
      attempt: 5,
      maxAttempts: 5,
    },
    'files failed after 5 attempts: process-exited: The server exited with code 3. Look.',
  ],
  [{ type: 'connection.stopped', ...FILES, reason: 'close' }, 'files stopped (close)'],
  [{ type: 'connection.trustRequired', ...FILES }, 'files needs trust; to trust it: troupe trust files'],
  [{ type: 'connection.authRequired', ...FILES }, 'files needs a sign-in: troupe login files'],
  [
    { type: 'connection.authRequired', ...FILES, url: 'https://example.com/' },
    'files needs a sign-in: https://example.com/',
  ],
  [{ type: 'manager.failed', message: 'a bug' }, 'troupe failed: a bug'],
];

const DETAILS: readonly (readonly [LifecycleEventBody, string])[] = [
  [
    { type: 'connection.state', ...FILES, from: null, to: 'launching', substate: 'opening' },
    'files launching (opening)',
  ],
  [{ type: 'connection.state', ...FILES, from: 'failed', to: 'stopped', substate: '' }, 'files stopped'],
  [
    { type: 'catalog.changed', ...FILES, added: ['a', 'b'], removed: [], changed: ['c'], toolCount: 3 },
    'files tools: 2 added, 0 removed, 1 changed',
  ],
  [
    {
      type: 'catalog.changed',
      ...FILES,
      list: 'resourceTemplates',
      added: [],
      removed: ['x:{id}'],
      changed: [],
      toolCount: 3,
    },
    'files resource templates: 0 added, 1 removed, 0 changed',
  ],
  [{ type: 'server.log', ...FILES, stream: 'stderr', message: 'up' }, 'files stderr: up'],
  [{ type: 'call.started', ...FILES, call: 1, tool: 'read' }, 'files calls read'],
  [
    { type: 'call.finished', ...FILES, call: 1, tool: 'read', durationMs: 12, outcome: 'answered' },
    'files read answered after 12 ms',
  ],
  [{ type: 'diagnostic', kind: 'stdout-noise', message: 'odd' }, 'troupe stdout-noise: odd'],
  [{ type: 'diagnostic', server: 'files', kind: 'stdout-noise', message: 'odd' }, 'files stdout-noise: odd'],
  [
    {
      type: 'connection.rejected',
      ...FILES,
      state: 'ready',
      event: 'connection.start',
      reason: 'unhandled',
      allowed: [],
    },
    "files 'connection.start' was rejected while ready",
  ],
];

const SILENT: readonly LifecycleEventBody[] = [
  { type: 'manager.started', connections: 1 },
  { type: 'connection.added', ...FILES, source: 'team.mcp.json' },
  { type: 'call.progress', ...FILES, call: 1, tool: 'read', progress: 1 },
];

describe('an event as a line', () => {
  it.each(HEADLINES)('shows %o with its time and its server.', (body, text) => {
    expect(toHeadline(makeEvent(body))).toBe(`${WHEN} ${text}`);
    expect(toDetail(makeEvent(body))).toBeUndefined();
  });

  it.each(DETAILS)('is only a detail for %o.', (body, text) => {
    expect(toDetail(makeEvent(body))).toBe(`${WHEN} ${text}`);
    expect(toHeadline(makeEvent(body))).toBeUndefined();
  });

  it.each(SILENT)('is omitted for %o.', (body) => {
    expect([toHeadline(makeEvent(body)), toDetail(makeEvent(body))]).toEqual([undefined, undefined]);
  });

  it('is one line, whatever a server writes.', () => {
    const log = makeEvent({ type: 'server.log', ...FILES, stream: 'stderr', message: 'a\n\u001B[2Jb' });
    expect(toDetail(log)).toBe(`${WHEN} files stderr: a b`);
  });
});
