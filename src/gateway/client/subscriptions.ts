/** The subscriptions of one client. Over shared connections, they are counted together with those of the other clients. */
import type { Connection, WaitOptions } from '../../servers/connection.js';
import type { ServerView } from '../upstream/server-view.js';
import type { SharedSubscriptions } from '../upstream/shared-preferences.js';

export class Subscriptions {
  /** Whether it is subscribed to the gateway's own resource. */
  toStatus = false;
  readonly #view: ServerView;
  readonly #shared: SharedSubscriptions;
  /** The servers, by URI. */
  readonly #servers = new Map<string, Set<string>>();

  constructor(view: ServerView, shared: SharedSubscriptions) {
    this.#view = view;
    this.#shared = shared;
  }

  /** If the server refuses, the subscription is removed again. */
  async add(server: string, uri: string, options: WaitOptions): Promise<void> {
    const isShared = !this.#view.isOwn(server);
    if (isShared) this.#shared.add(server, uri, this);
    try {
      await this.#view.connection(server)?.subscribe(uri, options);
      this.#servers.set(uri, (this.#servers.get(uri) ?? new Set()).add(server));
    } catch (error) {
      const isKnown = this.#servers.get(uri)?.has(server) === true;
      if (isShared && !isKnown) this.#shared.delete(server, uri, this);
      throw error;
    }
  }

  async delete(uri: string, options: WaitOptions): Promise<void> {
    const servers = [...(this.#servers.get(uri) ?? [])];
    this.#servers.delete(uri);
    const told = servers.flatMap((server) => this.#end(server, uri) ?? []);
    await Promise.all(told.map((connection) => connection.unsubscribe(uri, options)));
  }

  /** Whether an update of that resource is for this client: it may be about a part of a subscribed resource. */
  covers(server: string, uri: string): boolean {
    for (const [subscribed, servers] of this.#servers) {
      const isPart = uri === subscribed || uri.startsWith(`${subscribed.replace(/\/$/, '')}/`);
      if (isPart && servers.has(server)) return true;
    }
    return false;
  }

  /** Ends all subscriptions, because the client is gone. */
  close(): void {
    for (const uri of this.#servers.keys()) this.delete(uri, {}).catch(() => {});
  }

  /** The connection to notify, if nobody else is subscribed over it. */
  #end(server: string, uri: string): Connection | undefined {
    const isLast = this.#view.isOwn(server) || this.#shared.delete(server, uri, this);
    return isLast ? this.#view.connection(server) : undefined;
  }
}
