/** Reloads with real processes, through the public API and through the command that watches its files. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTroupe, type Troupe } from '../../src/index.js';
import { faulty, useTeam } from '../support/team.js';
import { TroupeProcess } from '../support/troupe-process.js';
import { recordEvents } from '../support/event-record.js';
import { useInotify } from '../support/inotify.js';
import { useLeakCheck } from '../support/leak-check.js';

useInotify();
useLeakCheck();
const team = useTeam();

/** Writes its token to stderr on each call, and again when its input ends. */
const TALKER = `
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  const answers = {
    initialize: ({ protocolVersion }) =>
      ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'talker', version: '1' } }),
    'tools/list': () => ({ tools: [{ name: 'talk', inputSchema: { type: 'object' } }] }),
    'tools/call': () => ({ content: [] }),
  };
  require('node:readline').createInterface(process.stdin)
    .on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (method === 'tools/call') console.error('the token is ' + process.env.TOKEN);
      if (id !== undefined) send({ id, result: answers[method]?.(params) ?? {} });
    })
    .on('close', () => console.error('goodbye, ' + process.env.TOKEN));
`;

const talker = (token: string) => ({
  command: process.execPath,
  args: ['-e', TALKER],
  env: { TOKEN: token },
});

function pids(troupe: Troupe): Record<string, number | null> {
  return Object.fromEntries(troupe.status.map(({ server, pid }) => [server, pid]));
}

function isAlive(pid: number | null | undefined): boolean {
  try {
    return process.kill(pid ?? 0, 0);
  } catch {
    return false;
  }
}

describe('a reload of real servers', () => {
  it('keeps the process of an unchanged server, replaces a changed one, and ends a removed one.', async () => {
    const config = team().write('reload.json', {
      stays: faulty('plain'),
      changes: faulty('plain'),
      leaves: faulty('plain'),
    });
    await using troupe = createTroupe({ config });
    await troupe.start();
    const before = pids(troupe);
    team().write('reload.json', {
      arrives: faulty('plain'),
      changes: faulty('other-echo'),
      stays: { ...faulty('plain'), callTimeoutMs: 9_000 },
    });
    await expect(troupe.reload()).resolves.toMatchObject({
      added: ['arrives'],
      removed: ['leaves'],
      changed: ['stays', 'changes'],
    });
    const after = pids(troupe);
    expect(after['stays']).toBe(before['stays']);
    expect(after['changes']).not.toBe(before['changes']);
    expect(Object.values(after).every(isAlive)).toBe(true);
    expect([isAlive(before['changes']), isAlive(before['leaves'])]).toEqual([false, false]);
  });

  it('publishes neither the old secret nor the new one if the servers print them.', async () => {
    const [old, fresh] = ['hunter2-old-token', 'hunter2-new-token'];
    await using troupe = createTroupe({ servers: { a: talker(old) } });
    const events = recordEvents(troupe.events$);
    await troupe.start();
    const logged = (text: string) => events.when('server.log', ({ message }) => message.includes(text));
    await troupe.callTool('mcp__a__talk');
    await logged('the token is');
    await troupe.reload({ a: talker(fresh) });
    await logged('goodbye');
    const again = events.next('server.log', ({ message }) => message.includes('the token is'));
    await troupe.callTool('mcp__a__talk');
    await again;
    const published = JSON.stringify([events.all, troupe.status]);
    expect([published.includes(old), published.includes(fresh)]).toEqual([false, false]);
  });

  it('through a watched file leaves no watch behind after the troupe has closed.', async () => {
    const config = team().write('watched.json', { a: faulty('plain') });
    await using troupe = createTroupe({ config, watch: true });
    await troupe.start();
    const [pid] = Object.values(pids(troupe));
    const added = recordEvents(troupe.events$).next('connection.ready', ({ server }) => server === 'b');
    team().write('watched.json', { a: faulty('plain'), b: faulty('plain') });
    await added;
    expect(pids(troupe)).toMatchObject({ a: pid });
  });
});

describe('troupe up', () => {
  it('follows changes of its file, reports them, and reports a half-written file.', async () => {
    const config = team().write('up.json', { stays: faulty('plain'), leaves: faulty('plain') });
    const up = TroupeProcess.start(['up', '--config', config]);
    await up.saw(/ stays ready, /);
    await up.saw(/ leaves ready, /);
    writeFileSync(join(team().folder, 'up.json'), '{ "mcpServers": {');
    await up.saw(/^troupe: .*up\.json:1:\d+: /m, 'stderr');
    team().write('up.json', { stays: faulty('plain'), arrives: faulty('plain') });
    await up.saw(/^troupe: The configuration has changed: added arrives; removed leaves\.$/m, 'stderr');
    await up.saw(/ arrives ready, /);
    await up.saw(/ leaves stopped \(remove\)\n/);
    up.signal('SIGINT');
    const { code, stdout } = await up.finished();
    expect(code).toBe(0);
    expect(stdout.match(/ stays ready, /g)).toHaveLength(1);
  });
});
