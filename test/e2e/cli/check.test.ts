import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { ServerStatus } from '../../../src/lifecycle/status.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { CRASHING, EVERYTHING, faulty, filesIn, MISSING, useTeam } from '../../support/team.js';
import { expectGone } from '../../support/guarded-processes.js';
import { runTroupe, TroupeProcess } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();

describe('troupe check', () => {
  it('succeeds if every server is ready, including lazy ones, and leaves none running.', async () => {
    const config = team().write('good.json', {
      everything: EVERYTHING,
      files: { ...filesIn(team().folder), start: 'lazy' },
      spare: { ...MISSING, disabled: true },
    });
    const { code, stdout, stderr } = await runTroupe(['check', '--config', config]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^✓ everything {2}ready, \d+ tools, mcp-servers\/everything [\d.]+, protocol 2025-11-25, /m,
    );
    expect(stdout).toMatch(/^✓ files {7}ready, \d+ tools, /m);
    expect(stdout).toMatch(/^- spare {7}disabled$/m);
    expect(stdout).toMatch(/\n2 of 2 ready\n$/);
  });

  it('explains every failure, even if there are several.', async () => {
    const config = team().write('bad.json', {
      crashing: CRASHING,
      missing: MISSING,
      wrong: { command: 'node', args: 'server.js' },
      everything: EVERYTHING,
    });
    const { code, stdout } = await runTroupe(['check', '--config', config]);
    expect(code).toBe(1);
    expect(stdout).toContain(
      [
        '✗ crashing    process-exited: The server exited with code 3.',
        '    hint: The last line on its stderr was: cannot open the database',
        '    exit: code 3',
        '    attempt: 1 of 1',
        '    stderr:',
        '      | cannot open the database',
        "✗ missing     command-not-found: The command 'no-such-command' was not found.",
      ].join('\n'),
    );
    expect(stdout).toContain(
      `config-invalid: ${config}:15:7: server 'wrong', field 'args': expected a list of strings`,
    );
    expect(stdout).toMatch(/\n1 of 4 ready\n$/);
  });

  it('prints the answer of an HTTP server that refuses.', async () => {
    const server = createServer((_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Bearer realm="team"' }).end('sign in first');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { code, stdout } = await runTroupe(['check', '--add', `remote=http://127.0.0.1:${port}/mcp`]);
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
    expect(code).toBe(1);
    expect(stdout).toContain('✗ remote  auth-required: ');
    expect(stdout).toContain('    HTTP status: 401\n    WWW-Authenticate: Bearer realm="team"\n');
    expect(stdout.split('sign in first')).toHaveLength(2);
    expect(stdout).toContain('    sign in: troupe login remote\n');
  });

  it('prints the status of every server as JSON, as it was before they were stopped.', async () => {
    const config = team().write('json.json', { everything: EVERYTHING, missing: MISSING });
    const { code, stdout, stderr } = await runTroupe(['check', '--json', '--config', config]);
    expect([code, stderr]).toEqual([1, '']);
    const report = JSON.parse(stdout) as { servers: ServerStatus[] };
    expect(Object.keys(report)).toEqual(['servers']);
    expect(report.servers).toMatchObject([
      { server: 'everything', state: 'ready', source: config, error: null, pid: expect.any(Number) },
      {
        server: 'missing',
        state: 'failed',
        attempt: 1,
        maxAttempts: 1,
        error: { code: 'command-not-found' },
      },
    ]);
  });

  it('makes as many attempts as --attempts says.', async () => {
    const config = team().write('attempts.json', {
      crashing: { ...CRASHING, policy: { backoff: { kind: 'fixed', delaysMs: [10] } } },
    });
    const { stdout } = await runTroupe(['check', '--attempts', '3', '--config', config]);
    expect(stdout).toContain('    attempt: 3 of 3\n');
  });

  it('gives up after the time limit of --timeout.', async () => {
    const config = team().write('slow.json', {
      silent: { ...faulty('never-answers-initialize'), timeout: 60_000 },
    });
    const { code, stdout } = await runTroupe(['check', '--timeout', '300', '--config', config]);
    expect(code).toBe(1);
    expect(stdout).toContain('✗ silent  handshake-timeout: ');
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ends at %s, long before its time limits, and leaves no process behind.',
    async (signal) => {
      const deaf = `trap '' TERM INT HUP; sleep 60 & echo "pids $$ $!" >&2; wait; sleep 60`;
      const config = team().write('interrupted.json', {
        deaf: { command: 'sh', args: ['-c', deaf] },
        silent: faulty('never-answers-initialize'),
        crashing: { ...CRASHING, policy: { backoff: { kind: 'fixed', delaysMs: [600_000] } } },
      });
      const flags = ['--verbose', '--timeout', '600000', '--attempts', '5', '--config', config];
      const check = TroupeProcess.start(['check', ...flags]);
      await check.saw(/ deaf stderr: pids \d+ \d+\n/, 'stderr');
      await check.saw(/ silent handshaking/, 'stderr');
      await check.saw(/ crashing reconnecting \(.*backingOff.*\)\n/, 'stderr');
      check.signal(signal);
      const { code, signal: killedBy, stdout, stderr } = await check.finished();
      expect([code, killedBy, stdout]).toEqual([1, null, '']);
      expect(stderr).toContain('troupe: interrupted\n');
      const [, ...pids] = / deaf stderr: pids (\d+) (\d+)\n/.exec(stderr) ?? [];
      await expectGone(pids.map(Number));
    },
  );

  it('prints the state changes on stderr with --verbose.', async () => {
    const config = team().write('verbose.json', { everything: EVERYTHING });
    const { code, stdout, stderr } = await runTroupe(['check', '--json', '--verbose', '--config', config]);
    expect(code).toBe(0);
    expect(() => JSON.parse(stdout) as unknown).not.toThrow();
    expect(stderr).toMatch(/ everything launching \(opening\)\n/);
  });

  it('warns of an unknown field of an entry and suggests a similar one.', async () => {
    const config = team().write('warning.json', { missing: { ...MISSING, argz: [] } });
    const { stderr } = await runTroupe(['check', '--config', config]);
    expect(stderr).toBe(
      `${config}:5:7: server 'missing', field 'argz': is not a known field; did you mean 'args'?\n`,
    );
  });

  it('prints colors only if they are requested.', async () => {
    const args = ['check', '--add', 'missing=no-such-command'];
    expect((await runTroupe(args)).stdout).not.toContain('\u001B');
    expect((await runTroupe(args, { env: { FORCE_COLOR: '1' } })).stdout).toContain('\u001B[31m✗');
    expect((await runTroupe(args, { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).stdout).not.toContain(
      '\u001B',
    );
    expect((await runTroupe([...args, '--no-color'], { env: { FORCE_COLOR: '1' } })).stdout).not.toContain(
      '\u001B',
    );
  });
});
