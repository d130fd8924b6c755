/**
 * Lays out each chart once, with words and with names. While the page is open, layouts are kept by the hash of the chart. Between visits, the browser
 * stores ELK's answers by the hash of its input, so a page that comes back draws its charts at once. ELK runs in its own
 * worker, which starts when it is first needed.
 *
 * K1. A few answers are stored, and the oldest are removed first. If the browser stores nothing, the only loss is time.
 */
import ELK from 'elkjs/lib/elk-api.js';
import type { ChartModel } from '../../../src/charts/chart-model.js';
import { boldWidth } from './measure.js';
import { arrangementOf } from './arrangements.js';
import { layoutChart, type Layout, type PlacedChart } from './chart-layout.js';
import type { ElkNode } from 'elkjs/lib/elk-api.js';
import type { Names } from '../words/names.js';

export class Layouts {
  readonly #placed = new Map<string, Promise<PlacedChart>>();
  readonly #layout: Layout;
  #elk: InstanceType<typeof ELK> | undefined;

  constructor(startWorker: () => Worker) {
    const ask: Layout = (graph) => (this.#elk ??= new ELK({ workerFactory: startWorker })).layout(graph);
    this.#layout = keptLayout(ask, () => window.localStorage);
  }

  /** Starts the layout for a later `of`, which also reports a failure. */
  prepare(hash: string, model: ChartModel, names: Names): void {
    this.of(hash, model, names).catch(() => {});
  }

  of(hash: string, model: ChartModel, names: Names): Promise<PlacedChart> {
    const key = `${hash} ${names.isRaw}`;
    const known = this.#placed.get(key);
    if (known !== undefined) return known;
    const placed = layoutChart(model, arrangementOf(model), this.#layout, { names, boldWidth });
    this.#placed.set(key, placed);
    return placed;
  }
}

const PREFIX = 'troupe-layout-';
const ORDER = 'troupe-layouts';
const MOST = 6;

/** `storage` throws if it is not allowed, or full. */
function keptLayout(layout: Layout, storage: () => Storage): Layout {
  return async (graph) => {
    const key = PREFIX + hashOf(JSON.stringify(graph));
    const known = read(storage, key);
    if (known !== undefined) return known;
    const placed = await layout(graph);
    keep(storage, key, placed);
    return placed;
  };
}

function read(storage: () => Storage, key: string): ElkNode | undefined {
  try {
    const text = storage().getItem(key);
    return text === null ? undefined : (JSON.parse(text) as ElkNode);
  } catch {
    return undefined;
  }
}

function keep(storage: () => Storage, key: string, placed: ElkNode): void {
  try {
    const kept = storage();
    const before = (kept.getItem(ORDER) ?? '').split(' ').filter((each) => each !== '' && each !== key);
    const order = [...before, key];
    for (const gone of order.splice(0, order.length - MOST)) kept.removeItem(gone);
    kept.setItem(ORDER, order.join(' '));
    kept.setItem(key, JSON.stringify(placed));
  } catch {
    // The next visit lays it out again.
  }
}

/** Two hashes of 32 bits, as hexadecimal digits. */
function hashOf(text: string): string {
  let [a, b] = [0x811c9dc5, 0x9e3779b9];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 0x01000193) >>> 0;
    b = (Math.imul(b, 31) + code) >>> 0;
  }
  return a.toString(16).padStart(8, '0') + b.toString(16).padStart(8, '0');
}
