/** The subscriptions of one client. Over shared connections, they are counted together with those of the other clients. */
import type { Connection, WaitOptions } from '../../servers/connection.js';
import type { ServerView } from '../upstream/server-view.js';
import type { ServerResource } from './resource-addresses.js';
import type { SharedSubscriptions } from '../upstream/shared-preferences.js';

export class Subscriptions {
  /** Whether it is subscribed to the gateway's own resource. */
  toStatus = false;
  readonly #view: ServerView;
  readonly #shared: SharedSubscriptions;
  /** The subscribed resources, by the address that the client uses. */
  readonly #resources = new Map<string, ServerResource[]>();

  constructor(view: ServerView, shared: SharedSubscriptions) {
    this.#view = view;
    this.#shared = shared;
  }

  /** If the server refuses, the subscription is removed again. */
  async add(address: string, { server, uri }: ServerResource, options: WaitOptions): Promise<void> {
    const isShared = !this.#view.isOwn(server);
    if (isShared) this.#shared.add(server, uri, this);
    try {
      await this.#view.connection(server)?.subscribe(uri, options);
    } catch (error) {
      if (isShared && !this.#has({ server, uri })) this.#shared.delete(server, uri, this);
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
    for (const address of this.#resources.keys()) this.delete(address, {}).catch(() => {});
  }

  /** Whether the client is subscribed to it under any address. */
  #has(resource: ServerResource): boolean {
    return [...this.#resources.values()].flat().some((one) => isSame(one, resource));
  }

  /** The connection to notify, if nobody else is subscribed over it. */
  #end({ server, uri }: ServerResource): Connection | undefined {
    const isLast = this.#view.isOwn(server) || this.#shared.delete(server, uri, this);
    return isLast ? this.#view.connection(server) : undefined;
  }
}

function isSame(one: ServerResource, other: ServerResource): boolean {
  return one.server === other.server && one.uri === other.uri;
}
