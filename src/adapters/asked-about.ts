/**
 * The tools that a person is asked about before a later step makes the call, as they were then, by the id of the call and the
 * name of the tool: some models number their calls anew in every conversation. Of those that nobody came back to, the last
 * thousand are kept.
 */
import type { CatalogTool } from '../catalog/registry.js';

const MOST_KEPT = 1_000;

export class AskedAbout {
  readonly #tools = new Map<string, CatalogTool>();

  /** Asked again about the same call, what counts is what was asked about first. */
  note(callId: string, tool: CatalogTool): void {
    const key = keyOf(callId, tool.name);
    if (this.#tools.has(key)) return;
    this.#tools.set(key, tool);
    for (const oldest of this.#tools.keys()) {
      if (this.#tools.size <= MOST_KEPT) return;
      this.#tools.delete(oldest);
    }
  }

  /** To be asked once, when the call is made. */
  take(callId: string, name: string): CatalogTool | undefined {
    const key = keyOf(callId, name);
    const tool = this.#tools.get(key);
    this.#tools.delete(key);
    return tool;
  }
}

function keyOf(callId: string, name: string): string {
  return JSON.stringify([callId, name]);
}
