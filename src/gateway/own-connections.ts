/**
 * The connections that one client has to itself: a troupe of its own, whose handshakes declare what that client answers,
 * and nothing else.
 *
 * O1. Each server rests until it is used, where it is known what it offers to clients of that kind, and again when it is
 *     idle.
 * O2. Nothing of it is ever another client's: it ends with its client.
 */
import type { LoadedConfig } from '../config/load.js';
import type { TroupeOptions } from '../options.js';
import type { ServerOffer, TroupeSeams } from '../seams.js';
import type { ServerRow } from '../server-table.js';
import { Troupe } from '../troupe.js';
import type { Declaration } from './declarations.js';
import { restingEntry } from './resting-entry.js';

export interface OwnConnectionsParts {
  readonly options: TroupeOptions;
  /** Entries of the servers that the client has to itself, asked for whenever they may be others. */
  readonly rows: () => readonly ServerRow[];
  readonly declaration: Declaration;
  /** Milliseconds, for entries that do not say it. */
  readonly idleStopMs: number;
  readonly seams: Pick<TroupeSeams, 'declares' | 'handshakeMeta' | 'responders' | 'onnotification'>;
}

export class OwnConnections {
  readonly troupe: Troupe;
  readonly #parts: OwnConnectionsParts;
  /** Servers that may have listed something new. */
  readonly #unlearned = new Set<string>();
  readonly #stop: (() => void)[] = [];

  constructor(parts: OwnConnectionsParts) {
    this.#parts = parts;
    this.troupe = new Troupe(
      { ...parts.options, cache: parts.declaration.tools },
      { ...parts.seams, load: async () => loaded(parts.rows(), parts.idleStopMs) },
    );
    const events = this.troupe.events$.subscribe((event) => {
      if (event.type === 'connection.ready' || event.type === 'catalog.changed') {
        this.#unlearned.add(event.connection);
      }
    });
    this.#stop.push(
      () => events.unsubscribe(),
      this.troupe.inside.onflushed(() => this.#learn()),
    );
  }

  /** A server that rests offers what it offered to the last client of that kind. */
  offer(server: string): ServerOffer {
    const offer = this.troupe.inside.offer(server);
    const known = this.#isResting(server) ? this.#known(server) : undefined;
    return known === undefined ? offer : { ...offer, ...known };
  }

  /** Wakes what rests and of which nobody knows what it lists beside its tools. */
  wakeUnknown(): void {
    for (const { name } of this.troupe.inside.rows) {
      if (!this.#isResting(name) || this.#known(name) !== undefined) continue;
      this.troupe.connection(name)?.dispatch({ type: 'connection.start' });
    }
  }

  /** The entries may be others. */
  follow(): void {
    this.troupe.reload().catch(() => {});
  }

  async close(): Promise<void> {
    for (const stop of this.#stop.splice(0)) stop();
    await this.troupe.close();
  }

  /** It rests, and has not been used yet. */
  #isResting(server: string): boolean {
    const connection = this.troupe.connection(server);
    return connection?.path.substate === 'dormant' && connection.status.generation === 0;
  }

  #known(server: string): ReturnType<Declaration['extras']> {
    return this.#parts.declaration.extras(server, hashOf(this.#row(server)));
  }

  #row(server: string): ServerRow | undefined {
    return this.troupe.inside.rows.find(({ name }) => name === server);
  }

  #learn(): void {
    for (const server of this.#unlearned) {
      const connection = this.troupe.connection(server);
      if (connection?.path.state !== 'ready' || connection.isListing) continue;
      this.#unlearned.delete(server);
      const { tools: _, ...extras } = this.troupe.inside.offer(server);
      this.#parts.declaration.learn(server, hashOf(this.#row(server)), extras);
    }
  }
}

function hashOf(row: ServerRow | undefined): string {
  return row === undefined || 'failure' in row ? '' : row.hash;
}

function loaded(rows: readonly ServerRow[], idleStopMs: number): LoadedConfig {
  const servers = rows.flatMap((row) => ('failure' in row ? [] : [restingEntry(row, idleStopMs)]));
  return { servers, refused: [], heldBack: [], problems: [], sources: [], dropped: [] };
}
