import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { diffServers, type ConfigDiff } from '../../../src/config/diff.js';
import { loadConfig, type LoadedConfig } from '../../../src/servers/load-config.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import { ScriptedServer } from '../../support/scripted-server.js';

const CWD = '/srv/here';

interface File {
  readonly path: string;
  readonly scope: 'given' | 'project';
  readonly text: string;
}

/** Content that is not text is written as JSON. */
function file(content: unknown, path = 'a.json', scope: File['scope'] = 'given'): File {
  const text = typeof content === 'string' ? content : JSON.stringify({ mcpServers: content });
  return { path, scope, text };
}

function load(...files: readonly File[]): Promise<LoadedConfig> {
  const texts = new Map(files.map(({ path, text }) => [resolve(CWD, path), text]));
  const config = files.map(({ path, scope }) => ({ path, scope }));
  return loadConfig({ config, cwd: CWD }, async (path) => texts.get(path) ?? '');
}

async function diff(before: Promise<LoadedConfig>, after: Promise<LoadedConfig>): Promise<ConfigDiff> {
  const { servers, refused } = await before;
  return diffServers([...servers, ...refused], await after, {});
}

/** Names by kind of change; `settings` are the changed entries that keep their session. */
function names({ added, removed, changed, unchanged }: ConfigDiff): Record<string, readonly string[]> {
  const sessions = changed.filter(({ needsSession }) => needsSession);
  const settings = changed.filter(({ needsSession }) => !needsSession);
  const lists = {
    added,
    removed,
    sessions: sessions.map(({ after }) => after),
    settings: settings.map(({ after }) => after),
    unchanged,
  };
  return Object.fromEntries(
    Object.entries(lists).flatMap(([what, rows]) =>
      rows.length === 0 ? [] : [[what, rows.map(({ name }) => name)]],
    ),
  );
}

const changeOf = async (before: unknown, after: unknown): Promise<Record<string, readonly string[]>> =>
  names(await diff(load(file({ lamp: before })), load(file({ lamp: after }))));

const LAMP = { command: 'lamp', args: ['--dim'], env: { A: '1', B: '2' } };
const REMOTE = { url: 'https://lamp.example/mcp', headers: { 'x-room': 'hall' } };

describe('added and removed entries', () => {
  it('are reported by name.', async () => {
    const before = load(file({ stays: LAMP, changes: LAMP, leaves: LAMP }));
    const after = load(file({ arrives: LAMP, changes: { ...LAMP, args: [] }, stays: LAMP }));
    expect(names(await diff(before, after))).toEqual({
      added: ['arrives'],
      removed: ['leaves'],
      sessions: ['changes'],
      unchanged: ['stays'],
    });
  });

  it('are all entries if there were none before, or none are left.', async () => {
    const some = load(file({ lamp: LAMP }));
    const none = load(file({}));
    expect(names(await diff(none, some))).toEqual({ added: ['lamp'] });
    expect(names(await diff(some, none))).toEqual({ removed: ['lamp'] });
  });
});

describe('an entry with the same meaning is unchanged', () => {
  const SAME: readonly [how: string, before: unknown, after: unknown][] = [
    ['other order of keys', LAMP, { env: { B: '2', A: '1' }, args: ['--dim'], command: 'lamp' }],
    ['the type spelled out', LAMP, { type: 'stdio', ...LAMP }],
    ['another word for the type', { ...REMOTE, type: 'http' }, { ...REMOTE, type: 'streamable-http' }],
    ['another name of a field', LAMP, { command: 'lamp', args: ['--dim'], environment: LAMP.env }],
    ['a command as a list', LAMP, { command: ['lamp', '--dim'], env: LAMP.env }],
    ['empty collections', { command: 'lamp' }, { command: 'lamp', args: [], env: {}, tools: {} }],
    ['nulls', { command: 'lamp' }, { command: 'lamp', cwd: null, timeout: null }],
    [
      'defaults spelled out',
      LAMP,
      { ...LAMP, enabled: true, disabled: false, start: 'eager', inheritEnv: false, callTimeoutMs: 60_000 },
    ],
    ['the default of a limit', LAMP, { ...LAMP, startTimeoutMs: 30_000, idleStopMs: 0 }],
    ['the default of a policy', LAMP, { ...LAMP, policy: { maxAttempts: 5, ping: { timeoutMs: 5_000 } } }],
    ['a field of another host', LAMP, { ...LAMP, icon: 'lamp.svg', description: 'a lamp' }],
    ['a list of tools as a filter', { ...LAMP, tools: ['on'] }, { ...LAMP, tools: { allow: ['on'] } }],
    [
      'two spellings of a schedule',
      { ...LAMP, policy: { backoff: [100, 200] } },
      { ...LAMP, policy: { backoff: { kind: 'fixed', delaysMs: [100, 200] } } },
    ],
  ];

  it.each(SAME)('with %s.', async (_, before, after) => {
    expect(await changeOf(before, after)).toEqual({ unchanged: ['lamp'] });
  });

  it('with comments, other whitespace and another key around it.', async () => {
    const text = `{
      // the same
      "servers": { "lamp": { "args": [ "--dim" ], "command": "lamp", "env": { "A": "1", "B": "2" }, } }
    }`;
    expect(names(await diff(load(file({ lamp: LAMP })), load(file(text))))).toEqual({ unchanged: ['lamp'] });
  });

  it('if another file of the same folder defines it, which becomes its source.', async () => {
    const after = load(file({ lamp: LAMP }, 'b.json'));
    const result = await diff(load(file({ lamp: LAMP })), after);
    expect(names(result)).toEqual({ unchanged: ['lamp'] });
    expect(result.unchanged).toMatchObject([{ source: 'b.json' }]);
  });

  it('if it is the same server object of this process.', async () => {
    const server = new ScriptedServer();
    const loaded = (config: ServerConfig) => loadConfig({ servers: { lamp: config }, cwd: CWD });
    const before = loaded({ type: 'in-process', server });
    const same = loaded({ server, type: 'in-process', enabled: true });
    const other = loaded({ type: 'in-process', server: new ScriptedServer() });
    expect(names(await diff(before, same))).toEqual({ unchanged: ['lamp'] });
    expect(names(await diff(before, other))).toEqual({ sessions: ['lamp'] });
  });
});

describe('a new session is needed', () => {
  const OTHER: readonly [what: string, before: unknown, after: unknown][] = [
    ['command', LAMP, { ...LAMP, command: 'lantern' }],
    ['order of the arguments', { ...LAMP, args: ['a', 'b'] }, { ...LAMP, args: ['b', 'a'] }],
    ['value of a variable', LAMP, { ...LAMP, env: { A: '1', B: '3' } }],
    ['working directory', LAMP, { ...LAMP, cwd: '/tmp' }],
    ['inherited environment', LAMP, { ...LAMP, inheritEnv: ['LANG'] }],
    ['address', REMOTE, { ...REMOTE, url: 'https://lamp.example/other' }],
    ['header', REMOTE, { ...REMOTE, headers: { 'x-room': 'attic' } }],
    ['transport', REMOTE, { ...REMOTE, type: 'sse' }],
    ['kind of server', LAMP, REMOTE],
  ];

  it.each(OTHER)('for a different %s.', async (_, before, after) => {
    expect(await changeOf(before, after)).toEqual({ sessions: ['lamp'] });
  });

  it('for a different default of an input it refers to, but not if only other entries refer to it or only its description changed.', async () => {
    const asking = (room: object, mcpServers: object = { lamp: { ...LAMP, args: ['${input:room}'] } }) =>
      load(file(JSON.stringify({ inputs: [{ id: 'room', ...room }], mcpServers })));
    const before = asking({ default: 'hall' });
    expect(names(await diff(before, asking({ default: 'attic' })))).toEqual({ sessions: ['lamp'] });
    expect(names(await diff(before, asking({})))).toEqual({ sessions: ['lamp'] });
    const reworded = await diff(before, asking({ default: 'hall', description: 'Which room' }));
    expect(names(reworded)).toEqual({ unchanged: ['lamp'] });
    expect(reworded.unchanged).toMatchObject([
      {
        inputs: new Map([
          ['room', { id: 'room', description: 'Which room', default: 'hall', password: false }],
        ]),
      },
    ]);
    const others = asking({ default: 'hall' }, { lamp: LAMP });
    expect(names(await diff(others, asking({ default: 'attic' }, { lamp: LAMP })))).toEqual({
      unchanged: ['lamp'],
    });
  });

  it('for a different project, to which its paths and its trust belong.', async () => {
    const both = { lamp: LAMP, remote: REMOTE };
    const before = load(file(both, 'a.json', 'project'));
    const after = load(file(both, '/srv/there/a.json', 'project'));
    expect(names(await diff(before, after))).toEqual({ sessions: ['lamp', 'remote'] });
  });

  it('if it now comes from a project, whose entries need trust.', async () => {
    const before = load(file({ lamp: LAMP }));
    const after = load(file({ lamp: LAMP }, 'a.json', 'project'));
    expect(names(await diff(before, after))).toEqual({ sessions: ['lamp'] });
  });
});

describe('only settings differ', () => {
  const SETTINGS: readonly [string, object][] = [
    ['enabled', { enabled: false }],
    ['disabled', { disabled: true }],
    ['tools', { tools: { deny: ['off'] } }],
    ['start', { start: 'lazy' }],
    ['idleStopMs', { idleStopMs: 5_000 }],
    ['startTimeoutMs', { startTimeoutMs: 5_000 }],
    ['callTimeoutMs', { callTimeoutMs: 5_000 }],
    ['retryCalls', { retryCalls: 'never' }],
    ['policy', { policy: { maxAttempts: 2 } }],
  ];

  it.each(SETTINGS)('if %s is different.', async (_, settings) => {
    expect(await changeOf(LAMP, { ...LAMP, ...settings })).toEqual({ settings: ['lamp'] });
    expect(await changeOf({ ...REMOTE, ...settings }, REMOTE)).toEqual({ settings: ['lamp'] });
  });

  it('but a session is needed anyway if more than that differs.', async () => {
    expect(await changeOf(LAMP, { ...LAMP, args: [], tools: ['on'] })).toEqual({ sessions: ['lamp'] });
  });

  it('if the effective values differ, after the settings of the host.', async () => {
    const before = await load(file({ lamp: LAMP }));
    const after = await load(file({ lamp: { ...LAMP, startTimeoutMs: 9_000 } }));
    const host = { env: { TROUPE_TIMEOUT_MS: '9000' } };
    expect(names(diffServers(before.servers, after, host))).toEqual({ unchanged: ['lamp'] });
  });
});

describe('a mistake removes nothing', () => {
  const running = load(file({ lamp: LAMP, fan: LAMP }));

  it.each([
    ['is cut short', '{ "mcpServers": { "lamp": { "comm'],
    ['is empty', ''],
    ['is another kind of JSON', '[]'],
    ['names no servers by any known key', '{}'],
  ])('if a file %s.', async (_, text) => {
    expect(names(await diff(running, load(file(text))))).toEqual({ unchanged: ['lamp', 'fan'] });
  });

  it('if one entry is invalid: the other entries follow the file, and that one stays.', async () => {
    const after = load(file({ lamp: { command: 7 }, arrives: LAMP }));
    const result = await diff(running, after);
    expect(names(result)).toEqual({ added: ['arrives'], removed: ['fan'], unchanged: ['lamp'] });
    expect(result.unchanged).toEqual([(await running).servers[0]]);
  });

  it('if a file cannot be read: later files do not get its names, but their own changes count.', async () => {
    const before = load(file({ lamp: LAMP }), file({ lamp: REMOTE, fan: LAMP }, 'b.json'));
    const after = load(file('{'), file({ lamp: REMOTE, fan: REMOTE }, 'b.json'));
    expect(names(await diff(before, after))).toEqual({ sessions: ['fan'], unchanged: ['lamp'] });
  });

  it('but a list that is emptied on purpose is emptied.', async () => {
    expect(names(await diff(running, load(file('{ "mcpServers": {} }'))))).toEqual({
      removed: ['lamp', 'fan'],
    });
  });
});

describe('an entry that was never valid', () => {
  const wrong = load(file({ lamp: { command: 7 } }));

  it('is added as invalid.', async () => {
    expect(names(await diff(load(file({})), wrong))).toEqual({ added: ['lamp'] });
  });

  it('is unchanged while it is invalid in the same way, and changed if that differs.', async () => {
    expect(names(await diff(wrong, load(file({ lamp: { command: 7 } }))))).toEqual({ unchanged: ['lamp'] });
    expect(names(await diff(wrong, load(file({ lamp: { url: 7 } }))))).toEqual({ sessions: ['lamp'] });
  });

  it('gets its first session once it is valid.', async () => {
    expect(names(await diff(wrong, load(file({ lamp: LAMP }))))).toEqual({ sessions: ['lamp'] });
  });

  it('is removed with its file.', async () => {
    expect(names(await diff(wrong, load(file({}))))).toEqual({ removed: ['lamp'] });
  });
});
