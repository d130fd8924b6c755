/** Entries as other hosts document them, from the file to the server: own variables, files of variables, headers from a program. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import type { TroupeOptions } from '../../../src/options.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { answer, mcp, startServer, type TestServer } from '../../support/http-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { bounded } from '../../support/signing-troupes.js';

const roots: string[] = [];
const NODE = process.execPath;

/** Writes its arguments and variables to a file, and ends. */
const TELLS = `
import { writeFileSync } from 'node:fs';
const [file, ...args] = process.argv.slice(2);
writeFileSync(file, JSON.stringify({ args, env: process.env }));
`;

describe('an entry as other hosts write it', () => {
  useLeakCheck();
  useCrashWatch();
  const made: Troupe[] = [];
  const open: TestServer[] = [];
  let root: string;
  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'troupe-hosts-')));
    roots.push(root);
    await writeFile(join(root, 'reports.mjs'), TELLS);
  });
  afterEach(async () => {
    await Promise.all(made.splice(0).map((troupe) => troupe.close()));
    await Promise.all(open.splice(0).map((server) => server.close()));
  });
  afterAll(() => Promise.all(roots.splice(0).map((each) => rm(each, { recursive: true, force: true }))));

  async function make(entry: object, options: TroupeOptions & { readonly name?: string } = {}) {
    const { name = 'servers.json', ...others } = options;
    const file = join(root, name);
    await writeFile(file, JSON.stringify({ mcpServers: { lamp: entry } }));
    const troupe = createTroupe({ config: file, policy: { maxAttempts: 1 }, cache: false, ...others });
    made.push(troupe);
    const events = recordEvents(troupe.events$);
    return { troupe, events, report: await troupe.start() };
  }

  const reported = async (): Promise<{ args: string[]; env: Record<string, string> }> =>
    JSON.parse(await readFile(join(root, 'seen.json'), 'utf8')) as never;

  const program = (...args: readonly string[]) => [
    join(root, 'reports.mjs'),
    join(root, 'seen.json'),
    ...args,
  ];

  it('gives a program its own variables, also in its arguments.', async () => {
    const { events } = await make({
      command: NODE,
      args: program('--header', 'Authorization:${AUTH}', '{ print $NF }', '$(id) ${x%y}'),
      env: { AUTH: 'Bearer plum-71-of-the-lamp' },
    });
    const { args, env } = await reported();
    expect(args).toEqual([
      '--header',
      'Authorization:Bearer plum-71-of-the-lamp',
      '{ print $NF }',
      '$(id) ${x%y}',
    ]);
    expect(env['AUTH']).toBe('Bearer plum-71-of-the-lamp');
    expect(JSON.stringify(events.all)).not.toContain('plum-71');
  });

  it('gives a program the variables of its file, beside the file of the entry or in the project.', async () => {
    await writeFile(join(root, '.env'), '# lamps\nexport ROOM="the hall"\nLEVEL=3\nKEY=k3y-of-the-lamp-71\n');
    const { events } = await make({
      command: NODE,
      args: program('${ROOM}'),
      env: { LEVEL: '4' },
      envFile: '.env',
    });
    expect(await reported()).toMatchObject({
      args: ['the hall'],
      env: { ROOM: 'the hall', LEVEL: '4', KEY: 'k3y-of-the-lamp-71' },
    });
    expect(JSON.stringify(events.all)).not.toContain('k3y-of-the-lamp');
  });

  it('fails, and says which file, where the file of variables is missing.', async () => {
    const { report } = await make({ command: NODE, args: program(), envFile: '${userHome}/no/such/.env' });
    expect(report.failed).toMatchObject([
      {
        server: 'lamp',
        failure: { code: 'config-invalid', message: expect.stringMatching(/no\/such\/\.env/) },
      },
    ]);
    expect(existsSync(join(root, 'seen.json'))).toBe(false);
  });

  describe('with a program for its headers', () => {
    async function depot(pass: () => string): Promise<TestServer> {
      const inside = mcp({
        request: (seen, res) =>
          answer(res, seen, seen.rpc.method === 'tools/list' ? { tools: [TOOL] } : { content: [] }),
      });
      const server = await startServer((seen, res) => {
        if (seen.headers['x-pass'] !== pass()) return void res.writeHead(401).end('wrong pass');
        return inside(seen, res);
      });
      open.push(server);
      return server;
    }

    const helper = async (body: string): Promise<string> => {
      const file = join(root, 'helper.mjs');
      await writeFile(file, body);
      return `'${NODE}' '${file}'`;
    };
    const printing = (file: string): string =>
      `import { readFileSync } from 'node:fs';\nconsole.log(JSON.stringify({ 'X-Pass': readFileSync('${file}', 'utf8'), 'X-Server': process.env.CLAUDE_CODE_MCP_SERVER_NAME, 'X-Own': process.env.OWN }));`;

    it('has them before it connects, and new ones when these are refused.', async () => {
      const file = join(root, 'pass');
      await writeFile(file, 'fig-1-of-the-depot');
      let pass = 'fig-1-of-the-depot';
      const server = await depot(() => pass);
      const headersHelper = await helper(printing(file));
      const entry = {
        type: 'http',
        url: server.url,
        headersHelper,
        headers: { 'x-pass': 'old' },
        env: { OWN: 'o' },
      };
      const { troupe, events, report } = await make(entry);
      expect(report.ready).toEqual(['lamp']);
      expect(server.seen[0]?.headers).toMatchObject({ 'x-server': 'lamp', 'x-own': 'o' });
      await troupe.callTool('mcp__lamp__sail', {});

      pass = 'fig-2-of-the-depot';
      await writeFile(file, pass);
      await Promise.all([1, 2, 3].map(() => troupe.callTool('mcp__lamp__sail', {})));
      expect(troupe.status[0]).toMatchObject({ state: 'ready', generation: 1 });
      expect(JSON.stringify(events.all)).not.toMatch(/fig-[12]/);
    });

    it('waits for a person where the program gives the refused ones again.', async () => {
      const file = join(root, 'pass');
      await writeFile(file, 'wrong');
      const server = await depot(() => 'right');
      const { events } = await make({
        type: 'http',
        url: server.url,
        headersHelper: await helper(printing(file)),
      });
      await bounded(events.when('connection.authRequired'));
      // One in each era.
      expect(server.seen).toHaveLength(2);
    });

    it.each([
      ['ends with an error', 'console.error("no ticket"); process.exit(3);', 'process-exited'],
      ['prints something else', 'console.log("welcome");', 'spawn-failed'],
      ['prints no headers', 'console.log(JSON.stringify({ a: [] }));', 'spawn-failed'],
      [
        'prints a header that cannot be sent',
        'console.log(JSON.stringify({ "a b": "c" }));',
        'config-invalid',
      ],
    ])('is not reached where the program %s.', async (_, body, code) => {
      const server = await depot(() => 'x');
      const { report } = await make({ type: 'http', url: server.url, headersHelper: await helper(body) });
      expect(report.failed).toMatchObject([{ server: 'lamp', failure: { code } }]);
      expect(server.seen).toEqual([]);
    });

    it('leaves nothing of a program that does not end, when it is stopped.', async () => {
      const server = await depot(() => 'x');
      const body = `await fetch('${server.origin}/started').catch(() => {});\nsetInterval(() => {}, 1000);`;
      const file = join(root, 'servers.json');
      const entry = { type: 'http', url: server.url, headersHelper: await helper(body) };
      await writeFile(file, JSON.stringify({ mcpServers: { lamp: entry } }));
      const troupe = createTroupe({ config: file, cache: false });
      made.push(troupe);
      void troupe.start();
      await bounded(server.arrived(({ path }) => path === '/started'));
      await troupe.close();
      expect(server.seen.filter(({ path }) => path !== '/started')).toEqual([]);
    });
  });

  describe('in a file of a project that code names', () => {
    const marker = (): string => join(root, 'seen.json');

    beforeEach(() => mkdir(join(root, '.git')));

    it('starts no program before somebody trusts it.', async () => {
      const { troupe, report } = await make({ command: NODE, args: program() }, { name: '.mcp.json' });
      expect(report.pending).toEqual([{ server: 'lamp', failure: null }]);
      expect(troupe.connection('lamp')?.status).toMatchObject({ substate: 'awaitingTrust' });
      expect(existsSync(marker())).toBe(false);
      await troupe
        .connection('lamp')
        ?.trust()
        .catch(() => {});
      expect(existsSync(marker())).toBe(true);
    });

    it('runs no program for headers, and reads no variable, before somebody trusts it.', async () => {
      const server = await startServer(mcp());
      open.push(server);
      const headersHelper = `touch '${marker()}'; echo '{}'`;
      const curious = { type: 'http', url: server.url, headers: { A: '${HOME}' } };
      for (const entry of [{ type: 'http', url: server.url, headersHelper }, curious]) {
        const { troupe } = await make(entry, { name: 'servers.json', trust: () => false });
        expect(troupe.connection('lamp')?.status).toMatchObject({ substate: 'awaitingTrust' });
      }
      expect(existsSync(marker())).toBe(false);
      expect(server.seen).toEqual([]);
    });

    it('starts if the file is declared trusted.', async () => {
      const file = join(root, '.mcp.json');
      await make(
        { command: NODE, args: program() },
        { name: '.mcp.json', config: { path: file, trust: 'all' } },
      );
      expect(existsSync(marker())).toBe(true);
    });

    it('reaches no address, not even one that reads nothing, unless the host lets it.', async () => {
      const server = await startServer(mcp({ request: (seen, res) => answer(res, seen, { tools: [] }) }));
      open.push(server);
      const entry = { type: 'http', url: server.url };
      const asking = await make(entry, { name: '.mcp.json' });
      expect(asking.report).toMatchObject({ ready: [], pending: [{ server: 'lamp' }] });
      expect(server.seen).toEqual([]);
      const lax = await make(entry, { name: '.mcp.json', trust: 'programs-only' });
      expect(lax.report.ready).toEqual(['lamp']);
    });
  });
});

const TOOL = { name: 'sail', inputSchema: { type: 'object' } };
