/**
 * The servers from the perspective of one client: the visible servers, and the connection for each. Clients without own
 * connections share one view.
 */
import { hasTag } from '../../../machines/connection/connection.states.js';
import type { Connection } from '../../servers/connection.js';
import type { ToolHeldError } from '../../errors.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import type { ServerOffer } from '../../runtime/internals.js';
import type { ToolFilter } from '../../config/entry/tool-filter.js';
import type { ServerRow } from '../../config/entry/server-spec.js';
import type { Troupe } from '../../runtime/troupe.js';
import { isEnabled } from './isolation.js';
import type { OwnConnections } from './own-connections.js';

export interface ServerViewParts {
  readonly common: Troupe;
  readonly own?: OwnConnections | undefined;
  /** The only visible server. */
  readonly only?: string | undefined;
  /** Whether the client has its own connection to that server. */
  readonly isOwn: (server: string) => boolean;
  /** Whether the client may use the server: an isolated server is not visible to clients without own connections. */
  readonly isSeen: (row: ServerRow) => boolean;
  /** Resolves when the shared connections have something to offer for each server, or at the time limit. */
  readonly whenCommonListed: () => Promise<unknown>;
}

const NOTHING: ServerOffer = { tools: [], resources: [], resourceTemplates: [], prompts: [] };

export class ServerView {
  readonly only: string | undefined;
  readonly #parts: ServerViewParts;

  constructor(parts: ServerViewParts) {
    this.#parts = parts;
    this.only = parts.only;
  }

  get troupes(): readonly Troupe[] {
    const { common, own } = this.#parts;
    return own === undefined ? [common] : [common, own.troupe];
  }

  /** Names of the servers that the client may use and that are not disabled, sorted. */
  get servers(): readonly string[] {
    return this.#names((row) => isEnabled(row) && this.#parts.isSeen(row));
  }

  /** Names of those that the client may not use. */
  get unseen(): readonly string[] {
    return this.#names((row) => isEnabled(row) && !this.#parts.isSeen(row));
  }

  /** Includes disabled servers. */
  get statuses(): readonly ServerStatus[] {
    return this.#names(() => true).flatMap((server) => this.connection(server)?.status ?? []);
  }

  connection(server: string): Connection | undefined {
    if (this.only !== undefined && server !== this.only) return undefined;
    return (this.isOwn(server) ? this.#parts.own?.troupe : this.#parts.common)?.connection(server);
  }

  /** Whether the connection belongs to this client alone. */
  isOwn(server: string): boolean {
    return this.#parts.isOwn(server);
  }

  /** Why the tool with that name is held back. */
  whyHeld(name: string): ToolHeldError | undefined {
    for (const troupe of this.troupes) {
      const held = troupe.whyHeld(name);
      const isSeen =
        held !== undefined && this.connection(held.server ?? '') === troupe.connection(held.server ?? '');
      if (isSeen) return held;
    }
    return undefined;
  }

  offer(server: string): ServerOffer {
    const troupe = this.isOwn(server) ? this.#parts.own?.troupe : this.#parts.common;
    return troupe?.inside.offer(server) ?? NOTHING;
  }

  /** What the entry of a server says about its tools. */
  filter(server: string): ToolFilter {
    return this.#parts.common.inside.filter(server);
  }

  /** For a dormant connection, the instructions that the shared connection knows. */
  instructions(server: string): string | null {
    const { common } = this.#parts;
    return (
      this.connection(server)?.status.instructions ?? common.connection(server)?.status.instructions ?? null
    );
  }

  /** Resolves when the tools of every visible server are known or its first attempt is over, or at the time limit. */
  async whenToolsKnown(): Promise<void> {
    await Promise.all([this.#parts.whenCommonListed(), this.#parts.own?.troupe.listed()]);
  }

  /**
   * Resolves when the other lists of every visible server are known or its first attempt is over, and no ready server is
   * still being asked for them.
   */
  async whenListed(signal: AbortSignal): Promise<void> {
    this.#parts.own?.wakeUnknown();
    await this.#until(
      ({ present }, isKnown) => (hasTag(present, 'attempted') ? !hasTag(present, 'enriching') : isKnown),
      signal,
    );
  }

  /** Resolves when every server works, is dormant, waits for a person, or has failed in an attempt. */
  async whenTried(signal: AbortSignal): Promise<void> {
    await this.whenToolsKnown();
    await this.#until(({ present, status }) => hasTag(present, 'settled') || status.error !== null, signal);
  }

  #names(counts: (row: ServerRow) => boolean): readonly string[] {
    const seen = this.#parts.common.inside.rows.filter(
      (row) => counts(row) && (this.only === undefined || row.name === this.only),
    );
    return seen.map(({ name }) => name).toSorted();
  }

  /** Each troupe only reports on its own connections. */
  async #until(
    isSo: (connection: Connection, knowsExtras: boolean) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const areSo = (troupe: Troupe): boolean =>
      this.servers.every((server) => {
        const connection = this.connection(server);
        return (
          connection === undefined ||
          connection !== troupe.connection(server) ||
          isSo(connection, troupe.inside.knowsExtras(server))
        );
      });
    await Promise.all(this.troupes.map((troupe) => troupe.inside.until(() => areSo(troupe), signal)));
  }
}
