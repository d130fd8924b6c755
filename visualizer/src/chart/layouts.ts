/**
 * Charts that are laid out, each once: by its hash while the page is open, and between visits by what ELK was asked
 * (`kept-layouts.ts`). ELK works in a worker of its own, which is begun when it is first needed.
 */
import ELK from 'elkjs/lib/elk-api.js';
import type { ChartModel } from '../../../src/inspection/chart-model.js';
import { arrangementOf } from './arrangements.js';
import { layoutChart, type Layout, type PlacedChart } from './chart-layout.js';
import { keptLayout } from './kept-layouts.js';

export class Layouts {
  readonly #placed = new Map<string, Promise<PlacedChart>>();
  readonly #layout: Layout;
  #elk: InstanceType<typeof ELK> | undefined;

  constructor(startWorker: () => Worker) {
    const ask: Layout = (graph) => (this.#elk ??= new ELK({ workerFactory: startWorker })).layout(graph);
    this.#layout = keptLayout(ask, () => window.localStorage);
  }

  /** Begins it, for whoever asks later; that one also hears what went wrong. */
  prepare(hash: string, model: ChartModel): void {
    this.of(hash, model).catch(() => {});
  }

  of(hash: string, model: ChartModel): Promise<PlacedChart> {
    const known = this.#placed.get(hash);
    if (known !== undefined) return known;
    const placed = layoutChart(model, arrangementOf(model), this.#layout);
    this.#placed.set(hash, placed);
    return placed;
  }
}
