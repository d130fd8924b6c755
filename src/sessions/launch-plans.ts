/**
 * The result of resolving an entry, on its way from `resolveConfig` to `openTransport`. A plan belongs to one session, by
 * connection and generation, and is used once. Plans hold secrets: nothing here is ever published.
 */
import type { SessionKey } from '../../machines/connection/connection.events.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import type { OpenExchange } from '../transports/http/http-session.js';
import type { RunTerm } from '../transports/run-term.js';
import type { ReviewedServer } from '../catalog/catalogs.js';

export interface LaunchPlan {
  readonly config: ServerConfig;
  /** The folder that relative paths of the entry start from. */
  readonly folder: string;
  /** Advice for a program that starts outside of the workspace and may need it. */
  readonly elsewhere?: string | undefined;
  /** For a server that runs once in the fleet. */
  readonly place?: RunPlace | undefined;
  /** The key under which the session's lists are cached; undefined if they are not. */
  readonly cacheKey: string | undefined;
  /** The server to which a review attributes the tools; undefined if nothing is reviewed. */
  readonly reviewed: ReviewedServer | undefined;
}

/** Where a server that runs once in the fleet runs now. */
export interface RunPlace {
  /** Whether that is still so. */
  isCurrent(): boolean;
  /** For how long it may run here; undefined if it runs at another host. */
  readonly term?: RunTerm;
  /** How requests to another host are sent. */
  readonly sign?: (open: OpenExchange) => OpenExchange;
}

interface Kept {
  readonly generation: number;
  readonly plan: LaunchPlan;
}

export class LaunchPlans {
  /** The latest plan of each connection: a session is opened right after its entry was resolved, or never. */
  readonly #latest = new Map<string, Kept>();

  set({ name, generation }: SessionKey, plan: LaunchPlan): void {
    this.#latest.set(name, { generation, plan });
  }

  /** Removes and returns the plan of a session. */
  take({ name, generation }: SessionKey): LaunchPlan | undefined {
    const kept = this.#latest.get(name);
    if (kept?.generation !== generation) return undefined;
    this.#latest.delete(name);
    return kept.plan;
  }

  /** The address that the latest attempt of a connection goes to; undefined if it goes to none. */
  addressOf(name: string): string | undefined {
    const { config } = this.#latest.get(name)?.plan ?? {};
    return config !== undefined && 'url' in config ? config.url : undefined;
  }

  forget(name: string): void {
    this.#latest.delete(name);
  }
}
