/** What the inspection server of a running troupe shows, and which commands it accepts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHARTS } from '../../../machines/charts.js';
import { ConfigError, NotReadyError } from '../../../src/errors.js';
import { chartHash } from '../../../src/charts/chart-hash.js';
import {
  INSPECTION_PATHS,
  INSPECTION_PROTOCOL,
  type InspectedTool,
} from '../../../src/inspector/page-protocol.js';
import type { TroupeOptions } from '../../../src/options.js';
import { readWhole } from '../../support/memory-log.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, tool } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, whenState, type TestTroupe } from '../../support/test-troupe.js';
import { PageClient } from '../../support/page-client.js';

useLeakCheck();
useCrashWatch();
const troupes = useTroupes();

const files = (): ScriptedServer => new ScriptedServer({ tools: [tool('read')] });

interface Inspected extends TestTroupe {
  readonly page: PageClient;
}

async function inspected(options: TroupeOptions = {}): Promise<Inspected> {
  const test = troupes.make({ servers: { files: inProcess(files()) }, ...options });
  const { url } = await test.troupe.inspect();
  return { ...test, page: new PageClient(url) };
}

const parsed = (body: string): unknown => JSON.parse(body);

describe('the inspection of a running troupe', () => {
  it('starts with the versions and the charts, followed by the log and the rows.', async () => {
    const { troupe, page, clock } = await inspected({ clientInfo: { name: 'agent-host', version: '1' } });
    await troupe.start();
    const stream = await page.watch();
    await stream.until((seen) => seen.of('status').length > 0 && seen.log !== '');
    const [hello] = stream.messages;
    expect(hello).toMatchObject({
      kind: 'hello',
      protocol: INSPECTION_PROTOCOL,
      package: { name: 'mcp-troupe' },
      mode: 'live',
      title: `agent-host (${process.pid})`,
      at: clock.now(),
    });
    const charts = stream.of('hello')[0]?.charts ?? {};
    expect(Object.keys(charts).toSorted()).toEqual(Object.keys(CHARTS).toSorted());
    for (const { hash, model } of Object.values(charts)) expect(chartHash(model)).toBe(hash);
    const { header, entries } = readWhole(stream.log);
    expect(header.machines['connection']).toBe(charts['connection']?.hash);
    expect(entries[0]?.kind).toBe('snapshot');
    expect(entries.some(({ kind }) => kind === 'settle')).toBe(true);
    expect(stream.of('status')[0]).toMatchObject({
      rows: [{ server: 'files', state: 'ready', toolCount: 1 }],
    });
    expect(stream.of('status')[0]?.rows[0]?.allowed).toContain('connection.restart');
    await stream.leave();
  });

  it('sends every change as it happens, followed by the row.', async () => {
    const { troupe, page, clock } = await inspected();
    const stream = await page.watch();
    await stream.until((seen) => seen.log !== '');
    await troupe.start();
    await stream.until((seen) => seen.log.includes('xstate.done.actor.readTools'));
    await clock.advance(200);
    await stream.until((seen) => seen.of('status').at(-1)?.rows[0]?.state === 'ready');
    expect(readWhole(stream.log).entries.at(0)).toMatchObject({ kind: 'snapshot', to: '$' });
    await stream.leave();
  });

  it('records messages on the wire without their contents.', async () => {
    const { troupe, page } = await inspected();
    await troupe.start();
    const stream = await page.watch();
    await stream.until((seen) => seen.log !== '');
    await troupe.callTool('mcp__files__read', { path: 'a-private-path' });
    await stream.until((seen) => /"method":"tools\/call".*"ms":/.test(seen.log));
    expect(stream.log).not.toContain('a-private-path');
    await stream.leave();
  });

  it('shows a reloaded page what it showed before.', async () => {
    const { troupe, page } = await inspected();
    const first = await page.watch();
    await first.until((seen) => seen.log !== '');
    await troupe.start();
    await first.until((seen) => seen.log.includes('xstate.done.actor.readTools'));
    await first.leave();
    const again = await page.watch();
    await again.until((seen) => seen.log.includes('xstate.done.actor.readTools'));
    expect(again.log.startsWith(first.log.slice(0, first.log.indexOf('\n')))).toBe(true);
    await again.leave();
  });

  it('dispatches commands, and returns the verdict.', async () => {
    const test = await inspected();
    const { troupe, page, events } = test;
    await troupe.start();
    const stopped = await page.command('files', 'connection.stop');
    expect([stopped.status, parsed(stopped.body)]).toEqual([200, { accepted: true }]);
    await passTime(test.clock, whenState(test, 'files', 'stopped'));
    const started = await page.command('files', 'connection.start');
    expect(parsed(started.body)).toEqual({ accepted: true });
    await passTime(test.clock, whenState(test, 'files', 'ready'));

    const refused = await page.command('files', 'trust.granted');
    expect(refused.status).toBe(200);
    expect(parsed(refused.body)).toMatchObject({
      accepted: false,
      reason: 'unhandled',
      state: 'ready',
      event: 'trust.granted',
    });
    const nonsense = await page.command('files', 'session.lost');
    expect(parsed(nonsense.body)).toMatchObject({ accepted: false, reason: 'unhandled' });
    expect(events.of('connection.rejected').map(({ event }) => event)).toEqual([
      'trust.granted',
      'session.lost',
    ]);
  });

  it('refuses invalid commands, and those that no page may send.', async () => {
    const { troupe, page } = await inspected();
    await troupe.start();
    const unknown = await page.command('nobody', 'connection.stop');
    expect([unknown.status, parsed(unknown.body)]).toEqual([
      404,
      { error: expect.stringContaining("'nobody'") },
    ]);
    expect((await page.command('files', 'connection.reload')).status).toBe(400);
    for (const body of ['', '[]', 'null', '{"server":1,"command":"x"}', '{"server":"files"}']) {
      const { status } = await page.ask(INSPECTION_PATHS.command, { method: 'POST', body });
      expect([body, status]).toEqual([body, 400]);
    }
    expect(troupe.connection('files')?.state).toBe('ready');
  });

  it('trusts an entry only in the version that was shown.', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-inspection-'));
    try {
      const path = join(folder, '.mcp.json');
      writeFileSync(path, JSON.stringify({ mcpServers: { theirs: { command: 'no-such-program' } } }));
      const { troupe, page } = await inspected({ config: { path, scope: 'project' }, servers: {} });
      await troupe.start();
      const hash = troupe.connection('theirs')?.status.trustRequest?.hash;
      expect(hash).toBeDefined();
      const other = await page.command('theirs', 'trust.granted', { hash: 'of-another-entry' });
      expect(other.status).toBe(409);
      expect(troupe.connection('theirs')?.status.trustRequest?.hash).toBe(hash);
      const same = await page.command('theirs', 'trust.granted', { hash });
      expect(parsed(same.body)).toEqual({ accepted: true });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('lists the tools of one server or of all.', async () => {
    const { troupe, page } = await inspected({
      servers: { files: inProcess(files()), other: inProcess(files()) },
    });
    await troupe.start();
    const answer = await page.ask(`${INSPECTION_PATHS.tools}?server=files`);
    const [shown, ...others] = parsed(answer.body) as InspectedTool[];
    expect(others).toEqual([]);
    expect(shown).toMatchObject({ name: 'mcp__files__read', server: 'files', tool: 'read', stale: false });
    const all = parsed((await page.ask(INSPECTION_PATHS.tools)).body) as InspectedTool[];
    expect(all.map(({ server }) => server)).toEqual(['files', 'other']);
    expect((await page.ask(`${INSPECTION_PATHS.tools}?server=nobody`)).status).toBe(404);
  });

  it('sends its pages an end message after the last change, and ends.', async () => {
    const { troupe, page, clock } = await inspected();
    await troupe.start();
    const stream = await page.watch();
    await stream.until((seen) => seen.log !== '');
    await passTime(clock, troupe.close());
    await stream.until(({ isOver }) => isOver);
    expect(stream.messages.at(-1)).toEqual({ kind: 'end', why: 'The troupe was closed.' });
    expect(readWhole(stream.log).entries.at(-1)).toMatchObject({ note: { type: 'end' } });
    expect(stream.of('status').at(-1)?.rows[0]?.state).toBe('stopped');
    await expect(page.ask('/')).rejects.toThrow('ECONNREFUSED');
    await expect(troupe.inspect()).rejects.toThrow(NotReadyError);
  });

  it('can be closed separately, and started again.', async () => {
    const { troupe } = await inspected();
    const inspection = await troupe.inspect({ title: 'mine' });
    const page = new PageClient(inspection.url);
    const stream = await page.watch();
    await stream.until((seen) => seen.of('hello')[0]?.title === 'mine');
    await inspection.close();
    await inspection.close();
    await stream.until(({ isOver }) => isOver);
    expect(stream.messages.at(-1)).toEqual({ kind: 'end', why: 'The inspection was closed.' });
    const again = await troupe.inspect({ port: page.port });
    expect(new PageClient(again.url)).toMatchObject({ port: page.port });
    expect(again.url).not.toBe(inspection.url);
  });

  it('returns no address if the troupe closes, and refuses invalid options.', async () => {
    const { troupe } = await inspected();
    for (const none of [null, 4_400, 'x'])
      await expect(troupe.inspect(none as never)).rejects.toThrow(ConfigError);
    const [late] = await Promise.allSettled([troupe.inspect(), troupe.close()]);
    expect(late).toMatchObject({ status: 'rejected', reason: expect.any(NotReadyError) });
  });

  it('names the port that is not available.', async () => {
    const { troupe, page } = await inspected();
    await expect(troupe.inspect({ port: page.port })).rejects.toThrow(`${page.port} of 127.0.0.1`);
    for (const port of [-1, 65_536, 1.5, Number.NaN])
      await expect(troupe.inspect({ port })).rejects.toThrow("'port'");
  });
});
