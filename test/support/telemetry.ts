/** An OpenTelemetry SDK that keeps spans and metrics in memory, registered for the tests of one file. */
import { context, metrics, propagation, trace, type Attributes, type SpanKind } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type DataPoint,
  type Histogram,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-node';
import { afterEach, beforeEach } from 'vitest';

export interface Collected {
  /** The spans that have ended, in the order of their ends. */
  readonly spans: readonly ReadableSpan[];
  /** The only span of that name and kind. */
  span(name: string, kind: SpanKind): ReadableSpan;
  /** The values of a metric; of a histogram, the number of its measurements. */
  metric(name: string): Promise<readonly Measured[]>;
  /** Everything that was reported, as text. */
  text(): Promise<string>;
}

export interface Measured {
  readonly attributes: Attributes;
  readonly value: number;
}

/** Runs of the reader are asked for; it never runs by itself during a test. */
const NEVER_MS = 1_000_000_000;

export function useTelemetry(): Collected {
  let exporter: InMemorySpanExporter;
  let measured: InMemoryMetricExporter;
  let meters: MeterProvider;
  let tracers: NodeTracerProvider;
  beforeEach(() => {
    exporter = new InMemorySpanExporter();
    measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    tracers = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    tracers.register();
    meters = new MeterProvider({
      readers: [new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: NEVER_MS })],
    });
    metrics.setGlobalMeterProvider(meters);
  });
  afterEach(async () => {
    for (const api of [trace, metrics, propagation, context]) api.disable();
    await tracers.shutdown();
    await meters.shutdown();
  });

  const points = async (name: string): Promise<readonly DataPoint<number | Histogram>[]> => {
    await meters.forceFlush();
    const last =
      measured
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
    const found = last.find(({ descriptor }) => descriptor.name === name);
    return (found?.dataPoints ?? []) as readonly DataPoint<number | Histogram>[];
  };
  return {
    get spans() {
      return exporter.getFinishedSpans();
    },
    span(name, kind) {
      const [span, ...others] = exporter
        .getFinishedSpans()
        .filter((each) => each.name === name && each.kind === kind);
      if (span === undefined || others.length > 0) {
        const all = exporter.getFinishedSpans().map((each) => `${each.kind} ${each.name}`);
        throw new Error(`expected one span '${name}' of kind ${kind}. All: ${all.join(', ')}`);
      }
      return span;
    },
    metric: async (name) =>
      (await points(name)).map(({ attributes, value }) => ({
        attributes,
        value: typeof value === 'number' ? value : value.count,
      })),
    text: async () => {
      await meters.forceFlush();
      const spans = exporter
        .getFinishedSpans()
        .map(({ name, attributes, status, events, links }) => ({ name, attributes, status, events, links }));
      return JSON.stringify([spans, measured.getMetrics()]);
    },
  };
}
