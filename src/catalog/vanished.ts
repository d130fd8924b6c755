/**
 * The tools that are gone: when each went, and why. Follows the events to know whether a list came from a new session;
 * everything else it reads from the present state of things: of a tool that its server still has, whenever somebody
 * asks, and otherwise at the moment when the tool goes.
 *
 * Only the last thousand are remembered. One that comes back is not looked up here.
 */
import type { Publisher } from '../lifecycle/publish.js';
import type { ServerStatus } from '../lifecycle/status.js';
import type { Clock } from '../ports.js';
import type { Catalogs } from './catalogs.js';
import { isAllowed, type ToolFilter } from './filter.js';
import type { ToolIdentity } from './naming.js';

const MOST_REMEMBERED = 1_000;

export interface Vanished {
  readonly server: string;
  /** When it went, milliseconds since the epoch. */
  readonly at: number;
  /** The rest of a sentence. */
  readonly why: string;
}

interface Gone extends Vanished {
  /** It was there still, though not under that name, or kept from everybody: that may change. */
  readonly hidden?: ToolIdentity;
}

export interface VanishedParts {
  readonly clock: Clock;
  readonly catalogs: Catalogs;
  /** The row of a server; undefined where none has that name. */
  readonly status: (server: string) => ServerStatus | undefined;
  readonly filter: (server: string) => ToolFilter;
  /** The present name of a tool; undefined where it is not shown. */
  readonly nameOf: (tool: ToolIdentity) => string | undefined;
}

export class VanishedTools {
  readonly #byName = new Map<string, Gone>();
  /** The last session of each server that was ready. */
  readonly #ready = new Map<string, number>();
  /** Servers whose last list was the first one of a session. */
  readonly #begunAnew = new Set<string>();

  constructor(private readonly parts: VanishedParts) {}

  follow(publisher: Pick<Publisher, 'onevent'>): void {
    publisher.onevent((event) => {
      if (event.type === 'connection.ready') this.#ready.set(event.connection, event.generation);
      if (event.type === 'catalog.changed') {
        const isFirst = this.#ready.get(event.connection) !== event.generation;
        if (isFirst) this.#begunAnew.add(event.connection);
        else this.#begunAnew.delete(event.connection);
      }
      if (event.type === 'connection.removed') {
        this.#ready.delete(event.connection);
        this.#begunAnew.delete(event.connection);
      }
    });
  }

  get(name: string): Vanished | undefined {
    const gone = this.#byName.get(name);
    if (gone === undefined) return undefined;
    const { server, at, hidden } = gone;
    const why = hidden === undefined ? gone.why : (this.#whyHidden(hidden) ?? this.#whyGone(server));
    return { server, at, why };
  }

  /** These are not shown any more under their names. */
  note(tools: readonly (ToolIdentity & { readonly name: string })[]): void {
    const at = this.parts.clock.now();
    for (const tool of tools.slice(-MOST_REMEMBERED)) {
      this.#byName.delete(tool.name);
      const { server } = tool;
      const why = this.#whyHidden(tool);
      const gone = why === undefined ? { why: this.#whyGone(server) } : { why, hidden: tool };
      this.#byName.set(tool.name, { server, at, ...gone });
    }
    for (const name of this.#byName.keys()) {
      if (this.#byName.size <= MOST_REMEMBERED) break;
      this.#byName.delete(name);
    }
  }

  /** Why nobody is offered that tool under its old name, as long as that is so; undefined where it is gone for good. */
  #whyHidden(tool: ToolIdentity): string | undefined {
    const { catalogs, filter, nameOf } = this.parts;
    if (this.#whyEnded(tool.server) !== undefined) return undefined;
    const name = nameOf(tool);
    if (name !== undefined) return `it is called '${name}' now`;
    if (!isAllowed(tool.tool, filter(tool.server))) return `the entry of '${tool.server}' hides it`;
    const isListed = catalogs.get(tool.server)?.tools.some((listed) => listed.name === tool.tool) === true;
    return isListed ? 'it is held back' : undefined;
  }

  #whyEnded(server: string): string | undefined {
    const row = this.parts.status(server);
    if (row === undefined || row.reason === 'remove') return `'${server}' was removed`;
    if (row.state !== 'stopped') return undefined;
    return `'${server}' was ${row.reason === 'disabled' ? 'disabled' : 'stopped'}`;
  }

  #whyGone(server: string): string {
    const ended = this.#whyEnded(server);
    if (ended !== undefined) return ended;
    return this.#begunAnew.has(server)
      ? `'${server}' was started anew and lists it no more`
      : `'${server}' has changed its list of tools`;
  }
}
