/** A host whose process runs in one folder works in another: `discover.cwd` says where the project lies. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { TroupeOptions } from '../../../src/options.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useAuthorizationServers } from '../../support/authorization-server.js';
import { recordEvents } from '../../support/event-record.js';
import { userVariables } from '../../support/user-variables.js';

useLeakCheck();
useCrashWatch();
const servers = useAuthorizationServers();

const made: Troupe[] = [];
let repo: string;
beforeEach(() => {
  repo = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-host-')));
  for (const folder of ['.git', 'store']) mkdirSync(join(repo, folder));
});
afterEach(async () => {
  await Promise.all(made.splice(0).map((troupe) => troupe.close()));
  vi.unstubAllEnvs();
  rmSync(repo, { recursive: true, force: true });
});

/** The user's folders lie in the project that the host works in. */
function useFoldersInside(): void {
  const store = join(repo, 'store');
  const variables = userVariables({ config: store, data: store, cache: store, state: store });
  for (const [name, value] of Object.entries({ ...variables, TROUPE_CACHE: '' })) vi.stubEnv(name, value);
}

function make(options: TroupeOptions) {
  const troupe = createTroupe({
    discover: { cwd: repo, user: false },
    policy: { maxAttempts: 1 },
    ...options,
  });
  made.push(troupe);
  return { troupe, events: recordEvents(troupe.events$) };
}

it('keeps neither lists of tools nor sign-ins there', async () => {
  useFoldersInside();
  const port = await servers.start();
  const { troupe, events } = make({ servers: { lamp: { url: port.url } }, auth: { interactive: false } });
  await troupe.start();
  expect(events.of('diagnostic')).toMatchObject([
    { kind: 'cache-problem', message: expect.stringContaining('is inside the project') },
    { kind: 'sign-in-not-stored', message: expect.stringContaining('is inside the project') },
  ]);
});

it('is what `${workspaceFolder}` means', async () => {
  const { troupe } = make({ servers: { lamp: { command: '${workspaceFolder}/lamp' } } });
  const { failed } = await troupe.start();
  expect(failed[0]?.failure.message).toContain(join(repo, 'lamp'));
});

it('holds entries that need trust, wherever the file is named', async () => {
  vi.stubEnv('XDG_CONFIG_HOME', repo);
  mkdirSync(join(repo, 'troupe'));
  const path = join(repo, 'troupe', 'mcp.json');
  writeFileSync(path, JSON.stringify({ mcpServers: { lamp: { command: 'no-such-lamp' } } }));
  const { troupe } = make({ config: path });
  expect((await troupe.start()).pending.map(({ server }) => server)).toEqual(['lamp']);
  expect(troupe.status).toMatchObject([{ substate: 'awaitingTrust' }]);
});
