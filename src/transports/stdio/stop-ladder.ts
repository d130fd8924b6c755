/**
 * The orderly end of a process tree: end of input, SIGTERM, SIGKILL, each with its time.
 *
 * Owns the order and the waiting. The tree knows what a signal reaches and which processes are alive.
 *
 * L1. It ends as soon as nothing of the tree is alive, at every rung.
 * L2. It is bounded: `stdinEndMs` + `termMs` + `KILL_LIMIT_MS`.
 * L3. `kill` ends the tree by force before it returns, at any time, and the waiting of the other rungs ends.
 * L4. Servers that end shortly after each other are looked up in the process table together (`shared-checks.ts`).
 */
import type { StopPolicy } from '../../../machines/policy/policy.js';
import type { Clock } from '../../ports.js';
import type { ProcessTree } from './process-tree.js';
import { sharedChecks } from './shared-checks.js';

export interface StopLadderOptions {
  readonly tree: ProcessTree;
  readonly endInput: () => void;
  readonly policy: Pick<StopPolicy, 'stdinEndMs' | 'termMs'>;
  readonly clock: Clock;
}

/** The kernel may need a moment, or may never succeed: a process in an uninterruptible wait does not die. */
const KILL_LIMIT_MS = 2_000;
const POLL_MS = 20;

export class StopLadder {
  readonly #options: StopLadderOptions;
  #hurried = false;
  #isRunning = false;
  #wake = (): void => {};

  constructor(options: StopLadderOptions) {
    this.#options = options;
  }

  /** Whether `run` has begun and not ended. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Resolves to whether nothing of the tree is left. Runs once. */
  async run(): Promise<boolean> {
    const { tree, clock } = this.#options;
    const checks = sharedChecks(clock);
    this.#isRunning = true;
    if (tree.leaderAlive) checks.begin(this);
    try {
      return await this.#climb();
    } finally {
      this.#isRunning = false;
      checks.giveUp(this);
    }
  }

  kill(): void {
    this.#hurried = true;
    this.#options.tree.kill();
    this.#wake();
  }

  /** The spawned process has ended: the next check, which need not wait for its time, is made together with others. */
  leaderEnded(check: () => void = () => {}): void {
    sharedChecks(this.#options.clock).ended(this, () => {
      check();
      this.#wake();
    });
  }

  async #climb(): Promise<boolean> {
    const { tree, endInput, policy } = this.#options;
    const hadLeader = tree.leaderAlive;
    if (hadLeader) tree.takeStock();
    endInput();
    if (hadLeader && (await this.#goneWithin(policy.stdinEndMs))) return true;
    if (!tree.isAlive()) return true;
    if (!this.#hurried) tree.signal('SIGTERM');
    if (await this.#goneWithin(policy.termMs)) return true;
    return this.#killUntilGone();
  }

  async #goneWithin(ms: number): Promise<boolean> {
    const { tree, clock } = this.#options;
    let over = false;
    const limit = clock.setTimeout(() => {
      over = true;
      this.#wake();
    }, ms);
    try {
      while (tree.isAlive()) {
        if (over || this.#hurried) return false;
        // The end of the leader is reported; the other processes must be polled.
        await this.#pause(tree.leaderAlive ? undefined : POLL_MS);
      }
      return true;
    } finally {
      clock.clearTimeout(limit);
    }
  }

  async #killUntilGone(): Promise<boolean> {
    const { tree } = this.#options;
    for (let waited = 0; tree.isAlive(); waited += POLL_MS) {
      if (waited >= KILL_LIMIT_MS) return false;
      tree.signal('SIGKILL');
      await this.#pause(POLL_MS);
    }
    return true;
  }

  /** Ends at the next event, or after `ms` if given. */
  #pause(ms: number | undefined): Promise<void> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : clock.setTimeout(resolve, ms);
      this.#wake = () => {
        clock.clearTimeout(timer);
        resolve();
      };
    });
  }
}
