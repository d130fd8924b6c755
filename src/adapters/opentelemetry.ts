/**
 * Spans and metrics for OpenTelemetry, after its semantic conventions for MCP
 * (https://github.com/open-telemetry/semantic-conventions-genai/blob/v0.1.0/docs/gen-ai/mcp.md). Needs the optional peer
 * `@opentelemetry/api`, and does nothing until the host has registered an OpenTelemetry SDK.
 */
import {
  context,
  createNoopMeter,
  metrics,
  propagation,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Histogram,
  type Link,
  type Meter,
  type Span,
  type TextMapGetter,
  type Tracer,
} from '@opentelemetry/api';
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { PACKAGE } from '../package.js';
import type {
  ObservedOperation,
  ObservedTroupe,
  Operation,
  OperationEnd,
  SessionFacts,
  Telemetry,
} from '../telemetry/telemetry.js';
import { ConnectionMetrics } from './opentelemetry-connections.js';

export type { Telemetry } from '../telemetry/telemetry.js';

/** Boundaries of the histograms, in seconds, as the conventions advise. */
const BOUNDARIES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/**
 * Reports to the OpenTelemetry SDK that the host has registered: give the result to `createTroupe` or `createGateway` as
 * `telemetry`. Without an SDK, nothing is measured. An SDK that is registered later counts from the next session of each server.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { openTelemetry } from 'mcp-troupe/opentelemetry';
 *
 * const troupe = createTroupe({ config: '.mcp.json', telemetry: openTelemetry() });
 * ```
 */
export function openTelemetry(): Telemetry {
  return new OpenTelemetry();
}

class OpenTelemetry implements Telemetry {
  #instruments: Instruments | undefined;

  get isObserved(): boolean {
    return isTraced() || isMetered();
  }

  sent(operation: Operation): ObservedOperation {
    const ambient = context.active();
    const parent = operation.isAwaited ? ambient : ROOT_CONTEXT;
    const links = operation.isAwaited ? [] : linksTo(ambient);
    return this.#begin('client', operation, parent, links);
  }

  received(operation: Operation, meta: unknown, cause?: ObservedOperation): ObservedOperation {
    const ambient = context.active();
    const remote = propagation.extract(ROOT_CONTEXT, meta, META);
    const isRemote = trace.getSpanContext(remote) !== undefined;
    const here = cause instanceof SpanOfOperation ? cause.at : operation.isAwaited ? ambient : ROOT_CONTEXT;
    return this.#begin('server', operation, isRemote ? remote : here, isRemote ? linksTo(ambient) : []);
  }

  sessionEnded(
    side: 'client' | 'server',
    facts: SessionFacts,
    durationMs: number,
    error: string | undefined,
  ): void {
    const attributes = {
      ...sessionAttributes(facts),
      ...(error === undefined ? {} : { 'error.type': error }),
    };
    this.#current[side].session.record(durationMs / 1_000, attributes);
  }

  follow(troupe: ObservedTroupe): () => void {
    return isMetered() ? this.#current.connections.follow(troupe) : () => {};
  }

  #begin(side: Side, operation: Operation, parent: Context, links: Link[]): ObservedOperation {
    const attributes = operationAttributes(operation);
    const { method, name, call } = operation;
    const span = tracer().startSpan(
      name === undefined ? method : `${method} ${name}`,
      {
        kind: side === 'client' ? SpanKind.CLIENT : SpanKind.SERVER,
        attributes: call === undefined ? attributes : { ...attributes, 'troupe.call': call },
        links,
      },
      parent,
    );
    return new SpanOfOperation(span, trace.setSpan(parent, span), attributes, this.#current[side]);
  }

  /** The instruments of the registered meter provider: it may be registered late, and be replaced. */
  get #current(): Instruments {
    const meter = metrics.getMeter(PACKAGE.name, PACKAGE.version);
    if (this.#instruments?.meter !== meter) this.#instruments = createInstruments(meter);
    return this.#instruments;
  }
}

type Side = 'client' | 'server';

class SpanOfOperation implements ObservedOperation {
  readonly #startedAt = performance.now();

  constructor(
    private readonly span: Span,
    readonly at: Context,
    private readonly attributes: Attributes,
    private readonly instruments: SideInstruments,
  ) {}

  get meta(): JsonObject | undefined {
    const carrier: Record<string, string> = {};
    propagation.inject(this.at, carrier);
    return Object.keys(carrier).length === 0 ? undefined : carrier;
  }

  within<T>(run: () => T): T {
    return context.with(this.at, run);
  }

  end({ id, error, rpcCode }: OperationEnd): void {
    const ended: Attributes = {};
    if (error !== undefined) ended['error.type'] = error;
    if (rpcCode !== undefined) ended['rpc.response.status_code'] = String(rpcCode);
    this.span.setAttributes(id === undefined ? ended : { ...ended, 'jsonrpc.request.id': String(id) });
    if (error !== undefined) this.span.setStatus({ code: SpanStatusCode.ERROR });
    this.span.end();
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    this.instruments.operation.record(seconds, { ...this.attributes, ...ended }, this.at);
  }
}

function operationAttributes(operation: Operation): Attributes {
  const { method, name } = operation;
  const attributes = sessionAttributes(operation);
  attributes['mcp.method.name'] = method;
  if (method === 'tools/call') attributes['gen_ai.operation.name'] = 'execute_tool';
  if (name !== undefined)
    attributes[method === 'tools/call' ? 'gen_ai.tool.name' : 'gen_ai.prompt.name'] = name;
  return attributes;
}

function sessionAttributes({ server, protocolVersion, network }: SessionFacts): Attributes {
  const attributes: Attributes = {};
  if (server !== undefined) attributes['troupe.server.name'] = server;
  if (protocolVersion !== undefined) attributes['mcp.protocol.version'] = protocolVersion;
  if (network.transport !== undefined) attributes['network.transport'] = network.transport;
  if (network.protocol !== undefined) attributes['network.protocol.name'] = network.protocol;
  if (network.address !== undefined) attributes['server.address'] = network.address;
  if (network.port !== undefined) attributes['server.port'] = network.port;
  return attributes;
}

function tracer(): Tracer {
  return trace.getTracer(PACKAGE.name, PACKAGE.version);
}

function isTraced(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(PACKAGE.name) !== undefined;
}

const NOOP = createNoopMeter();

function isMetered(): boolean {
  return metrics.getMeter(PACKAGE.name).createHistogram('') !== NOOP.createHistogram('');
}

function linksTo(ambient: Context): Link[] {
  const span = trace.getSpanContext(ambient);
  return span === undefined ? [] : [{ context: span }];
}

/** Reads the trace context from `_meta`, in which a sender may put anything. */
const META: TextMapGetter<unknown> = {
  keys: (meta) => (isJsonObject(meta) ? Object.keys(meta) : []),
  get: (meta, key) => {
    const value = isJsonObject(meta) ? meta[key] : undefined;
    return typeof value === 'string' ? value : undefined;
  },
};

type SideInstruments = Readonly<Record<'operation' | 'session', Histogram>>;

interface Instruments extends Readonly<Record<Side, SideInstruments>> {
  readonly meter: Meter;
  readonly connections: ConnectionMetrics;
}

function createInstruments(meter: Meter): Instruments {
  const seconds = (name: string, description: string): Histogram =>
    meter.createHistogram(name, {
      description,
      unit: 's',
      advice: { explicitBucketBoundaries: BOUNDARIES },
    });
  return {
    meter,
    connections: new ConnectionMetrics(meter),
    client: {
      operation: seconds(
        'mcp.client.operation.duration',
        'Time from a request to its answer, at the sender.',
      ),
      session: seconds('mcp.client.session.duration', 'Time that a session lasted, at the client.'),
    },
    server: {
      operation: seconds(
        'mcp.server.operation.duration',
        'Time from a request to its answer, at the receiver.',
      ),
      session: seconds('mcp.server.session.duration', 'Time that a session lasted, at the server.'),
    },
  };
}
