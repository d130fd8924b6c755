/**
 * One troupe as a host of its fleet: says that it is there, publishes summaries while somebody looks, and shows its own
 * stream to a viewer that has the key.
 */
import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { CONNECTION_STATES, type ConnectionState } from '../../machines/connection/connection.states.js';
import { currentCharts } from '../event-log/record/make-recorder.js';
import type { ServerStatus } from '../lifecycle/status.js';
import { PACKAGE } from '../package.js';
import type { Clock } from '../ports.js';
import { INSPECTION_PURPOSE } from './inspection-request.js';
import type { FleetHost, FleetHosts } from './hosts.js';
import { requestKeys, SeenNonces, SIGNATURE_HEADER, verifyRequest } from './signed-request.js';
import type { Fleet } from './stores.js';
import { SummarySender, type SummaryRow } from './summaries.js';

/** Changes of the counts within this time are one announcement. */
const TELL_AFTER_MS = 1_000;

export interface PresenceParts {
  readonly fleet: Fleet;
  readonly clock: Clock;
  readonly statuses: () => readonly ServerStatus[];
  /** Called after each batch of changes. Returns the function that stops listening. */
  readonly onchanged: (fn: () => void) => () => void;
  /** Writes the messages of a live inspection without commands. */
  readonly watch: (page: Writable) => Promise<void>;
}

/** The head of a viewer's request. */
export interface ViewerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** A fleet is one host: only the first troupe that begins with it is announced. */
const taken = new WeakSet<FleetHosts>();

export class Presence {
  readonly #parts: PresenceParts;
  readonly #startedAt: number;
  readonly #nonces: SeenNonces;
  /** State of each server, and when it changed. */
  readonly #since = new Map<string, { readonly state: ConnectionState; readonly at: number | null }>();
  #address: string | undefined;
  #isDraining = false;
  #sender: SummarySender | undefined;
  #silence: (() => void) | undefined;
  #timer: unknown;
  #told = '';

  constructor(parts: PresenceParts) {
    this.#parts = parts;
    this.#startedAt = parts.clock.now();
    this.#nonces = new SeenNonces(this.#startedAt);
  }

  begin(): void {
    const { fleet, clock, onchanged } = this.#parts;
    if (taken.has(fleet.hosts)) return;
    taken.add(fleet.hosts);
    const { engine, key, hosts } = fleet;
    this.#note(null);
    this.#silence = onchanged(() => this.#changed());
    this.#sender = new SummarySender({ engine, key, self: hosts.self, clock, rows: () => this.#rows() });
    this.#tell();
  }

  /** The gateway listens there. The address in the options of the fleet takes precedence. */
  serves(address: string): void {
    this.#address = address;
    this.#tell();
  }

  /** It takes no new sessions. */
  drains(): void {
    this.#isDraining = true;
    this.#tell();
  }

  async end(): Promise<void> {
    if (this.#sender === undefined) return;
    const { fleet, clock } = this.#parts;
    clock.clearTimeout(this.#timer);
    this.#silence?.();
    this.#sender.stop();
    this.#sender = undefined;
    await fleet.hosts.leave();
    taken.delete(fleet.hosts);
  }

  /** Whether the request is of a viewer that has the key of the fleet, for this host, and comes for the first time. */
  admits({ method, path, headers }: ViewerRequest): boolean {
    const { fleet, clock } = this.#parts;
    const signature = headers[SIGNATURE_HEADER];
    if (this.#sender === undefined || typeof signature !== 'string') return false;
    const now = clock.now();
    const verdict = verifyRequest(
      requestKeys(fleet.key),
      { method, path, session: '', headers, body: new Uint8Array() },
      signature,
      { purpose: INSPECTION_PURPOSE, self: fleet.hosts.self, now },
    );
    return verdict.isValid && this.#nonces.isNew(verdict.nonce, now);
  }

  watch(page: Writable): Promise<void> {
    return this.#parts.watch(page);
  }

  #changed(): void {
    this.#note(this.#parts.clock.now());
    this.#timer ??= this.#parts.clock.setTimeout(() => this.#tell(), TELL_AFTER_MS);
  }

  #note(at: number | null): void {
    for (const { server, state } of this.#parts.statuses())
      if (this.#since.get(server)?.state !== state) this.#since.set(server, { state, at });
  }

  #tell(): void {
    this.#parts.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#sender === undefined) return;
    const said: Omit<FleetHost, 'id'> = {
      version: PACKAGE.version,
      charts: hashOfCharts(),
      startedAt: this.#startedAt,
      state: this.#isDraining ? 'draining' : 'up',
      counts: countsOf(this.#parts.statuses()),
      ...(this.#address !== undefined && { address: this.#address }),
    };
    const text = JSON.stringify(said);
    if (text === this.#told) return;
    this.#told = text;
    void this.#parts.fleet.hosts.announce(said);
  }

  #rows(): readonly SummaryRow[] {
    const now = this.#parts.clock.now();
    return this.#parts.statuses().map(({ server, state, error, generation }) => {
      const at = this.#since.get(server)?.at ?? null;
      return {
        server,
        state,
        forMs: at === null ? null : Math.max(0, now - at),
        code: error?.code ?? null,
        restarts: Math.max(0, generation - 1),
      };
    });
  }
}

function countsOf(statuses: readonly ServerStatus[]): FleetHost['counts'] {
  const counts = Object.fromEntries(CONNECTION_STATES.map((state) => [state, 0])) as Record<
    ConnectionState,
    number
  >;
  for (const { state } of statuses) counts[state] += 1;
  return counts;
}

/** Of the charts that a recording names. */
function hashOfCharts(): string {
  return createHash('sha256').update(JSON.stringify(currentCharts())).digest('hex').slice(0, 16);
}
