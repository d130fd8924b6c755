/**
 * Servers of both versions of the SDK, and a published one, in each era over each transport: calls, questions, progress,
 * logs, list changes, cancellation, and a session that is lost.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTroupe, type ServerConfig, type ServerSettings, type Troupe } from '../../../src/index.js';
import { recordEvents } from '../../support/event-record.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { inProcessServer, type DroppingServer } from '../../support/era-server.mjs';
import { inProcessServer as firstSdkServer } from '../../support/first-sdk-server.mjs';

useLeakCheck();

type ServerEra = 'old' | 'new' | 'both';
type Protocol = NonNullable<ServerSettings['protocol']>;

const PROGRAM = fileURLToPath(new URL('../../support/era-server.mjs', import.meta.url));
const FIRST_SDK = fileURLToPath(new URL('../../support/first-sdk-server.mjs', import.meta.url));
const OLD = '2025-11-25';
const NEW = '2026-07-28';
const PATIENCE_MS = 20_000;
const POLICY = { backoff: [50, 100] as const };

/** A server, and how to end its session as hard as possible. */
interface Place {
  readonly entry: ServerConfig;
  lose(troupe: Troupe): Promise<void>;
}

/** Runs a program with its arguments, the last of which is the port. */
async function listen(args: readonly string[], port: number): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [...args, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, port: Number(line) };
}

async function kill(child: ChildProcess): Promise<void> {
  const over = once(child, 'exit');
  child.kill('SIGKILL');
  await over;
}

async function overHttp(args: readonly string[], protocol: Protocol): Promise<Place> {
  const place = await listen(args, 0);
  let { child } = place;
  onTestFinished(() => kill(child));
  const url = `http://127.0.0.1:${place.port}/mcp`;
  return {
    entry: { type: 'http', url, protocol, policy: POLICY },
    lose: async () => {
      await kill(child);
      ({ child } = await listen(args, place.port));
    },
  };
}

function inThisProcess(server: DroppingServer, protocol: Protocol): Place {
  return { entry: { type: 'in-process', server, protocol, policy: POLICY }, lose: () => server.drop() };
}

const PLACES: Readonly<Record<string, (era: ServerEra, protocol: Protocol) => Promise<Place>>> = {
  stdio: async (era, protocol) => ({
    entry: { command: process.execPath, args: [PROGRAM, era], protocol, policy: POLICY },
    lose: async ({ status }) => void process.kill(status[0]!.pid!, 'SIGKILL'),
  }),
  http: (era, protocol) => overHttp([PROGRAM, era], protocol),
  'in-process': async (era, protocol) => inThisProcess(inProcessServer(era), protocol),
  'stdio, with the first version of the SDK': async (_, protocol) => ({
    entry: { command: process.execPath, args: [FIRST_SDK], protocol, policy: POLICY },
    lose: async ({ status }) => void process.kill(status[0]!.pid!, 'SIGKILL'),
  }),
  'http, with the first version of the SDK': (_, protocol) => overHttp([FIRST_SDK], protocol),
  'in-process, with the first version of the SDK': async (_, protocol) =>
    inThisProcess(firstSdkServer(), protocol),
};

const MATRIX: readonly (readonly [string, ServerEra, Protocol, string])[] = [
  ['stdio', 'old', 'auto', OLD],
  ['stdio', 'new', 'auto', NEW],
  ['stdio', 'both', 'auto', OLD],
  ['stdio', 'both', 'new', NEW],
  ['stdio, with the first version of the SDK', 'old', 'auto', OLD],
  ['http, with the first version of the SDK', 'old', 'auto', OLD],
  ['in-process, with the first version of the SDK', 'old', 'auto', OLD],
  ['http', 'old', 'auto', OLD],
  ['http', 'new', 'auto', NEW],
  ['http', 'both', 'auto', NEW],
  ['http', 'both', 'old', OLD],
  ['in-process', 'old', 'auto', OLD],
  ['in-process', 'new', 'auto', NEW],
  ['in-process', 'both', 'auto', OLD],
  ['in-process', 'both', 'new', NEW],
];

describe('a server of the SDK', () => {
  it.each(MATRIX)(
    'over %s that speaks %s, asked by %s, speaks %s',
    async (carrier, era, protocol, version) => {
      const { entry, lose } = await PLACES[carrier]!(era, protocol);
      const asked: unknown[] = [];
      await using troupe = createTroupe({
        servers: { a: entry },
        cache: false,
        handlers: {
          elicitation: (question, about) => {
            asked.push([question.message, about.origin?.name]);
            return { action: 'accept', content: { isSure: true } };
          },
        },
      });
      const events = recordEvents(troupe.events$);
      await troupe.start();
      const connection = troupe.connection('a')!;
      expect(connection.status).toMatchObject({ state: 'ready', protocolVersion: version });
      const call = async (tool: string, given = {}, options = {}): Promise<string> => {
        const { content } = await connection.callTool(tool, given, options);
        return (content[0] as { text: string }).text;
      };

      expect(await call('echo', { text: 'hello' })).toBe('hello');
      expect(await call('region', { region: 'zürich' })).toBe('zürich');
      // Without sessions, a server of the old era has nobody to ask.
      const canAsk = carrier !== 'http' || version === NEW || era === 'old';
      if (canAsk) {
        expect(await call('deploy')).toBe('deployed: true');
        expect(asked).toEqual([['Deploy?', 'deploy']]);
        await connection.setLogLevel('info');
      }

      const progress: unknown[] = [];
      const onProgress = (update: unknown): void => void progress.push(update);
      expect(await call('slow', {}, { onProgress })).toBe('done');
      expect(progress).toMatchObject([{ progress: 1, total: 2 }]);
      if (canAsk) await events.when('server.log', ({ message }) => message.includes('half way'));

      if (canAsk) {
        const changed = events.when('catalog.changed', ({ added }) => added.includes('extra'));
        await call('flip');
        await changed;
      }

      const giveUp = new AbortController();
      const endless = call(
        'slow',
        { isEndless: true },
        { signal: giveUp.signal, onProgress: () => giveUp.abort() },
      );
      await expect(endless).rejects.toThrow();
      if (canAsk) await vi.waitUntil(async () => (await call('cancelled')) === '1', { timeout: PATIENCE_MS });

      const { generation } = connection.status;
      const isAgain = (event: { generation: number }): boolean => event.generation > generation;
      const again = events.next('connection.ready', isAgain);
      await lose(troupe);
      if (carrier.startsWith('http')) {
        // There is no session that could be lost; a call goes to the new process.
        await vi.waitUntil(() => call('echo', { text: 'x' }).catch(() => false), { timeout: PATIENCE_MS });
      } else await again;
      expect(await call('echo', { text: 'again' })).toBe('again');
      expect(connection.status).toMatchObject({ state: 'ready', protocolVersion: version });
    },
    2 * PATIENCE_MS,
  );
});

describe('a program of the new era', () => {
  const program = fileURLToPath(new URL('../../support/shy-program.mjs', import.meta.url));

  it.each(['exit', 'silent'])(
    'that answers initialize with: %s, is asked in its era by its next process',
    async (how) => {
      const policy = { ...POLICY, handshakeTimeoutMs: 5_000 };
      const entry = { command: process.execPath, args: [program, how], policy };
      await using troupe = createTroupe({ servers: { a: entry }, cache: false });
      const events = recordEvents(troupe.events$);
      await troupe.start();
      await events.when('connection.ready');
      const connection = troupe.connection('a')!;
      const { content } = await connection.callTool('shy');
      expect(connection.status).toMatchObject({ state: 'ready', protocolVersion: NEW, attempt: 2 });
      expect(content).toEqual([{ type: 'text', text: String(troupe.status[0]!.pid) }]);
    },
  );
});

describe('a published server of the new era', () => {
  const command = process.execPath;
  const args = [resolve('node_modules/@upstash/context7-mcp/dist/index.js')];

  it.each([
    ['auto', OLD],
    ['new', NEW],
  ] as const)('asked by %s, speaks %s and lists its tools', async (protocol, version) => {
    await using troupe = createTroupe({ servers: { a: { command, args, protocol } }, cache: false });
    await troupe.start();
    expect(troupe.connection('a')!.status).toMatchObject({ state: 'ready', protocolVersion: version });
    expect(troupe.tools.map(({ tool }) => tool)).toContain('resolve-library-id');
  });
});
