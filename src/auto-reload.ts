/**
 * Reloads the configuration by itself when one of its files changes.
 *
 * A1. A source that could not be read, as one that is half written, is tried again a few times; after that, the next
 *     change of a file is waited for.
 * A2. Whatever goes wrong is a diagnostic.
 */
import { FileWatch } from './config/watch.js';
import type { SourceReport } from './config/sources.js';
import { NotReadyError } from './errors.js';
import type { LifecycleEventBody } from './lifecycle/event.js';
import type { Clock } from './ports.js';
import type { ReloadReport } from './reload-report.js';
import { messageOf } from './thrown.js';

/** When a source is tried again that could not be read, milliseconds. */
const RETRY_AFTER_MS = [1_000, 2_000, 4_000];

export interface AutoReloadParts {
  readonly clock: Clock;
  readonly publish: (event: LifecycleEventBody) => void;
  readonly reload: () => Promise<Pick<ReloadReport, 'sources'>>;
  /** Absolute paths of the files to be watched, those included that are not there. */
  readonly places: () => Promise<readonly string[]>;
}

export class AutoReload {
  readonly #parts: AutoReloadParts;
  readonly #watch: FileWatch;
  #timer: unknown;
  #retries = 0;
  #isClosed = false;

  constructor(parts: AutoReloadParts) {
    this.#parts = parts;
    this.#watch = new FileWatch({
      clock: parts.clock,
      onchange: () => {
        this.#retries = 0;
        void this.#reload();
      },
      onerror: (error) => this.#cannotWatch(error),
    });
  }

  /** Watches the files, after a reading that found these sources, and tries those again that could not be read. */
  follow(sources: readonly SourceReport[]): void {
    if (this.#isClosed) return;
    void this.#watchPlaces();
    this.#stopTimer();
    const delay = RETRY_AFTER_MS[this.#retries];
    if (delay === undefined || sources.every(({ ok }) => ok)) return;
    this.#retries += 1;
    this.#timer = this.#parts.clock.setTimeout(() => void this.#reload(), delay);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer();
    await this.#watch.close();
  }

  async #watchPlaces(): Promise<void> {
    try {
      await this.#watch.follow(await this.#parts.places());
    } catch (error) {
      this.#cannotWatch(error);
    }
  }

  async #reload(): Promise<void> {
    try {
      const { sources } = await this.#parts.reload();
      this.follow(sources);
    } catch (error) {
      if (this.#isClosed || error instanceof NotReadyError) return;
      this.#diagnose('reload-failed', `The changed configuration could not be applied: ${messageOf(error)}`);
    }
  }

  #cannotWatch(error: unknown): void {
    this.#diagnose('watch-problem', `The configuration files cannot be watched: ${messageOf(error)}`);
  }

  #stopTimer(): void {
    if (this.#timer !== undefined) this.#parts.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #diagnose(kind: string, message: string): void {
    this.#parts.publish({ type: 'diagnostic', kind, message });
  }
}
