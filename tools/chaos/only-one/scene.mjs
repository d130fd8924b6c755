/** An engine, two hosts, and the file of their server. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runsOf } from '../hosts/beats.mjs';
import { openEngine } from '../hosts/engine.mjs';
import { HostProcess } from '../hosts/host-process.mjs';
import { openLink } from '../hosts/link.mjs';

const HOST = new URL('host.mjs', import.meta.url);
/** A host that takes longer than some leases to get the server is a failure of its own. */
const PATIENCE = 12;

class Host extends HostProcess {
  holds = false;

  constructor(link, args) {
    super(HOST, args);
    this.link = link;
    void this.ended.then(() => (this.holds = false));
  }

  heard({ holds }) {
    this.holds = holds;
  }

  async leave() {
    this.say('leave');
    await this.ended;
  }
}

export async function openScene(kind, leaseMs) {
  const folder = mkdtempSync(join(tmpdir(), 'only-one-'));
  const file = join(folder, 'beats');
  const engine = await openEngine(kind);
  const hosts = [];
  const add = async () => {
    const link = await openLink(engine.port);
    hosts.push(new Host(link, [kind, `${link.port}`, `${leaseMs}`, file]));
  };
  await add();
  await add();
  let last;
  const scene = {
    engine,
    leaseMs,
    pause,
    /** The host that had the server last. */
    get holder() {
      last = hosts.find(({ holds }) => holds) ?? last;
      return last;
    },
    replace(host) {
      hosts.splice(hosts.indexOf(host), 1);
      void host.link.close();
      void add();
    },
    /** Milliseconds of the clock of the beats. */
    now: () => Number(process.hrtime.bigint()) / 1e6,
    runs: () => (existsSync(file) ? runsOf(readFileSync(file, 'utf8')) : []),
    /** Waits until a server runs, and for a random part of a lease beyond that. */
    async settle(random) {
      const endAt = scene.now() + leaseMs * PATIENCE;
      const from = scene.now();
      const isRunning = () => scene.runs().some(({ last: at }) => at > from && scene.now() - at < 500);
      while (!hosts.some(({ holds }) => holds) || !isRunning()) {
        if (scene.now() > endAt) throw new Error('No host runs the server.');
        await pause(20);
      }
      await pause(leaseMs * (0.4 + random.number() * 0.7));
    },
    async close() {
      for (const host of hosts) {
        await host.end();
        await host.link.close();
      }
      await engine.remove();
      // The guards of the hosts end their servers.
      await pause(1_500);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return scene;
}
