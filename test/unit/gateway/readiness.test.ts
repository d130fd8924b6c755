/** What `/readyz` answers. */
import { describe, expect, it } from 'vitest';
import { readinessOf } from '../../../src/gateway/readiness.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { makeStatus } from '../../support/make-status.js';

const ready = makeStatus({ server: 'a' });
const failed = makeStatus({ server: 'b' }, 'failed');
const disabled = makeStatus({ server: 'c', reason: 'disabled' }, 'stopped');
const dormant: typeof ready = { ...makeStatus({ server: 'd' }, 'stopped'), tags: ['dormant'] };
const missing = (server: string, state: string | null) => ({ server, state });

describe('a gateway', () => {
  it.each([
    ['ready with one server that works', [ready, failed, disabled], [], 'ready', []],
    ['ready without servers', [], [], 'ready', []],
    ['ready with a dormant server', [dormant], ['d'], 'ready', []],
    ['ready if all but disabled servers work', [ready, disabled], undefined, 'ready', []],
    ['unavailable if no server works', [failed, disabled], [], 'unavailable', [missing('b', 'failed')]],
    [
      'unavailable without a required server',
      [ready, failed],
      ['b'],
      'unavailable',
      [missing('b', 'failed')],
    ],
    ['unavailable without an unknown server', [ready], ['x'], 'unavailable', [missing('x', null)]],
    [
      'unavailable if a required server is disabled',
      [ready, disabled],
      ['c'],
      'unavailable',
      [missing('c', null)],
    ],
    ['unavailable if one of all fails', [ready, failed], undefined, 'unavailable', [missing('b', 'failed')]],
  ] as const)('is %s.', (_, rows, required, status, lost) => {
    expect(readinessOf(rows, true, required)).toEqual({ status, missing: lost });
    expect(readinessOf(rows, false, required)).toEqual({ status: 'starting', missing: lost });
  });
});

useLeakCheck();
