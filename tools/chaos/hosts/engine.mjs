/** The engine's server: on a free port of this machine, with a folder of its own, ended by its pid. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.mjs';

const READY = { redis: /Ready to accept/, nats: /Server is ready/ };

export async function openEngine(kind) {
  const folder = mkdtempSync(join(tmpdir(), 'chaos-engine-'));
  const port = await freePort();
  const data = join(folder, 'data');
  mkdirSync(data);
  const configuration = join(folder, 'nats.conf');
  writeFileSync(configuration, `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${data}" }\n`);
  const [command, ...args] =
    kind === 'redis'
      ? [
          'redis-server',
          '--port',
          `${port}`,
          '--bind',
          '127.0.0.1',
          '--dir',
          data,
          '--save',
          '',
          '--appendonly',
          'yes',
        ]
      : ['nats-server', '-c', configuration];
  let child;
  const clear = () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', clear);
  const engine = {
    port,
    signal: (name) => child.kill(name),
    async start() {
      child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      const started = child;
      await new Promise((resolve, reject) => {
        let text = '';
        const read = (part) => {
          text += part;
          if (READY[kind].test(text)) resolve();
        };
        started.stdout.on('data', read);
        started.stderr.on('data', read);
        started.once('error', reject);
        started.once('exit', () => reject(new Error(text)));
      });
    },
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    wipe() {
      rmSync(data, { recursive: true });
      mkdirSync(data);
    },
    async remove() {
      await engine.end();
      process.off('exit', clear);
      clear();
    },
  };
  await engine.start();
  return engine;
}
