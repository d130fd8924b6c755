/** Real MCP servers through the public API, over every transport to another process. */
import { resolve } from 'node:path';
import { filter, firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.js';
import { createTroupe, type ServerConfig } from '../../src/index.js';
import { useLeakCheck } from '../support/leak-check.js';
import { startProgram, type LocalProgram } from '../support/local-program.js';

useLeakCheck();

const SERVERS = resolve('node_modules/@modelcontextprotocol');
const EVERYTHING = `${SERVERS}/server-everything/dist/index.js`;

async function startEverything(mode: string): Promise<{ program: LocalProgram; origin: string }> {
  const port = await freePort();
  const program = await startProgram({
    file: EVERYTHING,
    args: [mode],
    env: { PORT: String(port) },
    ready: /port \d+/,
  });
  return { program, origin: `http://127.0.0.1:${port}` };
}

describe('server-everything over every transport', () => {
  const programs: LocalProgram[] = [];
  const entries: Record<string, ServerConfig> = {
    pipe: { command: process.execPath, args: [EVERYTHING] },
  };

  beforeAll(async () => {
    const [http, sse] = await Promise.all([startEverything('streamableHttp'), startEverything('sse')]);
    programs.push(http.program, sse.program);
    entries['http'] = { type: 'http', url: `${http.origin}/mcp` };
    entries['sse'] = { type: 'sse', url: `${sse.origin}/sse` };
  });
  afterAll(() => Promise.all(programs.map((program) => program.stop())));

  it('lists the same tools, answers calls and reports progress', async () => {
    await using troupe = createTroupe({ servers: entries });
    const report = await troupe.start();

    expect(report).toMatchObject({ failed: [], pending: [] });
    expect(report.ready.toSorted()).toEqual(['http', 'pipe', 'sse']);
    const toolsOf = (server: string) =>
      troupe.tools.filter((tool) => tool.server === server).map(({ tool }) => tool);
    expect(toolsOf('pipe')).toContain('echo');
    expect(toolsOf('http')).toEqual(toolsOf('pipe'));
    expect(toolsOf('sse')).toEqual(toolsOf('pipe'));

    for (const server of report.ready) {
      const echoed = await troupe.callTool(`mcp__${server}__echo`, { message: `via ${server} 灯笼` });
      expect(echoed.content).toEqual([{ type: 'text', text: `Echo: via ${server} 灯笼` }]);
      const steps: number[] = [];
      await troupe.callTool(
        `mcp__${server}__trigger-long-running-operation`,
        { duration: 0.2, steps: 4 },
        { onProgress: ({ progress }) => steps.push(progress) },
      );
      expect(steps).toEqual([1, 2, 3, 4]);
    }
    expect(
      troupe.status.map(({ server, transport, resourceCount }) => [server, transport, resourceCount > 0]),
    ).toEqual([
      ['pipe', 'stdio', true],
      ['http', 'http', true],
      ['sse', 'sse', true],
    ]);
  });

  it('recovers after its process was killed, with the same tools and a new generation', async () => {
    await using troupe = createTroupe({ servers: { pipe: entries['pipe']! } });
    await troupe.start();
    const before = troupe.tools.map(({ name }) => name);
    const pid = troupe.status[0]?.pid ?? 0;
    const back = firstValueFrom(
      troupe.events$.pipe(filter((event) => event.type === 'connection.ready' && event.generation === 2)),
    );

    process.kill(pid, 'SIGKILL');
    await back;

    expect(troupe.tools.map(({ name }) => name)).toEqual(before);
    expect(troupe.status[0]).toMatchObject({ state: 'ready', lastExit: { code: null, signal: 'SIGKILL' } });
    const result = await troupe.callTool('mcp__pipe__echo', { message: 'again' });
    expect(result.content).toEqual([{ type: 'text', text: 'Echo: again' }]);
  });
});

describe('other real servers', () => {
  it('run side by side, and a missing one does not affect them', async () => {
    const server = (name: string, ...args: string[]): ServerConfig => ({
      command: process.execPath,
      args: [`${SERVERS}/${name}/dist/index.js`, ...args],
      cwd: process.cwd(),
    });
    await using troupe = createTroupe({
      servers: {
        filesystem: server('server-filesystem', '.'),
        memory: server('server-memory'),
        'sequential-thinking': server('server-sequential-thinking'),
        missing: { command: 'no-such-mcp-server' },
      },
    });
    const report = await troupe.start();

    expect(report.ready.toSorted()).toEqual(['filesystem', 'memory', 'sequential-thinking']);
    expect(report.failed).toMatchObject([{ server: 'missing', failure: { code: 'command-not-found' } }]);
    const read = await troupe.callTool('mcp__filesystem__read_text_file', { path: 'LICENSE' });
    expect(JSON.stringify(read.content)).toContain('MIT License');
  });
});
