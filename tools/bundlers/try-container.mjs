/** Does what the Dockerfile of docs/guide/docker.md says in folders, as far as that is possible without Docker. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { guideFiles, writeFiles } from './guide-files.mjs';
import { inFolder, leftovers, makeWorkshop, openServers } from './workshop.mjs';

const LIMIT_MS = 120_000;

/** Rejects if an instruction cannot be followed, or if the host does not end as the page says. */
export async function tryContainer({ name, packages }, settings) {
  const project = makeWorkshop({ packages }, settings, inFolder('projects/host'));
  const image = mkdtempSync(join(tmpdir(), 'troupe-image-'));
  writeFiles(project.folder, guideFiles('docker.md'));
  const closeServers = await openServers(project, project.folder);
  cpSync(join(project.folder, 'stdio.json'), join(project.folder, 'mcp.json'));
  try {
    const [program, ...args] = build(project.folder, image);
    const host = spawn(program, args, { cwd: image, env: { ...process.env, HOME: image }, stdio: 'inherit' });
    const ended = once(host, 'exit');
    for (let waited = 0; leftovers(project).length === 0; waited += 50) {
      assert.ok(waited < LIMIT_MS && host.exitCode === null, 'the host started no server');
      await pause(50);
    }
    host.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
    assert.deepEqual(leftovers(project), [], 'a server still runs');
    return { name, version: process.versions.node };
  } finally {
    await closeServers();
    project.remove();
    rmSync(image, { recursive: true, force: true });
  }
}

/** Follows the instructions; `image` is the working folder of the image. Returns the command. */
function build(context, image) {
  const ignored = readFileSync(join(context, '.dockerignore'), 'utf8').split('\n');
  let command;
  const follow = {
    FROM: (base) => assert.match(base, /^node:(?:2[0-9])-slim$/),
    WORKDIR: (folder) => assert.match(folder, /^\/\w+$/),
    USER: (user) => assert.equal(user, 'node'),
    COPY: (words) => {
      for (const each of words.split(' ').slice(0, -1)) {
        const filter = (path) => !ignored.includes(basename(path));
        cpSync(join(context, each), each === '.' ? image : join(image, each), { recursive: true, filter });
      }
    },
    RUN: (line) => execFileSync('sh', ['-c', line], { cwd: image, timeout: LIMIT_MS, stdio: 'pipe' }),
    CMD: (list) => (command = JSON.parse(list)),
  };
  for (const line of readFileSync(join(context, 'Dockerfile'), 'utf8').trim().split('\n')) {
    const [, instruction, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    assert.ok(Object.hasOwn(follow, instruction ?? ''), `cannot follow: ${line}`);
    follow[instruction](rest);
  }
  return command;
}
