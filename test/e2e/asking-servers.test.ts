/** A real server that sends requests for roots, sampling and elicitation, over stdio and over HTTP. */
import { resolve } from 'node:path';
import { filter, firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.js';
import { createTroupe, type ServerConfig, type ServerRequestHandlers } from '../../src/index.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import { startProgram, type LocalProgram } from '../support/local-program.js';

useLeakCheck();
useCrashWatch();

const EVERYTHING = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');

interface TextResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
}

function textOf(result: unknown): string {
  return (result as TextResult).content.map(({ text = '' }) => text).join('\n');
}

describe.each(['pipe', 'http'])('server-everything over %s', (way) => {
  let program: LocalProgram | undefined;
  let entry: ServerConfig = { command: process.execPath, args: [EVERYTHING] };

  beforeAll(async () => {
    if (way === 'pipe') return;
    const port = await freePort();
    const env = { PORT: String(port) };
    program = await startProgram({ file: EVERYTHING, args: ['streamableHttp'], env, ready: /port \d+/ });
    entry = { type: 'http', url: `http://127.0.0.1:${port}/mcp` };
  });
  afterAll(() => program?.stop());

  async function start(handlers?: ServerRequestHandlers) {
    const servers = { s: entry };
    const troupe = createTroupe({ servers, cache: false, ...(handlers === undefined ? {} : { handlers }) });
    const report = await troupe.start();
    expect(report).toMatchObject({ ready: ['s'] });
    return troupe;
  }

  it('offers tools that need a capability of the client only if there is a handler for it', async () => {
    await using plain = await start();
    await using asked = await start({
      roots: [],
      sampling: async () => 'refused',
      elicitation: { form: () => ({ action: 'decline' }) },
    });
    const names = (troupe: typeof plain): string[] => troupe.tools.map(({ tool }) => tool);
    const added = names(asked).filter((name) => !names(plain).includes(name));
    expect(added).toContain('get-roots-list');
    expect(added).toContain('trigger-sampling-request');
    expect(added).toContain('trigger-elicitation-request');
    expect(added).not.toContain('trigger-url-elicitation');
  });

  it('receives the roots, and a notification when they change', async () => {
    let folder = '/one';
    await using troupe = await start({ roots: () => [{ uri: `file://${folder}`, name: 'here' }] });
    const asked = firstValueFrom(
      troupe.events$.pipe(
        filter((event) => event.type === 'server.request' && event.method === 'roots/list'),
      ),
    );
    const first = await troupe.callTool('mcp__s__get-roots-list');
    await asked;
    expect(textOf(first)).toContain('file:///one');
    folder = '/two';
    const again = firstValueFrom(
      troupe.events$.pipe(
        filter((event) => event.type === 'server.request' && event.method === 'roots/list'),
      ),
    );
    await troupe.rootsChanged();
    await again;
    // Over HTTP, the answer about the roots and the next call are in flight at the same time.
    const roots = async (): Promise<string> => textOf(await troupe.callTool('mcp__s__get-roots-list'));
    await expect.poll(roots).toContain('file:///two');
  });

  it('receives the text of a model, or an error if the user refuses', async () => {
    let isRefused = false;
    await using troupe = await start({
      sampling: async ({ messages, maxTokens }) => {
        if (isRefused) return 'refused';
        const text = `${messages.length} message, ${maxTokens} tokens`;
        return { role: 'assistant', model: 'tiny', content: { type: 'text', text } };
      },
    });
    const args = { prompt: 'Hello', maxTokens: 12 };
    const result = await troupe.callTool('mcp__s__trigger-sampling-request', args);
    expect(textOf(result)).toContain('1 message, 12 tokens');
    isRefused = true;
    const refused = await troupe.callTool('mcp__s__trigger-sampling-request', args);
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain('User rejected sampling request');
  });

  it('receives for each of two concurrent calls the answer for its own context', async () => {
    const isExact = way === 'http';
    await using troupe = await start({
      elicitation: (_, { origin }) => {
        if (origin === undefined) return { action: 'decline' };
        return { action: 'accept', content: { name: String(origin.context) } };
      },
    });
    const call = (context: string): Promise<unknown> =>
      troupe.callTool('mcp__s__trigger-elicitation-request', {}, { context });
    const alone = await call('Ada');
    expect(textOf(alone)).toContain('Ada');
    expect(textOf(alone)).toContain('It was a dark and stormy night.');
    const both = await Promise.all([call('Ada'), call('Bob')]);
    const texts = both.map(textOf);
    // Over stdio, a request of the server does not name its call. Its origin is known only if one call is left.
    expect(texts[0]).not.toContain('Bob');
    expect(texts[1]).not.toContain('Ada');
    if (isExact) expect(texts).toEqual([expect.stringContaining('Ada'), expect.stringContaining('Bob')]);
  });

  it('requests that the user opens a URL, or names the URL in an error', async () => {
    const opened: string[] = [];
    await using troupe = await start({
      elicitation: {
        url: ({ url }) => {
          opened.push(url);
          return { action: 'accept' };
        },
      },
    });
    const name = 'mcp__s__trigger-url-elicitation';
    const page = 'https://sign-in.example/start';
    await troupe.callTool(name, { url: page, message: 'Sign in' });
    expect(opened).toEqual([page]);
    const refused = troupe.callTool(name, { url: page, message: 'Sign in', errorPath: true });
    await expect(refused).rejects.toMatchObject({
      code: 'JSON_RPC_ERROR',
      rpcCode: -32042,
      data: { elicitations: [{ mode: 'url', url: expect.stringContaining('https://') }] },
    });
  });

  it('receives only valid arguments, and returns valid structured content', async () => {
    await using troupe = await start();
    const odd: string[] = [];
    troupe.diagnostics$.subscribe(({ kind }) => odd.push(kind));
    const name = 'mcp__s__get-structured-content';
    await expect(troupe.callTool(name, { location: 'Atlantis' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      problems: [{ path: '/location', message: 'must be one of "New York", "Chicago", "Los Angeles"' }],
    });
    const result = await troupe.callTool(name, { location: 'Chicago' });
    expect(result.structuredContent).toMatchObject({ temperature: 36 });
    expect(odd).toEqual([]);
  });
});
