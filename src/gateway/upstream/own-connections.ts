/**
 * The connections of one client alone: a troupe whose handshakes declare exactly the capabilities of that client.
 *
 * O1. If the offer of a server to such clients is known, the server is dormant until it is used, and again when it is
 *     idle.
 * O2. No part of it is shared with another client: it ends with its client.
 */
import { hasTag } from '../../../machines/connection/connection.states.js';
import type { LoadedConfig } from '../../servers/load-config.js';
import type { TroupeOptions } from '../../options.js';
import type { ServerOffer, TroupeInternals } from '../../runtime/internals.js';
import type { ServerRow, ServerSpec } from '../../config/entry/server-spec.js';
import { Troupe } from '../../runtime/troupe.js';
import type { Declaration } from './declarations.js';

export interface OwnConnectionsParts {
  readonly options: TroupeOptions;
  /** Entries of the client's isolated servers, read again whenever they may have changed. */
  readonly rows: () => readonly ServerRow[];
  readonly declaration: Declaration;
  /** Milliseconds, for entries that do not set it. */
  readonly idleStopMs: number;
  readonly seams: Pick<TroupeInternals, 'declares' | 'handshakeMeta' | 'responders' | 'onnotification'>;
}

export class OwnConnections {
  readonly troupe: Troupe;
  readonly #parts: OwnConnectionsParts;
  /** Servers that may have new lists. */
  readonly #changedServers = new Set<string>();
  readonly #stop: (() => void)[] = [];

  constructor(parts: OwnConnectionsParts) {
    this.#parts = parts;
    this.troupe = new Troupe(
      { ...parts.options, cache: parts.declaration.tools },
      { ...parts.seams, load: async () => loaded(parts.rows(), parts.idleStopMs) },
    );
    const events = this.troupe.events$.subscribe((event) => {
      if (event.type === 'connection.ready' || event.type === 'catalog.changed') {
        this.#changedServers.add(event.server);
      }
    });
    this.#stop.push(
      () => events.unsubscribe(),
      this.troupe.inside.onflushed(() => this.#learn()),
    );
  }

  /** The offer of a dormant server is the one to the last client of the kind. */
  offer(server: string): ServerOffer {
    const offer = this.troupe.inside.offer(server);
    const known = this.#isResting(server) ? this.#known(server) : undefined;
    return known === undefined ? offer : { ...offer, ...known };
  }

  /** Starts dormant servers whose other lists are unknown. */
  wakeUnknown(): void {
    for (const { name } of this.troupe.inside.rows) {
      if (!this.#isResting(name) || this.#known(name) !== undefined) continue;
      this.troupe.connection(name)?.dispatch({ type: 'connection.start' });
    }
  }

  /** The entries may have changed. */
  follow(): void {
    this.troupe.reload().catch(() => {});
  }

  async close(): Promise<void> {
    for (const stop of this.#stop.splice(0)) stop();
    await this.troupe.close();
  }

  /** Whether it is dormant and has not been used yet. */
  #isResting(server: string): boolean {
    const connection = this.troupe.connection(server);
    if (connection === undefined || !hasTag(connection.present, 'dormant')) return false;
    return connection.status.generation === 0;
  }

  #known(server: string): ReturnType<Declaration['extras']> {
    return this.#parts.declaration.extras(server, hashOf(this.#row(server)));
  }

  #row(server: string): ServerRow | undefined {
    return this.troupe.inside.rows.find(({ name }) => name === server);
  }

  #learn(): void {
    for (const server of this.#changedServers) {
      const connection = this.troupe.connection(server);
      if (connection === undefined || !hasTag(connection.present, 'usable')) continue;
      if (hasTag(connection.present, 'enriching')) continue;
      this.#changedServers.delete(server);
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
  return { servers, refused: [], heldBack: [], uncounted: [], problems: [], sources: [], dropped: [] };
}

// The entry for a gateway's connection that is dormant until it is used.

/** `idleStopMs` is for an entry that does not set it. The hash stays, because trust applies to the entry as written. */
export function restingEntry(spec: ServerSpec, idleStopMs: number): ServerSpec {
  return { ...spec, config: { idleStopMs, ...spec.config, start: 'lazy' } };
}
