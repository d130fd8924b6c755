import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { discoverServers } from '../../../src/servers/discover.js';
import type { TroupeOptions } from '../../../src/options.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { useLeakCheck } from '../../support/leak-check.js';

const MISSING = 'no-such-command-of-the-project';

describe('a troupe', () => {
  useLeakCheck();
  useCrashWatch();
  const made: Troupe[] = [];
  afterEach(() => Promise.all(made.splice(0).map((troupe) => troupe.close())));

  /** On the system clock, because files and programs take real time. */
  function make(options: TroupeOptions) {
    const troupe = createTroupe({ policy: { maxAttempts: 1 }, ...options });
    made.push(troupe);
    return { troupe, events: recordEvents(troupe.events$) };
  }

  let root: string;
  const at = (name: string): string => join(root, name);

  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'troupe-project-')));
    await mkdir(at('.cursor'));
    const spawning = {
      command: process.execPath,
      args: ['-e', `fs.writeFileSync(${JSON.stringify(at('ran'))}, '')`],
    };
    await writeFile(
      at('.cursor/mcp.json'),
      JSON.stringify({ mcpServers: { runs: spawning, missing: { command: MISSING } } }),
    );
    await writeFile(
      at('inputs.json'),
      '{ "servers": { "asks": { "command": "${input:program}" } }, "inputs": [{ "id": "program", "password": true }] }',
    );
    // A folder instead of a file cannot be read.
    await mkdir(at('.mcp.json'));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  it('starts nothing from a project file before it is trusted', async () => {
    const { troupe } = make({ config: { path: at('.cursor/mcp.json'), scope: 'project' } });
    const report = await troupe.start();
    expect(report).toMatchObject({
      ready: [],
      failed: [],
      pending: [{ server: 'runs' }, { server: 'missing' }],
    });
    expect(troupe.status).toMatchObject([
      {
        server: 'runs',
        state: 'configuring',
        substate: 'awaitingTrust',
        trustRequest: { command: process.execPath },
      },
      {
        server: 'missing',
        state: 'configuring',
        substate: 'awaitingTrust',
        trustRequest: { command: MISSING },
      },
    ]);
    expect(existsSync(at('ran'))).toBe(false);
    await expect(troupe.connection('missing')?.trust()).rejects.toThrow(MISSING);
    expect(troupe.connection('runs')?.state).toBe('configuring');
  });

  it('finds its project, reports what it cannot read, and returns the entries that the host filters out', async () => {
    const { troupe, events } = make({
      discover: { cwd: at('.cursor'), user: false, filter: ({ server }) => server !== 'runs' },
    });
    const report = await troupe.start();
    expect(report.pending.map(({ server }) => server)).toEqual(['missing']);
    expect(report.dropped).toMatchObject([{ server: 'runs', config: { command: process.execPath } }]);
    expect(report.sources).toMatchObject([
      { path: at('.mcp.json'), scope: 'project', ok: false, message: expect.stringContaining('.mcp.json') },
      { path: at('.cursor/mcp.json'), scope: 'project', ok: true },
    ]);
    expect(events.of('diagnostic')).toMatchObject([
      { kind: 'config-problem', problem: 'file-unreadable', message: expect.stringContaining('.mcp.json') },
    ]);
  });

  it('keeps its servers if their file becomes a pipe that nobody writes to, and reports it', async () => {
    await writeFile(at('kept.json'), JSON.stringify({ mcpServers: { kept: { command: MISSING } } }));
    const { troupe } = make({ config: { path: at('kept.json'), trust: 'all' } });
    await troupe.start();
    await rm(at('kept.json'));
    execFileSync('mkfifo', [at('kept.json')]);
    await expect(troupe.reload()).resolves.toMatchObject({
      unchanged: ['kept'],
      sources: [{ ok: false, message: expect.stringContaining(at('kept.json')) }],
    });
  });

  it('asks the user for the inputs of an entry, and reveals the answer nowhere', async () => {
    const { troupe, events } = make({
      config: { path: at('inputs.json'), trust: 'all' },
      askInput: ({ id }) => `secret-${id}`,
    });
    const report = await troupe.start();
    expect(report.failed).toMatchObject([{ server: 'asks', failure: { code: 'command-not-found' } }]);
    expect(JSON.stringify([report, troupe.status, events.all])).not.toContain('secret-program');
  });

  it('does not start a server with inputs if the host cannot ask', async () => {
    const { troupe } = make({ config: { path: at('inputs.json'), trust: 'all' } });
    const { failed } = await troupe.start();
    expect(failed).toMatchObject([{ server: 'asks', failure: { code: 'variable-missing' } }]);
  });

  it('expands variables by the rules of the host', async () => {
    const servers = {
      strict: { url: 'http://127.0.0.1:9/', headers: { Authorization: '${TOKEN}' } },
      none: { command: `${MISSING}\${NOWHERE}` },
    };
    const env = { TOKEN: 'token-1' };
    const strict = make({ servers, env, expansion: { headers: 'own-env' } });
    const { failed } = await strict.troupe.start();
    expect(failed.map(({ server, failure }) => [server, failure.code])).toEqual([
      ['strict', 'variable-missing'],
      ['none', 'variable-missing'],
    ]);
    const lenient = make({ servers: { none: servers.none }, env, expansion: { missing: 'empty' } });
    const report = await lenient.troupe.start();
    expect(report.failed).toMatchObject([{ server: 'none', failure: { code: 'command-not-found' } }]);
  });

  it('can report in advance which servers it would find', async () => {
    const { servers, sources, dropped } = await discoverServers({ discover: { cwd: root, user: false } });
    expect(servers).toMatchObject([
      { server: 'runs', source: '.cursor/mcp.json', scope: 'project', enabled: true, trusted: false },
      { server: 'missing', trusted: false },
    ]);
    expect(sources).toHaveLength(2);
    expect(dropped).toEqual([]);
    const trusting = await discoverServers({ discover: { cwd: root, user: false }, trust: 'all' });
    expect(trusting.servers.every(({ trusted }) => trusted)).toBe(true);
  });
});
