import { describe, expect, it } from 'vitest';
import { createActor, setup } from 'xstate';
import {
  CONNECTION_COMMANDS,
  type ConnectionCommand,
} from '../../../machines/connection/connection.events.js';
import { acceptedOf, verdict } from '../../../machines/verdict.js';
import { ConnectionDriver, PLAIN_POLICY } from '../../support/connection-driver.js';

const COMMANDS: readonly ConnectionCommand[] = CONNECTION_COMMANDS.map((type) => {
  if (type === 'connection.stop') return { type, reason: 'stop' };
  if (type === 'connection.reload') {
    return { type, transport: 'stdio', policy: PLAIN_POLICY, wanted: false };
  }
  return { type };
});

const accepted = (driver: ConnectionDriver): string[] =>
  acceptedOf(driver.snapshot, COMMANDS).map(({ type }) => type);

describe('verdict', () => {
  it("is 'accepted' for an event that leads to a state or only changes the context.", async () => {
    const driver = new ConnectionDriver();
    await driver.bringUp();
    expect(verdict(driver.snapshot, { type: 'connection.restart' })).toBe('accepted');
    expect(verdict(driver.snapshot, { type: 'session.stable' })).toBe('accepted');
  });

  it("is 'unhandled' for an event that no active state handles, even if another state does.", async () => {
    const driver = new ConnectionDriver();
    expect(verdict(driver.snapshot, { type: 'connection.refresh' })).toBe('unhandled');
    expect(verdict(driver.snapshot, { type: 'connection.explode' })).toBe('unhandled');
  });

  it("is 'guarded' for an event that an active state handles and every guard refuses.", () => {
    const machine = setup({ guards: { never: () => false } }).createMachine({
      on: { go: { guard: 'never', target: '.there' } },
      initial: 'here',
      states: { here: {}, there: {} },
    });
    expect(verdict(createActor(machine).getSnapshot(), { type: 'go' })).toBe('guarded');
  });

  it("is 'ignored' for an event whose goal is already reached.", async () => {
    const driver = new ConnectionDriver();
    await driver.bringUp();
    expect(verdict(driver.snapshot, { type: 'connection.start' })).toBe('ignored');
  });

  it("is 'stopped' for every event once the actor has ended.", async () => {
    const driver = new ConnectionDriver();
    await driver.stop();
    expect(COMMANDS.map((command) => verdict(driver.snapshot, command))).toEqual(
      COMMANDS.map(() => 'stopped'),
    );
  });

  it('does not change the actor.', async () => {
    const driver = new ConnectionDriver();
    const before = driver.snapshot;
    for (const command of COMMANDS) verdict(driver.snapshot, command);
    expect(driver.snapshot).toBe(before);
    expect(driver.running()).toEqual(['resolveConfig']);
  });
});

describe('acceptedOf', () => {
  it('lists the events that are possible now, in the order of the question.', async () => {
    const driver = new ConnectionDriver();
    expect(accepted(driver)).toEqual(['connection.stop', 'connection.restart', 'connection.reload']);
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    expect(accepted(driver)).toEqual([
      'connection.stop',
      'connection.retry',
      'connection.restart',
      'connection.reload',
      'trust.granted',
      'trust.denied',
    ]);
  });

  it('is empty once the actor has ended.', async () => {
    const driver = new ConnectionDriver();
    await driver.stop();
    expect(accepted(driver)).toEqual([]);
  });
});
