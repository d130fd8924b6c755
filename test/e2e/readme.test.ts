/** The program in the README, as it stands there, in a folder of its own. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { useLeakCheck } from '../support/leak-check.js';

useLeakCheck();

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FILESYSTEM = join(ROOT, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');

it('runs as it is printed, and ends by itself', async () => {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const program = /```ts\n(.*?)```/s.exec(readme)?.[1];
  expect(program).toContain("from 'mcp-troupe'");
  const folder = await mkdtemp(join(tmpdir(), 'troupe-readme-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'node_modules'));
  await symlink(ROOT, join(folder, 'node_modules/mcp-troupe'));
  await writeFile(join(folder, 'README.md'), 'Hello from the file.');
  const entry = { command: process.execPath, args: [FILESYSTEM, '.'] };
  await writeFile(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { filesystem: entry } }));
  const told = 'console.log(JSON.stringify({ report, names: tools.map(({ name }) => name), result }));';
  await writeFile(join(folder, 'program.mjs'), `${program}\n${told}\n`);

  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['program.mjs'], { cwd: folder });

  const { report, names, result } = JSON.parse(stdout) as {
    report: { ready: string[] };
    names: string[];
    result: { content: unknown };
  };
  expect(report.ready).toEqual(['filesystem']);
  expect(names).toContain('mcp__filesystem__read_text_file');
  expect(result.content).toEqual([{ type: 'text', text: 'Hello from the file.' }]);
  expect(stderr.split('\n')).toContain('connection.ready');
});
