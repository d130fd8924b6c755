import { describe, expect, it } from 'vitest';
import { afterLoss } from '../../../../machines/policy/call-safety.js';

describe('a call whose session was lost', () => {
  it.each([
    { written: false, readOnly: false, idempotent: false, safe: 'repeat', never: 'not-sent' },
    { written: false, readOnly: false, idempotent: true, safe: 'repeat', never: 'not-sent' },
    { written: false, readOnly: true, idempotent: false, safe: 'repeat', never: 'not-sent' },
    { written: false, readOnly: true, idempotent: true, safe: 'repeat', never: 'not-sent' },
    { written: true, readOnly: false, idempotent: false, safe: 'outcome-unknown', never: 'outcome-unknown' },
    { written: true, readOnly: false, idempotent: true, safe: 'repeat', never: 'outcome-unknown' },
    { written: true, readOnly: true, idempotent: false, safe: 'repeat', never: 'outcome-unknown' },
    { written: true, readOnly: true, idempotent: true, safe: 'repeat', never: 'outcome-unknown' },
  ])(
    'is "$safe" under safe and "$never" under never (written $written, read-only $readOnly, idempotent $idempotent)',
    ({ safe, never, ...call }) => {
      expect({ safe: afterLoss(call, 'safe'), never: afterLoss(call, 'never') }).toEqual({ safe, never });
    },
  );
});
