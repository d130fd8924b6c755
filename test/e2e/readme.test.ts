/** Runs the programs and commands of the README unchanged in a new folder. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { useLeakCheck } from '../support/leak-check.js';

useLeakCheck();

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FILESYSTEM = join(ROOT, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');

const COMMAND = join(ROOT, 'dist/bundle/src/cli/main.js');
const run = promisify(execFile);

/** An empty project with these packages installed. */
async function makeFolder(packages: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-readme-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'node_modules'));
  for (const name of packages) {
    const target = name === 'mcp-troupe' ? ROOT : join(ROOT, 'node_modules', name);
    await symlink(target, join(folder, 'node_modules', name));
  }
  return folder;
}

it('The first program of the README runs unchanged and ends by itself, once its server is trusted', async () => {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const program = /```ts\n(.*?)```/s.exec(readme)?.[1];
  expect(program).toContain("from 'mcp-troupe'");
  const [home, folder] = [await makeFolder([]), await makeFolder(['mcp-troupe'])];
  await writeFile(join(folder, 'README.md'), 'Hello from the file.');
  const shown = JSON.parse(/```json\n(.*?)```/s.exec(readme)?.[1] ?? '') as {
    readonly mcpServers: { readonly filesystem: unknown };
  };
  const fetched = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] };
  expect(shown.mcpServers).toEqual({ filesystem: fetched });
  const installed = { command: process.execPath, args: [FILESYSTEM, '.'] };
  await writeFile(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { filesystem: installed } }));
  const print = 'console.log(JSON.stringify({ report, names: tools.map(({ name }) => name), result }));';
  await writeFile(join(folder, 'program.mjs'), `${program}\n${print}\n`);
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
  const inFolder = (...words: readonly string[]) => run(process.execPath, words, { cwd: folder, env });

  const refused = (await inFolder('program.mjs').catch((error: unknown) => error)) as {
    readonly stderr: string;
  };
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr.split('\n')).toContain('connection.trustRequired');
  expect(refused.stderr.split('\n')).not.toContain('connection.ready');

  await inFolder(COMMAND, 'trust', 'filesystem', '--yes');
  const { stdout, stderr } = await inFolder('program.mjs');

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

it('The agent snippet of the README runs with a scripted model', async () => {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const [, snippet] = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, text = '']) => text);
  expect(snippet).toContain("from 'mcp-troupe/ai-sdk'");
  const folder = await makeFolder(['mcp-troupe', 'ai', '@modelcontextprotocol']);
  await cp(join(ROOT, 'docs/examples/agent-loop'), join(folder, 'agent-loop'), { recursive: true });
  const before = `
    import { createTroupe } from 'mcp-troupe';
    import { model } from './agent-loop/scripted/ai-sdk.ts';
    import { everything } from './agent-loop/servers.ts';
    const troupe = createTroupe({ servers: { everything } });
    await troupe.start();
    const confirm = async () => true;
    const prompt = 'What is 2 + 3?';`;
  const after = 'console.log(text); await troupe.close();';
  await writeFile(join(folder, 'program.mjs'), `${before}\n${snippet}\n${after}\n`);

  const { href } = new URL('../support/run-typescript.mjs', import.meta.url);
  const { stdout } = await run(process.execPath, [`--import=${href}`, 'program.mjs'], { cwd: folder });

  expect(stdout).toContain('It is 5');
});

it('The commands of the README work in order', async () => {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const lines = [...readme.matchAll(/^npx troupe ([^#\n]+)/gm)].map(([, line = '']) =>
    line.trim().split(' '),
  );
  const [home, folder] = [await makeFolder([]), await makeFolder([])];
  await writeFile(join(folder, 'README.md'), 'Hello from the file.');
  const filesystem = { command: process.execPath, args: [FILESYSTEM, '.'] };
  await writeFile(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { filesystem } }));
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
  // Commands that run until they are stopped only print their help; the answer to `trust` is yes.
  const withEnd = ([name = '', ...rest]: readonly string[]): readonly string[] =>
    ['up', 'serve'].includes(name)
      ? [name, '--help']
      : [name, ...rest, ...(name === 'trust' ? ['--yes'] : [])];

  const printed: string[] = [];
  for (const line of lines) {
    const { stdout } = await run(process.execPath, [COMMAND, ...withEnd(line)], { cwd: folder, env });
    printed.push(stdout);
  }

  expect(printed).toEqual([
    expect.stringContaining('Usage: troupe up'),
    expect.stringContaining('filesystem: trusted'),
    expect.stringContaining('1 of 1 ready'),
    expect.stringContaining('Hello from the file.'),
    expect.stringContaining('--background'),
    expect.stringContaining('Usage: troupe serve'),
  ]);
});
