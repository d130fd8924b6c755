/** Builds the host with one bundler and runs the result in another place. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { guideFiles, writeFiles } from './guide-files.mjs';
import { inFolder, leftovers, makeWorkshop, openServers, programOf, versionOf } from './workshop.mjs';

const execute = promisify(execFile);
const BUILD_LIMIT_MS = 5 * 60_000;
const RUN_LIMIT_MS = 60_000;
const SERVERS = ['json', 'toml', 'yaml'];
const MISSING_PAGE = /install mcp-troupe.*node_modules/;
const MISSING_KEYRING = /needs the package @napi-rs\/keyring: .*Cannot find (?:module|package)/;

/** Rejects if the host does not work. */
export async function tryBundler(bundler, settings) {
  const { name, packages, build, isQuick, isExternal } = bundler;
  const project = makeWorkshop(bundler, settings, inFolder('projects/host'));
  if (bundler.isNext) {
    cpSync(inFolder('projects/next'), project.folder, { recursive: true });
    const isWanted = ([name]) => name !== 'next.config.mjs' || isExternal;
    writeFiles(project.folder, [...guideFiles('nextjs.md')].filter(isWanted));
  }
  const elsewhere = mkdtempSync(join(tmpdir(), 'troupe-built-'));
  const surroundings = {
    ...process.env,
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
      const bytes = await attempt(bundler, { project, elsewhere, surroundings, settings });
      assert.deepEqual(leftovers(project), [], 'a server still runs');
      return { name, isQuick, version: versionOf(project, settings.quick, packages), buildMs, bytes };
    } finally {
      await closeServers();
    }
  } finally {
    project.remove();
    rmSync(elsewhere, { recursive: true, force: true });
  }
}

function check({ ready, answers, page, keychain, isOne = true }, expectedPage) {
  assert.deepEqual(ready.toSorted(), SERVERS);
  for (const answer of answers) assert.match(answer, /^mcp-troupe (?!0\.0\.0)\d+\.\d+\.\d+/);
  assert.match(page, expectedPage);
  assert.match(keychain, MISSING_KEYRING);
  assert.ok(isOne, 'the package is in the bundle twice');
}

/** First where nothing is installed, then beside the files of the page. */
async function runBundle(
  { entry, with: [runtime, ...flags] = ['node'] },
  { project, elsewhere, surroundings, settings },
) {
  const out = join(elsewhere, 'out');
  cpSync(join(project.folder, 'out'), out, { recursive: true });
  const bytes = bytesOf(out);
  const [source, moved, copy] = [
    join(project.folder, 'node_modules/mcp-troupe'),
    join(project.folder, 'moved'),
    join(elsewhere, 'node_modules/mcp-troupe'),
  ];
  renameSync(source, moved);
  const runOnce = async () => {
    const args = [...flags, join(out, entry)];
    const { stdout } = await execute(programOf(project, settings.quick, runtime), args, {
      cwd: elsewhere,
      env: surroundings,
      timeout: RUN_LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    return JSON.parse(stdout.trim().split('\n').at(-1));
  };
  check(await runOnce(), MISSING_PAGE);
  cpSync(join(moved, 'package.json'), join(copy, 'package.json'));
  cpSync(join(moved, 'dist/visualizer'), join(copy, 'dist/visualizer'), { recursive: true });
  check(await runOnce(), /^served$/);
  return bytes;
}

async function runNext(_bundler, { project, elsewhere, surroundings }) {
  const port = await freePort();
  cpSync(join(elsewhere, 'stdio.json'), join(project.folder, '.mcp.json'));
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
    check(JSON.parse(text), /^served$/);
    const tools = await answering(`http://127.0.0.1:${port}/api/tools`, {});
    assert.deepEqual(await tools.json(), ['mcp__json__whoami']);
    return bytesOf(join(project.folder, '.next', 'server'));
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
