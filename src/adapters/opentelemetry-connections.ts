/** Metrics of connections for OpenTelemetry: states, attempts, losses, and calls in progress. The conventions for MCP have none. */
import type {
  Attributes,
  BatchObservableResult,
  Counter,
  Meter,
  ObservableUpDownCounter,
  UpDownCounter,
} from '@opentelemetry/api';
import { hasTag } from '../../machines/connection/connection.states.js';
import type { LifecycleEvent } from '../lifecycle/event.js';
import type { ServerStatus } from '../lifecycle/status.js';
import type { ObservedTroupe } from '../telemetry/telemetry.js';

interface Counted {
  readonly attributes: Attributes;
  count: number;
}

export class ConnectionMetrics {
  readonly #troupes = new Set<ObservedTroupe>();
  /** All that were ever reported: an SDK keeps the last value of what is no longer reported. */
  readonly #counts = new Map<string, Counted>();
  readonly #states: ObservableUpDownCounter;
  readonly #queue: ObservableUpDownCounter;
  readonly #attempts: Counter;
  readonly #losses: Counter;
  readonly #failures: Counter;
  readonly #calls: UpDownCounter;

  constructor(meter: Meter) {
    this.#states = meter.createObservableUpDownCounter('troupe.connection.count', {
      description: 'Connections to each server, by state.',
      unit: '{connection}',
    });
    this.#queue = meter.createObservableUpDownCounter('troupe.start.queue', {
      description: 'Servers that wait for their turn to start.',
      unit: '{server}',
    });
    meter.addBatchObservableCallback((result) => this.#observe(result), [this.#states, this.#queue]);
    this.#attempts = meter.createCounter('troupe.connection.attempts', {
      description: 'Attempts to open a session.',
      unit: '{attempt}',
    });
    this.#losses = meter.createCounter('troupe.connection.losses', {
      description: 'Sessions that were ready and ended unexpectedly.',
      unit: '{session}',
    });
    this.#failures = meter.createCounter('troupe.connection.failures', {
      description: 'How often a connection has given up.',
      unit: '{failure}',
    });
    this.#calls = meter.createUpDownCounter('troupe.calls.active', {
      description: 'Tool calls that were sent and not answered.',
      unit: '{call}',
    });
  }

  follow(troupe: ObservedTroupe): () => void {
    const subscription = troupe.events$.subscribe((event) => this.#count(event));
    this.#troupes.add(troupe);
    return () => {
      subscription.unsubscribe();
      this.#troupes.delete(troupe);
    };
  }

  #observe(result: BatchObservableResult): void {
    for (const known of this.#counts.values()) known.count = 0;
    let waiting = 0;
    for (const { status } of this.#troupes) {
      for (const row of status) {
        this.#counted(row).count += 1;
        if (row.state === 'launching' && !hasTag(row, 'opening')) waiting += 1;
      }
    }
    for (const { attributes, count } of this.#counts.values())
      result.observe(this.#states, count, attributes);
    result.observe(this.#queue, waiting);
  }

  #counted({ server, state }: ServerStatus): Counted {
    const key = `${state} ${server}`;
    const known = this.#counts.get(key) ?? {
      attributes: { ...about({ server }), 'troupe.connection.state': state },
      count: 0,
    };
    this.#counts.set(key, known);
    return known;
  }

  #count(event: LifecycleEvent): void {
    if (event.type === 'connection.state') {
      if (event.to === 'launching' && event.from !== 'launching') this.#attempts.add(1, about(event));
    } else if (event.type === 'connection.lost') {
      this.#losses.add(1, { ...about(event), 'error.type': event.failure.code });
    } else if (event.type === 'connection.failed') {
      this.#failures.add(1, { ...about(event), 'error.type': event.failure.code });
    } else if (event.type === 'call.started') {
      this.#calls.add(1, about(event));
    } else if (event.type === 'call.finished') {
      this.#calls.add(-1, about(event));
    }
  }
}

function about({ server }: { readonly server: string }): Attributes {
  return { 'troupe.server.name': server };
}
