/** Loads the package in a program that bundles nothing. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inFolder, leftovers, makeWorkshop, openServers, programOf, versionOf } from './workshop.mjs';

const execute = promisify(execFile);
const RUN_LIMIT_MS = 120_000;

/** Rejects if the program fails. */
export async function tryRunner(runner, settings) {
  const { name, packages, run, isQuick } = runner;
  const project = makeWorkshop(runner, settings, inFolder('projects/runners'));
  cpSync(inFolder('projects/host/server.mjs'), join(project.folder, 'server.mjs'));
  const closeServers = await openServers(project, project.folder);
  try {
    const [program, ...args] = run;
    const env = { ...process.env, HOME: project.folder, TROUPE_CACHE: 'off' };
    await execute(programOf(project, settings.quick, program), args, {
      cwd: project.folder,
      env,
      timeout: RUN_LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    assert.deepEqual(leftovers(project), [], 'a server still runs');
    return { name, isQuick, version: versionOf(project, settings.quick, packages) };
  } finally {
    await closeServers();
    project.remove();
  }
}
