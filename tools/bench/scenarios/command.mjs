/** One call on the command line: with its own server, and in the process of `troupe up --background`. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { published } from '../from-dist.mjs';
import { stdioServers } from '../servers.mjs';

const TIMES = 5;
/** Prints the processor time of the command itself. */
const WITH_CPU = `data:text/javascript,process.on('exit',()=>console.error(JSON.stringify(process.cpuUsage())))`;

export const scenario = {
  name: 'command',
  title: 'One call on the command line',
  about:
    'The time of `troupe call`, including the start of Node: cold, when it starts its own server, and warm, when it uses the ' +
    'connections of `troupe up --background`. Processor time excludes the server.',
  metrics: {
    warmMs: { label: 'warm', unit: 'ms' },
    coldMs: { label: 'cold', unit: 'ms' },
    share: { label: 'warm, share of cold', unit: '' },
    warmCpuMs: { label: 'processor time, warm', unit: 'ms' },
    coldCpuMs: { label: 'processor time, cold', unit: 'ms' },
  },
  cases: () => [{ name: '1 server', params: {}, clients: ['troupe'], runs: 3, seconds: 8 }],
};

export function measure({ mark, dist }) {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-command-'));
  const [{ name, command, args }] = stdioServers(1, mark);
  const added = [
    '--no-discover',
    '--add',
    `${name}=${[command, ...args].map((word) => `"${word}"`).join(' ')}`,
  ];
  const user = { HOME: folder, XDG_RUNTIME_DIR: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder };
  const env = { ...process.env, ...user, XDG_STATE_HOME: folder };
  const main = published('src/cli/main.js', dist);
  const troupe = (words, flags = []) => {
    const begun = performance.now();
    const run = spawnSync(process.execPath, [...flags, main, ...words, ...added], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    if (run.status !== 0) throw new Error(run.stderr);
    return { ms: performance.now() - begun, stdout: run.stdout, stderr: run.stderr };
  };
  try {
    troupe(['up', '--background']);
    const [{ tool }] = JSON.parse(troupe(['tools', '--json']).stdout);
    const figures = (more) => {
      const runs = Array.from({ length: TIMES }, () => {
        const { ms, stderr } = troupe(['call', `${name}/${tool}`, ...more], ['--import', WITH_CPU]);
        const { user: own, system } = JSON.parse(stderr);
        return { ms, cpuMs: (own + system) / 1_000 };
      });
      const middle = (key) => runs.map((run) => run[key]).toSorted((a, b) => a - b)[Math.floor(TIMES / 2)];
      return { ms: middle('ms'), cpuMs: middle('cpuMs') };
    };
    const [warm, cold] = [figures([]), figures(['--no-warm'])];
    return {
      ...{ warmMs: warm.ms, coldMs: cold.ms, share: warm.ms / cold.ms },
      ...{ warmCpuMs: warm.cpuMs, coldCpuMs: cold.cpuMs },
    };
  } finally {
    troupe(['down']);
    rmSync(folder, { recursive: true, force: true });
  }
}
