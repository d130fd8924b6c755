/**
 * What ELK has found, kept between visits by the hash of what it was asked: a page that comes back draws its charts at once.
 *
 * K1. A few are kept, the oldest go first. Where a browser keeps nothing, nothing is lost but time.
 */
import type { ElkNode } from 'elkjs/lib/elk-api.js';
import type { Layout } from './chart-layout.js';

const PREFIX = 'troupe-layout-';
const ORDER = 'troupe-layouts';
const MOST = 6;

/** `storage` throws where it is not allowed, or full. */
export function keptLayout(layout: Layout, storage: () => Storage): Layout {
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
    // It is laid out again the next time.
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
