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
  it('accepts what leads somewhere and what only changes the context.', async () => {
    const driver = new ConnectionDriver();
    await driver.bringUp();
    expect(verdict(driver.snapshot, { type: 'connection.restart' })).toBe('accepted');
    expect(verdict(driver.snapshot, { type: 'session.stable' })).toBe('accepted');
  });

  it('finds unhandled what no active state knows, even where another state does.', async () => {
    const driver = new ConnectionDriver();
    expect(verdict(driver.snapshot, { type: 'connection.refresh' })).toBe('unhandled');
    expect(verdict(driver.snapshot, { type: 'connection.explode' })).toBe('unhandled');
  });

  it('calls an event guarded if an active state handles it and every guard refuses it.', () => {
    const machine = setup({ guards: { never: () => false } }).createMachine({
      on: { go: { guard: 'never', target: '.there' } },
      initial: 'here',
      states: { here: {}, there: {} },
    });
    expect(verdict(createActor(machine).getSnapshot(), { type: 'go' })).toBe('guarded');
  });

  it('finds ignored what asks for what is already so.', async () => {
    const driver = new ConnectionDriver();
    await driver.bringUp();
    expect(verdict(driver.snapshot, { type: 'connection.start' })).toBe('ignored');
  });

  it('finds everything stopped once the actor has ended.', async () => {
    const driver = new ConnectionDriver();
    await driver.stop();
    expect(COMMANDS.map((command) => verdict(driver.snapshot, command))).toEqual(
      COMMANDS.map(() => 'stopped'),
    );
  });

  it('changes nothing by asking.', async () => {
    const driver = new ConnectionDriver();
    const before = driver.snapshot;
    for (const command of COMMANDS) verdict(driver.snapshot, command);
    expect(driver.snapshot).toBe(before);
    expect(driver.running()).toEqual(['resolveConfig']);
  });
});

describe('acceptedOf', () => {
  it('names what can be done now, in the order of asking.', async () => {
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

  it('names nothing once the actor has ended.', async () => {
    const driver = new ConnectionDriver();
    await driver.stop();
    expect(accepted(driver)).toEqual([]);
  });
});
