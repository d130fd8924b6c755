/** Builds the host with one bundler and runs the result where nothing is installed. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inFolder, leftovers, makeWorkshop, openServers, programOf, versionOf } from './workshop.mjs';

const execute = promisify(execFile);
const BUILD_LIMIT_MS = 5 * 60_000;
const RUN_LIMIT_MS = 60_000;
const SERVERS = ['json', 'toml', 'yaml'];
const MISSING_PAGE = /install mcp-troupe.* 'node_modules' beside or above the bundle/;
const MISSING_KEYRING = /needs the package @napi-rs\/keyring: .*Cannot find (?:module|package)/;

/** Rejects if the host does not work. */
export async function tryBundler(bundler, settings) {
  const { name, packages, build, isQuick, env = {} } = bundler;
  const project = makeWorkshop(bundler, settings, inFolder('host'));
  if (bundler.isNext) cpSync(inFolder('next'), project.folder, { recursive: true });
  const elsewhere = mkdtempSync(join(tmpdir(), 'troupe-built-'));
  const surroundings = {
    ...process.env,
    ...env,
    HOME: elsewhere,
    TROUPE_CACHE: 'off',
    NEXT_TELEMETRY_DISABLED: '1',
  };
  const started = performance.now();
  try {
    const [program, ...args] = build;
    await execute(programOf(project, settings.quick, program), args, {
      cwd: project.folder,
      env: surroundings,
      timeout: BUILD_LIMIT_MS,
    });
    const buildMs = Math.round(performance.now() - started);
    const closeServers = await openServers(project, elsewhere);
    try {
      const attempt = bundler.isNext ? runNext : runBundle;
      const { bytes, ...result } = await attempt(bundler, { project, elsewhere, surroundings, settings });
      check(result);
      assert.deepEqual(leftovers(project), [], 'a server still runs');
      const version = versionOf(project, settings.quick, packages);
      const page = result.page === 'served' ? 'served' : 'says what is missing';
      return { name, isQuick, version, buildMs, bytes, page };
    } finally {
      await closeServers();
    }
  } finally {
    project.remove();
    rmSync(elsewhere, { recursive: true, force: true });
  }
}

function check({ ready, answers, page, keychain, isOne = true }) {
  assert.deepEqual(ready.toSorted(), SERVERS);
  for (const answer of answers) assert.match(answer, /^mcp-troupe (?!0\.0\.0)\d+\.\d+\.\d+/);
  if (page !== 'served') assert.match(page, MISSING_PAGE);
  assert.match(keychain, MISSING_KEYRING);
  assert.ok(isOne, 'the package is in the bundle twice');
}

async function runBundle({ entry, with: runtime = 'node' }, { project, elsewhere, surroundings, settings }) {
  const out = join(elsewhere, 'out');
  cpSync(join(project.folder, 'out'), out, { recursive: true });
  const { stdout } = await execute(programOf(project, settings.quick, runtime), [join(out, entry)], {
    cwd: elsewhere,
    env: surroundings,
    timeout: RUN_LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  return { ...JSON.parse(stdout.trim().split('\n').at(-1)), bytes: bytesOf(out) };
}

async function runNext(_bundler, { project, elsewhere, surroundings }) {
  const port = await freePort();
  const next = join(project.folder, 'node_modules', 'next', 'dist', 'bin', 'next');
  const server = spawn(process.execPath, [next, 'start', '-p', String(port)], {
    cwd: project.folder,
    env: surroundings,
    stdio: 'ignore',
  });
  const hasExited = once(server, 'exit');
  try {
    const url = `http://127.0.0.1:${port}/api/host`;
    const response = await answering(url, { headers: { 'x-folder': elsewhere } });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return { ...JSON.parse(text), bytes: bytesOf(join(project.folder, '.next', 'server')) };
  } finally {
    server.kill('SIGTERM');
    await hasExited;
  }
}

/** Asks until a server listens. */
async function answering(url, options) {
  const limit = AbortSignal.timeout(RUN_LIMIT_MS);
  for (;;) {
    try {
      return await fetch(url, { ...options, signal: limit });
    } catch (error) {
      if (limit.aborted) throw error;
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

function bytesOf(folder) {
  const files = readdirSync(folder, { recursive: true }).map((name) => statSync(join(folder, name)));
  return files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
}
