import type { DiagnosticKind } from '../../../src/diagnostic-kind.js';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { noteStoreProblems } from '../../../src/cli/make-troupe.js';
import { Terminal } from '../../../src/cli/output/terminal.js';
import type { DiagnosticEvent } from '../../../src/lifecycle/event.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { FakeStream } from '../../support/fake-stream.js';

useLeakCheck();

describe('a problem of a store', () => {
  it.each<[kind: DiagnosticKind, expected: string]>([
    ['review-problem', "The disk is full.; see 'troupe review'\n"],
    ['trust-store-problem', 'The disk is full.\n'],
    ['sign-in-not-stored', 'The disk is full.\n'],
    ['sign-in-failed', 'The disk is full.\n'],
  ])('is reported by every command, once for each reason: %s.', (kind, expected) => {
    const [stdout, stderr] = [new FakeStream(), new FakeStream()];
    const terminal = new Terminal({ stdout, stderr, env: {} }, new AbortController().signal, false);
    const diagnostics$ = new Subject<DiagnosticEvent>();
    noteStoreProblems({ diagnostics$ }, terminal, []);
    const report = (of: DiagnosticKind): void =>
      diagnostics$.next({ type: 'diagnostic', seq: 1, at: 1, kind: of, message: 'The disk is full.' });
    report(kind);
    report(kind);
    report('cache-problem');
    expect([stdout.written, stderr.written]).toEqual(['', expected]);
  });

  it('is not repeated if it was among the warnings about the configuration.', () => {
    const [stdout, stderr] = [new FakeStream(), new FakeStream()];
    const terminal = new Terminal({ stdout, stderr, env: {} }, new AbortController().signal, false);
    const diagnostics$ = new Subject<DiagnosticEvent>();
    noteStoreProblems({ diagnostics$ }, terminal, [
      { code: 'trust-store-unreadable', source: 'trustStore', message: 'The disk is full.' },
    ]);
    for (const message of ['The disk is full.', 'The disk is gone.'])
      diagnostics$.next({ type: 'diagnostic', seq: 1, at: 1, kind: 'trust-store-problem', message });
    expect(stderr.written).toBe('The disk is gone.\n');
  });
});
