/**
 * Counts what the connections of a gateway do. Metrics have the same names and labels as with OpenTelemetry, spelled as Prometheus
 * requires, so that dashboards fit both.
 *
 * M1. The number of series is bounded: servers come from the configuration, errors are codes, and after `MAX_SERIES` the name of a
 *     tool is `_other`.
 * M2. A server that is removed takes its series along.
 */
import { hasTag } from '../../../machines/connection/connection.states.js';
import type { CallOutcome, LifecycleEvent } from '../../lifecycle/event.js';
import { PACKAGE } from '../../package.js';
import type { Gateway } from '../gateway.js';
import { toText, type Distribution, type Labels, type Metric, type Sample } from './prometheus-text.js';

/** Boundaries of durations in seconds, as the semantic conventions of OpenTelemetry for MCP advise. */
const BOUNDARIES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
/** Of one metric. */
const MAX_SERIES = 1_000;
const MAX_LABEL = 128;
const OTHER_TOOL = '_other';

type MeasuredGateway = Pick<Gateway, 'events$' | 'status'>;

class Counter {
  readonly #series = new Map<string, { readonly labels: Labels; value: number }>();

  get samples(): readonly Sample[] {
    return [...this.#series.values()];
  }

  add(labels: Labels, amount = 1): void {
    const key = keyOf(labels);
    const known = this.#series.get(key);
    // What began before it was counted ends as well.
    if (known !== undefined) known.value = Math.max(0, known.value + amount);
    else if (amount > 0) this.#series.set(key, { labels, value: amount });
  }

  forget(server: string): void {
    forgetIn(this.#series, server);
  }
}

class Histogram {
  readonly #series = new Map<string, { readonly labels: Labels; readonly buckets: number[]; sum: number }>();

  get samples(): readonly Distribution[] {
    return [...this.#series.values()];
  }

  /** Whether a further series exceeds the limit. */
  isNewBeyondLimit(labels: Labels): boolean {
    return this.#series.size >= MAX_SERIES && !this.#series.has(keyOf(labels));
  }

  observe(labels: Labels, value: number): void {
    const key = keyOf(labels);
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { labels, buckets: Array.from({ length: BOUNDARIES.length + 1 }, () => 0), sum: 0 };
      this.#series.set(key, series);
    }
    const above = BOUNDARIES.findIndex((boundary) => value <= boundary);
    const bucket = above === -1 ? BOUNDARIES.length : above;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
    series.sum += value;
  }

  forget(server: string): void {
    forgetIn(this.#series, server);
  }
}

export class GatewayMetrics {
  readonly #gateway: MeasuredGateway;
  readonly #attempts = new Counter();
  readonly #losses = new Counter();
  readonly #failures = new Counter();
  readonly #active = new Counter();
  readonly #durations = new Histogram();
  readonly #following: { unsubscribe(): void };

  constructor(gateway: MeasuredGateway) {
    this.#gateway = gateway;
    this.#following = gateway.events$.subscribe((event) => this.#count(event));
  }

  /** What a scrape gets. `more` are metrics of the service. */
  text(more: readonly Metric[] = []): string {
    return toText([...this.#metrics(), ...more]);
  }

  close(): void {
    this.#following.unsubscribe();
  }

  #metrics(): readonly Metric[] {
    const [states, waiting] = this.#connections();
    return [
      gauge('troupe_info', 'The version of Troupe.', [{ labels: { version: PACKAGE.version }, value: 1 }]),
      gauge('troupe_connection_count', 'Connections to each server, by state.', states),
      gauge('troupe_start_queue', 'Servers that wait for their turn to start.', waiting),
      counter('troupe_connection_attempts_total', 'Attempts to open a session.', this.#attempts.samples),
      counter(
        'troupe_connection_losses_total',
        'Sessions that were ready and ended unexpectedly.',
        this.#losses.samples,
      ),
      counter(
        'troupe_connection_failures_total',
        'How often a connection has given up.',
        this.#failures.samples,
      ),
      gauge('troupe_calls_active', 'Tool calls that were sent and not answered.', this.#active.samples),
      {
        name: 'mcp_client_operation_duration_seconds',
        help: 'Time from a request to a server until its answer.',
        type: 'histogram',
        boundaries: BOUNDARIES,
        samples: this.#durations.samples,
      },
    ];
  }

  #connections(): readonly [states: readonly Sample[], waiting: number] {
    const states = new Counter();
    let waiting = 0;
    for (const row of this.#gateway.status) {
      states.add({ ...about(row), troupe_connection_state: row.state });
      if (row.state === 'launching' && !hasTag(row, 'opening')) waiting += 1;
    }
    return [states.samples, waiting];
  }

  #count(event: LifecycleEvent): void {
    switch (event.type) {
      case 'connection.state':
        if (event.to === 'launching' && event.from !== 'launching') this.#attempts.add(about(event));
        break;
      case 'connection.lost':
        this.#losses.add({ ...about(event), error_type: event.failure.code });
        break;
      case 'connection.failed':
        this.#failures.add({ ...about(event), error_type: event.failure.code });
        break;
      case 'connection.removed':
        if (!this.#gateway.status.some(({ server }) => server === event.server)) this.#forget(event.server);
        break;
      case 'call.started':
        this.#active.add(about(event));
        break;
      case 'call.finished':
        this.#active.add(about(event), -1);
        this.#finished(event);
        break;
      default:
    }
  }

  #finished(event: Extract<LifecycleEvent, { readonly type: 'call.finished' }>): void {
    const { tool, durationMs, outcome } = event;
    const labels = {
      ...about(event),
      mcp_method_name: 'tools/call',
      gen_ai_operation_name: 'execute_tool',
      gen_ai_tool_name: cut(tool),
      error_type: ERROR_TYPES[outcome],
    };
    const isTooMuch = this.#durations.isNewBeyondLimit(labels);
    this.#durations.observe(
      isTooMuch ? { ...labels, gen_ai_tool_name: OTHER_TOOL } : labels,
      durationMs / 1_000,
    );
  }

  #forget(server: string): void {
    for (const metric of [this.#attempts, this.#losses, this.#failures, this.#active, this.#durations])
      metric.forget(cut(server));
  }
}

/** An empty label counts as none. */
const ERROR_TYPES: Readonly<Record<CallOutcome, string>> = {
  answered: '',
  'tool-error': 'tool_error',
  'server-error': 'server_error',
  'timed-out': 'timeout',
  aborted: 'aborted',
  'not-sent': 'not_sent',
  'outcome-unknown': 'outcome_unknown',
};

const SERVER_LABEL = 'troupe_server_name';

function about({ server }: { readonly server: string }): Labels {
  return { [SERVER_LABEL]: cut(server) };
}

function cut(text: string): string {
  return text.slice(0, MAX_LABEL);
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.values(labels));
}

function forgetIn(series: Map<string, { readonly labels: Labels }>, server: string): void {
  for (const [key, { labels }] of series) if (labels[SERVER_LABEL] === server) series.delete(key);
}

export function gauge(name: string, help: string, samples: readonly Sample[] | number): Metric {
  return { name, help, type: 'gauge', samples: samplesOf(samples) };
}

export function counter(name: string, help: string, samples: readonly Sample[] | number): Metric {
  return { name, help, type: 'counter', samples: samplesOf(samples) };
}

function samplesOf(samples: readonly Sample[] | number): readonly Sample[] {
  return typeof samples === 'number' ? [{ labels: {}, value: samples }] : samples;
}
