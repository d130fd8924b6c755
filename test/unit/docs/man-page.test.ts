import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { VARIABLES } from '../../../src/cli/declarations/environment.js';
import { declareProgram } from '../../../src/cli/program.js';
import { FakeStream } from '../../support/fake-stream.js';

const PAGE = fileURLToPath(new URL('../../../docs/reference/troupe.1', import.meta.url));
const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const page = readFileSync(PAGE, 'utf8').replaceAll('\\-', '-');

describe('the man page', () => {
  it('has every command, option and variable, and the guide has the variables too.', () => {
    const stream = new FakeStream();
    const program = declareProgram(
      { act: async () => {}, reuse: async () => {} },
      {
        stdin: process.stdin,
        stdout: stream,
        stderr: stream,
        env: {},
      },
    );
    const shown = program.commands.filter((command) => !/^__|^help$/.test(command.name()));
    expect(shown.length).toBeGreaterThan(20);
    for (const command of shown) {
      expect(page).toContain(`.SS "\\fBtroupe ${command.name()}\\fR`);
      for (const { flags } of command.options) expect(page).toContain(`\\fB${flags}\\fR`);
    }
    const guide = read('docs/guide/command-line.md');
    for (const name of Object.keys(VARIABLES)) {
      expect(page).toContain(`\\fB${name}\\fR`);
      expect(guide).toContain(`\`${name}`);
    }
  });

  it('is free of warnings for groff, where there is one.', () => {
    const { error, status, stderr } = spawnSync('groff', ['-man', '-ww', '-z', '-Tutf8', PAGE], {
      encoding: 'utf8',
    });
    if (error === undefined) expect([status, stderr]).toEqual([0, '']);
    else expect(error).toMatchObject({ code: 'ENOENT' });
  });
});
