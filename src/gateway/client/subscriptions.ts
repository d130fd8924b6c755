/** The subscriptions of one client, or of one of its streams. Those that share a connection are counted together. */
import type { Connection, WaitOptions } from '../../servers/connection.js';
import type { ServerView } from '../upstream/server-view.js';
import type { ServerResource } from './resource-addresses.js';
import type { Clock } from '../../ports.js';
import type { SharedSubscriptions } from '../upstream/shared-preferences.js';

/** Changes of the status within this time become one notification, milliseconds. */
const STATUS_PAUSE_MS = 200;

export interface SubscriptionsParts {
  readonly view: ServerView;
  /** Who is subscribed over that connection. */
  readonly subscribersOf: (server: string) => SharedSubscriptions;
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
}

export class Subscriptions {
  /** Whether it is subscribed to the gateway's own resource. */
  toStatus = false;
  readonly #parts: SubscriptionsParts;
  #statusTimer: unknown;
  /** The subscribed resources, by the address that the client uses. */
  readonly #resources = new Map<string, ServerResource[]>();

  constructor(parts: SubscriptionsParts) {
    this.#parts = parts;
  }

  /** The status has changed: calls `notify` soon, if it is subscribed to it. */
  statusMoved(notify: () => void): void {
    if (!this.toStatus || this.#statusTimer !== undefined) return;
    this.#statusTimer = this.#parts.clock.setTimeout(() => {
      this.#statusTimer = undefined;
      notify();
    }, STATUS_PAUSE_MS);
  }

  /** If the server refuses, the subscription is removed again. */
  async add(address: string, { server, uri }: ServerResource, options: WaitOptions): Promise<void> {
    const { view, subscribersOf } = this.#parts;
    const subscribers = subscribersOf(server);
    subscribers.add(server, uri, this);
    try {
      await view.connection(server)?.subscribe(uri, options);
    } catch (error) {
      if (!this.#has({ server, uri })) subscribers.delete(server, uri, this);
      throw error;
    }
    const others = (this.#resources.get(address) ?? []).filter((one) => !isSame(one, { server, uri }));
    this.#resources.set(address, [...others, { server, uri }]);
  }

  async delete(address: string, options: WaitOptions): Promise<void> {
    const resources = this.#resources.get(address) ?? [];
    this.#resources.delete(address);
    const unused = resources.filter((resource) => !this.#has(resource));
    await Promise.all(
      unused.map(async (resource) => this.#end(resource)?.unsubscribe(resource.uri, options)),
    );
  }

  /**
   * The address of an updated resource, for this client; undefined if it is not subscribed. The update may be about a
   * part of a subscribed resource.
   */
  addressOf(server: string, uri: string): string | undefined {
    for (const [address, resources] of this.#resources) {
      for (const subscribed of resources) {
        const isPart = uri === subscribed.uri || uri.startsWith(`${subscribed.uri.replace(/\/$/, '')}/`);
        if (isPart && subscribed.server === server) {
          return address.slice(0, address.length - subscribed.uri.length) + uri;
        }
      }
    }
    return undefined;
  }

  /** Ends all subscriptions, because the client is gone. */
  close(): void {
    this.#parts.clock.clearTimeout(this.#statusTimer);
    for (const address of this.#resources.keys()) this.delete(address, {}).catch(() => {});
  }

  /** Whether the client is subscribed to it under any address. */
  #has(resource: ServerResource): boolean {
    return [...this.#resources.values()].flat().some((one) => isSame(one, resource));
  }

  /** The connection to notify, if nobody else is subscribed over it. */
  #end({ server, uri }: ServerResource): Connection | undefined {
    const { view, subscribersOf } = this.#parts;
    return subscribersOf(server).delete(server, uri, this) ? view.connection(server) : undefined;
  }
}

function isSame(one: ServerResource, other: ServerResource): boolean {
  return one.server === other.server && one.uri === other.uri;
}
