/** What `troupe serve` logs about its configuration files. */
import type { DiagnosticKind } from '../../../src/diagnostic-kind.js';
import { describe, expect, it } from 'vitest';
import type { ConfigProblem } from '../../../src/errors.js';
import { ServeLog } from '../../../src/cli/serving/serve-log.js';
import { createControlledClock } from '../../support/controlled-clock.js';

function logged(isVerbose = false) {
  const lines: string[] = [];
  const log = new ServeLog({ note: (line) => lines.push(line) }, createControlledClock(0), isVerbose);
  const report = (kind: DiagnosticKind, message: string, session?: string): void =>
    log.event({
      type: 'diagnostic',
      kind,
      message,
      at: 0,
      seq: 1,
      ...(session !== undefined && { session }),
    });
  return { log, report, lines };
}

describe('the log of troupe serve', () => {
  it('reports the outcome of a changed file once for all sessions, and does not repeat what was reported before the start.', () => {
    const { log, report, lines } = logged();
    report('config-problem', 'team.json:1:1: is empty');
    report('watch-problem', 'The configuration files cannot be watched: no room');
    log.started();
    report('config-problem', 'team.json:2:3: this is not JSON');
    report('config-problem', 'team.json:2:3: this is not JSON', 'session-1');
    report('config-reloaded', 'The configuration has changed: added docs.');
    report('entry-outdated', "'docs' goes on as it was.");
    report('no-listening-stream', 'a detail');
    expect(lines).toEqual([
      '1970-01-01T00:00:00.000Z warn gateway The configuration files cannot be watched: no room',
      '1970-01-01T00:00:00.000Z warn gateway team.json:2:3: this is not JSON',
      '1970-01-01T00:00:00.000Z info gateway The configuration has changed: added docs.',
      "1970-01-01T00:00:00.000Z warn gateway 'docs' goes on as it was.",
    ]);
  });

  it('begins with the warnings about the configuration, and does not repeat them.', () => {
    const lines: string[] = [];
    const warnings: readonly ConfigProblem[] = [
      { code: 'trust-store-unreadable', source: 'trustStore', message: 'The disk is full.' },
    ];
    const note = (line: string) => lines.push(line);
    const log = new ServeLog({ note }, createControlledClock(0), false, warnings);
    const problem = {
      type: 'diagnostic',
      kind: 'trust-store-problem',
      message: 'The disk is full.',
    } as const;
    log.event({ ...problem, at: 0, seq: 1 });
    expect(lines).toEqual(['1970-01-01T00:00:00.000Z warn gateway trustStore: The disk is full.']);
  });

  it.each<DiagnosticKind>(['catalog-problem', 'message-too-large'])(
    'warns of a %s: the clients do not get all that the server sent.',
    (kind) => {
      const { report, lines } = logged();
      report(kind, 'too much');
      expect(lines).toEqual(['1970-01-01T00:00:00.000Z warn troupe too much']);
    },
  );
});
