/** The suite of the host: `node --test docs/examples/tested-host`. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { expectReplays } from 'mcp-troupe/event-log';
import { connectionMachine } from 'mcp-troupe/machines';
import {
  connectionModel,
  controlHttpServer,
  controlProgram,
  createControlledClock,
  createScriptedServer,
  edgePaths,
  expectNoLeaks,
  HOST_POLICY,
  HOST_START,
  hostCommands,
  serverModel,
  silent,
  tool,
  transitionCoverage,
  walkHost,
  walkWithServers,
} from 'mcp-troupe/testing';
import { openHost } from './host.mjs';

const folder = mkdtempSync(join(tmpdir(), 'tested-host-'));
after(() => rmSync(folder, { recursive: true }));
const logOf = (incident) => join(folder, `${incident}.log`);
const emitted = (troupe, type) =>
  new Promise((resolve) => {
    const subscription = troupe.events$.subscribe((event) => {
      if (event.type !== type) return;
      resolve(event);
      subscription.unsubscribe();
    });
  });

describe('the host', () => {
  // Modules that load on first use take real time.
  before(async () => {
    const { troupe } = openHost({ servers: { files: createScriptedServer() } });
    await troupe.start();
    await troupe.close();
  });

  it('shows a crash, and the server when it is back', async () => {
    const clock = createControlledClock();
    const server = createScriptedServer();
    const { troupe, line } = openHost({ servers: { files: server }, clock, seed: 1, record: logOf('crash') });
    await clock.runUntil(troupe.start(), { troupe });
    assert.equal(line('files'), 'files ready, 1 tools');
    server.script = { on: { initialize: [{ error: { code: -32_000, message: 'no disk' } }, {}] } };
    const retrying = emitted(troupe, 'connection.retrying');
    await server.die();
    await clock.runUntil(retrying, { troupe });
    assert.match(line('files'), /^files reconnecting: /);
    await clock.runUntil(troupe.connection('files').ready(), { troupe });
    assert.equal(line('files'), 'files ready, 1 tools');
    assert.equal(server.sessions, 3);
    await clock.runUntil(troupe.close(), { troupe });
  });

  it('gives a silent server up', async () => {
    const clock = createControlledClock();
    const server = createScriptedServer({ on: { initialize: silent } });
    const { troupe, line } = openHost({
      servers: { files: server },
      clock,
      seed: 1,
      record: logOf('silence'),
    });
    const failed = emitted(troupe, 'connection.failed');
    void troupe.start();
    await clock.runUntil(failed, { troupe });
    assert.match(line('files'), /^files failed: .*initialize/);
    await clock.runUntil(troupe.close(), { troupe });
  });

  it('offers the tools that a server has now', async () => {
    const server = createScriptedServer();
    const { troupe, tools } = openHost({ servers: { files: server }, record: logOf('tools') });
    await troupe.start();
    const changed = emitted(troupe, 'catalog.changed');
    server.changeTools([tool('read'), tool('write')]);
    assert.deepEqual((await changed).added, ['read', 'write']);
    assert.deepEqual(tools(), ['mcp__files__read', 'mcp__files__write']);
    await troupe.close();
  });

  it('asks its person what a server wants to know', async () => {
    const requestedSchema = { type: 'object', properties: { answer: { type: 'string' } } };
    const ask = { method: 'elicitation/create', params: { message: 'Which disk?', requestedSchema } };
    const server = createScriptedServer({ on: { 'tools/call': { ask } } });
    const { troupe } = openHost({ servers: { files: server } }, (question) => `${question} The blue one.`);
    await troupe.start();
    const { content } = await troupe.callTool('mcp__files__echo', {});
    assert.match(content[0].text, /Which disk\? The blue one\./);
    await troupe.close();
  });

  it('leaves nothing behind, whatever its program does', async () => {
    await expectNoLeaks(async () => {
      const program = await controlProgram({ stubborn: true });
      const { troupe, line } = openHost({ servers: { files: program.config } });
      await troupe.start();
      assert.equal(line('files'), 'files ready, 1 tools');
      await troupe.close();
      await program.close();
    });
    let timer;
    const forgetful = () => void (timer = setInterval(() => {}, 1_000));
    const left = await expectNoLeaks(forgetful, { settleMs: 0 }).catch((error) => error);
    clearInterval(timer);
    assert.match(left.message, /Timeout\n\s+at .*host\.test\.mjs/);
  });
});

describe('every transition of a connection', () => {
  const model = connectionModel();
  const coverage = transitionCoverage();
  const { paths } = edgePaths(model.machine, model);
  let host;
  const open = (options) => (host = openHost(options)).troupe;
  const check = ({ status: { server, state } }) =>
    assert.ok(host.line(server).startsWith(`${server} ${state}`));

  it('is shown', async () => {
    for (const path of paths)
      await walkHost(path, { open, check, coverage }).catch((cause) => {
        throw new Error(path.title, { cause });
      });
    console.log(coverage.summary);
    assert.deepEqual(coverage.missing, []);
  });
});

describe('a connection with real servers', () => {
  const model = serverModel();
  const coverage = transitionCoverage();

  it('is shown, whatever a process or an address does', async () => {
    // A sample, for a fast suite. Without the limit, these are all the paths.
    const { paths } = edgePaths(model.machine, { ...model, maxSnapshots: 60 });
    const walks = paths.toReversed().values(); // long ones first: they take the transitions of short ones
    const lane = async () => {
      for (const path of walks) {
        if (!coverage.missing.includes(path.edge)) continue;
        let host;
        await walkWithServers(path, {
          coverage,
          open: (options) => (host = openHost(options)).troupe,
          check: ({ status: { server, state } }) =>
            assert.ok(host.line(server).startsWith(`${server} ${state}`)),
        });
      }
    };
    await Promise.all([lane(), lane(), lane(), lane()]);
    console.log(`with real servers: ${coverage.summary}`);
    assert.ok(paths.length > 50);
    for (const { edge } of paths) assert.ok(!coverage.missing.includes(edge), edge);
  });

  it('is shown when its address refuses, is down, and is back', async () => {
    const remote = await controlHttpServer({ on: { initialize: { http: { status: 503 } } } });
    const docs = { ...remote.config, policy: { maxAttempts: 1, exhausted: { remoteEveryMs: 0 } } };
    const { troupe, line } = openHost({ servers: { docs } });
    await troupe.start();
    assert.match(line('docs'), /^docs failed: .*503/);
    await remote.send({ script: {} });
    await troupe.connection('docs').retry();
    assert.equal(line('docs'), 'docs ready, 1 tools');
    await troupe.close();
    await remote.close();
  });
});

describe('any sequence of commands and accidents', () => {
  it('ends where it must', async () => {
    const commands = hostCommands(({ state }, { host }) =>
      assert.match(host.line('files'), new RegExp(`^files ${state}`)),
    );
    await fc.assert(
      fc.asyncProperty(fc.commands(commands.map(fc.constant)), async (story) => {
        const server = createScriptedServer();
        const files = { type: 'in-process', server, policy: HOST_POLICY };
        const host = openHost({ servers: { files } });
        await host.troupe.start();
        const real = { host, troupe: host.troupe, server, name: 'files' };
        await fc
          .asyncModelRun(() => ({ model: { ...HOST_START }, real }), story)
          .finally(() => host.troupe.close());
      }),
      { numRuns: 30 },
    );
  });
});

describe('the incidents so far', () => {
  const impatient = connectionMachine.provide({ guards: { isOutOfAttempts: () => true } });

  for (const incident of ['crash', 'silence', 'tools'])
    it(`${incident}: replays with today's chart`, async () => {
      const { entries } = await expectReplays(logOf(incident));
      assert.ok(entries > 5);
    });

  for (const incident of ['crash', 'silence'])
    it(`${incident}: goes another way with a chart that gives up at once`, async () => {
      const against = { connectionMachine: impatient };
      await assert.rejects(expectReplays(logOf(incident), { against }), /failed/);
    });

  it('tools: does not depend on that change', async () => {
    await expectReplays(logOf('tools'), { against: { connectionMachine: impatient } });
  });
});
