/**
 * Clients of both versions of the SDK, in each era, through the gateway to servers of each era: programs and remote ones.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway, serveHttp } from '../../../src/gateway/index.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { WAIT_LIMIT_MS } from '../../support/time-limit.js';

// The connection pool of a client closes idle sockets after some seconds.
useLeakCheck({ settleMs: 10_000 });

const TROUPE = fileURLToPath(new URL('../../../dist/bundle/src/cli/main.js', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../support/era-server.mjs', import.meta.url));
const PATIENCE = { timeout: WAIT_LIMIT_MS, interval: 50 };
const LIMIT_MS = 60_000;
const CAPABILITIES = { elicitation: { form: {} } };
const YES = { action: 'accept' as const, content: { isSure: true } };
const POLICY = { backoff: [50, 100] as const };

type Era = 'old' | 'new' | 'both';
interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: object) => void;
}
interface Peer {
  readonly tools: () => Promise<readonly { readonly name: string }[]>;
  readonly call: (name: string, given?: Record<string, unknown>, options?: CallOptions) => Promise<unknown>;
}

/** What a client connects to: the address of a gateway, or the command of one. */
type Place = URL | { command: string; args: string[]; env: Record<string, string>; stderr: 'ignore' };

type Listener = () => void;

const toldOfTools = (onChanged: Listener) => ({ tools: { autoRefresh: false, debounceMs: 0, onChanged } });

async function connectOld(at: Place, onListChanged: Listener): Promise<Peer> {
  const client = new OldClient(
    { name: 'old', version: '1' },
    { capabilities: CAPABILITIES, listChanged: toldOfTools(onListChanged) },
  );
  client.setRequestHandler(ElicitRequestSchema, async () => YES);
  onTestFinished(() => client.close());
  await client.connect(at instanceof URL ? new OldHttp(at) : new OldStdio(at));
  return {
    tools: async () => (await client.listTools()).tools,
    call: (name, given = {}, options = {}) => client.callTool({ name, arguments: given }, undefined, options),
  };
}

const connectNew =
  (mode: 'auto' | { pin: string }) =>
  async (at: Place, onListChanged: Listener): Promise<Peer> => {
    const client = new NewClient(
      { name: 'new', version: '1' },
      {
        capabilities: CAPABILITIES,
        versionNegotiation: { mode },
        listChanged: toldOfTools(onListChanged),
      },
    );
    client.setRequestHandler('elicitation/create', async () => YES);
    onTestFinished(() => client.close());
    await client.connect(at instanceof URL ? new NewHttp(at) : new NewStdio(at));
    expect(client.getProtocolEra()).toBe('modern');
    return {
      tools: async () => (await client.listTools()).tools,
      call: (name, given = {}, options = {}) => client.callTool({ name, arguments: given }, options),
    };
  };

const CLIENTS = {
  'a client of the old era': connectOld,
  'a client of the new era': connectNew({ pin: '2026-07-28' }),
  'a client of both eras': connectNew('auto'),
};

/** A server over HTTP that can be killed and started again at its address. */
async function startRemote(
  era: Era,
): Promise<{ url: string; kill: () => Promise<void>; again: () => Promise<void> }> {
  const start = async (port: number): Promise<[ChildProcess, number]> => {
    const child = spawn(process.execPath, [PROGRAM, era, String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    return [child, Number(line)];
  };
  let [child, port] = await start(0);
  const kill = async (): Promise<void> => {
    const over = once(child, 'exit');
    child.kill('SIGKILL');
    await over;
  };
  const again = async (): Promise<void> => {
    await kill();
    [child, port] = await start(port);
  };
  return { url: `http://127.0.0.1:${port}/mcp`, kill, again };
}

describe.each(['http', 'stdio'] as const)('A gateway over %s', (carrier) => {
  describe.each(['old', 'new', 'both'] as const)('in front of servers of the era: %s', (era) => {
    let at: Place;
    const restart: Record<string, (peer: Peer) => Promise<void>> = {
      local: async (peer) => void process.kill(Number(await said(peer, 'mcp__local__pid')), 'SIGKILL'),
    };
    const ends: (() => Promise<unknown>)[] = [];

    beforeAll(async () => {
      const remote = await startRemote(era);
      ends.push(remote.kill);
      restart['remote'] = () => remote.again();
      const servers = {
        local: { command: process.execPath, args: [PROGRAM, era], policy: POLICY },
        remote: { type: 'http' as const, url: remote.url, policy: POLICY },
      };
      if (carrier === 'stdio') {
        const folder = await mkdtemp(join(tmpdir(), 'troupe-eras-'));
        ends.push(() => rm(folder, { recursive: true, force: true }));
        const config = join(folder, 'mcp.json');
        await writeFile(config, JSON.stringify({ mcpServers: servers }));
        at = {
          command: process.execPath,
          args: [TROUPE, 'serve', '--config', config],
          env: { ...process.env, TROUPE_CACHE: 'off' },
          stderr: 'ignore' as const,
        };
        return;
      }
      const gateway = createGateway({ servers, cache: false });
      ends.push(() => gateway.close());
      const service = await serveHttp(gateway);
      ends.push(() => service.close({ gracePeriodMs: 0 }));
      await gateway.start();
      at = new URL(service.url);
    }, LIMIT_MS);

    afterAll(async () => {
      for (const end of ends.toReversed()) await end();
    });

    it.each(Object.entries(CLIENTS))(
      'serves %s: calls, questions, progress, list changes, cancellation, and a server that is killed.',
      async (_, connect) => {
        let changes = 0;
        const peer = await connect(at, () => void (changes += 1));
        const isListed = async (name: string): Promise<boolean> =>
          (await peer.tools()).some((tool) => tool.name === name);
        const exercise = async (server: string): Promise<void> => {
          const tool = (name: string): string => `mcp__${server}__${name}`;
          await vi.waitUntil(() => isListed(tool('echo')), PATIENCE);
          expect(await said(peer, tool('echo'), { text: 'hello' })).toBe('hello');
          expect(await said(peer, tool('region'), { region: 'zürich' })).toBe('zürich');
          expect(await said(peer, tool('deploy'))).toBe('deployed: true');

          const progress: object[] = [];
          const giveUp = new AbortController();
          const onprogress = (update: object): void => {
            progress.push(update);
            giveUp.abort();
          };
          const endless = peer.call(tool('slow'), { isEndless: true }, { signal: giveUp.signal, onprogress });
          await expect(endless).rejects.toThrow();
          expect(progress).toMatchObject([{ progress: 1, total: 2 }]);
          await vi.waitUntil(async () => (await said(peer, tool('cancelled'))) === '1', PATIENCE);

          expect(await isListed(tool('extra'))).toBe(false);
          const before = changes;
          await peer.call(tool('flip'));
          await vi.waitUntil(async () => changes > before && (await isListed(tool('extra'))), PATIENCE);

          await restart[server]!(peer);
          const isBack = (): Promise<boolean> =>
            said(peer, tool('cancelled')).then(
              (count) => count === '0',
              () => false,
            );
          await vi.waitUntil(isBack, PATIENCE);
          await vi.waitUntil(async () => !(await isListed(tool('extra'))), PATIENCE);
        };
        await Promise.all([exercise('local'), exercise('remote')]);
      },
      LIMIT_MS,
    );
  });
});

async function said(
  peer: Peer,
  name: string,
  given: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<string> {
  const { content, isError } = (await peer.call(name, given, options)) as {
    content: { text: string }[];
    isError?: boolean;
  };
  if (isError === true) throw new Error(content[0]!.text);
  return content[0]!.text;
}
