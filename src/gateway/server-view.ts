/**
 * The servers as one client sees them: which there are, and whose connection to each is used. Clients that have none of
 * their own see the same view.
 */
import type { Connection } from '../connection.js';
import type { ToolHeldError } from '../errors.js';
import { isSettled } from '../lifecycle/state-path.js';
import type { ServerStatus } from '../lifecycle/status.js';
import type { ServerOffer } from '../seams.js';
import type { ServerRow } from '../server-table.js';
import type { Troupe } from '../troupe.js';
import { isEnabled } from './isolation.js';
import type { OwnConnections } from './own-connections.js';

export interface ServerViewParts {
  readonly common: Troupe;
  readonly own?: OwnConnections | undefined;
  /** Only that server is seen. */
  readonly only?: string | undefined;
  /** Whether the client is to have a connection of its own to that server. */
  readonly isOwn: (server: string) => boolean;
  /** Whether the client may use the server: one that each client has to itself is not shared with those that have none. */
  readonly isSeen: (row: ServerRow) => boolean;
  /** Resolves when the common connections have had their first attempt, or the time for that is over. */
  readonly whenCommonStarted: () => Promise<unknown>;
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

  /** Of the disabled ones, too. */
  get statuses(): readonly ServerStatus[] {
    return this.#names(() => true).flatMap((server) => this.connection(server)?.status ?? []);
  }

  connection(server: string): Connection | undefined {
    if (this.only !== undefined && server !== this.only) return undefined;
    return (this.isOwn(server) ? this.#parts.own?.troupe : this.#parts.common)?.connection(server);
  }

  /** The connection is that of this client alone. */
  isOwn(server: string): boolean {
    return this.#parts.isOwn(server);
  }

  /** Why the tool that would have that name is held back. */
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
    return (
      (this.isOwn(server) ? this.#parts.own?.offer(server) : this.#parts.common.inside.offer(server)) ??
      NOTHING
    );
  }

  /** Of a connection that rests, what the common one knows of the server. */
  instructions(server: string): string | null {
    const { common } = this.#parts;
    return (
      this.connection(server)?.status.instructions ?? common.connection(server)?.status.instructions ?? null
    );
  }

  /** Resolves when every connection that is seen has had its first attempt, or the time for that is over. */
  async whenStarted(): Promise<void> {
    await Promise.all([this.#parts.whenCommonStarted(), this.#parts.own?.troupe.start()]);
  }

  /** Resolves when no server that is ready is being asked for its lists. */
  async whenListed(signal: AbortSignal): Promise<void> {
    this.#parts.own?.wakeUnknown();
    await this.#until(({ isListing }) => !isListing, signal);
  }

  /** Resolves when every server works, rests, waits for somebody, or has failed in an attempt. */
  async whenTried(signal: AbortSignal): Promise<void> {
    await this.whenStarted();
    await this.#until(({ path, status }) => isSettled(path) || status.error !== null, signal);
  }

  #names(counts: (row: ServerRow) => boolean): readonly string[] {
    const seen = this.#parts.common.inside.rows.filter(
      (row) => counts(row) && (this.only === undefined || row.name === this.only),
    );
    return seen.map(({ name }) => name).toSorted();
  }

  /** Each troupe tells of its own connections alone. */
  async #until(isSo: (connection: Connection) => boolean, signal: AbortSignal): Promise<void> {
    const areSo = (troupe: Troupe): boolean =>
      this.servers.every((server) => {
        const connection = this.connection(server);
        return connection === undefined || connection !== troupe.connection(server) || isSo(connection);
      });
    await Promise.all(this.troupes.map((troupe) => troupe.inside.until(() => areSo(troupe), signal)));
  }
}
