/** A clock that runs until a promise of a troupe settles. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { createControlledClock, createScriptedServer, silent } from '../../../src/testing/index.js';
import { useLeakCheck } from '../../support/leak-check.js';

describe('a clock', () => {
  useLeakCheck();

  it('runs through the limits of a silent server, and through a close with a call under way.', async () => {
    const clock = createControlledClock(0);
    const server = createScriptedServer({ on: { initialize: silent } });
    const troupe = createTroupe({ servers: { files: server }, clock, cache: false });
    const { pending } = await clock.runUntil(troupe.start(), { troupe });
    expect(pending.map((each) => each.server)).toEqual(['files']);
    server.script = { on: { 'tools/call': silent } };
    await clock.runUntil(troupe.connection('files')!.ready(), { troupe });
    expect(clock.now()).toBeGreaterThanOrEqual(30_000);
    const call = troupe.connection('files')!.callTool('echo', {});
    const outcome = call.catch((error: unknown) => (error as { readonly code: string }).code);
    await server.whenReceived('tools/call');
    await clock.runUntil(troupe.close(), { troupe });
    await expect(outcome).resolves.toBe('OUTCOME_UNKNOWN');
  });

  it('settles as the promise does, however long that takes without a timer.', async () => {
    const clock = createControlledClock();
    const later = readFile(new URL(import.meta.url)).then(() => 'done');
    await expect(clock.runUntil(later)).resolves.toBe('done');
    await expect(clock.runUntil(Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(clock.runUntil(Promise.resolve(1), { limitM: 1 } as never)).rejects.toThrow(/'limitMs'/);
  });

  it('says which timers and effects are pending if it would wait for ever.', async () => {
    const clock = createControlledClock();
    const server = createScriptedServer({ on: { initialize: silent } });
    const troupe = createTroupe({ servers: { files: server }, clock, cache: false });
    const waiting = clock.runUntil(troupe.start(), { troupe, limitMs: 5_000 });
    await expect(waiting).rejects.toThrow(
      /not settled within 5.000 ms of the clock: \d+ timers are set: .*30.000 ms \(due in .*; 'files' is handshaking\.initializing \(handshake\)/,
    );
    await clock.runUntil(troupe.close(), { troupe });
  });

  it('says so if no timer is left.', async () => {
    const clock = createControlledClock();
    await expect(clock.runUntil(new Promise(() => {}), { graceMs: 500 })).rejects.toThrow(/no timer is set/);
  });
});
