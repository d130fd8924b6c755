/**
 * Runs the host of a case as a process, and ends it when it is done, when the case kills it, when it hangs, or when the
 * run is aborted.
 *
 * P1. `outcome` and `over` always resolve: the first with the report of the host, the second when its process is gone.
 * P2. It leads its own process group, so that Ctrl-C reaches only the runner. If the runner dies, its channel
 *     to the host closes and the host ends itself.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { longestOf } from './time-limits.mjs';

const HOST = fileURLToPath(new URL('host.mjs', import.meta.url));
/** Time for a host that is done, killed or released to exit. */
const EXIT_MS = 10_000;
const LAST_WORDS = 4_000;

export class HostProcess {
  printed = '';
  /** Every process that Troupe has started in it. */
  pids = new Set();
  /**
   * The report of the host (null if there is none), the time at which it was killed (null if it was not) and the reason
   * if it did not finish.
   */
  outcome;
  over;
  #child;
  #place = 'starting';
  #outcome = { seen: null, diedAt: null, unfinished: null };
  #limit;

  /** `job.kase` has its placeholders filled; `env` is added to the runner's environment. */
  constructor(job, { folder, env, signal }) {
    this.#child = fork(HOST, [], {
      cwd: folder,
      env: { ...ownEnvironment(), ...env },
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => (this.printed += chunk));
    }
    this.over = this.#untilGone();
    this.outcome = Promise.race([new Promise((resolve) => this.#listen(resolve)), this.over]).then(
      () => this.#outcome,
    );
    const release = () => this.#release('the run was interrupted');
    signal?.addEventListener('abort', release, { once: true });
    void this.over.then(() => signal?.removeEventListener('abort', release));
    const limitMs = longestOf(job.kase);
    this.#within(limitMs, () => `the host did not finish ${this.#place} within ${limitMs} ms`);
    this.#child.send(job, () => {});
    if (signal?.aborted) release();
  }

  async #untilGone() {
    const how = await this.#howItEnds();
    clearTimeout(this.#limit);
    if (this.#outcome.seen !== null) return;
    this.#outcome.unfinished ??= `the host died in ${this.#place} (${how}): ${this.printed.slice(-LAST_WORDS)}`;
  }

  /** The last message may arrive after the exit event, but never after the disconnect. */
  async #howItEnds() {
    try {
      const [[code, signal]] = await Promise.all([
        once(this.#child, 'exit'),
        once(this.#child, 'disconnect'),
      ]);
      return signal === null ? `code ${code}` : `signal ${signal}`;
    } catch (error) {
      return error.message;
    }
  }

  #listen(resolve) {
    this.#child.on('message', ({ type, place, pid, signal, seen }) => {
      if (type === 'step') this.#place = place;
      if (type === 'process') this.pids.add(pid);
      if (type !== 'dying' && type !== 'done') return;
      this.#outcome.seen = seen;
      this.#within(EXIT_MS, () => `the host was still running ${EXIT_MS} ms after its end`);
      if (type === 'done') resolve();
      else this.#kill(signal);
    });
  }

  /** Without a signal, the host fails by itself. */
  #kill(signal) {
    this.#outcome.diedAt = Date.now();
    if (signal !== null) this.#child.kill(signal);
  }

  /** One limit at a time. */
  #within(ms, why) {
    clearTimeout(this.#limit);
    this.#limit = setTimeout(() => {
      this.#outcome.unfinished ??= why();
      this.#child.kill('SIGKILL');
    }, ms);
  }

  /** The host exits with its servers when it is disconnected. */
  #release(why) {
    this.#outcome.unfinished ??= why;
    if (this.#child.connected) this.#child.disconnect();
    this.#within(EXIT_MS, () => why);
  }
}

/** The environment without Troupe settings, which must not affect a case. */
function ownEnvironment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TROUPE_')));
}
