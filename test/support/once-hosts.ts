/** Hosts of a fleet in one process, for servers that run once: each is a troupe with a fleet of its own over one engine. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { FleetEngine } from '../../src/fleet/engine.js';
import { createFleet } from '../../src/fleet/stores.js';
import { createTroupe } from '../../src/index.js';
import type { TroupeOptions } from '../../src/options.js';
import type { Troupe } from '../../src/runtime/troupe.js';
import { FLEET_KEY } from './fleet-host.js';

const BEATER = new URL('./beating-server.mjs', import.meta.url).pathname;
/** Longer than any host of a busy machine takes between two renewals. */
export const LEASE_MS = 3_000;

export interface Run {
  readonly token: string;
  readonly pid: number;
  readonly first: number;
  readonly last: number;
}

export interface OnceRig {
  host(engine: FleetEngine, options?: TroupeOptions, address?: string): Troupe;
  /** The runs of the server so far, in order of their beginning; times are of the system's steady clock, milliseconds. */
  runs(): readonly Run[];
  /** The entry of the server. */
  readonly entry: NonNullable<TroupeOptions['servers']>[string];
}

export function useOnceHosts(): OnceRig {
  const troupes: Troupe[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'troupe-once-'));
  let file = join(folder, 'beats-0');
  let number = 0;
  afterEach(async () => {
    await Promise.all(troupes.splice(0).map((troupe) => troupe.close()));
    rmSync(file, { force: true });
    file = join(folder, `beats-${(number += 1)}`);
  });
  const rig: OnceRig = {
    get entry() {
      return { command: process.execPath, args: [BEATER, file], only: 'fleet' as const };
    },
    host(engine, options = {}, address) {
      const fleet = createFleet({
        engine,
        key: FLEET_KEY,
        serverLeaseMs: LEASE_MS,
        ...(address !== undefined && { address }),
      });
      const troupe = createTroupe({
        servers: { one: rig.entry },
        startGateMs: 0,
        cache: false,
        fleet,
        ...options,
      });
      troupes.push(troupe);
      return troupe;
    },
    runs: () => runsOf(file),
  };
  return rig;
}

export function runsOf(file: string): readonly Run[] {
  const runs = new Map<string, Run>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [token = '', pid, at] = line.split(' ');
    if (at === undefined || at === '') continue;
    const ms = Number(at) / 1e6;
    const key = `${token} ${pid}`;
    const run = runs.get(key) ?? { token, pid: Number(pid), first: ms, last: ms };
    runs.set(key, { ...run, last: ms });
  }
  return [...runs.values()].toSorted((a, b) => a.first - b.first);
}
