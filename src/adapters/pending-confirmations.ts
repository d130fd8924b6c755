/**
 * The tools that a person was asked about before a later step makes the call, as they were at the question. The key is
 * the id of the call and the name of the tool, since some models number the calls of each conversation from the start.
 * Keeps the last thousand that were never called.
 */
import type { CatalogTool } from '../catalog/registry.js';

const MAX_KEPT = 1_000;

export class PendingConfirmations {
  readonly #tools = new Map<string, CatalogTool>();

  /** If the same call is noted again, the first tool counts. */
  note(callId: string, tool: CatalogTool): void {
    const key = keyOf(callId, tool.name);
    if (this.#tools.has(key)) return;
    this.#tools.set(key, tool);
    for (const oldest of this.#tools.keys()) {
      if (this.#tools.size <= MAX_KEPT) return;
      this.#tools.delete(oldest);
    }
  }

  /** Removes and returns the tool when the call is made. */
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
