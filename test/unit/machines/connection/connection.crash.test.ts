/** The remains of a crashed connection, and the input of its replacement. */
import { describe, expect, it } from 'vitest';
import {
  crashFailure,
  crashIn,
  mayBeReplaced,
  nextInput,
  remainsOf,
  remainsOfNothing,
} from '../../../../machines/connection/connection.crash.js';
import type {
  ConnectionContext,
  ConnectionInput,
} from '../../../../machines/connection/connection.events.js';
import { initialContext } from '../../../../machines/connection/connection.update.js';
import { PLAIN_POLICY } from '../../../support/connection-driver.js';
import { sampleFailure } from '../../../support/sample-failures.js';

const CAUSE = sampleFailure('permanent', 'session', 1_000);

const INPUT: ConnectionInput = {
  name: 'files',
  transport: 'stdio',
  policy: PLAIN_POLICY,
  seed: 7,
  generation: 4,
  online: true,
  wanted: true,
  crash: null,
  isAttempted: true,
};

const contextOf = (changes: Partial<ConnectionContext> = {}): ConnectionContext => ({
  ...initialContext(INPUT),
  ...changes,
});

const STOP = { type: 'connection.stop', reason: 'remove' };

describe('the remains of a connection', () => {
  it('are what the replacement needs, with the last generation that was issued.', () => {
    expect(remainsOf(contextOf({ issued: 6, at: 2_000 }), { type: 'x' }, false)).toStrictEqual({
      input: {
        name: 'files',
        transport: 'stdio',
        policy: PLAIN_POLICY,
        seed: 7,
        generation: 6,
        wanted: true,
        isAttempted: true,
      },
      ending: null,
      isReplacement: false,
      at: 2_000,
    });
  });

  it('hold the latest entry.', () => {
    const next = { transport: 'http', policy: { ...PLAIN_POLICY, maxAttempts: 9 } } as const;
    expect(remainsOf(contextOf({ next }), null, false).input).toMatchObject(next);
  });

  it('contain why it was stopping: from its last event, or else from its context.', () => {
    const context = contextOf({ stopReason: 'close' });
    expect(remainsOf(context, { type: 'x' }, true).ending).toBe('close');
    expect(remainsOf(context, STOP, true).ending).toBe('remove');
    expect(remainsOf(context, STOP, false).ending).toBe('remove');
    expect(remainsOf(context, { type: 'connection.stop' }, true).ending).toBe('stop');
    expect(remainsOf(context, undefined, false).ending).toBeNull();
  });

  it('contain whether it was a replacement itself.', () => {
    expect(remainsOf(contextOf({ crash: CAUSE }), null, false).isReplacement).toBe(true);
    expect(remainsOfNothing({ ...INPUT, crash: CAUSE }).isReplacement).toBe(true);
  });

  it('are its input if it never started.', () => {
    expect(remainsOfNothing(INPUT)).toStrictEqual({
      input: INPUT,
      ending: null,
      isReplacement: false,
      at: 0,
    });
  });
});

describe('the record of a crash', () => {
  const remains = remainsOf(contextOf({ at: 2_000 }), null, false);
  const crash = { message: 'it broke', remains, isStillborn: false };

  it('is found in the error that carries it, and in nothing else.', () => {
    expect(crashIn({ crash })).toBe(crash);
    for (const error of [new Error('it broke'), {}, null, undefined, 'it broke']) {
      expect(crashIn(error)).toBeUndefined();
    }
  });

  it('leads to a replacement, but not if the connection never started, nor twice while it ends.', () => {
    const of = (isStillborn: boolean, changes: object) =>
      mayBeReplaced({ ...crash, isStillborn, remains: { ...remains, ...changes } });
    expect(of(false, {})).toBe(true);
    expect(of(false, { ending: 'stop' })).toBe(true);
    expect(of(false, { isReplacement: true })).toBe(true);
    expect(of(false, { ending: 'stop', isReplacement: true })).toBe(false);
    expect(of(true, {})).toBe(false);
  });

  it('becomes the input of the next one.', () => {
    const input = nextInput(crash, false);
    expect(input).toStrictEqual({ ...remains.input, online: false, crash: crashFailure('it broke', 2_000) });
    expect(input.crash).toMatchObject({
      code: 'internal',
      phase: 'session',
      at: 2_000,
      hint: expect.any(String),
    });
  });
});
