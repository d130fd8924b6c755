/**
 * The tools that are gone: when each went, and why. Follows the events to know whether a list came from a new session.
 * Everything else it reads from the present state: when the tool goes, or, if its server still has the tool, at each
 * question.
 *
 * Remembers the last thousand. A tool that comes back is not looked up here.
 */
import type { Publisher } from '../lifecycle/publish.js';
import type { ServerStatus } from '../lifecycle/status.js';
import type { Clock } from '../ports.js';
import type { Catalogs } from './catalogs.js';
import { isAllowed, type ToolFilter } from '../config/entry/tool-filter.js';
import type { ToolIdentity } from './naming.js';

const MAX_REMEMBERED = 1_000;

export interface RemovedTool {
  readonly server: string;
  /** When it went, milliseconds since the epoch. */
  readonly at: number;
  /** The reason, to continue a sentence. */
  readonly why: string;
  /** Whether its server could not be started, so that it may come back. */
  readonly isWithdrawn: boolean;
}

interface Gone extends RemovedTool {
  /** Set if the server still had the tool, under another name or hidden: that may change. */
  readonly hidden?: ToolIdentity;
}

export interface VanishedParts {
  readonly clock: Clock;
  readonly catalogs: Catalogs;
  /** The status of a server; undefined if no server has that name. */
  readonly status: (server: string) => ServerStatus | undefined;
  readonly filter: (server: string) => ToolFilter;
  /** The present name of a tool; undefined if it is not shown. */
  readonly nameOf: (tool: ToolIdentity) => string | undefined;
}

export class RemovedTools {
  readonly #byName = new Map<string, Gone>();
  /** The last session of each server that was ready. */
  readonly #ready = new Map<string, number>();
  /** Servers whose last list was the first of a session. */
  readonly #begunAnew = new Set<string>();

  constructor(private readonly parts: VanishedParts) {}

  follow(publisher: Pick<Publisher, 'onevent'>): void {
    publisher.onevent((event) => {
      if (event.type === 'connection.ready') this.#ready.set(event.server, event.generation);
      if (event.type === 'catalog.changed') {
        const isFirst = this.#ready.get(event.server) !== event.generation;
        if (isFirst) this.#begunAnew.add(event.server);
        else this.#begunAnew.delete(event.server);
      }
      if (event.type === 'connection.removed') {
        this.#ready.delete(event.server);
        this.#begunAnew.delete(event.server);
      }
    });
  }

  get(name: string): RemovedTool | undefined {
    const gone = this.#byName.get(name);
    if (gone === undefined) return undefined;
    const { server, at, isWithdrawn, hidden } = gone;
    const why = hidden === undefined ? gone.why : (this.#whyHidden(hidden) ?? this.#whyGone(server));
    return { server, at, why, isWithdrawn };
  }

  /** Notes tools that are no longer shown under their names. */
  note(tools: readonly (ToolIdentity & { readonly name: string })[]): void {
    const at = this.parts.clock.now();
    for (const tool of tools.slice(-MAX_REMEMBERED)) {
      this.#byName.delete(tool.name);
      const { server } = tool;
      const why = this.#whyHidden(tool);
      const isWithdrawn = this.parts.status(server)?.state === 'failed';
      const gone = why === undefined ? { why: this.#whyGone(server) } : { why, hidden: tool };
      this.#byName.set(tool.name, { server, at, isWithdrawn, ...gone });
    }
    for (const name of this.#byName.keys()) {
      if (this.#byName.size <= MAX_REMEMBERED) break;
      this.#byName.delete(name);
    }
  }

  /**
   * Why the tool is not offered under its old name although its server has it; undefined if the server no longer has
   * it.
   */
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
    const { state, error } = this.parts.status(server) ?? {};
    if (state === 'failed' && error) return `'${server}' could not be started: ${error.message}`;
    return this.#begunAnew.has(server)
      ? `'${server}' was restarted and no longer lists it`
      : `'${server}' has changed its list of tools`;
  }
}
