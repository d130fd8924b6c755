/** Entries of an engine as JSON, sealed. What was read last is remembered, for the time in which the engine is gone. */
import { FleetError, type FleetEngine } from './engine.js';
import type { FleetKey } from './fleet-key.js';

export interface OpenEntry {
  readonly value: unknown;
  /** `'0'` if there is no entry. */
  readonly version: string;
}

const NO_ENTRY: OpenEntry = { value: undefined, version: '0' };
/** Others are faster each time only if something is wrong. */
const MOST_TRIES = 100;

/** What entries need of an engine. */
export type EntryEngine = Pick<FleetEngine, 'get' | 'put' | 'remove' | 'watch'>;

export class SealedEntries {
  readonly #engine: EntryEngine;
  readonly #key: FleetKey;
  readonly #remembered = new Map<string, OpenEntry>();

  constructor(engine: EntryEngine, key: FleetKey) {
    this.#engine = engine;
    this.#key = key;
  }

  async read(name: string): Promise<OpenEntry> {
    const entry = await this.#engine.get(name);
    if (entry === undefined) return NO_ENTRY;
    return { value: JSON.parse(this.#key.open(name, entry.value)) as unknown, version: entry.version };
  }

  /** As `read`, and remembers it. */
  async remember(name: string): Promise<OpenEntry> {
    const entry = await this.read(name);
    this.#remembered.set(name, entry);
    return entry;
  }

  /** As `remember`; while the engine is gone, what is remembered. */
  async recall(name: string): Promise<OpenEntry> {
    try {
      return await this.remember(name);
    } catch (error) {
      const known = this.#remembered.get(name);
      if (known === undefined || !isUnavailable(error)) throw error;
      return known;
    }
  }

  /** Resolves to the version; undefined if the entry has another one than `ifVersion`. */
  async write(name: string, value: unknown, ifVersion?: string): Promise<string | undefined> {
    const sealed = this.#key.seal(name, JSON.stringify(value));
    const version = await this.#engine.put(name, sealed, ifVersion === undefined ? {} : { ifVersion });
    if (version !== undefined && this.#remembered.has(name)) this.#remembered.set(name, { value, version });
    return version;
  }

  /** Replaces a value by what `change` makes of it, also while others write. */
  async change(name: string, change: (value: unknown) => unknown): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const { value, version } = await this.read(name);
      if ((await this.write(name, change(value), version)) !== undefined) return;
    }
    throw new FleetError('engine-unavailable', `The entry '${name}' of the fleet cannot be written.`);
  }

  async remove(name: string): Promise<void> {
    await this.#engine.remove(name);
    this.#remembered.delete(name);
  }

  /** Calls `onChange` for the present value and each new one, until the returned function is called. */
  follow(name: string, onChange: () => void): () => void {
    let isOver = false;
    let last: string | undefined;
    const watching = this.#engine.watch(name, (_, sealed) => {
      const isNew = sealed !== last;
      last = sealed;
      if (isNew && !isOver) onChange();
    });
    // It rejects only if the engine is closed.
    watching.catch(() => {});
    return () => {
      isOver = true;
      watching.then((stop) => stop()).catch(() => {});
    };
  }
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof FleetError && error.code === 'engine-unavailable';
}
