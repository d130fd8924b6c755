import { describe, expect, it } from 'vitest';
import picocolors from 'picocolors';
import type { ReplayReport } from '../../../../src/event-log/replay/replay-log.js';
import type { ConnectionSummary } from '../../../../src/event-log/replay/summary.js';
import { explain, summarizeWithCause } from '../../../../src/cli/output/failure-report.js';
import { makeStatus } from '../../../support/make-status.js';
import { renderChange, renderReplay } from '../../../../src/cli/output/replay-text.js';
import type { Failure } from '../../../../machines/policy/failure.js';

const EXITED: Failure = {
  code: 'process-exited',
  phase: 'handshake',
  message: 'The server exited with code 1.',
  at: 0,
  stderrTail: ['Error: no API token', '    at main (server.js:1:1)', '', 'Node.js v20.20.2'],
};

describe('a failure in one line', () => {
  it('tells the cause: the hint, or the line of the output that reports the error.', () => {
    expect(summarizeWithCause(EXITED)).toMatch(/^process-exited: .* Error: no API token$/);
    expect(summarizeWithCause({ ...EXITED, hint: 'Do this.' })).toMatch(/ Do this\.$/);
    expect(summarizeWithCause({ ...EXITED, stderrTail: [] })).toMatch(/ code 1\.$/);
  });

  it('is followed by the output of the server, with repeated lines counted.', () => {
    const stderrTail = ['connecting', 'connecting', 'connecting', 'Error: gave up', 'connecting'];
    const lines = explain(makeStatus({ error: { ...EXITED, stderrTail }, stderrTail }, 'failed'));
    expect(lines.slice(lines.indexOf('stderr:'))).toEqual([
      'stderr:',
      '  | connecting (× 3)',
      '  | Error: gave up',
      '  | connecting',
    ]);
  });

  it('is part of the timeline of a replay, where it happened.', () => {
    const change = { entry: 4, at: 1_000, server: 'db', from: 'ready', to: 'reconnecting', failure: EXITED };
    expect(renderChange(change, 0)).toMatch(/ ready → reconnecting: process-exited: .*no API token$/);
  });

  it('is printed once by a replay, with its number.', () => {
    const summary: ConnectionSummary = {
      state: 'failed',
      generation: 3,
      states: {},
      attempts: 3,
      failures: [EXITED, { ...EXITED, at: 5 }, { ...EXITED, at: 9, stderrTail: ['panic: disk full'] }],
      failureCodes: { 'process-exited': 3 },
      rejected: [],
    };
    const report = {
      connections: new Map([['db', summary]]),
      divergences: [],
      divergenceCount: 0,
      entries: 9,
    };
    const text = renderReplay(report as unknown as ReplayReport, picocolors.createColors(false));
    expect(text.match(/no API token/g)).toHaveLength(1);
    expect(text).toMatch(/no API token \(× 2\)\n.*panic: disk full\n/);
    const more = { ...summary, failureCodes: { 'process-exited': 50 } };
    const long = { ...report, connections: new Map([['db', more]]) };
    expect(renderReplay(long as unknown as ReplayReport, picocolors.createColors(false))).toContain(
      '47 later failures',
    );
  });
});
