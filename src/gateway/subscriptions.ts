/** What one client is subscribed to. Over shared connections its subscriptions count among those of the others. */
import type { Connection, WaitOptions } from '../connection.js';
import type { ServerView } from './server-view.js';
import type { SharedSubscriptions } from './shared-wishes.js';

export class Subscriptions {
  /** To the resource of the gateway itself. */
  toStatus = false;
  readonly #view: ServerView;
  readonly #shared: SharedSubscriptions;
  /** By URI, the servers. */
  readonly #servers = new Map<string, Set<string>>();

  constructor(view: ServerView, shared: SharedSubscriptions) {
    this.#view = view;
    this.#shared = shared;
  }

  /** Where the server refuses, nothing of it is left. */
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

  /** Whether an update of that resource is for this client: it may be of a part of what it is subscribed to. */
  covers(server: string, uri: string): boolean {
    for (const [subscribed, servers] of this.#servers) {
      const isPart = uri === subscribed || uri.startsWith(`${subscribed.replace(/\/$/, '')}/`);
      if (isPart && servers.has(server)) return true;
    }
    return false;
  }

  /** The client is gone. */
  close(): void {
    for (const uri of this.#servers.keys()) this.delete(uri, {}).catch(() => {});
  }

  /** The connection that is to be told, where nobody else is subscribed over it. */
  #end(server: string, uri: string): Connection | undefined {
    const isLast = this.#view.isOwn(server) || this.#shared.delete(server, uri, this);
    return isLast ? this.#view.connection(server) : undefined;
  }
}
