/**
 * The clocks of one host on a machine of its own, over a clock that all hosts share: its wall clock can be set, its process
 * can be frozen or killed, and its machine suspended.
 */
import type { Clock } from '../../src/ports.js';
import type { HandClock } from './hand-clock.js';

const EPOCH = 1_000_000_000_000;
/** Sums of fractions may differ by less. */
const SAME_MS = 1e-3;

interface HostTimer {
  readonly fn: () => void;
  /** By the steady clock. */
  readonly due: number;
  handle: unknown;
  isOver: boolean;
}

export class HostClock implements Clock {
  readonly #world: HandClock;
  readonly #timers = new Set<HostTimer>();
  /** What happens once the process goes on. */
  readonly #held: (() => void)[] = [];
  #setBy = 0;
  #sleptMs = 0;
  #suspendedAt: number | undefined;
  #isFrozen = false;
  #isDead = false;
  /** When the machine went on last, by the shared clock. */
  wokeAt = -Infinity;

  constructor(world: HandClock) {
    this.#world = world;
  }

  /** The wall clock. */
  now(): number {
    return EPOCH + this.#world.now() + this.#setBy;
  }

  /** It stands still while the machine is suspended. */
  readonly steady = (): number => (this.#suspendedAt ?? this.#world.now()) - this.#sleptMs;

  setTimeout(fn: () => void, ms: number): unknown {
    const timer: HostTimer = { fn, due: this.steady() + ms, handle: undefined, isOver: this.#isDead };
    if (!this.#isDead) this.#arm(timer);
    return timer;
  }

  clearTimeout(handle: unknown): void {
    if (handle !== undefined) this.#end(handle as HostTimer);
  }

  /** Runs it now, or when the process goes on. */
  run(fn: () => void): void {
    if (this.#isDead) return;
    if (this.isStopped) this.#held.push(fn);
    else fn();
  }

  get isStopped(): boolean {
    return this.#isFrozen || this.isSuspended;
  }

  get isSuspended(): boolean {
    return this.#suspendedAt !== undefined;
  }

  setWallBy(ms: number): void {
    this.#setBy += ms;
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  suspend(): void {
    this.#suspendedAt ??= this.#world.now();
  }

  /** Everything that happened meanwhile runs, in the order that `pick` gives; by default, as it happened. */
  goOn(pick: (count: number) => number = () => 0): void {
    this.#isFrozen = false;
    if (this.#suspendedAt !== undefined) {
      this.#sleptMs += this.#world.now() - this.#suspendedAt;
      this.#suspendedAt = undefined;
      this.wokeAt = this.#world.now();
    }
    while (this.#held.length > 0 && !this.isStopped) this.#held.splice(pick(this.#held.length), 1)[0]?.();
  }

  /** The process is killed: nothing of it runs any more. */
  die(): void {
    this.#isDead = true;
    this.#held.splice(0);
    for (const timer of this.#timers) this.#end(timer);
  }

  #arm(timer: HostTimer): void {
    this.#timers.add(timer);
    timer.handle = this.#world.setTimeout(() => this.run(() => this.#fire(timer)), timer.due - this.steady());
  }

  #fire(timer: HostTimer): void {
    if (timer.isOver) return;
    if (timer.due - this.steady() > SAME_MS) return this.#arm(timer);
    this.#end(timer);
    timer.fn();
  }

  #end(timer: HostTimer): void {
    timer.isOver = true;
    this.#timers.delete(timer);
    this.#world.clearTimeout(timer.handle);
  }
}
