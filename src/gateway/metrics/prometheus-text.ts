/**
 * Metrics in the text format of Prometheus, version 0.0.4
 * (https://github.com/prometheus/docs/blob/main/docs/instrumenting/exposition_formats.md). Pure.
 */

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** All observations with the same labels. */
export interface Distribution {
  readonly labels: Labels;
  /** Observations up to each boundary, and those above the last one. */
  readonly buckets: readonly number[];
  readonly sum: number;
}

interface About {
  readonly name: string;
  readonly help: string;
}

export type Metric = About &
  (
    | { readonly type: 'counter' | 'gauge'; readonly samples: readonly Sample[] }
    | {
        readonly type: 'histogram';
        readonly boundaries: readonly number[];
        readonly samples: readonly Distribution[];
      }
  );

/** A metric without samples is left out. */
export function toText(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(
      (metric) =>
        `# HELP ${metric.name} ${escaped(metric.help)}\n# TYPE ${metric.name} ${metric.type}\n${linesOf(metric)}`,
    )
    .join('');
}

function linesOf(metric: Metric): string {
  const { name } = metric;
  if (metric.type !== 'histogram')
    return metric.samples.map(({ labels, value }) => line(name, labels, value)).join('');
  const { boundaries } = metric;
  return metric.samples
    .map(({ labels, buckets, sum }) => {
      const upTo = (end: number): number => buckets.slice(0, end).reduce((all, more) => all + more, 0);
      const bars = buckets.map((_, at) =>
        line(`${name}_bucket`, { ...labels, le: numberOf(boundaries[at] ?? Infinity) }, upTo(at + 1)),
      );
      return [
        ...bars,
        line(`${name}_sum`, labels, sum),
        line(`${name}_count`, labels, upTo(buckets.length)),
      ].join('');
    })
    .join('');
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text, true)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${numberOf(value)}\n`;
}

function numberOf(value: number): string {
  return value === Infinity ? '+Inf' : String(value);
}

/** Only the values of labels have quotes. */
function escaped(text: string, isQuoted = false): string {
  const safe = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return isQuoted ? safe.replaceAll('"', '\\"') : safe;
}
