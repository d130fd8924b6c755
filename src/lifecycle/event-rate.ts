/**
 * Limits how many events one server can cause in a second, so that a server that logs without end does not keep observers
 * busy. What exceeds the limit is left out and counted: one diagnostic for each second says how many of which kind.
 */
import type { Clock } from '../ports.js';
import type { LifecycleEventBody, LifecycleEventType } from './event.js';

/** Events of one server in a second, unless the host says otherwise. */
export const DEFAULT_EVENTS_PER_SECOND = 1_000;

/** Events that a server causes by itself, in any number. Diagnostics have a limit of their own: a log must not hide them. */
const LIMITED: ReadonlySet<LifecycleEventType> = new Set([
  'call.progress',
  'diagnostic',
  'elicitation.completed',
  'resource.updated',
  'server.log',
  'server.notification',
]);
const WINDOW_MS = 1_000;

interface Window {
  readonly server: string;
  readonly from: number;
  count: number;
  /** Events until the window ends. */
  readonly most: number;
  /** By type of event. */
  readonly leftOut: Map<string, number>;
}

export class EventRate {
  readonly #windows = new Map<string, Window>();
  #timer: unknown;

  constructor(
    private readonly clock: Clock,
    private readonly mostOf: (server: string) => number,
    private readonly report: (server: string, message: string) => void,
  ) {}

  /** Whether the event may be published. If not, it is counted. */
  admits(body: LifecycleEventBody): boolean {
    const server = LIMITED.has(body.type) && 'server' in body ? body.server : undefined;
    const isReport = body.type === 'diagnostic' && body.kind === 'events-left-out';
    if (server === undefined || isReport) return true;
    const window = this.#windowOf(server, body.type === 'diagnostic' ? 'diagnostics' : 'events');
    window.count += 1;
    if (window.count <= window.most) return true;
    window.leftOut.set(body.type, (window.leftOut.get(body.type) ?? 0) + 1);
    this.#timer ??= this.clock.setTimeout(() => this.flush(), WINDOW_MS);
    return false;
  }

  /** Reports what has been left out so far. */
  flush(): void {
    this.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { server, most, leftOut } of this.#windows.values()) {
      if (leftOut.size === 0) continue;
      const counts = [...leftOut].map(([type, count]) => `${count} of ${type}`).join(', ');
      leftOut.clear();
      this.report(
        server,
        `Events were left out, because there are more than ${most} in a second: ${counts}.`,
      );
    }
  }

  #windowOf(server: string, what: 'diagnostics' | 'events'): Window {
    const now = this.clock.now();
    const key = `${what} ${server}`;
    const known = this.#windows.get(key);
    // The clock may be set back.
    if (known !== undefined && Math.abs(now - known.from) < WINDOW_MS) return known;
    const window: Window = {
      server,
      from: now,
      count: 0,
      most: this.mostOf(server),
      leftOut: known?.leftOut ?? new Map<string, number>(),
    };
    this.#windows.set(key, window);
    return window;
  }
}
