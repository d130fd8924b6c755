/**
 * Reports idle cores while servers wait for a start slot. Slots exist so that not too many starts share the processor. If
 * cores are idle, the starts that hold the slots wait for something else and need them no longer.
 */
import { cpus } from 'node:os';
import type { Clock } from '../ports.js';

/** Milliseconds all cores together have spent since the machine started. */
export interface CpuTimes {
  readonly idle: number;
  readonly total: number;
  readonly cores: number;
}

const INTERVAL_MS = 50;
/** Less than this part of a core counts as nothing, since other programs run on the machine too. */
const A_TRIFLE = 0.3;

export class CapacityWatch {
  readonly #clock: Clock;
  readonly #onIdle: (busyCores: number) => void;
  readonly #read: () => CpuTimes;
  #timer: unknown;

  /** `onIdle` is called after each interval with an idle core, with the number of busy ones. */
  constructor(clock: Clock, onIdle: (busyCores: number) => void, read: () => CpuTimes = readCpuTimes) {
    this.#clock = clock;
    this.#onIdle = onIdle;
    this.#read = read;
  }

  /** Begins or ends the watch. */
  watch(isWanted: boolean): void {
    if (isWanted === (this.#timer !== undefined)) return;
    if (isWanted) this.#look(this.#read());
    else this.#stop();
  }

  #look(before: CpuTimes): void {
    this.#timer = this.#clock.setTimeout(() => {
      const now = this.#read();
      this.#look(now);
      const busy = busyCores(before, now);
      if (busy < now.cores) this.#onIdle(busy);
    }, INTERVAL_MS);
  }

  #stop(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** Cores that had work between two readings, rounded up. */
export function busyCores(before: CpuTimes, now: CpuTimes): number {
  const total = now.total - before.total;
  if (total <= 0) return now.cores;
  const busy = (1 - (now.idle - before.idle) / total) * now.cores;
  return Math.min(now.cores, Math.max(0, Math.ceil(busy - A_TRIFLE)));
}

function readCpuTimes(): CpuTimes {
  const cores = cpus();
  let idle = 0;
  let total = 0;
  for (const { times } of cores) {
    idle += times.idle;
    total += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return { idle, total, cores: cores.length };
}
