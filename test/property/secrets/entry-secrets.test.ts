/** A secret of an entry appears in no output, whatever the server does with it. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { refuse, silent, text, tool } from '../../support/scripted-server.js';
import { makeTroupe, passTime } from '../../support/test-troupe.js';

/** Servers that repeat their input, each in another way. */
const PARROTS: Readonly<Record<string, (secret: string) => FakeServer>> = {
  'does not start': (secret) =>
    new FakeServer(() => ({
      start: () =>
        Promise.reject(
          new TransportError({
            code: 'http-status',
            message: `401 for ${secret}`,
            hint: `not ${secret}`,
            http: { status: 403, bodyStart: `{"token":"${secret}"}`, wwwAuthenticate: `Bearer ${secret}` },
          }),
        ),
    })),
  'refuses initialize': (secret) =>
    new FakeServer(() => ({}), { on: { initialize: refuse(-1, secret, { secret }) } }),
  'has an unknown protocol version': (secret) =>
    new FakeServer(() => ({}), { protocolVersion: `v${secret}` }),
  'answers initialize with nonsense': (secret) =>
    new FakeServer(() => ({}), { on: { initialize: () => ({ [secret]: secret }) } }),
  'introduces itself': (secret) =>
    new FakeServer(() => ({}), {
      on: {
        initialize: (params) => ({
          protocolVersion: params['protocolVersion'],
          capabilities: { experimental: { a: { secret } } },
          serverInfo: { name: secret, version: secret },
          instructions: `use ${secret}`,
        }),
      },
    }),
  'does not list': (secret) => new FakeServer(() => ({}), { on: { 'tools/list': refuse(-1, secret) } }),
  'has a bad tool': (secret) =>
    new FakeServer(() => ({}), { tools: [{ ...tool('x'), name: secret, inputSchema: 7 as never }] }),
  'has bad resources': (secret) =>
    new FakeServer(() => ({}), {
      capabilities: { resources: {}, prompts: {} },
      on: { 'resources/list': refuse(-1, secret), 'prompts/list': refuse(-1, secret) },
    }),
  'refuses calls': (secret) =>
    new FakeServer(() => ({}), { on: { 'tools/call': refuse(-1, secret, { deep: [secret] }) } }),
  'never answers': () => new FakeServer(() => ({}), { on: { 'tools/call': silent } }),
  'answers calls': (secret) => new FakeServer(() => ({}), { on: { 'tools/call': () => text(secret) } }),
};

/** All texts of an error and its causes. */
function everythingOf(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? '';
  const { message, stack = '', cause } = error;
  return [message, stack, JSON.stringify(error), cause === undefined ? '' : everythingOf(cause)].join('\n');
}

async function allOutput(
  secret: string,
  make: (secret: string) => FakeServer,
  entry: 'env' | 'variable' | 'none',
): Promise<string> {
  const server = make(secret);
  const clock = createControlledClock();
  const config: ServerConfig = {
    command: server.command,
    startTimeoutMs: 1_000,
    policy: { maxAttempts: 2, backoff: [10] },
    env: entry === 'env' ? { TOKEN: secret } : entry === 'variable' ? { TOKEN: '${THE_TOKEN}' } : {},
  };
  const troupe = makeTroupe({ servers: { a: config }, env: { THE_TOKEN: secret }, clock, seed: 1 });
  const events = recordEvents(troupe.events$);
  const outputs: string[] = [];
  const note = (): void => {
    outputs.push(JSON.stringify(troupe.status));
  };
  const recordError = (error: unknown): void => {
    outputs.push(everythingOf(error));
  };
  troupe.status$.subscribe(note);
  outputs.push(JSON.stringify(await passTime(clock, troupe.start())));
  const connection = troupe.connection('a');
  const call = connection?.callTool('echo', { password: secret }, { timeoutMs: 2_000 }).catch(recordError);
  await clock.advance(500);
  const { transports, peer } = server;
  peer.notify('notifications/message', { level: 'info', data: `token ${secret}` });
  peer.notify('notifications/message', { level: 'info', data: { token: secret } });
  peer.send({ jsonrpc: '2.0', id: 'odd', result: { secret } });
  peer.send({ [secret]: secret });
  transports.at(-1)?.simulateNotice({ kind: 'stdout-noise', message: `noise: ${secret}` });
  await clock.advance(500);
  transports.at(-1)?.simulateEnd({ code: 'process-exited', message: `died of ${secret}` });
  await passTime(clock, Promise.resolve(call));
  await passTime(clock, Promise.resolve(connection?.ready().catch(recordError)));
  await passTime(clock, troupe.close());
  note();
  outputs.push(JSON.stringify(events.all));
  return outputs.join('\n');
}

// Loaded in advance, so that no test waits for a module while its clock stands still.
beforeAll(() => import('../../../src/servers/load-config.js'));

describe.each(Object.entries(PARROTS))('a server that %s', (_, make) => {
  useLeakCheck();
  useCrashWatch();

  it('cannot make the secret of its entry appear in any output', async () => {
    const secrets = fc.stringMatching(/^[a-zA-Z0-9_-]{12,40}$/);
    await fc.assert(
      fc.asyncProperty(
        secrets,
        fc.constantFrom('env' as const, 'variable' as const),
        async (secret, entry) => {
          expect(await allOutput(secret, make, entry)).not.toContain(secret);
        },
      ),
      { numRuns: 8 },
    );
  });

  it('cannot make a token appear that is known by its form alone', async () => {
    const tokens = fc.stringMatching(/^ghp_[a-zA-Z0-9]{36}$/);
    await fc.assert(
      fc.asyncProperty(tokens, async (token) => {
        expect(await allOutput(token, make, 'none')).not.toContain(token);
      }),
      { numRuns: 4 },
    );
  });
});
