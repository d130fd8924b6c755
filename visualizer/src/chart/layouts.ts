/** Charts that are laid out, each once: ELK works in a worker of its own, and what it found is kept by the chart's hash. */
import ELK from 'elkjs/lib/elk-api.js';
import type { ChartModel } from '../../../src/inspection/chart-model.js';
import { arrangementOf } from './arrangements.js';
import { layoutChart, type PlacedChart } from './chart-layout.js';

export class Layouts {
  readonly #placed = new Map<string, Promise<PlacedChart>>();
  readonly #startWorker: () => Worker;
  #elk: InstanceType<typeof ELK> | undefined;

  constructor(startWorker: () => Worker) {
    this.#startWorker = startWorker;
  }

  /** Begins it, for whoever asks later; that one also hears what went wrong. */
  prepare(hash: string, model: ChartModel): void {
    this.of(hash, model).catch(() => {});
  }

  of(hash: string, model: ChartModel): Promise<PlacedChart> {
    const known = this.#placed.get(hash);
    if (known !== undefined) return known;
    this.#elk ??= new ELK({ workerFactory: this.#startWorker });
    const elk = this.#elk;
    const placed = layoutChart(model, arrangementOf(model), (graph) => elk.layout(graph));
    this.#placed.set(hash, placed);
    return placed;
  }
}
