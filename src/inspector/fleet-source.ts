/**
 * All hosts of a fleet, for pages, and the stream of one of them.
 *
 * S1. While no page is open, nothing is asked of the fleet: hosts publish summaries only while a viewer lives.
 * S2. The stream of a host comes from that host, as it is. Nothing is recorded there while no page shows it.
 * S3. A host that is gone is shown as gone for `GONE_MS`.
 */
import { randomUUID } from 'node:crypto';
import { Readable, type Writable } from 'node:stream';
import { settlesWithin } from '../async/timers.js';
import type { FleetHost } from '../fleet/hosts.js';
import { INSPECTION_PATH, INSPECTION_PURPOSE } from '../fleet/inspection-request.js';
import { requestKeys, SIGNATURE_HEADER, signRequest } from '../fleet/signed-request.js';
import type { Fleet } from '../fleet/stores.js';
import { SummaryReader, type SummaryRow } from '../fleet/summaries.js';
import type { Clock } from '../ports.js';
import type { Refused } from './inspector-answers.js';
import { makeHello, type HostStreams, type InspectionSource } from './inspection-source.js';
import { LivePage } from './live-page.js';
import { HistoryReader } from './log-history.js';
import type { Hello, HostRows, InspectedHost, InspectedServer } from './page-protocol.js';

const ALIVE_EVERY_MS = 5_000;
/** Shortest time between two messages, milliseconds. */
const EVERY_MS = 250;
const GONE_MS = 5 * 60_000;
/** Maximum time for a host to answer, milliseconds. */
const ANSWER_MS = 5_000;

interface Known {
  host: FleetHost;
  servers: readonly InspectedServer[];
  /** When it went, milliseconds since the epoch; undefined while it is there. */
  goneAt: number | undefined;
}

export interface FleetSourceParts {
  readonly fleet: Fleet;
  readonly clock: Clock;
  readonly title: string;
}

export class FleetSource implements InspectionSource, HostStreams {
  readonly hosts: HostStreams = this;
  readonly #parts: FleetSourceParts;
  readonly #pages = new Set<LivePage>();
  readonly #known = new Map<string, Known>();
  /** Streams of hosts that pages read. */
  readonly #streams = new Set<AbortController>();
  /** While a page is open. */
  #reader: SummaryReader | undefined;
  #stopWatching: (() => void) | undefined;
  #closing: Promise<void> = Promise.resolve();
  #message: Buffer | undefined;
  #timer: unknown;
  #end: string | undefined;

  constructor(parts: FleetSourceParts) {
    this.#parts = parts;
  }

  watch(stream: Writable): void {
    const { clock } = this.#parts;
    const page = new LivePage({
      clock,
      page: stream,
      hello: this.#hello(),
      past: undefined,
      reader: new HistoryReader([]),
      status: () => this.#message,
      onclosed: () => this.#left(page),
    });
    this.#pages.add(page);
    if (this.#end === undefined) this.#look();
    else page.end(this.#end);
  }

  log(): Iterable<string> {
    return [];
  }

  /** The messages of that host. */
  async open(id: string, gone: AbortSignal): Promise<Readable | Refused> {
    const { fleet, clock } = this.#parts;
    if (!/^\w{1,64}$/.test(id)) return { status: 400, error: 'A host is named by letters and digits.' };
    const address = await fleet.hosts.addressOf(id).catch(() => undefined);
    if (address === undefined)
      return { status: 404, error: 'The host is gone, or has no address: other hosts cannot reach it.' };
    const stream = new AbortController();
    this.#streams.add(stream);
    const end = (): void => {
      this.#streams.delete(stream);
      stream.abort();
    };
    gone.addEventListener('abort', end, { once: true });
    const answering = fetch(new URL(INSPECTION_PATH, address), {
      headers: { [SIGNATURE_HEADER]: this.#signature(id) },
      redirect: 'error',
      signal: stream.signal,
    });
    try {
      if (!(await settlesWithin(clock, ANSWER_MS, answering))) throw new Error('it does not answer');
      const response = await answering;
      if (response.ok && response.body !== null)
        return Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
      end();
      return { status: 502, error: `The host at ${address} does not show itself. ${ADVICE}` };
    } catch {
      end();
      return { status: 502, error: `The host at ${address} cannot be reached from here.` };
    }
  }

  async close(why: string): Promise<void> {
    this.#end = why;
    for (const stream of this.#streams) stream.abort();
    const pages = [...this.#pages];
    for (const page of pages) page.end(why);
    await Promise.all(pages.map(({ closed }) => closed));
    this.#rest();
    await this.#closing;
  }

  #hello(): Hello {
    const { title, clock } = this.#parts;
    return { ...makeHello('fleet', title, clock.now()), aliveEveryMs: ALIVE_EVERY_MS };
  }

  #signature(id: string): string {
    const { fleet, clock } = this.#parts;
    const request = {
      method: 'GET',
      path: INSPECTION_PATH,
      session: '',
      headers: {},
      body: new Uint8Array(),
    };
    const claims = { purpose: INSPECTION_PURPOSE, from: fleet.hosts.self, to: id };
    return signRequest(requestKeys(fleet.key), request, claims, { at: clock.now(), nonce: randomUUID() });
  }

  #look(): void {
    if (this.#reader !== undefined) return;
    const { fleet, clock } = this.#parts;
    this.#stopWatching = fleet.hosts.watch((hosts) => this.#heard(hosts));
    this.#reader = new SummaryReader({
      engine: fleet.engine,
      key: fleet.key,
      clock,
      onSummary: (host, rows) => this.#summarized(host, rows),
    });
  }

  /** Nobody looks. */
  #rest(): void {
    this.#stopWatching?.();
    this.#parts.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader !== undefined) this.#closing = reader.close();
  }

  #left(page: LivePage): void {
    this.#pages.delete(page);
    if (this.#pages.size === 0) this.#rest();
  }

  #heard(hosts: ReadonlyMap<string, FleetHost>): void {
    const now = this.#parts.clock.now();
    for (const [id, host] of hosts) {
      const servers = this.#known.get(id)?.servers ?? [];
      this.#known.set(id, { host, servers, goneAt: undefined });
    }
    for (const [id, known] of this.#known)
      if (!hosts.has(id)) Object.assign(known, { servers: [], goneAt: known.goneAt ?? now });
    this.#soon();
  }

  #summarized(id: string, rows: readonly SummaryRow[]): void {
    const known = this.#known.get(id);
    if (known?.goneAt !== undefined || known === undefined) return;
    const now = this.#parts.clock.now();
    known.servers = rows.map(({ forMs, ...row }) => ({ ...row, since: forMs === null ? null : now - forMs }));
    this.#soon();
  }

  #soon(): void {
    if (this.#pages.size > 0) this.#timer ??= this.#parts.clock.setTimeout(() => this.#make(), EVERY_MS);
  }

  #make(): void {
    this.#timer = undefined;
    const now = this.#parts.clock.now();
    for (const [id, { goneAt }] of this.#known)
      if (goneAt !== undefined && now - goneAt > GONE_MS) this.#known.delete(id);
    const hosts = [...this.#known.values()].map(({ host, servers, goneAt }): InspectedHost => ({
      ...host,
      state: goneAt === undefined ? host.state : 'gone',
      servers,
    }));
    const message: HostRows = { kind: 'hosts', at: now, hosts };
    this.#message = Buffer.from(`${JSON.stringify(message)}\n`);
    for (const page of this.#pages) page.pump();
  }
}

const ADVICE = 'Their clocks may differ by more than 30 seconds, or it has another version of Troupe.';
