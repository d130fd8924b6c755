/**
 * A running troupe, for pages that watch it.
 *
 * S1. One recorder serves all pages, from `open` to `close`, so that a page that opens late sees what happened before.
 *     None of them can make it wait (`log-history.ts`, `live-page.ts`).
 * S2. With a `history` of 0 bytes, nothing is attached to the runtime while no page watches. The recorder starts with the
 *     first page and stops `GRACE_MS` after the last, so that a reloaded page finds its history.
 * S3. What is older than the history is read from the file of a recording, if there is one. Nothing is written here.
 */
import type { Writable } from 'node:stream';
import type { StateValue } from 'xstate';
import type { ConnectionCommand } from '../../machines/connection/connection.events.js';
import type { CatalogTool } from '../catalog/registry.js';
import { MASK } from '../config/entry/mask.js';
import type { Connection } from '../servers/connection.js';
import type { RecordTarget, Recording } from '../event-log/record/record-options.js';
import { recordedUntil, type RecordedFile } from '../event-log/record/recorded-file.js';
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
  LogLines,
} from './page-protocol.js';
import { streamStately } from './stately.js';
import { StatusFeed } from './status-feed.js';

const GRACE_MS = 10_000;
/** What is held while a page watches, if nothing is held otherwise, bytes. */
const WATCHED_HISTORY = 32 * 1_024 * 1_024;
/** How much of a recording on the disk is read for a page, bytes: about what a page keeps. */
const MAX_RECORDED = 64 * 1_024 * 1_024;
const ALIVE_EVERY_MS = 5_000;
/** It needs the fields of an entry, which no page has. */
const NOT_FOR_PAGES = 'connection.reload';

/** The parts of the troupe that it uses. */
export interface LiveParts {
  readonly clock: Clock;
  readonly title: string;
  /** Maximum size of the history that is kept whether or not a page watches, bytes; 0 keeps none. */
  readonly history: number;
  /** Whether its pages take no commands and list no tools. */
  readonly isReadOnly: boolean;
  /** Built on first use. */
  readonly system: () => ObservableSystem;
  readonly record: (target: RecordTarget) => Promise<Recording>;
  /** The file that the troupe records to; undefined if it does not. */
  readonly recorded: () => RecordedFile | undefined;
  readonly connections: () => Iterable<Connection>;
  readonly connection: (name: string) => Connection | undefined;
  readonly tools: () => readonly CatalogTool[];
  readonly mask: (server: string) => Mask;
  /** The state of a server's review. */
  readonly review: (server: string) => StateValue | undefined;
  /** Called when something may have changed. Returns the function that stops listening. */
  readonly onchanged: (fn: () => void) => () => void;
}

/** A recorder of the runtime. */
interface Attachment {
  readonly history: LogHistory;
  /** Resolves when it records, or has failed. */
  readonly begun: Promise<void>;
  recording: Recording | undefined;
  isOver: boolean;
}

export class LiveSource implements InspectionSource, LiveQuestions {
  readonly live: LiveQuestions = this;
  readonly #parts: LiveParts;
  readonly #pages = new Set<LivePage>();
  readonly #viewers = new Set<Writable>();
  #attachment: Attachment | undefined;
  /** Runs while a page watches. */
  #feed: StatusFeed | undefined;
  #grace: unknown;
  /** Why it serves no page any more. */
  #end: string | undefined;

  constructor(parts: LiveParts) {
    this.#parts = parts;
  }

  /** Begins the history. Resolves when it is being kept. */
  async open(): Promise<void> {
    if (this.#parts.history === 0) return;
    this.#attachment ??= this.#attach();
    await this.#attachment.begun;
  }

  hello(): Hello {
    const { title, clock, isReadOnly } = this.#parts;
    return {
      ...makeHello('live', title, clock.now()),
      aliveEveryMs: ALIVE_EVERY_MS,
      ...(isReadOnly && { isReadOnly }),
    };
  }

  watch(stream: Writable): void {
    const { clock } = this.#parts;
    clock.clearTimeout(this.#grace);
    const isOpen = this.#end === undefined;
    const attachment = isOpen ? (this.#attachment ??= this.#attach()) : undefined;
    const feed = isOpen ? (this.#feed ??= this.#startFeed()) : undefined;
    const file = attachment && this.#parts.recorded();
    const page = new LivePage({
      clock,
      page: stream,
      hello: this.hello(),
      past: attachment && file && recordedBefore(attachment, file),
      reader: attachment?.history.reader() ?? new HistoryReader([]),
      status: () => feed?.message,
      onclosed: () => this.#left(page),
    });
    this.#pages.add(page);
    if (this.#end !== undefined) page.end(this.#end);
  }

  /** The lines of the history. */
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
    this.#feed?.flush();
    this.#stopFeed();
    await this.#detach();
    const pages = [...this.#pages];
    for (const page of pages) page.end(why);
    await Promise.all(pages.map(({ closed }) => closed));
  }

  #attach(): Attachment {
    const { record, history: kept } = this.#parts;
    const history = new LogHistory(
      { added: () => this.#pump(), closed: () => this.#recordingEnded(attachment) },
      kept === 0 ? WATCHED_HISTORY : kept,
    );
    const begun = record({ target: history, wire: true }).then(
      async (recording) => {
        attachment.recording = recording;
        if (attachment.isOver) await recording.close();
      },
      () => this.#recordingEnded(attachment),
    );
    const attachment: Attachment = { history, begun, recording: undefined, isOver: false };
    return attachment;
  }

  /** Frees the history. */
  async #detach(): Promise<void> {
    const attachment = this.#attachment;
    if (attachment === undefined) return;
    attachment.isOver = true;
    this.#attachment = undefined;
    await attachment.recording?.close();
  }

  #startFeed(): StatusFeed {
    const { clock, connections, onchanged, review, isReadOnly } = this.#parts;
    const toRow = (connection: Connection): InspectedStatus => ({
      ...connection.status,
      allowed: isReadOnly ? [] : forPages(connection.allowed),
      review: review(connection.name) ?? null,
    });
    const rows = (): readonly InspectedStatus[] => Array.from(connections(), toRow);
    const feed = new StatusFeed({ clock, rows, onchanged, onmade: () => this.#pump() });
    feed.start();
    return feed;
  }

  #stopFeed(): void {
    this.#feed?.stop();
    this.#feed = undefined;
  }

  #pump(): void {
    for (const page of this.#pages) page.pump();
  }

  #left(page: LivePage): void {
    this.#pages.delete(page);
    if (this.#pages.size > 0 || this.#feed === undefined) return;
    const { clock, history } = this.#parts;
    clock.clearTimeout(this.#grace);
    this.#grace = clock.setTimeout(() => {
      this.#stopFeed();
      if (history === 0) void this.#detach();
    }, GRACE_MS);
  }

  /** The recording ended by itself, for example because the recorder failed. The next page starts another one. */
  #recordingEnded(attachment: Attachment): void {
    if (attachment.isOver) return;
    this.#feed?.flush();
    this.#stopFeed();
    void this.#detach();
    for (const page of this.#pages) page.end('The recording has ended.');
  }
}

/** What the file has and the history no longer has, or never had, as messages. */
async function* recordedBefore(
  { history, begun }: Attachment,
  file: RecordedFile,
): AsyncGenerator<string, void, undefined> {
  await begun;
  const { startedAt } = history;
  if (startedAt === undefined || startedAt <= file.startedAt) return;
  for await (const lines of recordedUntil(file, startedAt, MAX_RECORDED))
    yield `${JSON.stringify({ kind: 'log', lines } satisfies LogLines)}\n`;
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
