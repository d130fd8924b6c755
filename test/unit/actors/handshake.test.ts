/** What is reported about a handshake that takes too long: which step hung, and what helps. */
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../machines/policy/failure.js';
import type { ServerSettings } from '../../../src/config/entry/server-config.js';
import { Troupe } from '../../../src/runtime/troupe.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { FakeServer } from '../../support/fake-server.js';
import type { FakeTransportOptions } from '../../support/fake-transport.js';
import { never } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent, type Script } from '../../support/scripted-server.js';
import { passTime, useTroupes } from '../../support/test-troupe.js';
import { useSupervised } from '../../support/supervised.js';

const INITIALIZED = 'notifications/initialized';
const settings: ServerSettings = { policy: { handshakeTimeoutMs: 2_000, maxAttempts: 1 } };

describe('a handshake that takes too long', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useSupervised();
  // Loads the modules of a whole troupe.
  useTroupes();

  /** The failure with a server that does not read messages of that method, or does not answer them. */
  const failing = async (
    kind: FakeTransportOptions['kind'] & string,
    { stuckAt, script = {} }: { stuckAt?: string; script?: Script },
    act: (server: FakeServer) => void = () => {},
  ): Promise<Failure | null> => {
    const server: FakeServer = new FakeServer(
      () => ({
        kind,
        send: () => {
          const message = server.transport.sent.at(-1);
          const isStuck = message !== undefined && 'method' in message && message.method === stuckAt;
          return isStuck ? never() : Promise.resolve();
        },
      }),
      script,
    );
    const { connection, clock } = make(server, { settings });
    const ready = connection.ready().catch(() => {});
    await clock.advance(1_000);
    act(server);
    await passTime(clock, ready);
    return connection.status.error;
  };

  const noAnswer = { script: { on: { initialize: silent } } };

  it.each(['stdio', 'in-process'] as const)(
    'over %s is explained by a server that does not speak MCP there',
    async (kind) => {
      expect(await failing(kind, noAnswer)).toMatchObject({
        code: 'handshake-timeout',
        phase: 'handshake',
        message: expect.stringMatching(/initialize .*2000 ms/) as unknown,
        hint: expect.stringContaining('does not speak MCP') as unknown,
      });
    },
  );

  it('is explained by a download if the command may fetch its program first', async () => {
    const server = new FakeServer(() => ({ kind: 'stdio' }), noAnswer.script);
    const clock = createControlledClock();
    const troupe = new Troupe(
      { clock, servers: { a: { command: 'npx', args: ['-y', 'a-package'], ...settings } } },
      { createTransport: () => server.createTransport() },
    );
    await passTime(clock, troupe.start());
    const [row] = troupe.status;
    await passTime(clock, troupe.close());
    expect(row?.error).toMatchObject({
      code: 'handshake-timeout',
      hint: expect.stringContaining('download') as unknown,
    });
  });

  it('is explained by what the server says while it is ended', async () => {
    const server: FakeServer = new FakeServer(
      () => ({
        kind: 'stdio',
        close: () => {
          server.transport.simulateStderr('Error: no answer from the database');
          return Promise.resolve();
        },
      }),
      noAnswer.script,
    );
    const { connection, clock } = make(server, { settings });
    await passTime(
      clock,
      connection.ready().catch(() => {}),
    );
    expect(connection.status.error).toMatchObject({
      code: 'handshake-timeout',
      hint: expect.stringContaining('no answer from the database') as unknown,
      stderrTail: ['Error: no answer from the database'],
    });
  });

  it('over HTTP without any sign of life is explained by an address that may be unreachable', async () => {
    const error = await failing('http', {
      stuckAt: 'initialize',
      script: { on: { 'server/discover': silent } },
    });
    expect(error).toMatchObject({
      code: 'handshake-timeout',
      message: expect.stringContaining('2000 ms') as unknown,
      hint: expect.stringContaining('address') as unknown,
    });
    expect(error?.hint).not.toContain('It started');
  });

  it.each(['http', 'sse'] as const)(
    'over %s with a sign of life is not explained by the network',
    async (kind) => {
      const error = await failing(kind, noAnswer, ({ transport }) => transport.simulateActivity());
      expect(error?.message).not.toContain('reached');
    },
  );

  it.each(['http', 'stdio'] as const)('names the step that hung over %s', async (kind) => {
    expect(await failing(kind, { stuckAt: INITIALIZED })).toMatchObject({
      code: 'handshake-timeout',
      message: expect.stringContaining(INITIALIZED) as unknown,
      hint: expect.stringContaining('speaks MCP') as unknown,
    });
  });
});
