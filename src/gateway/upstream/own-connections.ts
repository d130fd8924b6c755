/**
 * The connections of one client alone: a troupe whose handshakes declare exactly the capabilities of that client.
 *
 * O1. If the offer of a server to such clients is known, the server is dormant until it is used, and again when it is
 *     idle.
 * O2. No part of it is shared with another client: it ends with its client.
 */
import { hasTag } from '../../../machines/connection/connection.states.js';
import type { CatalogStore } from '../../catalog/cache-store.js';
import type { LoadedConfig } from '../../servers/load-config.js';
import type { TroupeOptions } from '../../options.js';
import type { TroupeInternals } from '../../runtime/internals.js';
import type { ServerRow, ServerSpec } from '../../config/entry/server-spec.js';
import { Troupe } from '../../runtime/troupe.js';

export interface OwnConnectionsParts {
  readonly options: TroupeOptions;
  /** Entries of the client's isolated servers, read again whenever they may have changed. */
  readonly rows: () => readonly ServerRow[];
  /** The lists of the servers for clients of this kind. */
  readonly cache: CatalogStore;
  /** Milliseconds, for entries that do not set it. */
  readonly idleStopMs: number;
  readonly seams: Pick<TroupeInternals, 'declares' | 'handshakeMeta' | 'responders' | 'onnotification'>;
}

export class OwnConnections {
  readonly troupe: Troupe;

  constructor({ options, rows, cache, idleStopMs, seams }: OwnConnectionsParts) {
    this.troupe = new Troupe(
      { ...options, cache },
      { ...seams, load: async () => loaded(rows(), idleStopMs) },
    );
  }

  /** Starts dormant servers whose other lists are unknown. */
  wakeUnknown(): void {
    const { inside } = this.troupe;
    for (const { name } of inside.rows) {
      const connection = this.troupe.connection(name);
      if (connection === undefined || !hasTag(connection.present, 'dormant') || inside.knowsExtras(name))
        continue;
      connection.dispatch({ type: 'connection.start' });
    }
  }

  /** The entries may have changed. */
  follow(): void {
    this.troupe.reload().catch(() => {});
  }

  async close(): Promise<void> {
    await this.troupe.close();
  }
}

function loaded(rows: readonly ServerRow[], idleStopMs: number): LoadedConfig {
  const servers = rows.flatMap((row) => ('failure' in row ? [] : [restingEntry(row, idleStopMs)]));
  return {
    servers,
    refused: [],
    heldBack: [],
    uncounted: [],
    problems: [],
    sources: [],
    missing: [],
    dropped: [],
  };
}

// The entry for a gateway's connection that is dormant until it is used.

/** `idleStopMs` is for an entry that does not set it. The hash stays, because trust applies to the entry as written. */
export function restingEntry(spec: ServerSpec, idleStopMs: number): ServerSpec {
  return { ...spec, config: { idleStopMs, ...spec.config, start: 'lazy' } };
}
