/** The page that opens after the fact: it shows what happened, why, and what a person must do; and what comes after the end. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filter, firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMemoryTokenStore } from '../../src/auth/stores/token-store.js';
import { createTroupe, type Troupe } from '../../src/runtime/troupe.js';
import { tool } from '../../src/testing/ordinary-answers.js';
import { ScriptedServer } from '../../src/testing/scripted-server.js';
import { useAuthorizationServers } from '../support/authorization-server.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import { useSigningTroupes } from '../support/signing-troupes.js';
import { asking } from './consent-page.js';
import { expectAccessible, useVisualizer } from './use-visualizer.js';
import { expectText } from './visualizer-page.js';

useLeakCheck();
useCrashWatch();
vi.setConfig({ testTimeout: 60_000 });

/** A server that writes to stderr, ends with code 3 as often as the number says, and then runs. */
const CRASHING = `
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const [, file, most] = process.argv;
const runs = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
writeFileSync(file, String(runs + 1));
const answer = ({ id, method }) => {
  if (id === undefined) return;
  if (method === 'tools/list' && runs < Number(most)) {
    console.error('FATAL: the database is locked');
    process.exit(3);
  }
  const result = method === 'initialize'
    ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'crashing', version: '1' } }
    : { tools: [{ name: 'a', inputSchema: { type: 'object' } }] };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => answer(JSON.parse(line)));
`;

let folder: string;
let search: ScriptedServer;
let troupe: Troupe;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-past-'));
  search = new ScriptedServer({ tools: [tool('find')] });
});
// Later hooks run first, so the pages are closed before the troupe.
afterEach(async () => {
  await troupe.close();
  rmSync(folder, { recursive: true });
});
const authorization = useAuthorizationServers();
const signing = useSigningTroupes();
const visualizer = useVisualizer();

describe('a page that opens late', () => {
  it('shows the crashes of a server that has recovered, in its row and its details, with the entry; again when it reopens', async () => {
    const args = ['-e', CRASHING, join(folder, 'runs'), '2'];
    troupe = createTroupe({
      servers: {
        crashing: {
          type: 'stdio',
          command: process.execPath,
          args,
          policy: { backoff: [10], immediateRetryWindowMs: 60_000 },
        },
        search: { type: 'in-process', server: search },
      },
    });
    const { url } = await troupe.inspect();
    const isBack = firstValueFrom(
      troupe.events$.pipe(
        filter((event) => event.type === 'connection.ready' && event.server === 'crashing'),
      ),
    );
    await Promise.all([troupe.start(), isBack]);
    const again = firstValueFrom(troupe.events$.pipe(filter(({ type }) => type === 'connection.ready')));
    await search.die();
    await again;
    const page = await visualizer.open(url);
    await expectText(page, '.fleet-row', (text) => /crashing[^]*process-exited/.test(text));
    await expectText(page, '.fleet-row', (text) => /search[^]*1 restart\b/.test(text));
    await page.select('crashing');
    await expectText(page, '.why', (text) => /2 attempts failed[^]*code 3[^]*database is locked/.test(text));
    await expectAccessible(page, 'why');
    await page.page.locator('.why li:nth-child(2) button').click();
    await page.page.waitForSelector('#panel-events');
    await expectText(page, '.reading', (text) => /^Entry \d/.test(text));
    await page.show('Fleet');
    await page.page.reload({ waitUntil: 'load' });
    await page.select('search');
    await expectText(page, '.why', (text) => text.includes('after 1 restart'));
    await expectText(page, '.facts', (text) => text.includes('Ready since'));
    await page.click('Stop');
    await expectText(page, '.why', (text) => text.includes('was ready since'));
    expect(await page.text('.facts')).not.toContain('Ready since');
    // The answer has gone with the state in which the command was sent.
    await expectText(page, '.commands [role=status]', (text) => text === '');
    await page.show('Timeline');
    expect(await page.texts('#lane-story li')).not.toEqual([]);
  });

  it('shows what waits for a person as waiting, with the command', async () => {
    const path = join(folder, '.mcp.json');
    writeFileSync(path, JSON.stringify({ mcpServers: { theirs: { command: 'no-such-program' } } }));
    troupe = createTroupe({ config: { path, scope: 'project' } });
    const { url } = await troupe.inspect();
    await troupe.start();
    const page = await visualizer.open(url);
    await expectText(page, '.fleet-row', (text) => text.includes('troupe trust theirs'));
    expect(await page.page.$('.fleet-row .state-badge.tone-warn')).not.toBeNull();
    await page.select('theirs');
    await expectText(page, '.why', (text) => text.includes('troupe trust theirs'));
    await expectAccessible(page, 'waiting for trust');
  });

  it('shows where to sign in, and how', async () => {
    troupe = createTroupe({ servers: {} });
    const office = await authorization.start(asking());
    const { troupe: signed, asked } = signing.start(office.url, { store: createMemoryTokenStore() });
    await asked();
    const { url } = await signed.inspect();
    const page = await visualizer.open(url);
    await expectText(page, '.fleet-row', (text) => text.includes(`Sign in at ${office.origin}`));
    await page.select('port');
    await expectText(page, '.why.warn', (text) => text.includes('troupe login port'));
    const href = await page.page.$eval('.why a', (link) => (link as unknown as { href: string }).href);
    expect(href).toContain(office.origin);
  });
});

describe('a page after the end', () => {
  it('keeps the last errors, and says that another run answers at its address', async () => {
    troupe = createTroupe({
      servers: {
        search: { type: 'in-process', server: search },
        gone: { type: 'stdio', command: 'no-such-program' },
      },
    });
    const { url } = await troupe.inspect();
    await troupe.start();
    const page = await visualizer.open(url);
    await expectText(page, '.fleet-row', (text) => text.startsWith('gone') && text.includes('failed'));
    await troupe.close();
    await expectText(page, '.fleet-row', (text) => /gone[^]*stopped[^]*command-not-found/.test(text));
    await page.select('gone');
    await expectText(page, '.why', (text) => /closed[^]*was failed since[^]*command-not-found/.test(text));
    const port = Number(new URL(url).port);
    troupe = createTroupe({ servers: { later: { type: 'in-process', server: new ScriptedServer({}) } } });
    await troupe.start();
    await troupe.inspect({ port });
    await expectText(page, '.banner', (text) => text.startsWith('Another run answers here.'));
    expect(await page.text('.fleet-row')).toContain('search');
    // The browser reports the refused request.
    page.complaints.splice(0);
  });
});
