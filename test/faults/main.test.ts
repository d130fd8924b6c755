/** The command that runs a kit: any kit of the format, wherever it lies, and it does not pass what it cannot do. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useLeakCheck } from '../support/leak-check.js';

const LIMIT_MS = 60_000;
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const PLAIN = {
  id: 'plain',
  kind: 'control',
  start: {
    via: 'stdio',
    command: 'node',
    args: ['faulty-stdio.mjs', '--mode=plain', '--journal={{journal}}'],
  },
  steps: [{ do: 'connect' }, { do: 'list' }, { do: 'stop' }],
  checks: {
    state: 'ready',
    tools: ['echo', 'lamp_set', 'lamp_status'],
    journal: { spawn: { min: 1, max: 1 } },
  },
};

let kit = '';
beforeAll(() => {
  kit = mkdtempSync(join(tmpdir(), 'troupe-kit-'));
  for (const name of ['faulty-stdio.mjs', 'faulty-http.mjs', 'configs']) {
    cpSync(here(`kit/${name}`), join(kit, name), { recursive: true });
  }
});
afterAll(() => rmSync(kit, { recursive: true }));

function run(cases: readonly object[], ...flags: string[]) {
  const file = join(kit, 'cases.json');
  writeFileSync(file, JSON.stringify({ cases }));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [here('main.mjs'), '--cases', file, ...flags],
    {
      encoding: 'utf8',
      timeout: LIMIT_MS,
    },
  );
  return { status, stdout, stderr };
}

useLeakCheck();

describe('The fault runner', { timeout: LIMIT_MS }, () => {
  it('runs a kit of another folder, and exits with 0 when every case passed.', () => {
    const { status, stdout } = run([PLAIN]);
    expect(stdout).toMatch(/^id +kind +passed +what differed\nplain +control +yes/);
    expect(stdout).toMatch(/1 passed, 0 failed/);
    expect(status).toBe(0);
  });

  it('exits with 1 when a case failed, and says what differed.', () => {
    const wrong = { ...PLAIN, id: 'wrong', checks: { tools: ['kettle'], stateNot: 'ready' } };
    const { status, stdout } = run([PLAIN, wrong, { ...PLAIN, id: 'unread', checks: { shiny: true } }]);
    expect(stdout).toMatch(/wrong +control +NO +tools: echo, lamp_set, lamp_status; wanted kettle/);
    expect(stdout).toMatch(/state is ready/);
    expect(stdout).toMatch(/unread +control +NO +checks has an unknown check: 'shiny'/);
    expect(stdout).toMatch(/1 passed, 2 failed/);
    expect(status).toBe(1);
  });

  it('runs only the cases that were asked for.', () => {
    const { status, stdout } = run(
      [PLAIN, { ...PLAIN, id: 'other', checks: { state: 'failed' } }],
      '--only',
      'plain',
    );
    expect(stdout).not.toMatch(/other/);
    expect(status).toBe(0);
  });

  it('fails a case whose host did not survive, whatever the checks say.', () => {
    const code = encodeURIComponent("setTimeout(() => Promise.reject(new Error('boom')), 1500)");
    const { status, stdout } = run([
      {
        id: 'host-breaks',
        start: {
          via: 'config',
          file: 'configs/missing-variable.mcp.json',
          env: { NODE_OPTIONS: `--import=data:text/javascript,${code}` },
        },
        steps: [{ do: 'load' }, { do: 'wait', ms: 2_000 }],
        checks: {},
      },
    ]);
    expect(stdout).toMatch(/host-breaks +NO .*boom/);
    expect(status).toBe(1);
  });

  it('fails a case that asks for what the host cannot do.', () => {
    const oauth = { tokens: { access_token: 'old' }, clientId: 'me' };
    const { stdout } = run([
      { ...PLAIN, id: 'unsupported', client: { oauth } },
      { ...PLAIN, id: 'no-http', steps: [{ do: 'connect' }, { do: 'poke', action: 'heal' }] },
      { ...PLAIN, id: 'no-server', steps: [{ do: 'list' }] },
    ]);
    expect(stdout).toMatch(/unsupported +control +NO +not supported yet: OAuth/);
    expect(stdout).toMatch(/no-http +control +NO +step 2 \(poke\): there is no HTTP server to poke/);
    expect(stdout).toMatch(/no-server +control +NO +step 1 \(list\): nothing is open/);
  });

  it('exits with 2 where there is nothing to run.', () => {
    expect(run([PLAIN], '--only', 'absent')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/has no case absent/),
    });
    expect(run([PLAIN], '--loud')).toMatchObject({ status: 2, stdout: '' });
  });
});
