/** A real server that asks its client: for roots, for a model's words, for a person's answer. Over a pipe and over HTTP. */
import { filter, firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTroupe, type ServerConfig, type ServerRequestHandlers } from '../../src/index.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import { freePort, startProgram, type LocalProgram } from '../support/local-program.js';

useLeakCheck();
useCrashWatch();

const EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';

interface Words {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
}

function words(result: unknown): string {
  return (result as Words).content.map(({ text = '' }) => text).join('\n');
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

  it('offers what it needs its client for only where there is a handler', async () => {
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

  it('is told the roots, and hears when they are other ones', async () => {
    let folder = '/one';
    await using troupe = await start({ roots: () => [{ uri: `file://${folder}`, name: 'here' }] });
    const asked = firstValueFrom(
      troupe.events$.pipe(
        filter((event) => event.type === 'server.request' && event.method === 'roots/list'),
      ),
    );
    const first = await troupe.callTool('mcp__s__get-roots-list');
    await asked;
    expect(words(first)).toContain('file:///one');
    folder = '/two';
    const again = firstValueFrom(
      troupe.events$.pipe(
        filter((event) => event.type === 'server.request' && event.method === 'roots/list'),
      ),
    );
    await troupe.rootsChanged();
    await again;
    // Over HTTP the answer and the next call are on their way side by side.
    const told = async (): Promise<string> => words(await troupe.callTool('mcp__s__get-roots-list'));
    await expect.poll(told, { timeout: 10_000 }).toContain('file:///two');
  });

  it('gets the words of a model, or the no of a person', async () => {
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
    expect(words(result)).toContain('1 message, 12 tokens');
    isRefused = true;
    const refused = await troupe.callTool('mcp__s__trigger-sampling-request', args);
    expect(refused.isError).toBe(true);
    expect(words(refused)).toContain('User rejected sampling request');
  });

  it('gets the answers of the person whom each of two calls at once was made for', async () => {
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
    expect(words(alone)).toContain('Ada');
    expect(words(alone)).toContain('It was a dark and stormy night.');
    const both = await Promise.all([call('Ada'), call('Bob')]);
    const said = both.map(words);
    // A pipe does not tell two calls apart: a question of either is nobody's, or that of the only one left.
    expect(said[0]).not.toContain('Bob');
    expect(said[1]).not.toContain('Ada');
    if (isExact) expect(said).toEqual([expect.stringContaining('Ada'), expect.stringContaining('Bob')]);
  });

  it('sends a person to an address, or says in an error which one it needs', async () => {
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

  it('gets arguments that fit, and gives structured content that does', async () => {
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
