/** A host of a run with replicas, and its links: to the engine, and to itself from the other hosts. */
import { freePort } from '../hosts/free-port.mjs';
import { HostProcess } from '../hosts/host-process.mjs';
import { openLink } from '../hosts/link.mjs';
import { within } from '../within.mjs';
import { outcomeOfError } from './outcome.mjs';

const PROGRAM = new URL('host.mjs', import.meta.url);
const START_LIMIT_MS = 30_000;

export class Replica extends HostProcess {
  /** Whether it runs the server that may run once. */
  holds = false;
  #settle;
  #ready = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
  /** Its calls, by id. */
  #waiting = new Map();

  constructor({ port, engineLink, peerLink, ...terms }) {
    const address = `http://127.0.0.1:${peerLink?.port ?? port}`;
    super(PROGRAM, [JSON.stringify({ ...terms, port, address, enginePort: engineLink.port })]);
    this.port = port;
    this.engineLink = engineLink;
    this.peerLink = peerLink;
    void this.ended.then((code) => {
      const error = new Error(`The host has ended with ${code}.`);
      this.#settle.reject(error);
      for (const settle of this.#waiting.values()) settle(outcomeOfError(error));
    });
  }

  /** Resolves when it serves. `engine` is the port of the engine; with `hasPeerLink`, the way from the other hosts can be cut. */
  static async start({ engine, hasPeerLink, ...terms }) {
    const port = await freePort();
    const engineLink = await openLink(engine);
    const peerLink = hasPeerLink ? await openLink(port) : undefined;
    const replica = new Replica({ ...terms, port, engineLink, peerLink });
    try {
      await within(START_LIMIT_MS, 'The start of a host', replica.#ready);
      return replica;
    } catch (error) {
      await replica.remove();
      throw error;
    }
  }

  heard({ isReady, holds, id, ...outcome }) {
    if (isReady === true) return this.#settle.resolve();
    if (holds !== undefined) return void (this.holds = holds);
    this.#waiting.get(id)?.(outcome);
    this.#waiting.delete(id);
  }

  /** The program that embeds the library calls a tool. */
  call(id, server, ms) {
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.say({ id, server, ms });
    });
  }

  /** It leaves the server that may run once to another host. */
  leaveOnce() {
    this.say({ leaves: true });
  }

  /** Ends it at once, with its links. */
  async remove() {
    await this.end();
    await Promise.all([this.engineLink.close(), this.peerLink?.close()]);
  }
}
