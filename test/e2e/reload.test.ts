/** Reloads with real processes: through the public API, and by the command that watches its files. */
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

/** Says its token when it is asked for, and once more when it is told to go. */
const TALKER = `
  const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
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
      if (id !== undefined) say({ id, result: answers[method]?.(params) ?? {} });
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
  it('keeps the process of what stays, replaces that of what changes, and ends that of what leaves.', async () => {
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

  it('tells neither the old secret nor the new one, whichever server says it and when.', async () => {
    const [old, fresh] = ['hunter2-old-token', 'hunter2-new-token'];
    await using troupe = createTroupe({ servers: { a: talker(old) } });
    const events = recordEvents(troupe.events$);
    await troupe.start();
    const said = (text: string) => events.when('server.log', ({ message }) => message.includes(text));
    await troupe.callTool('mcp__a__talk');
    await said('the token is');
    await troupe.reload({ a: talker(fresh) });
    await said('goodbye');
    const again = events.next('server.log', ({ message }) => message.includes('the token is'));
    await troupe.callTool('mcp__a__talk');
    await again;
    const told = JSON.stringify([events.all, troupe.status]);
    expect([told.includes(old), told.includes(fresh)]).toEqual([false, false]);
  });

  it('by itself leaves no watch behind when the troupe is closed.', async () => {
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
  it('obeys its file when that changes, says what changed, and tells of a file that is half written.', async () => {
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
