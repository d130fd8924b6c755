/**
 * A troupe that runs, for pages that watch it.
 *
 * S1. While no page watches, nothing is attached to the runtime: no recorder, no listener, no timer. The recorder comes
 *     with the first page and goes `GRACE_MS` after the last, so that a page that is loaded again finds what it had.
 * S2. One recorder serves all pages, and none of them can make it wait (`log-history.ts`, `live-page.ts`).
 */
import type { Writable } from 'node:stream';
import type { StateValue } from 'xstate';
import type { ConnectionCommand } from '../../machines/connection.events.js';
import type { CatalogTool } from '../catalog/registry.js';
import { MASK } from '../config/mask.js';
import type { Connection } from '../connection.js';
import type { RecordTarget } from '../event-log/record-options.js';
import type { ObservableSystem } from '../event-log/observed-system.js';
import type { Recording } from '../event-log/recording.js';
import type { Clock } from '../ports.js';
import { maskJson, type Mask } from '../secrets.js';
import type { Refused } from './answers.js';
import { makeHello } from './hello.js';
import { LivePage } from './live-page.js';
import { HistoryReader, LogHistory } from './log-history.js';
import type { CommandAnswer, CommandRequest, Hello, InspectedStatus, InspectedTool } from './protocol.js';
import type { InspectionSource, LiveQuestions } from './source.js';
import { streamStately } from './stately.js';
import { StatusFeed } from './status-feed.js';

const GRACE_MS = 10_000;
const ALIVE_EVERY_MS = 5_000;
/** Its fields are those of an entry, which no page has. */
const NOT_FOR_PAGES = 'connection.reload';

/** What is asked of the troupe. */
export interface LiveParts {
  readonly clock: Clock;
  readonly title: string;
  /** Its charts are made when it is first asked for. */
  readonly system: () => ObservableSystem;
  readonly record: (target: RecordTarget) => Promise<Recording>;
  readonly connections: () => Iterable<Connection>;
  readonly connection: (name: string) => Connection | undefined;
  readonly tools: () => readonly CatalogTool[];
  readonly mask: (server: string) => Mask;
  /** Where the chart of a server's review stands. */
  readonly review: (server: string) => StateValue | undefined;
  /** Something may have changed; gives the function that ends the listening. */
  readonly onchanged: (fn: () => void) => () => void;
}

/** What is there while somebody watches. */
interface Attachment {
  readonly history: LogHistory;
  readonly feed: StatusFeed;
  recording: Recording | undefined;
  isOver: boolean;
}

export class LiveSource implements InspectionSource, LiveQuestions {
  readonly live: LiveQuestions = this;
  readonly #parts: LiveParts;
  readonly #pages = new Set<LivePage>();
  readonly #viewers = new Set<Writable>();
  #attachment: Attachment | undefined;
  #grace: unknown;
  /** Why no page is served any more. */
  #end: string | undefined;

  constructor(parts: LiveParts) {
    this.#parts = parts;
  }

  hello(): Hello {
    const { title, clock } = this.#parts;
    return { ...makeHello('live', title, clock.now()), aliveEveryMs: ALIVE_EVERY_MS };
  }

  watch(stream: Writable): void {
    const { clock } = this.#parts;
    clock.clearTimeout(this.#grace);
    const shown = this.#end === undefined ? (this.#attachment ??= this.#attach()) : undefined;
    const page = new LivePage({
      clock,
      page: stream,
      hello: this.hello(),
      reader: shown?.history.reader() ?? new HistoryReader([]),
      status: () => shown?.feed.message,
      onclosed: () => this.#left(page),
    });
    this.#pages.add(page);
    if (this.#end !== undefined) page.end(this.#end);
  }

  /** What is recorded; while no page watches, nothing is. */
  log(): Iterable<string> {
    return this.#attachment?.history.texts() ?? [];
  }

  command({ connection: name, command: type, hash }: CommandRequest): CommandAnswer | Refused {
    const connection = this.#parts.connection(name);
    if (connection === undefined) return { status: 404, error: `There is no connection '${name}'.` };
    if (type === NOT_FOR_PAGES)
      return { status: 400, error: `'${type}' comes from the configuration alone.` };
    const asked = connection.status.trustRequest;
    if (hash !== undefined && asked !== null && asked.hash !== hash)
      return { status: 409, error: `The entry of '${name}' has changed since it was shown.` };
    const answer = connection.dispatch(toCommand(type));
    return answer.accepted ? answer : { ...answer, allowed: forPages(answer.allowed) };
  }

  tools(server: string | undefined): readonly InspectedTool[] | Refused {
    const { connection, tools, mask } = this.#parts;
    if (server !== undefined && connection(server) === undefined)
      return { status: 404, error: `There is no connection '${server}'.` };
    return tools()
      .filter((tool) => server === undefined || tool.server === server)
      .map((tool) => toInspected(tool, mask(tool.server)));
  }

  stately(viewer: Writable): void {
    this.#viewers.add(viewer);
    viewer.once('close', () => this.#viewers.delete(viewer));
    const { clock, system, mask } = this.#parts;
    streamStately(viewer, clock, { system: system(), mask });
  }

  async close(why: string): Promise<void> {
    this.#end = why;
    this.#parts.clock.clearTimeout(this.#grace);
    for (const viewer of this.#viewers) viewer.end();
    const attachment = this.#attachment;
    if (attachment !== undefined) await this.#detach(attachment);
    const pages = [...this.#pages];
    for (const page of pages) page.end(why);
    await Promise.all(pages.map(({ closed }) => closed));
  }

  #attach(): Attachment {
    const { clock, connections, onchanged, record, review } = this.#parts;
    const pump = (): void => {
      for (const page of this.#pages) page.pump();
    };
    const history = new LogHistory({ added: pump, closed: () => this.#recordingEnded(attachment) });
    const rows = (): readonly InspectedStatus[] =>
      [...connections()].map((connection) => toRow(connection, review(connection.name)));
    const feed = new StatusFeed({ clock, rows, onchanged, onmade: pump });
    const attachment: Attachment = { history, feed, recording: undefined, isOver: false };
    feed.start();
    record({ target: history, wire: true }).then(
      (recording) => {
        attachment.recording = recording;
        if (attachment.isOver) void recording.close();
      },
      () => this.#recordingEnded(attachment),
    );
    return attachment;
  }

  async #detach(attachment: Attachment): Promise<void> {
    attachment.isOver = true;
    if (this.#attachment === attachment) this.#attachment = undefined;
    attachment.feed.flush();
    attachment.feed.stop();
    await attachment.recording?.close();
  }

  #left(page: LivePage): void {
    this.#pages.delete(page);
    const attachment = this.#attachment;
    if (this.#pages.size > 0 || attachment === undefined || attachment.isOver) return;
    const { clock } = this.#parts;
    clock.clearTimeout(this.#grace);
    this.#grace = clock.setTimeout(() => void this.#detach(attachment), GRACE_MS);
  }

  /** Without being asked to, as where the recorder failed. A page that comes again begins another one. */
  #recordingEnded(attachment: Attachment): void {
    if (attachment.isOver) return;
    void this.#detach(attachment);
    for (const page of this.#pages) page.end('The recording has ended.');
  }
}

function toRow(connection: Connection, review: StateValue | undefined): InspectedStatus {
  return { ...connection.status, allowed: forPages(connection.allowed), review: review ?? null };
}

function forPages(allowed: readonly string[]): readonly string[] {
  return allowed.filter((command) => command !== NOT_FOR_PAGES);
}

/** What is no command is refused by the door, as from everybody. */
function toCommand(type: string): ConnectionCommand {
  return (type === 'connection.stop' ? { type, reason: 'stop' } : { type }) as ConnectionCommand;
}

/** All of it is the server's words. A name that is made of a secret cannot be told, for it is spelled in yet another way. */
function toInspected(shown: CatalogTool, mask: Mask): InspectedTool {
  const { name, server, tool, stale, title, description, inputSchema, outputSchema, annotations } = shown;
  const words = {
    name: mask(tool) === tool ? name : MASK,
    tool,
    inputSchema,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
  };
  return { server, stale, ...maskJson(words, mask) };
}
