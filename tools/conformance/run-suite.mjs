/** Runs the command of a conformance package, and reads its results from the files that it writes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PRELOAD = new URL('preload.mjs', import.meta.url).href;
const CLIENT = fileURLToPath(new URL('client.mjs', import.meta.url));
const STAMP = /-\d{4}-\d{2}-\d{2}T[\d-]+Z$/;

/** Time limit of one scenario, most of which is waiting for its turn. */
const SCENARIO_LIMIT_MS = 240_000;

/**
 * `args` choose the scenarios, `env` is the environment of the clients. `onScenario` is called with the name of each
 * completed scenario.
 *
 * @returns the exit code and the output of the command, and the checks of each scenario.
 */
export async function runSuite({ leg, suite, url, args, env = {}, onScenario = () => {}, signal }) {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-conformance-'));
  try {
    const subject = leg === 'client' ? ['--command', quoted(process.execPath, CLIENT)] : ['--url', url];
    const limit = leg === 'client' ? ['--timeout', String(SCENARIO_LIMIT_MS)] : [];
    const main = join(ROOT, 'node_modules', suite.folder, 'dist', 'index.js');
    const words = ['--import', PRELOAD, main, leg, ...subject, ...args, ...limit, '--output-dir', folder];
    const ended = await execute(words, {
      env,
      signal,
      onText: savedIn((place) => onScenario(nameOf(relative(folder, place), leg))),
    });
    return { ...ended, scenarios: await readScenarios(folder, leg) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The runner splits the command at spaces and passes the parts, joined by spaces, to a shell. */
function quoted(...words) {
  return words.map((word) => `"${word}"`).join(' ');
}

async function execute(words, { env, signal, onText }) {
  const child = spawn(process.execPath, words, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      onText(text);
    });
  }
  const [code] = await once(child, 'close');
  return { code, output };
}

/** Finds the folder of each completed scenario in the output of the command. */
function savedIn(onSaved) {
  let rest = '';
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const folder = /^Results saved to (.*)$/.exec(line)?.[1];
      if (folder !== undefined) onSaved(folder);
    }
  };
}

/** The name of the scenario whose results are in a folder. */
function nameOf(place, leg) {
  const name = place.split(sep).join('/').replace(STAMP, '');
  return leg === 'server' ? name.replace(/^server-/, '') : name;
}

async function readScenarios(folder, leg) {
  const entries = await readdir(folder, { recursive: true });
  const files = entries.filter((name) => name.endsWith(`${sep}checks.json`));
  return Promise.all(files.map((file) => readScenario(folder, dirname(file), leg)));
}

async function readScenario(folder, place, leg) {
  const read = (name) => readFile(join(folder, place, name), 'utf8').catch(() => '');
  const checks = JSON.parse(await read('checks.json'));
  return {
    name: nameOf(place, leg),
    passed: checks.filter(({ status }) => status === 'SUCCESS').length,
    complaints: checks.filter(({ status }) => ['FAILURE', 'WARNING'].includes(status)).map(complaint),
    ended: (await read('stdout.txt')).trim(),
    log: await read('stderr.txt'),
  };
}

function complaint({ status, id, errorMessage, description }) {
  return `${status.toLowerCase()} ${id}: ${errorMessage ?? description}`;
}
