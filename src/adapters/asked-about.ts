/**
 * The tools that a person is asked about before a later step makes the call, as they were then, by the id of the call. Of
 * those that nobody came back to, the last thousand are kept.
 */
import type { CatalogTool } from '../catalog/registry.js';

const MOST_KEPT = 1_000;

export class AskedAbout {
  readonly #tools = new Map<string, CatalogTool>();

  /** Asked again about the same call, what counts is what was asked about first. */
  note(callId: string, tool: CatalogTool): void {
    if (this.#tools.has(callId)) return;
    this.#tools.set(callId, tool);
    for (const oldest of this.#tools.keys()) {
      if (this.#tools.size <= MOST_KEPT) return;
      this.#tools.delete(oldest);
    }
  }

  /** To be asked once, when the call is made. */
  take(callId: string): CatalogTool | undefined {
    const tool = this.#tools.get(callId);
    this.#tools.delete(callId);
    return tool;
  }
}
