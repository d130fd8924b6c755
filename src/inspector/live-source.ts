/**
 * A running troupe, for pages that watch it.
 *
 * S1. While no page watches, nothing is attached to the runtime: no recorder, no listener, no timer. The recorder
 *     starts with the first page and stops `GRACE_MS` after the last, so that a reloaded page finds its history.
 * S2. One recorder serves all pages, and none of them can make it wait (`log-history.ts`, `live-page.ts`).
 */
import type { Writable } from 'node:stream';
import type { StateValue } from 'xstate';
import type { ConnectionCommand } from '../../machines/connection/connection.events.js';
import type { CatalogTool } from '../catalog/registry.js';
import { MASK } from '../config/entry/mask.js';
import type { Connection } from '../servers/connection.js';
import type { RecordTarget, Recording } from '../event-log/record/record-options.js';
import type { ObservableSystem } from '../event-log/record/observed-system.js';
import type { Clock } from '../ports.js';
import { maskJson, type Mask } from '../secrets/secrets.js';
import type { Refused } from './inspector-answers.js';
import { makeHello, type InspectionSource, type LiveQuestions } from './inspection-source.js';
import { LivePage } from './live-page.js';
import { HistoryReader, LogHistory } from './log-history.js';
import type {
  CommandAnswer,
  CommandRequest,
  Hello,
  InspectedStatus,
  InspectedTool,
} from './page-protocol.js';
import { streamStately } from './stately.js';
import { StatusFeed } from './status-feed.js';

const GRACE_MS = 10_000;
const ALIVE_EVERY_MS = 5_000;
/** It needs the fields of an entry, which no page has. */
const NOT_FOR_PAGES = 'connection.reload';

/** The parts of the troupe that it uses. */
export interface LiveParts {
  readonly clock: Clock;
  readonly title: string;
  /** Built on first use. */
  readonly system: () => ObservableSystem;
  readonly record: (target: RecordTarget) => Promise<Recording>;
  readonly connections: () => Iterable<Connection>;
  readonly connection: (name: string) => Connection | undefined;
  readonly tools: () => readonly CatalogTool[];
  readonly mask: (server: string) => Mask;
  /** The state of a server's review. */
  readonly review: (server: string) => StateValue | undefined;
  /** Called when something may have changed. Returns the function that stops listening. */
  readonly onchanged: (fn: () => void) => () => void;
}

/** Exists while a page watches. */
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
  /** Why it serves no page any more. */
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

  /** The recorded lines; empty while no page watches. */
  log(): Iterable<string> {
    return this.#attachment?.history.texts() ?? [];
  }

  command({ server: name, command: type, hash }: CommandRequest): CommandAnswer | Refused {
    const connection = this.#parts.connection(name);
    if (connection === undefined) return { status: 404, error: `There is no connection '${name}'.` };
    if (type === NOT_FOR_PAGES) return { status: 400, error: `'${type}' is only sent by the configuration.` };
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

  /** The recording ended by itself, for example because the recorder failed. The next page starts another one. */
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

/** The manager refuses an unknown command, whoever sent it. */
function toCommand(type: string): ConnectionCommand {
  return (type === 'connection.stop' ? { type, reason: 'stop' } : { type }) as ConnectionCommand;
}

/**
 * All of it is the server's text. A name that contains a secret is left out, because the same secret would be spelled
 * in yet another way.
 */
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
