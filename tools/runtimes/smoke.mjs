/**
 * What a host does with Troupe, in whatever runtime runs this file: the built package only, real servers, no test runner.
 * Exits with 1 and the reason if something differs; ends by itself, which shows that nothing keeps the process.
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createTroupe } from '../../dist/bundle/src/index.js';
import { expectNoLeaks, scriptedProgram } from '../../dist/bundle/src/testing/index.js';

const LIMIT_MS = 10_000;

const checks = {
  async 'a server that is killed comes back'() {
    const { troupe, diagnostics } = make({ servers: { lamp: scriptedProgram({}) } });
    await troupe.start();
    const { pid } = statusOf(troupe, 'lamp');
    process.kill(pid, 'SIGKILL');
    await until(() => {
      const status = statusOf(troupe, 'lamp');
      return status.state === 'ready' && status.pid !== pid;
    });
    await callEcho(troupe);
    await troupe.close();
    assert.deepEqual(diagnostics, []);
  },
  async 'servers are called, 64 calls at once, and closing leaves nothing'() {
    const work = async () => {
      const { troupe, diagnostics } = make({ servers: { lamp: scriptedProgram({}) } });
      const { ready } = await troupe.start();
      assert.deepEqual(ready, ['lamp']);
      const calls = Array.from({ length: 64 }, () => callEcho(troupe));
      assert.equal((await Promise.all(calls)).length, 64);
      await troupe.close();
      assert.deepEqual(diagnostics, []);
    };
    // Some runtimes open descriptors with one of their first processes, and keep them. A leak is left each time.
    await expectNoLeaks(work)
      .catch(() => expectNoLeaks(work))
      .catch(() => expectNoLeaks(work));
  },
  async 'a missing command is told, and the others run'() {
    const servers = { lamp: scriptedProgram({}), gone: { command: 'troupe-no-such-command' } };
    const { troupe } = make({ servers });
    const { ready, failed } = await troupe.start();
    assert.deepEqual(ready, ['lamp']);
    assert.deepEqual(
      failed.map(({ server, failure }) => [server, failure.code]),
      [['gone', 'command-not-found']],
    );
    await troupe.close();
  },
  async 'a configuration file is read, and read again when it changes'() {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-smoke-'));
    const file = join(folder, 'mcp.json');
    const write = (...names) => {
      const entries = names.map((name) => [name, scriptedProgram({})]);
      writeFileSync(file, JSON.stringify({ mcpServers: Object.fromEntries(entries) }));
    };
    try {
      write('one');
      const { troupe } = make({ config: { path: file, trust: 'all' }, watch: true });
      await troupe.start();
      write('one', 'two');
      await until(() => troupe.status.length === 2 && troupe.status.every(({ state }) => state === 'ready'));
      await troupe.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  async 'a message that nests too deeply is refused, and the session goes on'() {
    const { troupe } = make({ servers: { lamp: scriptedProgram({}) } });
    await troupe.start();
    let deep = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    await assert.rejects(callEcho(troupe, { deep }), /deeper than 1,000 levels/);
    await callEcho(troupe);
    await troupe.close();
  },
  async 'the package loads with require'() {
    const fromHere = createRequire(import.meta.url);
    assert.equal(typeof fromHere('../../dist/bundle/src/index.js').createTroupe, 'function');
  },
};

/** A troupe that reads nothing of the user, and what it reports. */
function make(options) {
  const troupe = createTroupe({ trust: 'all', cache: false, ...options });
  const diagnostics = [];
  troupe.events$.subscribe((event) => {
    if (event.type === 'diagnostic') diagnostics.push(`${event.kind}: ${event.message}`);
  });
  return { troupe, diagnostics };
}

function callEcho(troupe, args = {}) {
  return troupe.callTool(troupe.tools[0].name, args);
}

function statusOf(troupe, server) {
  return troupe.status.find((row) => row.server === server);
}

async function until(isSo) {
  for (let waited = 0; !isSo(); waited += 20) {
    assert.ok(waited < LIMIT_MS, `not within ${LIMIT_MS} ms: ${isSo}`);
    await pause(20);
  }
}

for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok      ${name}`);
  } catch (error) {
    console.log(`FAILED  ${name}\n${error?.stack ?? error}`);
    process.exitCode = 1;
  }
}
