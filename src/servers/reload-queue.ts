/**
 * The readings of the configuration after the start. The configuration's chart decides when to read; this requests the
 * readings and carries them out.
 *
 * R1. The chart is loaded and started with the watch, or with the first reading that the host requests.
 * R2. Every request settles with the outcome of its reading or with an error, however the chart ends.
 */
import type { DiagnosticKind } from '../diagnostic-kind.js';
import type { ActorRefFrom, AnyActorRef } from 'xstate';
import type {
  configurationMachine,
  ConfigurationPolicy,
} from '../../machines/configuration/configuration.machine.js';
import type { HostServers } from './config-reader.js';
import type { LoadedConfig } from './load-config.js';
import { NotReadyError } from '../errors.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';
import type { Clock } from '../ports.js';
import type { RootSupervisor } from '../actor-system/root-actors.js';

const ID = 'configuration';
const WATCHED: ConfigurationPolicy = { restMs: 300, mostMs: 2_000, retryAfterMs: [1_000, 2_000, 4_000] };
/** If no file is watched, only the host requests readings. */
const UNWATCHED: ConfigurationPolicy = { restMs: 0, mostMs: 0, retryAfterMs: [] };

type ConfigurationRef = ActorRefFrom<typeof configurationMachine>;

/** The result of a reading. */
export interface Applied {
  readonly loaded: LoadedConfig;
}

export interface ReloadQueueParts<T extends Applied> {
  readonly clock: Clock;
  readonly publish: (event: LifecycleEventBody) => void;
  /** The troupe's; created at the first call. */
  readonly roots: () => RootSupervisor;
  readonly isClosed: () => boolean;
  /** Reads the sources, with these servers of the host from now on, and applies what differs. */
  readonly readAndApply: (servers: HostServers | undefined) => Promise<T>;
  /** Called when a reading was applied that the host did not request. */
  readonly applied: (applied: T) => void;
  /** Absolute paths of the files to watch, including files that do not exist. */
  readonly places: () => Promise<readonly string[]>;
}

interface Asked<T> {
  readonly servers: HostServers | undefined;
  readonly resolve: (applied: T) => void;
  readonly reject: (error: unknown) => void;
}

export class ReloadQueue<T extends Applied> {
  readonly #parts: ReloadQueueParts<T>;
  /** Requests whose reading has not begun, in order. */
  #asked: readonly Asked<T>[] = [];
  #begun: Promise<void> | undefined;
  #unfollow: (() => void) | undefined;
  #closing: Promise<unknown> = Promise.resolve();

  constructor(parts: ReloadQueueParts<T>) {
    this.#parts = parts;
  }

  /** Watches the files from now on. `readable`: the first reading could read every source. */
  watch(readable: boolean): Promise<void> {
    return (this.#begun ??= this.#begin(true, readable));
  }

  /** Requests a reading; resolves when the sources were read, in its turn, and the differences were applied. */
  ask(servers: HostServers | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#asked = [...this.#asked, { servers, resolve, reject }];
      this.#begun ??= this.#begin(false, true);
      this.#begun.then(() => this.#request(), reject);
    });
  }

  /** Ends the watch and the chart. */
  async close(): Promise<void> {
    await this.#begun;
    this.#ref?.send({ type: 'configuration.close' });
    this.#unfollow?.();
    await this.#closing;
  }

  get #ref(): ConfigurationRef | undefined {
    return this.#begun === undefined
      ? undefined
      : (this.#parts.roots().ref(ID) as ConfigurationRef | undefined);
  }

  async #begin(isWatched: boolean, readable: boolean): Promise<void> {
    const { clock, places, roots, isClosed } = this.#parts;
    const { configurationEffects } = await import('../actors/configuration-effects.js');
    if (isClosed()) return;
    const machine = configurationEffects({
      clock,
      read: ({ serving }) => this.#read(serving),
      watch: isWatched ? { places, closing: (closed) => this.#closingWith(closed) } : undefined,
    });
    this.#unfollow = roots().follow((ref) => this.#follow(ref));
    roots().start(ID, machine, { policy: isWatched ? WATCHED : UNWATCHED, readable });
  }

  #closingWith(closed: Promise<void>): void {
    this.#closing = Promise.all([this.#closing, closed]);
  }

  #request(): void {
    const ref = this.#ref;
    if (ref?.getSnapshot().status === 'active') ref.send({ type: 'reload.asked' });
    else this.#refuse();
  }

  async #read(serving: boolean): Promise<LoadedConfig['sources']> {
    const { readAndApply, applied } = this.#parts;
    const asked = serving ? this.#asked[0] : undefined;
    if (asked !== undefined) this.#asked = this.#asked.slice(1);
    try {
      const result = await readAndApply(asked?.servers);
      if (asked === undefined) applied(result);
      else asked.resolve(result);
      return result.loaded.sources;
    } catch (error) {
      asked?.reject(error);
      throw error;
    }
  }

  /** Called for every incarnation of the chart. */
  #follow(root: AnyActorRef): void {
    if (root.id !== ID) return;
    const ref = root as ConfigurationRef;
    ref.on('unwatched', ({ message }) =>
      this.#diagnose('watch-problem', `The configuration files cannot be watched: ${message}`),
    );
    ref.on('unapplied', ({ message }) =>
      this.#diagnose('reload-failed', `The changed configuration could not be applied: ${message}`),
    );
    const over = (): void => this.#refuse();
    ref.subscribe({ error: over, complete: over });
  }

  /** Rejects every request: no reading will follow. */
  #refuse(): void {
    const why = this.#parts.isClosed()
      ? 'The troupe is closed.'
      : 'The configuration was not read: its machine crashed because of an internal error.';
    const refused = this.#asked;
    this.#asked = [];
    for (const { reject } of refused) reject(new NotReadyError(why));
  }

  #diagnose(kind: DiagnosticKind, message: string): void {
    if (!this.#parts.isClosed()) this.#parts.publish({ type: 'diagnostic', kind, message });
  }
}
