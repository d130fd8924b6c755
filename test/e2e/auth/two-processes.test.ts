import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFileTokenStore } from '../../../src/auth/stores/file-token-store.js';
import { createGate } from '../../support/gate.js';
import { useInotify } from '../../support/inotify.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useAuthorizationServers } from '../../support/authorization-server.js';
import { bounded, useSigningTroupes } from '../../support/signing-troupes.js';

useInotify();
useLeakCheck();
const servers = useAuthorizationServers();
const troupes = useSigningTroupes();

const SCRIPT = fileURLToPath(new URL('other-process.mjs', import.meta.url));
const CLIENT = { clientId: 'harbor' };
const NAMES = ['a', 'b', 'c'];
const START_LIMIT_MS = 60_000;

let folder: string;
let children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-processes-'));
});
afterEach(async () => {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    }
  }
  children = [];
  rmSync(folder, { recursive: true });
});

interface OtherProcess {
  /** Resolves with the next line of output; rejects if the process ends first. */
  line(): Promise<string>;
  go(): void;
  ended: Promise<unknown>;
}

function startOther(url: string): OtherProcess {
  const child = spawn(process.execPath, [SCRIPT, url, folder, CLIENT.clientId, '2'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    line: async () => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error('The other process ended early.');
      return value;
    },
    go: () => void child.stdin.end('go\n'),
    ended: once(child, 'close'),
  };
}

describe('processes whose shared token is rejected', () => {
  it(
    'send a single refresh, and all their connections become ready with the new token.',
    async () => {
      const gate = createGate();
      const port = await servers.start({ hold: gate.promise });
      const tokens = port.issue();
      port.expireAll();
      const store = createFileTokenStore({ folder });
      await store.write({ server: port.url, client: CLIENT.clientId }, { tokens });
      const others = [startOther(port.url), startOther(port.url)];
      for (const other of others) expect(await other.line()).toBe('loaded');
      for (const other of others) other.go();
      const here = troupes.start(port.url, { store, client: CLIENT }, { names: NAMES });
      const refused = port.server.arrived(
        ({ path, headers }) => path === '/mcp' && headers.authorization === `Bearer ${tokens.access_token}`,
        2 * 2 + NAMES.length,
      );
      // All connections have been rejected before the refresh is answered.
      await bounded(refused);
      gate.open();
      for (const other of others) expect(JSON.parse(await other.line())).toEqual(['ready', 'ready']);
      await Promise.all(NAMES.map((name) => here.ready(name)));
      await Promise.all(others.map(({ ended }) => bounded(ended)));
      expect(port.grants()).toEqual(['refresh_token']);
      expect(here.events.of('connection.authRequired')).toEqual([]);
      expect(readdirSync(folder)).toEqual([expect.stringMatching(/\.json$/)]);
    },
    START_LIMIT_MS,
  );
});
